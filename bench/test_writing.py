"""Writing under pytest-benchmark: one by one and in a batch, duplicate gate on."""

from __future__ import annotations

import itertools
from typing import Any

import doxa
from bench.data import Workload, workload
from bench.writing import filled

FRESH = 2_000
BATCH = 100


def _drafts() -> Any:
    fresh = workload(FRESH, seed=99, queries=1)
    pairs = zip(fresh.title_texts().to_pylist(), fresh.summary_texts().to_pylist(), strict=True)
    return itertools.cycle(pairs)


def test_remember(benchmark: Any, work: Workload) -> None:
    benchmark.group = f"remember, {work.n}"
    mem, drafts = filled(work), _drafts()

    def remember() -> doxa.Proposition:
        title, summary = next(drafts)
        return mem.remember(title, summary, on_duplicate="allow")

    written = benchmark(remember)
    assert written.id in mem


def test_remember_many(benchmark: Any, work: Workload) -> None:
    benchmark.group = f"remember_many of {BATCH}, {work.n}"
    mem, drafts = filled(work), _drafts()

    def remember() -> list[doxa.Receipt]:
        rows = [{"title": t, "summary": s} for t, s in itertools.islice(drafts, BATCH)]
        return mem.remember_many(rows, on_duplicate="allow")

    receipts = benchmark(remember)
    assert {receipt.outcome for receipt in receipts} == {"added"}
