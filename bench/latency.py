"""Latency of recall against the Numba reference, the same queries in the same run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.core import NOW_MICROSECONDS, engine_of, params_of
from bench.data import SETTINGS, Workload
from bench.reference.answers import checksum, disagreements
from bench.reference.arrays import build
from bench.reference.numba_recall import NumbaRecall

__all__ = ["compare"]

ROUNDS = 5


def _times(call: Callable[[Any], object], queries: list[Any]) -> np.ndarray[Any, Any]:
    clock, out = time.perf_counter_ns, np.empty(len(queries))
    for at, query in enumerate(queries):
        start = clock()
        call(query)
        out[at] = clock() - start
    return out / 1000


def compare(
    work: Workload, names: tuple[str, ...] = ("plain", "published", "default")
) -> list[dict[str, Any]]:
    """Measure each setting: p50 and p99 in µs of the core and of Numba, interleaved.

    Raises
    ------
    AssertionError
        If the answers of the two differ.
    """
    texts = work.query_texts()
    ranks = list(work.queries)
    rows = []
    engine = None
    for name in names:
        setting = SETTINGS[name]
        params = params_of(setting)
        if engine is None:
            engine = engine_of(work, params)
        else:
            fork = engine.fork()
            fork.set_tuning(params.tuning)
            engine.adopt(fork)
        tuning = params.tuning
        reference = NumbaRecall(build(work, setting))

        def core(text: str, engine: Any = engine, tuning: Any = tuning) -> Any:
            return engine.recall(text, 10, NOW_MICROSECONDS, tuning)

        ours = [(np.asarray(r.nodes), np.asarray(r.scores)) for r in map(core, texts)]
        theirs = [tuple(np.copy(part) for part in reference.recall(q)) for q in ranks]
        wrong = disagreements(ours, theirs)
        gc.collect()
        gc.disable()
        own, other = [], []
        for _ in range(ROUNDS):
            own.append(_times(core, texts))
            other.append(_times(reference.recall, ranks))
        gc.enable()
        mine, numba = np.median(own, axis=0), np.median(other, axis=0)
        rows.append(
            {
                "n": work.n,
                "setting": name,
                "core_p50_us": float(np.percentile(mine, 50)),
                "core_p99_us": float(np.percentile(mine, 99)),
                "numba_p50_us": float(np.percentile(numba, 50)),
                "ratio": float(np.percentile(mine, 50) / np.percentile(numba, 50)),
                "differ": len(wrong),
                "checksum": checksum(ours),
            }
        )
    return rows
