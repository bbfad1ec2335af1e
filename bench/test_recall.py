"""Recall beside Numba under pytest-benchmark: ``pytest bench --benchmark-only``.

Each timed call answers all queries once, so that a row is 200 recalls; compare within a group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.core import NOW_MICROSECONDS, params_of, retuned
from bench.data import PLAIN, SETTINGS, Workload
from bench.reference.answers import agree, seed_at_the_cut
from bench.reference.arrays import build
from bench.reference.graph_spread import dict_graph, dict_spread, scipy_matrix, scipy_spread
from bench.reference.numba_recall import NumbaRecall
from doxa import _core

SEEDS = dict.fromkeys(range(0, 640, 10), 1.0)


@pytest.mark.parametrize("setting", SETTINGS)
def test_recall_of_the_core(
    benchmark: Any, work: Workload, engine: _core.Engine, setting: str
) -> None:
    benchmark.group = f"200 recalls, {setting}, {work.n}"
    texts, params = work.query_texts(), params_of(SETTINGS[setting])
    retuned(engine, params)
    hits = benchmark(
        lambda: [engine.recall(text, 10, NOW_MICROSECONDS, params.tuning) for text in texts]
    )
    arrays = build(work, SETTINGS[setting])
    reference = NumbaRecall(arrays)
    for query, found in zip(work.queries, hits, strict=True):
        if not seed_at_the_cut(arrays, query):
            answer = np.asarray(found.nodes), np.asarray(found.scores)
            assert agree(answer, reference.recall(query))


@pytest.mark.parametrize("setting", SETTINGS)
def test_recall_in_numba(benchmark: Any, work: Workload, setting: str) -> None:
    benchmark.group = f"200 recalls, {setting}, {work.n}"
    reference = NumbaRecall(build(work, SETTINGS[setting]))
    answers = benchmark(lambda: [reference.recall(query) for query in work.queries])
    assert len(answers) == len(work.queries)


def test_a_batch_of_recalls(benchmark: Any, work: Workload, engine: _core.Engine) -> None:
    benchmark.group = f"200 recalls, plain, {work.n}"
    params = params_of(PLAIN)
    retuned(engine, params)
    texts = work.query_texts()
    batch = benchmark(lambda: engine.recall_many(texts, 10, NOW_MICROSECONDS, params.tuning))
    alone = [engine.recall(text, 10, NOW_MICROSECONDS, params.tuning) for text in texts]
    assert [list(one.nodes) for one in batch] == [list(one.nodes) for one in alone]


@pytest.mark.parametrize("how", ["core", "numba", "scipy", "dict"])
def test_spread_alone(benchmark: Any, work: Workload, engine: _core.Engine, how: str) -> None:
    benchmark.group = f"spread from 64 seeds, {work.n}"
    params, arrays = params_of(PLAIN), build(work, PLAIN)
    if how == "core":
        retuned(engine, params)
        nodes = list(SEEDS)
        found = benchmark(lambda: engine.related(nodes, 10, NOW_MICROSECONDS, params.tuning))
        best = {int(n): float(s) for n, s in zip(found.nodes, found.scores, strict=True)}
    elif how == "numba":
        numba = NumbaRecall(arrays)
        rows, ones = np.array(list(SEEDS), np.uint32), np.ones(len(SEEDS), np.float32)
        reached, sums = benchmark(lambda: numba.spread(rows, ones))
        best = dict(zip(reached.tolist(), sums.tolist(), strict=True))
    elif how == "scipy":
        matrix = scipy_matrix(arrays)
        best = benchmark(lambda: scipy_spread(matrix, arrays, SEEDS))
    else:
        graph = dict_graph(arrays)
        best = benchmark(lambda: dict_spread(graph, arrays, SEEDS))
    expected = dict_spread(dict_graph(arrays), arrays, SEEDS)
    assert best == pytest.approx({node: expected[node] for node in best}, rel=1e-5)


def test_rescoring(benchmark: Any, work: Workload, engine: _core.Engine) -> None:
    benchmark.group = f"re-score, {work.n}"
    tuning = params_of(PLAIN).tuning
    nodes, *_ = benchmark(lambda: engine.rescore(NOW_MICROSECONDS, tuning))
    assert len(nodes) == work.n
