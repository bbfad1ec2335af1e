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

Records = npt.NDArray[np.void]

TERM = np.dtype([("start", np.uint32), ("weight", np.float32)])
POSTING = np.dtype([("doc", np.uint32), ("value", np.float32)])
NODE = np.dtype([("start", np.uint32), ("damp", np.float32), ("strength", np.float32)])
EDGE = np.dtype([("node", np.uint32), ("conductance", np.float32)])

_MOST_OF_ONE_WORD = 31


@dataclass(frozen=True)
class Arrays:
    """What the references read, as records, so that one cache line holds what is read together.

    Attributes
    ----------
    terms : record array (start, weight)
        By frequency rank, with one more at the end: where its postings begin, and what a value of
        1 earns: 1 when counting, idf over mean idf for BM25.
    postings : record array (doc, value)
        Rising documents; the best field's weight times saturation.
    nodes : record array (start, damp, strength)
        One more than ``n``: where its row begins, 1 / (1 + ln ...) of its degree, hotness now.
    edges : record array (node, conductance)
        Where energy flows to from each node.
    """

    n: int
    setting: Setting
    terms: Records
    postings: Records
    nodes: Records
    edges: Records


def build(work: Workload, setting: Setting) -> Arrays:
    """Index the workload for one setting.

    Examples
    --------
    >>> from bench.data import PLAIN, workload
    >>> build(workload(100), PLAIN).edges.size > 300
    True
    """
    term_start, docs, values = _postings(work, setting)
    row_start, neighbours = _rows(work, setting.direction)
    terms = np.zeros(VOCABULARY + 1, dtype=TERM)
    terms["start"] = term_start
    terms["weight"][:-1] = _term_weights(work.n, np.diff(term_start), setting)
    postings = np.empty(docs.size, dtype=POSTING)
    postings["doc"], postings["value"] = docs, values
    nodes = np.zeros(work.n + 1, dtype=NODE)
    nodes["start"] = row_start
    nodes["damp"][:-1] = _damp(work.degree, setting.damp_allowance)
    nodes["strength"][:-1] = hotness(work, setting)
    edges = np.empty(neighbours.size, dtype=EDGE)
    edges["node"], edges["conductance"] = neighbours, setting.conductance
    return Arrays(work.n, setting, terms, postings, nodes, edges)


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
    packed: I64 = keys[first] * 64 + field * 32 + counts
    return packed


def _term_weights(n: int, holders: I64, setting: Setting) -> F32:
    if setting.relevance == "count":
        return np.ones(holders.size, dtype=np.float32)
    idf = np.log(1 + (n - holders + 0.5) / (holders + 0.5))
    weights: F32 = (idf / idf[holders > 0].mean()).astype(np.float32)
    return weights


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
