"""The standard workload: one generator for every speed benchmark.

It holds N propositions with titles, summaries, links, importances and uses, and queries drawn
from the titles. Invariant: the same (n, seed) gives the same workload on every machine, and a
larger query count only appends queries. It knows nothing of doxa: references and the core are fed
from the same arrays. Cost: about one second and 150 bytes per proposition at one million.

Words have a fixed width of five letters without a vowel, ``s`` or ``y``: no tokenizer splits them,
no stemmer changes them, none is a function word, and texts are cut out of one byte matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

VOCABULARY = 50_000
ZIPF_EXPONENT = 1.1
TITLE_TERMS = 6
SUMMARY_TERMS = 20
QUERY_TERMS = 3
QUERY_RANKS = (50, 5_000)
LINKS_EACH = 5.0
TAIL_EXPONENT = 1.5
HUB_FACTOR = 3.0
NOW_MICROSECONDS = 1_790_000_000_000_000
MICROSECONDS_PER_DAY = 86_400_000_000
SIZES = (1_000, 10_000, 100_000, 1_000_000)

_LETTERS = b"bcdfghjkmnpqrtvwx"
_WORD_WIDTH = 5
_IMPORTANCE_SHARES = (0.25, 0.50, 0.21, 0.04)
_BASE = (0.0, 0.2, 0.4, 0.6)
_HALF_LIFE_DAYS = (7.0, 21.0, 45.0, 60.0)

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """One parameter set of the speed benchmarks, by the names of ``doxa.Params``.

    Attributes
    ----------
    name : str
        ``plain``, ``published`` or ``default``.
    published : bool
        Whether it starts from ``Params.published()`` rather than ``Params()``.
    changes : mapping
        What it changes in that starting point.
    relevance, max_seeds, seed_power, lam, hops, theta, damp, damp_allowance, direction
        The resulting constants, for the references.
    conductance : float
        Conductance of a ``relates`` link of weight 1.
    """

    name: str
    published: bool
    changes: Mapping[str, object]
    relevance: str
    max_seeds: int
    seed_power: float
    lam: float
    hops: int
    theta: float
    damp: str
    damp_allowance: float
    direction: str
    conductance: float
    alpha: float = 1.0
    beta: float = 0.1
    w_title: float = 2.0
    w_summary: float = 1.0
    k1: float = 0.8
    b: float = 0.6
    w_t: float = 1.0
    w_u: float = 0.05


PLAIN = Setting(
    "plain",
    True,
    MappingProxyType({"damp": "sender", "direction": "out", "conductance": {"relates": 1.0}}),
    relevance="count",
    max_seeds=64,
    seed_power=0.0,
    lam=0.5,
    hops=2,
    theta=0.02,
    damp="sender",
    damp_allowance=0.0,
    direction="out",
    conductance=1.0,
)
PUBLISHED = Setting(
    "published",
    True,
    MappingProxyType({}),
    relevance="count",
    max_seeds=64,
    seed_power=0.0,
    lam=0.5,
    hops=2,
    theta=0.02,
    damp="receiver",
    damp_allowance=0.0,
    direction="both",
    conductance=0.4,
)
DEFAULT = Setting(
    "default",
    False,
    MappingProxyType({}),
    relevance="bm25",
    max_seeds=8,
    seed_power=1.0,
    lam=0.9,
    hops=3,
    theta=0.02,
    damp="sender",
    damp_allowance=8.0,
    direction="out",
    conductance=0.4,
)
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {setting.name: setting for setting in (PLAIN, PUBLISHED, DEFAULT)}
)


@dataclass(frozen=True)
class Workload:
    """N propositions and the queries asked of them; row i is proposition i.

    Attributes
    ----------
    n, seed : int
        Size and seed it was made from.
    titles : int32 array, shape (n, 6)
        Frequency ranks of the title's words, from 0.
    summaries : int32 array, shape (n, 20)
        The same for the summary.
    link_from, link_to : int32 array
        Distinct links without self-links, sorted by source, then target; weight 1, ``relates``.
    importance : uint8 array
        0 low to 3 resident.
    last_used_days : float64 array
        Days before ``NOW_MICROSECONDS``, at least 0.01.
    use_count : int32 array
        Number of uses; 0 means recorded and never used.
    queries : int32 array, shape (q, 3)
        Distinct ranks in ``QUERY_RANKS``, all from one title.
    """

    n: int
    seed: int
    titles: IntArray
    summaries: IntArray
    link_from: IntArray
    link_to: IntArray
    importance: npt.NDArray[np.uint8]
    last_used_days: FloatArray
    use_count: IntArray
    queries: IntArray

    @cached_property
    def ids(self) -> list[str]:
        """Ids of fixed width, in row order, so that id order is row order."""
        return [f"p{row:07d}" for row in range(self.n)]

    @cached_property
    def last_used(self) -> npt.NDArray[np.int64]:
        """Time of last use in microseconds since 1970, UTC."""
        return NOW_MICROSECONDS - (self.last_used_days * MICROSECONDS_PER_DAY).astype(np.int64)

    @cached_property
    def degree(self) -> IntArray:
        """Links that touch each proposition, whichever way they point."""
        ends = np.concatenate([self.link_from, self.link_to])
        return np.bincount(ends, minlength=self.n).astype(np.int32)

    def title_texts(self) -> pa.StringArray:
        """Titles as an Arrow array of strings, without a Python loop."""
        return texts(self.titles)

    def summary_texts(self) -> pa.StringArray:
        """Summaries as an Arrow array of strings."""
        return texts(self.summaries)

    def query_texts(self) -> list[str]:
        """Queries as strings."""
        return list(texts(self.queries).to_pylist())

    def links_by_source(self) -> Iterator[tuple[int, IntArray]]:
        """Yield (source, its targets) for each source that has links."""
        sources, starts = np.unique(self.link_from, return_index=True)
        ends = np.append(starts[1:], self.link_from.size)
        for source, start, end in zip(sources.tolist(), starts, ends, strict=True):
            yield source, self.link_to[start:end]


def word_table(count: int = VOCABULARY) -> npt.NDArray[np.uint8]:
    """Return the vocabulary as bytes, shape (count, 5); row = frequency rank."""
    letters = np.frombuffer(_LETTERS, dtype=np.uint8)
    ranks = np.arange(count)
    table = np.empty((count, _WORD_WIDTH), dtype=np.uint8)
    table[:, 0] = ord("z")
    for column in range(_WORD_WIDTH - 1, 0, -1):
        table[:, column] = letters[ranks % letters.size]
        ranks = ranks // letters.size
    return table


def word(rank: int) -> str:
    """Return the word of one frequency rank.

    Examples
    --------
    >>> word(0), word(17)
    ('zbbbb', 'zbbcb')
    """
    return bytes(word_table(rank + 1)[rank]).decode("ascii")


def texts(ranks: IntArray) -> pa.StringArray:
    """Join each row of ranks to a text of words with single spaces between."""
    rows, terms = ranks.shape
    spaced = np.full((VOCABULARY, _WORD_WIDTH + 1), ord(" "), dtype=np.uint8)
    spaced[:, :_WORD_WIDTH] = word_table()
    width = terms * (_WORD_WIDTH + 1)
    data = spaced[ranks].reshape(rows, width)[:, : width - 1]
    offsets = np.arange(rows + 1, dtype=np.int64) * (width - 1)
    if offsets[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{rows} texts of {width - 1} bytes exceed 2 GiB: take them in parts")
    buffers = [
        None,
        pa.py_buffer(offsets.astype(np.int32)),
        pa.py_buffer(np.ascontiguousarray(data)),
    ]
    return pa.StringArray.from_buffers(rows, buffers[1], buffers[2])


def workload(n: int, *, seed: int = 1, queries: int = 1_000) -> Workload:
    """Generate the standard workload.

    Parameters
    ----------
    n : int
        Number of propositions, at least 10.
    seed : int
        Seed of the generator.
    queries : int
        Number of queries.

    Returns
    -------
    Workload
        Fixed by (n, seed).

    Examples
    --------
    >>> w = workload(100, queries=2)
    >>> w.titles.shape, w.queries.shape
    ((100, 6), (2, 3))
    """
    if n < 10:
        raise ValueError(f"n is {n}: the workload needs at least 10 propositions")
    text_rng, link_rng, use_rng, query_rng = (
        np.random.default_rng([seed, stream]) for stream in range(4)
    )
    draw = _zipf_sampler(text_rng)
    titles, summaries = draw(n, TITLE_TERMS), draw(n, SUMMARY_TERMS)
    link_from, link_to = _links(n, link_rng)
    importance, days, uses = _uses(n, use_rng)
    return Workload(
        n=n,
        seed=seed,
        titles=titles,
        summaries=summaries,
        link_from=link_from,
        link_to=link_to,
        importance=importance,
        last_used_days=days,
        use_count=uses,
        queries=_queries(titles, queries, query_rng),
    )


class _zipf_sampler:  # noqa: N801  (used as a function that remembers its tables)
    """Draw Zipf ranks by Walker's alias method: one table look-up per draw."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        weights = np.arange(1, VOCABULARY + 1, dtype=np.float64) ** -ZIPF_EXPONENT
        self.keep, self.alias = _alias_tables(weights / weights.sum())

    def __call__(self, rows: int, columns: int) -> IntArray:
        out = np.empty(rows * columns, dtype=np.int32)
        part = 1 << 20
        for start in range(0, out.size, part):
            size = min(part, out.size - start)
            draws = self.rng.random(size) * VOCABULARY
            ranks = draws.astype(np.int32)
            other = draws - ranks >= self.keep[ranks]
            out[start : start + size] = np.where(other, self.alias[ranks], ranks)
        return out.reshape(rows, columns)


