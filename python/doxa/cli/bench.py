"""``doxa bench``: a small, honest measurement of recall on this machine.

Builds a store of N made-up propositions in memory and times single recalls: through
``mem.recall`` as a user calls it, and of the core alone. Beside them stands a yardstick
timed in the same run, a plain Python dictionary look-up, since absolute times on shared
machines mislead. Prints a checksum of the answers, so that nobody wins by changing the
work. The full benchmarks live in ``bench/`` of a checkout.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from doxa.cli.progress import progress
from doxa.cli.session import JsonOption, StoreOption, guarded, session
from doxa.errors import InvalidValue

if TYPE_CHECKING:
    from doxa.memory import Memory

__all__ = ["measure", "register"]

NOW: Final = dt.datetime(2026, 9, 21, tzinfo=dt.UTC)
_VOCABULARY: Final = 20_000
_ZIPF: Final = 1.1
_TITLE_WORDS: Final = 6
_SUMMARY_WORDS: Final = 20
_LINKS_EACH: Final = 5
_SYLLABLES: Final = "ba ce di fo gu ka le mi no pu ra te vi zo".split()  # noqa: SIM905
_QUICK: Final = (1_000, 200)
_USUAL: Final = (10_000, 2_000)
_MOST: Final = 1_000_000
_WARM_UP: Final = 50
_HITS: Final = 10


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("bench")(guarded(bench))


def bench(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Small and done in seconds.")] = False,
    count: Annotated[int | None, typer.Option("-n", help="How many propositions.")] = None,
    queries: Annotated[int | None, typer.Option(help="How many recalls are timed.")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure recall here: p50 and p99 in microseconds, with a yardstick beside them."""
    here = session(context, store, as_json)
    usual = _QUICK if quick else _USUAL
    size = usual[0] if count is None else count
    asked = usual[1] if queries is None else queries
    if not 10 <= size <= _MOST:
        raise InvalidValue("-n", size, f"from 10 to {_MOST:,} propositions")
    if not 1 <= asked <= _MOST:
        raise InvalidValue("--queries", asked, f"from 1 to {_MOST:,}")
    with progress("measuring") as step:
        figures = measure(size, asked, step)
    here.out.document(figures)
    here.out.say(
        f"{size:,} propositions, {figures['links']:,} links, {asked:,} recalls of {_HITS} hits, "
        f"{figures['machine']}"
    )
    rows = [
        (name, f"{row['p50_us']:.1f}", f"{row['p99_us']:.1f}", f"{row['ratio']:.1f}")
        for name, row in figures["times"].items()
    ]
    columns = ("", "p50 µs", "p99 µs", "× yardstick")
    here.out.table(columns, rows, numbers=(1, 2, 3), styles={1: "bold"})
    here.out.say(f"taken in {figures['ingest_rows_per_s']:,} propositions a second, gate on")
    here.out.say(f"checksum of the answers {figures['checksum']}", "dim")


