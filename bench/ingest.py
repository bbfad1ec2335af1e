"""Recall while others write: a writer in another process, and one in a thread of this process."""

from __future__ import annotations

import multiprocessing
import tempfile
import threading
import time
from typing import Any

import numpy as np

import doxa
from bench.data import Workload
from bench.timing import each
from bench.writing import NOW, filled

__all__ = ["under_writing"]

COMMITS_PER_SECOND = 1_000


def _write(path: str, stop: Any, count: Any) -> None:
    with doxa.open(path, durability="batch", agent="writer") as mem:
        while not stop.is_set():
            began = time.perf_counter()
            number = count.value
            mem.remember(f"written meanwhile number {number}", on_duplicate="allow")
            count.value = number + 1
            time.sleep(max(0.0, 1 / COMMITS_PER_SECOND - (time.perf_counter() - began)))


def under_writing(work: Workload, *, seconds: float = 2.0) -> dict[str, Any]:
    """Measure the p99 of recall idle, and while another process or thread writes.

    ``commits_per_s`` says how fast that writer really was; the goal is for 1,000 a second.
    """
    queries = work.query_texts()
    row: dict[str, Any] = {"n": work.n}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/store"
        with doxa.open(path, seed_norms=False, language="", durability="batch") as mem:
            source = filled(work)
            titles = source.to_arrow("propositions").column("title").to_pylist()
            mem.remember_many([{"title": t} for t in titles], on_duplicate="allow")
            source.close()
            idle = _p99(mem, queries, seconds)
            context = multiprocessing.get_context("spawn")
            stop, count = context.Event(), context.Value("q", 0)
            process = context.Process(target=_write, args=(path, stop, count))
            process.start()
            while count.value == 0 and process.is_alive():
                time.sleep(0.01)
            first, began = count.value, time.perf_counter()
            busy = _p99(mem, queries, seconds)
            row["commits_per_s"] = (count.value - first) / (time.perf_counter() - began)
            stop.set()
            process.join(30)
            row |= {"idle_p99_us": idle, "process_p99_us": busy, "process_to_idle": busy / idle}
            row |= _thread(mem, queries, seconds, idle)
    return row


def _thread(mem: doxa.Memory, queries: list[str], seconds: float, idle: float) -> dict[str, Any]:
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            mem.remember(f"written by a thread number {number}", on_duplicate="allow")
            number += 1
            time.sleep(1 / COMMITS_PER_SECOND)

    thread = threading.Thread(target=write)
    thread.start()
    busy = _p99(mem, queries, seconds)
    stop.set()
    thread.join()
    return {"thread_p99_us": busy, "thread_to_idle": busy / idle}


def _p99(mem: doxa.Memory, queries: list[str], seconds: float) -> float:
    times = [each(lambda q: mem.recall(q, now=NOW), queries[:50])]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        times.append(each(lambda q: mem.recall(q, now=NOW), queries))
    return float(np.percentile(np.concatenate(times[1:]), 99))
