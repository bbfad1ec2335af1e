"""Cost of writing, of opening and of what ``mem.recall`` adds to the core, as the store grows."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import doxa
from bench.data import NOW_MICROSECONDS, Workload
from bench.timing import each, interleaved
from doxa import model
from doxa.store import Text
from doxa.write.drafts import draft

__all__ = ["filled", "growth", "measure"]

#: Rows that are written in one batch with the gate on.
BATCH = 500
NOW = model.instant(NOW_MICROSECONDS)
_PART = 50_000
_FRAME_BYTES = 1024


def measure(work: Workload, *, writes: int = 300) -> dict[str, Any]:
    """Fill a store on disk, then measure opening, remember and recall.

    The last rows are kept back and written one by one, duplicate gate on: in RAM, and with a sync
    each, beside a bare write and sync in the same folder.
    """
    row: dict[str, Any] = {"n": work.n}
    kept = work.n - 2 * writes
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/store"
        with doxa.open(path, seed_norms=False, language="", durability="batch") as mem:
            _fill(mem, work, kept - BATCH)
            start = time.perf_counter()
            mem.remember_many(_rows(work, range(kept - BATCH, kept)))
            row["batch_rows_per_s"] = BATCH / (time.perf_counter() - start)
            mem.upkeep.compact()
        row |= _opened(path, work, range(kept, kept + writes))
        row |= _durable(path, work, range(kept + writes, work.n))
    return row


def _opened(path: str, work: Workload, fresh: range) -> dict[str, Any]:
    start = time.perf_counter()
    mem = doxa.open(path, durability="memory")
    row: dict[str, Any] = {"open_s": time.perf_counter() - start}
    row["first_recall_ms"] = (
        float(each(lambda q: mem.recall(q, now=NOW), work.query_texts()[:1])[0]) / 1e3
    )
    times = _remember(mem, work, fresh)
    row["remember_p50_us"] = float(np.median(times))
    row |= _recall(mem, work)
    mem.close()
    return row


def _durable(path: str, work: Workload, fresh: range) -> dict[str, Any]:
    """Measure ``remember`` with a sync each; ``over_sync`` is what it adds to a bare sync."""
    bare = _synced(Path(path).parent / "bare", len(fresh))
    with doxa.open(path, durability="full") as mem:
        times = _remember(mem, work, fresh)
    return {
        "durable_p50_us": float(np.median(times)),
        "sync_p50_us": bare,
        "over_sync_us": float(np.median(times)) - bare,
    }


def _remember(mem: doxa.Memory, work: Workload, rows: range) -> np.ndarray[Any, Any]:
    """Return the time of each ``remember``, duplicate gate on."""
    drafts = list(_rows(work, rows))
    return each(
        lambda row: mem.remember(row["title"], row["summary"], on_duplicate="allow"), drafts
    )


def _recall(mem: doxa.Memory, work: Workload) -> dict[str, Any]:
    """Measure what Python adds to a recall, and what the ids and scores of its hits cost."""
    engine, tuning = mem._live.state.engine, mem.params.tuning
    queries = work.query_texts()
    times = interleaved(
        {
            "whole": (lambda q: mem.recall(q, now=NOW), queries),
            "core": (lambda q: engine.recall(q, 10, NOW_MICROSECONDS, tuning), queries),
        },
        rounds=3,
    )
    hits = [mem.recall(query, now=NOW) for query in queries]
    read = each(lambda found: (found.ids, found.scores), hits)
    return {
        "recall_over_core_us": float(np.median(times["whole"] - times["core"])),
        "us_per_hit_read": float(np.median(read)) / 10,
    }


def growth(rows: list[dict[str, Any]]) -> float | None:
    """Return how much longer ``remember`` takes in the largest store than in the smallest."""
    ranked = sorted(rows, key=lambda row: row["n"])
    if len(ranked) < 2:
        return None
    return float(ranked[-1]["remember_p50_us"] / ranked[0]["remember_p50_us"])


def filled(work: Workload) -> doxa.Memory:
    """Return a memory in RAM that holds the workload's texts."""
    mem = doxa.memory(seed_norms=False, language="")
    _fill(mem, work, work.n)
    return mem


def _rows(work: Workload, rows: range) -> Iterable[dict[str, str]]:
    """Give the texts of some rows as ``remember`` takes them."""
    part = slice(rows.start, rows.stop)
    titles, summaries = work.title_texts()[part], work.summary_texts()[part]
    for title, summary in zip(titles.to_pylist(), summaries.to_pylist(), strict=True):
        yield {"title": title, "summary": summary}


def _fill(mem: doxa.Memory, work: Workload, count: int) -> None:
    """Write rows without asking the duplicate gate: the store to measure on, not the measure."""
    live = mem._live
    texts = ("title", "summary", "body", "exit_condition", "source")
    for first in range(0, count, _PART):
        rows = range(first, min(first + _PART, count))

        def add(stage: Any, rows: range = rows) -> None:
            for number, given in zip(rows, _rows(work, rows), strict=True):
                drafted = draft(given["title"], given["summary"], now=NOW_MICROSECONDS, agent="b")
                fields = {**drafted.fields, "context": ""}
                fields.update({name: Text(fields[name]) for name in texts})
                stage.emit("proposition.add", f"row-{number}", NOW_MICROSECONDS, fields)

        live.write(add)


def _synced(path: Path, count: int) -> float:
    """Return the median time in µs of appending a small frame and syncing it."""
    frame = b"x" * _FRAME_BYTES
    with path.open("wb", buffering=0) as file:

        def append(_: int) -> None:
            file.write(frame)
            os.fdatasync(file.fileno())

        call: Callable[[Any], object] = append
        return float(np.median(each(call, range(count))))
