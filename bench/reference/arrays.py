"""The workload as flat arrays for one setting: what every reference starts from.

Holds postings by term with one value each (the best field's share), rows of links in flow order,
damping by node and strength. Invariant: nothing depends on the query. It precomputes all that an
implementation for a fixed store, time and parameter set may, which the core can't, since its store
changes. Cost: one sort of all postings, a few seconds at one million.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.data import VOCABULARY, Setting, Workload, hotness

F32 = npt.NDArray[np.float32]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

_MOST_OF_ONE_WORD = 31


@dataclass(frozen=True)
class Arrays:
    """What the references read; ``n`` nodes, CSR pointers have one element more than rows.

    Attributes
    ----------
    term_start : int64 array
        Where each term's postings begin, by frequency rank.
    posting_doc, posting_value : int32, float32 array
        Rising documents; the best field's weight times saturation.
    term_weight : float32 array
        What a value of 1 earns for a term: 1 when counting, idf over mean idf for BM25.
    row_start, row_node, row_conductance : int64, int32, float32 array
        Where energy flows to from each node.
    damp : float32 array
        1 / (1 + ln …) of each node's degree.
    strength : float32 array
        Hotness now.
    """

    n: int
    setting: Setting
    term_start: I64
    posting_doc: I32
    posting_value: F32
    term_weight: F32
    row_start: I64
    row_node: I32
    row_conductance: F32
    damp: F32
    strength: F32


def build(work: Workload, setting: Setting) -> Arrays:
    """Index the workload for one setting.

    Examples
    --------
    >>> from bench.data import PLAIN, workload
    >>> build(workload(100), PLAIN).row_start[-1] > 300
    np.True_
    """
    term_start, docs, values = _postings(work, setting)
    row_start, nodes = _rows(work, setting.direction)
    return Arrays(
        n=work.n,
        setting=setting,
        term_start=term_start,
        posting_doc=docs,
        posting_value=values,
        term_weight=_term_weights(work.n, np.diff(term_start), setting),
        row_start=row_start,
        row_node=nodes,
        row_conductance=np.full(nodes.size, setting.conductance, dtype=np.float32),
        damp=_damp(work.degree, setting.damp_allowance),
        strength=hotness(work, setting).astype(np.float32),
    )


def _postings(work: Workload, setting: Setting) -> tuple[I64, I32, F32]:
    """Sort (term, document, field, count) as one integer each; keep the best field."""
    packed = np.sort(
        np.concatenate([_counted(work.titles, work.n, 0), _counted(work.summaries, work.n, 1)])
    )
    counts, fields, keys = packed % 32, packed // 32 % 2, packed // 64
    weights = np.array([setting.w_title, setting.w_summary])[fields]
    if setting.relevance == "bm25":  # all texts of a field are equally long here
        weights *= counts * (setting.k1 + 1) / (counts + setting.k1)
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    values = np.maximum.reduceat(weights, first).astype(np.float32)
    keys = keys[first]
    start = np.searchsorted(keys, np.arange(VOCABULARY + 1, dtype=np.int64) * work.n)
    return start, (keys % work.n).astype(np.int32), values


def _counted(ranks: I32, n: int, field: int) -> I64:
    docs = np.arange(n, dtype=np.int64)[:, None]
    keys = np.sort((ranks.astype(np.int64) * n + docs).ravel())
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    counts = np.diff(np.append(first, keys.size)).clip(max=_MOST_OF_ONE_WORD)
    return keys[first] * 64 + field * 32 + counts


def _term_weights(n: int, holders: I64, setting: Setting) -> F32:
    if setting.relevance == "count":
        return np.ones(holders.size, dtype=np.float32)
    idf = np.log(1 + (n - holders + 0.5) / (holders + 0.5))
    return (idf / idf[holders > 0].mean()).astype(np.float32)


def _rows(work: Workload, direction: str) -> tuple[I64, I32]:
    sources, targets = work.link_from, work.link_to
    if direction == "both":
        sources, targets = (
            np.concatenate([sources, targets]),
            np.concatenate([targets, sources]),
        )
    order = np.argsort(sources, kind="stable")
    start = np.zeros(work.n + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources, minlength=work.n), out=start[1:])
    return start, targets[order]


def _damp(degree: I32, allowance: float) -> F32:
    if allowance == 0:
        return (1 / (1 + np.log1p(degree))).astype(np.float32)
    return (1 / (1 + np.log(np.maximum(1.0, degree / allowance)))).astype(np.float32)
