"""Latency of recall and of the spread alone, against references in the same run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.core import NOW_MICROSECONDS, engine_of, params_of, retuned
from bench.data import PLAIN, SETTINGS, Workload
from bench.reference.answers import Answer, checksum, disagreements, seed_at_the_cut
from bench.reference.arrays import Arrays, build
from bench.reference.graph_spread import (
    dict_graph,
    dict_spread,
    networkx_graph,
    networkx_spread,
    scipy_matrix,
    scipy_spread,
)
from bench.reference.numba_recall import NumbaRecall
from bench.timing import fastest, interleaved, percentiles
from doxa import _core

__all__ = ["compare", "growth", "spread_alone", "threads"]

K = 10
ROUNDS = 5
SPREAD_SEEDS = 64
#: Beyond this many propositions a dictionary of lists takes too long to build.
MOST_FOR_DICTIONARIES = 100_000


def compare(
    work: Workload,
    names: Sequence[str] = tuple(SETTINGS),
    *,
    engine: _core.Engine | None = None,
    rounds: int = ROUNDS,
) -> list[dict[str, Any]]:
    """Measure each setting: p50 and p99 in µs of the core and of Numba, interleaved.

    Returns
    -------
    list of dict
        One row per setting; ``differ`` counts queries on which the two disagree, ``unclear``
        those that rounding decides and that are not compared; ``to_plain`` is the core's p50 over
        that of the first setting.
    """
    texts, ranks = work.query_texts(), list(work.queries)
    engine = engine or engine_of(work, params_of(SETTINGS[names[0]]))
    rows: list[dict[str, Any]] = []
    for name in names:
        setting = SETTINGS[name]
        tuning = params_of(setting).tuning
        retuned(engine, params_of(setting))
        arrays = build(work, setting)
        reference = NumbaRecall(arrays, K)
        core = partial(_recall, engine, tuning)
        ours = [_answer(core(text)) for text in texts]
        theirs = [reference.recall(query) for query in ranks]
        unclear = {at for at, query in enumerate(ranks) if seed_at_the_cut(arrays, query)}
        wrong = set(disagreements(ours, theirs)) - unclear
        times = interleaved({"core": (core, texts), "numba": (reference.recall, ranks)}, rounds)
        row: dict[str, Any] = {"n": work.n, "setting": name}
        row |= percentiles("core", times["core"]) | percentiles("numba", times["numba"])
        row["ratio"] = row["core_p50_us"] / row["numba_p50_us"]
        row["p99_to_p50"] = row["core_p99_us"] / row["core_p50_us"]
        row["to_plain"] = row["core_p50_us"] / (rows[0] if rows else row)["core_p50_us"]
        row |= {"differ": len(wrong), "unclear": len(unclear), "checksum": checksum(ours)}
        rows.append(row)
    return rows


def _recall(engine: _core.Engine, tuning: _core.Tuning, text: str) -> _core.RawHits:
    return engine.recall(text, K, NOW_MICROSECONDS, tuning)


def _answer(hits: _core.RawHits) -> Answer:
    return np.asarray(hits.nodes), np.asarray(hits.scores)


def growth(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return by setting the exponent of p50 against N, and p50 at 1M over p50 at 10k if there."""
    out = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        points = {row["n"]: row["core_p50_us"] for row in rows if row["setting"] == setting}
        if len(points) < 2:
            continue
        slope = np.polyfit(np.log(list(points)), np.log(list(points.values())), 1)[0]
        row = {"setting": setting, "exponent": float(slope)}
        if {10_000, 1_000_000} <= points.keys():
            row["p50_1m_to_10k"] = points[1_000_000] / points[10_000]
        out.append(row)
    return out


def spread_alone(
    work: Workload,
    *,
    engine: _core.Engine | None = None,
    seeds: int = SPREAD_SEEDS,
    calls: int = 20,
) -> dict[str, Any]:
    """Measure the spread from given nodes in the plain setting against graph libraries.

    Seeds have energy 1. The core also ranks and returns the best 10, the others only return sums.
    """
    rng = np.random.default_rng(work.seed)
    starts = [rng.choice(work.n, size=min(seeds, work.n), replace=False) for _ in range(calls)]
    energies = [dict.fromkeys(nodes.tolist(), 1.0) for nodes in starts]
    params = params_of(PLAIN)
    engine = retuned(engine or engine_of(work, params), params)
    arrays = build(work, PLAIN)
    numba = NumbaRecall(arrays, K)
    ones = np.ones(len(starts[0]), dtype=np.float32)

    def core(nodes: list[int]) -> _core.RawHits:
        return engine.related(nodes, K, NOW_MICROSECONDS, params.tuning)

    calls_by_name: dict[str, tuple[Callable[[Any], object], Sequence[Any]]] = {
        "core": (core, [nodes.tolist() for nodes in starts]),
        "numba": (lambda nodes: numba.spread(nodes, ones), [s.astype(np.uint32) for s in starts]),
    }
    calls_by_name |= {name: (call, energies) for name, call in _graph_libraries(arrays).items()}
    wrong = [
        at
        for at, nodes in enumerate(starts)
        if not _same_best(core(nodes.tolist()), numba.spread(nodes.astype(np.uint32), ones), nodes)
    ]
    times = {name: float(np.median(t)) for name, t in interleaved(calls_by_name, 3).items()}
    row: dict[str, Any] = {"n": work.n, "seeds": len(ones)}
    row |= {f"{name}_us": value for name, value in times.items()}
    general = [value for name, value in times.items() if name not in ("core", "numba", "dict")]
    row["to_best_general"] = times["core"] / min(general)
    row["differ"] = len(wrong)
    return row


def _graph_libraries(arrays: Arrays) -> dict[str, Callable[[Any], object]]:
    matrix = scipy_matrix(arrays)
    found: dict[str, Callable[[Any], object]] = {
        "scipy": lambda energy: scipy_spread(matrix, arrays, energy)
    }
    if arrays.n <= MOST_FOR_DICTIONARIES:
        lists, graph = dict_graph(arrays), networkx_graph(arrays)
        found["dict"] = lambda energy: dict_spread(lists, arrays, energy)
        found["networkx"] = lambda energy: networkx_spread(graph, arrays, energy)
    return found


def _same_best(hits: _core.RawHits, reached: Answer, seeds: np.ndarray[Any, Any]) -> bool:
    nodes, sums = reached
    kept = ~np.isin(nodes, seeds)
    nodes, sums = nodes[kept], sums[kept]
    best = np.argsort(-sums, kind="stable")[:K]
    return not disagreements([_answer(hits)], [(nodes[best], sums[best])])


def threads(work: Workload, engine: _core.Engine, *, rounds: int = 3) -> dict[str, Any]:
    """Measure how much faster a batch, and readers on two threads, are than one after another."""
    tuning, texts = params_of(PLAIN).tuning, work.query_texts()
    one = partial(_recall, engine, tuning)

    def sequential(part: Sequence[str] = texts) -> None:
        for text in part:
            one(text)

    def two_threads() -> None:
        halves = (texts[::2], texts[1::2])
        workers = [threading.Thread(target=sequential, args=(half,)) for half in halves]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    alone = fastest(sequential, rounds)
    batch = fastest(lambda: engine.recall_many(texts, K, NOW_MICROSECONDS, tuning), rounds)
    return {
        "n": work.n,
        "recall_many_speedup": alone / batch,
        "two_threads_speedup": alone / fastest(two_threads, rounds),
    }