def _alias_tables(shares: FloatArray) -> tuple[FloatArray, IntArray]:
    keep = shares * shares.size
    alias = np.arange(shares.size, dtype=np.int32)
    small = [index for index, share in enumerate(keep) if share < 1]
    large = [index for index, share in enumerate(keep) if share >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        alias[low] = high
        keep[high] -= 1 - keep[low]
        if keep[high] < 1:
            small.append(large.pop())
    keep[small] = keep[large] = 1.0
    return keep, alias


def _links(n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw links whose ends both follow a power law cut at hubs of degree 3 sqrt(n)."""
    cap = HUB_FACTOR * np.sqrt(n) / 2
    wish = np.minimum((1 - rng.random(n)) ** (-1 / TAIL_EXPONENT), cap)
    for _ in range(20):  # scale to the mean wanted without moving the cap
        wish = np.minimum(wish * (LINKS_EACH / wish.mean()), cap)
    count = np.floor(wish + rng.random(n)).astype(np.int64)
    sources = np.repeat(np.arange(n, dtype=np.int64), count)
    targets = rng.permutation(sources)
    keys = np.sort(sources * n + targets)  # np.unique hashes and is 50 times slower here
    keys = keys[(keys // n != keys % n) & np.append(True, keys[1:] != keys[:-1])]
    return (keys // n).astype(np.int32), (keys % n).astype(np.int32)


def _uses(n: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.uint8], FloatArray, IntArray]:
    """Draw importances, days since last use (a year at most) and use counts (most are rare)."""
    importance = np.searchsorted(np.cumsum(_IMPORTANCE_SHARES)[:-1], rng.random(n), side="right")
    days = np.clip(rng.exponential(60.0, n), 0.01, 365.0)
    uses = np.floor((1 - rng.random(n)) ** -0.7 - 1).clip(0, 5_000)
    return importance.astype(np.uint8), days, uses.astype(np.int32)


def _queries(titles: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Take three distinct words of the query band from one title each."""
    low, high = QUERY_RANKS
    found: list[IntArray] = []
    while len(found) < count:
        title = np.unique(titles[rng.integers(titles.shape[0])])
        band = title[(title + 1 >= low) & (title + 1 <= high)]
        if band.size >= QUERY_TERMS:
            found.append(rng.permutation(band)[:QUERY_TERMS].astype(np.int32))
    return np.array(found, dtype=np.int32).reshape(count, QUERY_TERMS)


def hotness(work: Workload, setting: Setting = PLAIN) -> FloatArray:
    """Return every proposition's strength at ``NOW_MICROSECONDS``, in double precision."""
    base = np.array(_BASE)[work.importance]
    half_life = np.array(_HALF_LIFE_DAYS)[work.importance]
    recency = setting.w_t * np.exp(-work.last_used_days / half_life)
    total: FloatArray = base + recency + setting.w_u * np.log1p(work.use_count)
    return total
