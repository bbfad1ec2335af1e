"""Recall in Numba: dense accumulators, touched lists, bounded heaps, nothing allocated per query.

The straightforward good implementation of the formulas over :class:`bench.reference.arrays.Arrays`,
in single precision as the core is. Invariant: accumulators are zero between calls. It has neither
filters nor supersession nor relays, which the standard workload doesn't use. Cost: the postings of
the query's terms, the rows reached, a random access per touched node.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from bench.reference.answers import Answer
from bench.reference.arrays import Arrays

F32 = npt.NDArray[np.float32]
I32 = npt.NDArray[np.int32]


class NumbaRecall:
    """Recall over fixed arrays with its own scratch memory.

    Examples
    --------
    >>> from bench.data import PLAIN, workload
    >>> from bench.reference.arrays import build
    >>> work = workload(200, queries=1)
    >>> ids, scores = NumbaRecall(build(work, PLAIN)).recall(work.queries[0])
    >>> len(ids) == 10 and bool((scores[:-1] >= scores[1:]).all())
    True
    """

    def __init__(self, arrays: Arrays, k: int = 10) -> None:
        setting = arrays.setting
        n = arrays.n
        self.k = k
        self._index = (
            arrays.term_start,
            arrays.posting_doc,
            arrays.posting_value,
            arrays.term_weight,
            arrays.strength,
        )
        self._graph = (arrays.row_start, arrays.row_node, arrays.row_conductance, arrays.damp)
        self._flat = (np.float32(setting.alpha), np.float32(setting.beta))
        self._spread = (
            np.float32(setting.lam),
            np.float32(setting.theta),
            setting.hops,
            np.float32(setting.seed_power),
            setting.damp == "receiver",
        )
        self._hits = (np.zeros(n, np.float32), np.empty(n, np.int32))
        self._energy = (np.zeros(n, np.float32), np.zeros(n, np.float32), np.zeros(n, np.float32))
        self._touched = (np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32))
        seeds = max(1, setting.max_seeds)
        self._seeds = (np.empty(seeds, np.float32), np.empty(seeds, np.int32))
        self._top = (np.empty(k, np.float32), np.empty(k, np.int32))

    def recall(self, terms: I32) -> Answer:
        """Return rows and scores of the best k for one query of frequency ranks."""
        found = _recall(
            terms,
            self._index,
            self._graph,
            self._flat,
            self._spread,
            self._hits,
            self._energy,
            self._touched,
            self._seeds,
            self._top,
        )
        scores, rows = self._top
        order = np.lexsort((rows[:found], -scores[:found]))
        return rows[:found][order], scores[:found][order]

    def spread(self, rows: I32, energies: F32) -> Answer:
        """Return (rows, activation) of all that the given seeds reach, by row."""
        total, _, _ = self._energy
        seeds = len(rows)
        self._seeds[0][:seeds], self._seeds[1][:seeds] = energies, rows
        reached = _spread(
            seeds, self._seeds, self._graph, self._spread, self._energy, self._touched
        )
        found = np.sort(self._touched[2][:reached])
        activation = total[found].copy()
        total[found] = 0
        return found, activation


@njit(cache=True)
def _sift_down(scores, rows, size):  # type: ignore[no-untyped-def]
    """Restore a heap whose root, the least, was replaced."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and scores[child + 1] < scores[child]:
            child += 1
        if scores[at] <= scores[child]:
            return
        scores[at], scores[child] = scores[child], scores[at]
        rows[at], rows[child] = rows[child], rows[at]
        at = child


@njit(cache=True)
def _sift_up(scores, rows, at):  # type: ignore[no-untyped-def]
    while at > 0:
        parent = (at - 1) // 2
        if scores[parent] <= scores[at]:
            return
        scores[at], scores[parent] = scores[parent], scores[at]
        rows[at], rows[parent] = rows[parent], rows[at]
        at = parent


@njit(cache=True)
def _offer(scores, rows, size, score, row):  # type: ignore[no-untyped-def]
    """Keep the best of all offered in a heap of bounded size; return the size."""
    if size < scores.size:
        scores[size], rows[size] = score, row
        _sift_up(scores, rows, size)
        return size + 1
    if score > scores[0]:
        scores[0], rows[0] = score, row
        _sift_down(scores, rows, size)
    return size


@njit(cache=True)
def _match(terms, index, flat, hits, seeds):  # type: ignore[no-untyped-def]
    """Sum the postings of the terms; turn relevance into combined and pick the seeds."""
    term_start, docs, values, term_weight, strength = index
    alpha, beta = flat
    combined, touched = hits
    count = 0
    for term in terms:
        weight = term_weight[term]
        for at in range(term_start[term], term_start[term + 1]):
            doc = docs[at]
            if combined[doc] == 0:
                touched[count] = doc
                count += 1
            combined[doc] += weight * values[at]
    picked = 0
    for at in range(count):
        doc = touched[at]
        score = alpha * combined[doc] + beta * strength[doc]
        combined[doc] = score
        picked = _offer(seeds[0], seeds[1], picked, score, doc)
    return count, picked


@njit(cache=True)
def _spread(count, seeds, graph, spread, energy, touched):  # type: ignore[no-untyped-def]
    """Spread from the seeds; leave sums in ``total``, touched nodes in the third list."""
    row_start, row_node, conductance, damp = graph
    lam, theta, hops, power, by_receiver = spread
    total, now, after = energy
    frontier, reached, all_reached = touched
    best = np.float32(0)
    for at in range(count):
        best = max(best, seeds[0][at])
    for at in range(count):
        node = seeds[1][at]
        frontier[at] = node
        now[node] = seeds[0][at]
        if power != 0:
            now[node] *= (seeds[0][at] / best) ** power
    size, in_all = count, 0
    for _ in range(hops):
        fresh = 0
        for at in range(size):
            node = frontier[at]
            amount = now[node] * lam
            now[node] = 0
            if not by_receiver:
                amount *= damp[node]
            if amount < theta:
                continue
            for edge in range(row_start[node], row_start[node + 1]):
                add = amount * conductance[edge]
                target = row_node[edge]
                if by_receiver:
                    add *= damp[target]
                if add < theta:
                    continue
                if after[target] == 0:
                    reached[fresh] = target
                    fresh += 1
                after[target] += add
        for at in range(fresh):
            node = reached[at]
            if total[node] == 0:
                all_reached[in_all] = node
                in_all += 1
            total[node] += after[node]
        now, after = after, now
        frontier, reached = reached, frontier
        size = fresh
    for at in range(size):
        now[frontier[at]] = 0
    return in_all


@njit(cache=True)
def _recall(terms, index, graph, flat, spread, hits, energy, touched, seeds, top):  # type: ignore[no-untyped-def]
    count, picked = _match(terms, index, flat, hits, seeds)
    reached = _spread(picked, seeds, graph, spread, energy, touched)
    combined, lexical = hits
    total, all_reached = energy[0], touched[2]
    found = 0
    for at in range(count):
        doc = lexical[at]
        found = _offer(top[0], top[1], found, combined[doc] + total[doc], doc)
        combined[doc] = 0
        total[doc] = 0
    for at in range(reached):
        doc = all_reached[at]
        if total[doc] != 0:
            found = _offer(top[0], top[1], found, total[doc], doc)
            total[doc] = 0
    return found
