"""Cost of writing, of opening and of re-scoring, as the store grows."""

from __future__ import annotations

import resource
import tempfile
import time
from typing import Any

import numpy as np

import doxa
from bench.data import NOW_MICROSECONDS, Workload
from doxa import model
from doxa.store import Text
from doxa.write.drafts import draft

__all__ = ["measure"]

#: Rows that are written in one batch with the gate on.
BATCH = 500
NOW = model.instant(NOW_MICROSECONDS)


def measure(work: Workload, *, writes: int = 300) -> dict[str, Any]:
    """Fill a store on disk, then measure remember, recall, opening and re-scoring.

    The last rows are kept back and written one by one, duplicate gate on.
    """
    titles, summaries = work.title_texts(), work.summary_texts()
    kept = work.n - writes
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/store"
        with doxa.open(path, seed_norms=False, language="", durability="batch") as mem:
            _fill(mem, titles, summaries, kept - BATCH)
            start = time.perf_counter()
            mem.remember_many(
                {"title": titles[r].as_py(), "summary": summaries[r].as_py()}
                for r in range(kept - BATCH, kept)
            )
            batch = BATCH / (time.perf_counter() - start)
            mem.upkeep.compact()
        start = time.perf_counter()
        mem = doxa.open(path, durability="memory")
        opening = time.perf_counter() - start
        remember = _each(
            lambda r: mem.remember(titles[r].as_py(), summaries[r].as_py(), on_duplicate="allow"),
            range(kept, work.n),
        )
        engine, tuning = mem._live.state.engine, mem.params.tuning
        queries = work.query_texts()
        whole = _each(lambda q: mem.recall(q, now=NOW), queries)
        core = _each(lambda q: engine.recall(q, 10, NOW_MICROSECONDS, tuning), queries)
        rescore = min(_each(lambda _: engine.rescore(NOW_MICROSECONDS, tuning), range(5)))
        mem.close()
    return {
        "n": work.n,
        "batch_rows_per_s": batch,
        "remember_p50_us": float(np.median(remember)),
        "recall_over_core_us": float(np.median(whole) - np.median(core)),
        "open_s": opening,
        "rescore_rows_per_us": work.n / rescore,
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _fill(mem: doxa.Memory, titles: Any, summaries: Any, count: int) -> None:
    """Write rows without asking the duplicate gate: the store to measure on, not the measure."""
    live = mem._live
    for first in range(0, count, 50_000):

        def work(stage: Any, first: int = first) -> None:
            for row in range(first, min(first + 50_000, count)):
                given = draft(
                    titles[row].as_py(), summaries[row].as_py(), now=NOW_MICROSECONDS, agent="b"
                )
                fields = {**given.fields, "context": ""}
                texts = ("title", "summary", "body", "exit_condition", "source")
                fields.update({name: Text(fields[name]) for name in texts})
                stage.emit("proposition.add", f"row-{row}", NOW_MICROSECONDS, fields)

        live.write(work)


def _each(call: Any, items: Any) -> list[float]:
    out = []
    for item in items:
        start = time.perf_counter_ns()
        call(item)
        out.append((time.perf_counter_ns() - start) / 1000)
    return out