def measure(
    size: int, queries: int, step: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, Any]:
    """Build a store and time recalls.

    Parameters
    ----------
    size, queries : int
        How many propositions, how many recalls.
    step : callable
        Called with (done, total).

    Returns
    -------
    dict
        ``times`` (name → p50, p99 in µs, ratio of the medians to the yardstick's),
        ``ingest_rows_per_s``, ``links``, ``checksum``, ``machine``.

    Examples
    --------
    >>> sorted(measure(20, 5)["times"])
    ['core', 'mem.recall', 'yardstick']
    """
    import doxa

    total = size + 2 * queries
    chance = random.Random(7)
    words = _Words(chance)
    with doxa.memory(seed_norms=False) as mem:
        began = time.perf_counter()
        titles = []
        for start in range(0, size, 1024):
            rows = list(words.rows(range(start, min(start + 1024, size))))
            titles += [row["title"] for row in rows]
            mem.remember_many(rows, on_duplicate="allow")
            step(start + len(rows), total)
        spent = time.perf_counter() - began
        links = _link(mem, size, chance)
        asked = [words.query(chance.choice(titles)) for _ in range(queries)]
        for text in asked[:_WARM_UP]:
            mem.recall(text, now=NOW)
        answers = hashlib.blake2b(digest_size=8)
        calls: dict[str, Callable[[str], object]] = {
            "mem.recall": partial(mem.recall, now=NOW),
            "core": _core_recall(mem),
            "yardstick": _yardstick(titles),
        }
        times: dict[str, list[int]] = {name: [] for name in calls}
        for number, text in enumerate(asked):
            for name, call in calls.items():
                times[name].append(_timed(call, text))
            answers.update(" ".join(mem.recall(text, now=NOW).ids).encode())
            if number % 64 == 0:
                step(size + 2 * number, total)
    return {
        "propositions": size,
        "links": links,
        "queries": queries,
        "times": _summary(times),
        "ingest_rows_per_s": round(size / spent),
        "checksum": answers.hexdigest(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "doxa": doxa.__version__,
    }


def _timed(call: Callable[[str], object], text: str) -> int:
    began = time.perf_counter_ns()
    call(text)
    return time.perf_counter_ns() - began


def _summary(times: dict[str, list[int]]) -> dict[str, dict[str, float]]:
    yard = statistics.median(times["yardstick"])
    out = {}
    for name, values in times.items():
        ranked = sorted(values)
        p99 = ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))]
        middle = statistics.median(ranked)
        out[name] = {
            "p50_us": middle / 1000,
            "p99_us": p99 / 1000,
            "ratio": middle / max(yard, 1),
        }
    return out


def _core_recall(mem: Memory) -> Callable[[str], object]:
    """Return the core's recall with everything that the Python layer does taken off."""
    engine, tuning = mem._live.view().engine, mem.params.tuning
    now = int(NOW.timestamp()) * 1_000_000

    def call(text: str) -> object:
        return engine.recall(text, _HITS, now, tuning)

    return call


def _yardstick(titles: list[str]) -> Callable[[str], object]:
    """Return a look-up of a query's words in a dictionary: what plain Python would begin with."""
    postings: dict[str, list[int]] = {}
    for number, title in enumerate(titles):
        for word in title.split():
            postings.setdefault(word, []).append(number)

    def call(text: str) -> object:
        counts: dict[int, int] = {}
        for word in text.split():
            for number in postings.get(word, ()):
                counts[number] = counts.get(number, 0) + 1
        return sorted(counts, key=lambda n: (-counts[n], n))[:_HITS]

    return call


def _link(mem: Memory, size: int, chance: random.Random) -> int:
    """Tie propositions together, a few of them into hubs; return how many links there are."""
    hubs = max(1, int(size**0.5) // 4)
    with mem.transaction("links"):
        for a in range(size):
            for _ in range(_LINKS_EACH // 2 + chance.randrange(2)):
                b = chance.randrange(hubs) if chance.random() < 0.2 else chance.randrange(size)
                if a != b:
                    mem.link(f"p{a}", f"p{b}", at=NOW)
    return int(mem.stats()["links"])


class _Words:
    """Words whose frequencies fall as a power of their rank."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        base = len(_SYLLABLES)
        self.words = [
            "".join(_SYLLABLES[rank // base**place % base] for place in range(4))
            for rank in range(_VOCABULARY)
        ]
        self.rank = {word: rank for rank, word in enumerate(self.words)}
        total = 0.0
        self.cumulative = []
        for rank in range(1, _VOCABULARY + 1):
            total += rank**-_ZIPF
            self.cumulative.append(total)

    def draw(self, count: int) -> list[str]:
        return self.chance.choices(self.words, cum_weights=self.cumulative, k=count)

    def rows(self, numbers: range) -> Iterator[dict[str, Any]]:
        for number in numbers:
            yield {
                "id": f"p{number}",
                "title": " ".join(self.draw(_TITLE_WORDS)),
                "summary": " ".join(self.draw(_SUMMARY_WORDS)),
                "at": NOW - dt.timedelta(days=self.chance.random() * 365),
            }

    def query(self, title: str) -> str:
        """Return the three rarest words of a title."""
        rarest = sorted(set(title.split()), key=lambda word: -self.rank[word])
        return " ".join(rarest[:3])
