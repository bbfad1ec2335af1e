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
        most = float(arrays.nodes["strength"].max())
        self._arrays = (arrays.terms, arrays.postings, arrays.nodes, arrays.edges)
        self._constants = tuple(
            np.float32(value)
            for value in (setting.alpha, setting.beta, most, setting.lam, setting.theta)
        )
        self._shape = (
            setting.hops,
            np.float32(setting.seed_power),
            setting.damp == "receiver",
            max(1, setting.max_seeds),
        )
        self._sums = np.zeros((4, arrays.n), np.float32)
        self._lists = np.empty((4, arrays.n), np.uint32)
        self._scores = np.empty(max(1, setting.max_seeds) + k, np.float32)
        self._rows = np.empty(self._scores.size, np.uint32)

    def recall(self, terms: I32) -> Answer:
        """Return rows and scores of the best k for one query of frequency ranks."""
        found = _recall(
            terms,
            *self._arrays,
            self._constants,
            self._shape,
            self._sums,
            self._lists,
            self._scores,
            self._rows,
        )
        first = self._shape[3]
        return self._rows[first : first + found].copy(), self._scores[first : first + found].copy()

    def spread(self, rows: npt.NDArray[np.uint32], energies: F32) -> Answer:
        """Return (rows, activation) of all that the given seeds reach, in the order reached."""
        seeds = len(rows)
        self._scores[:seeds], self._rows[:seeds] = energies, rows
        reached = _spread(
            seeds,
            *self._arrays[2:],
            self._constants,
            self._shape,
            self._sums,
            self._lists,
            self._scores,
            self._rows,
        )
        found = self._lists[3, :reached].copy()
        activation = self._sums[1][found]
        self._sums[1][found] = 0
        return found, activation


@njit(cache=True, error_model="numpy")
def _sift_down(scores, rows, at, size):  # type: ignore[no-untyped-def]
    """Let a score sink to its place in a heap whose root is the least."""
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


@njit(cache=True, error_model="numpy")
def _offer(scores, rows, size, score, row):  # type: ignore[no-untyped-def]
    """Keep the best of all offered in a heap of bounded size; return the size."""
    if size == scores.size:
        if score > scores[0]:
            scores[0], rows[0] = score, row
            _sift_down(scores, rows, 0, size)
        return size
    at = size
    while at > 0 and scores[(at - 1) // 2] > score:
        parent = (at - 1) // 2
        scores[at], rows[at] = scores[parent], rows[parent]
        at = parent
    scores[at], rows[at] = score, row
    return size + 1


@njit(cache=True, error_model="numpy")
def _floor(scores, size):  # type: ignore[no-untyped-def]
    return scores[0] if size == scores.size else np.float32(-1)


@njit(cache=True, error_model="numpy")
def _match(query, terms, postings, nodes, constants, relevance, touched, scores, rows):  # type: ignore[no-untyped-def]
    """Sum the postings of the terms; put the best by combined into the heap of seeds."""
    alpha, beta, most = constants[0], constants[1], constants[2]
    count = 0
    for term in query:
        weight = terms[term].weight
        for at in range(terms[term].start, terms[term + 1].start):
            doc = postings[at].doc
            if relevance[doc] == 0:
                touched[count] = doc
                count += 1
            relevance[doc] += weight * postings[at].value
    picked = 0
    for at in range(count):
        doc = touched[at]
        if alpha * relevance[doc] + beta * most > _floor(scores, picked):
            score = alpha * relevance[doc] + beta * nodes[doc].strength
            picked = _offer(scores, rows, picked, score, doc)
    return count, picked


@njit(cache=True, error_model="numpy")
def _hop(size, nodes, edges, constants, by_receiver, now, after, frontier, reached):  # type: ignore[no-untyped-def]
    """Send on what arrived at the frontier; return how many nodes were reached."""
    lam, theta = constants[3], constants[4]
    fresh = 0
    for at in range(size):
        node = frontier[at]
        amount = now[node] * lam
        now[node] = 0
        if not by_receiver:
            amount *= nodes[node].damp
        if amount < theta:
            continue
        for edge in range(nodes[node].start, nodes[node + 1].start):
            add = amount * edges[edge].conductance
            if add < theta:
                continue
            target = edges[edge].node
            if by_receiver:
                add *= nodes[target].damp
                if add < theta:
                    continue
            if after[target] == 0:
                reached[fresh] = target
                fresh += 1
            after[target] += add
    return fresh


@njit(cache=True, error_model="numpy")
def _spread(count, nodes, edges, constants, shape, sums, lists, scores, rows):  # type: ignore[no-untyped-def]
    """Spread from the seeds; leave sums in ``sums[1]``, the nodes reached in ``lists[3]``."""
    hops, power, by_receiver, _ = shape
    total, now, after = sums[1], sums[2], sums[3]
    frontier, reached, everything = lists[1], lists[2], lists[3]
    best = np.float32(0)
    for at in range(count):
        best = max(best, scores[at])
    for at in range(count):
        frontier[at] = rows[at]
        now[rows[at]] = scores[at]
        if power != 0:
            now[rows[at]] *= (scores[at] / best) ** power
    size, whole = count, 0
    for _ in range(hops):
        size = _hop(size, nodes, edges, constants, by_receiver, now, after, frontier, reached)
        for at in range(size):
            node = reached[at]
            if total[node] == 0:
                everything[whole] = node
                whole += 1
            total[node] += after[node]
        now, after = after, now
        frontier, reached = reached, frontier
    for at in range(size):
        now[frontier[at]] = 0
    return whole


@njit(cache=True, error_model="numpy")
def _select(count, whole, nodes, constants, sums, lists, scores, rows):  # type: ignore[no-untyped-def]
    """Put the best of hits and of what was reached into a heap; forget all sums."""
    alpha, beta, most = constants[0], constants[1], constants[2]
    relevance, total = sums[0], sums[1]
    found = 0
    for at in range(count):
        doc = lists[0, at]
        if alpha * relevance[doc] + beta * most + total[doc] > _floor(scores, found):
            combined = alpha * relevance[doc] + beta * nodes[doc].strength
            found = _offer(scores, rows, found, combined + total[doc], doc)
        relevance[doc] = 0
        total[doc] = 0
    for at in range(whole):
        doc = lists[3, at]
        if total[doc] > _floor(scores, found) and total[doc] != 0:
            found = _offer(scores, rows, found, total[doc], doc)
        total[doc] = 0
    for size in range(found - 1, 0, -1):  # the least goes to the end: best first remains
        scores[0], scores[size] = scores[size], scores[0]
        rows[0], rows[size] = rows[size], rows[0]
        _sift_down(scores, rows, 0, size)
    return found


@njit(cache=True, error_model="numpy")
def _recall(  # type: ignore[no-untyped-def]
    query, terms, postings, nodes, edges, constants, shape, sums, lists, scores, rows
):
    first = shape[3]
    seeds, picks = scores[:first], rows[:first]
    count, picked = _match(
        query, terms, postings, nodes, constants, sums[0], lists[0], seeds, picks
    )
    whole = _spread(picked, nodes, edges, constants, shape, sums, lists, seeds, picks)
    return _select(count, whole, nodes, constants, sums, lists, scores[first:], rows[first:])
