"""What every quality table is made of: tasks, rankings, recall at k, and thresholds.

A task is a question with the ids that answer it. Every ranking of one table sees the same tasks
and the same texts: BM25 over the terms of doxa, recall without spread (*flat*), recall with default
parameters. Knows no data set.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import doxa
from bench.quality.bm25 import BM25

__all__ = [
    "ASKED",
    "DEPTH",
    "NO_VARIANTS",
    "WRITTEN",
    "Row",
    "Task",
    "Variants",
    "answer",
    "failures",
    "lines",
    "rankings",
    "recall_rows",
    "title_of",
]

Row = dict[str, Any]
Rank = Callable[["Task"], list[str]]
#: Further parameter sets to rank with, by name.
Variants = Mapping[str, doxa.Params]
NO_VARIANTS: Variants = MappingProxyType({})

#: When everything is written where the data say nothing, and when it is asked for: the same
#: in every run, so that strength decides nothing by accident.
WRITTEN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ASKED = WRITTEN + dt.timedelta(days=1)
#: How far down the rankings are looked at.
DEPTH = 50
RANKINGS = ("bm25", "flat", "default")
_TITLE = 300


@dataclass(frozen=True)
class Task:
    """A question, the ids that answer it, what to leave out (where it came from), its group."""

    query: str
    gold: frozenset[str]
    leave_out: str = ""
    group: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)


def lines(path: Path) -> list[Row]:
    """Return the objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def title_of(text: str) -> str:
    """Return a text as a title: one line, not too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _TITLE else flat[: _TITLE - 1] + "…"


def rankings(
    mem: doxa.Memory,
    baseline: BM25,
    more: Variants = NO_VARIANTS,
    *,
    now: dt.datetime = ASKED,
) -> dict[str, Rank]:
    """Return the rankings that every table compares, and one for each further parameter set."""

    def asked(task: Task, **changes: Any) -> list[str]:
        ids = mem.recall(task.query, k=DEPTH + 1, now=now, **changes).ids
        return [name for name in ids if name != task.leave_out][:DEPTH]

    ranks: dict[str, Rank] = {
        "bm25": lambda task: baseline.rank(task.query, DEPTH, task.leave_out),
        "flat": lambda task: asked(task, spread=False),
        "default": asked,
    }
    return ranks | {name: partial(asked, params=params) for name, params in more.items()}


def recall_rows(
    name: str, found: Mapping[str, Sequence[tuple[Task, list[str]]]], ks: Iterable[int]
) -> Iterator[Row]:
    """Yield one row per k: the mean share of gold in the top k, by ranking."""
    for k in ks:
        row: Row = {"set": name, "measure": f"recall@{k}"}
        for how, answers in found.items():
            shares = [len(task.gold & set(ids[:k])) / len(task.gold) for task, ids in answers]
            row["tasks"] = len(shares)
            row[how] = sum(shares) / len(shares)
        yield row


def answer(
    tasks: Sequence[Task], ranks: Mapping[str, Rank]
) -> dict[str, list[tuple[Task, list[str]]]]:
    """Return every ranking's answers to the tasks."""
    return {how: [(task, rank(task)) for task in tasks] for how, rank in ranks.items()}


def failures(rows: Iterable[Row]) -> list[str]:
    """Return in words where the default is worse than BM25, or than what a row asks for."""
    out = []
    for row in rows:
        if "default" not in row:
            continue
        what = f"{row['set']}, {row['measure']}: default {row['default']:.3f}"
        if row.get("least") is not None and row["default"] < row["least"]:
            out.append(f"{what}, at least {row['least']} is asked for")
        if row.get("most") is not None:
            if row["default"] > row["most"]:
                out.append(f"{what}, at most {row['most']} is asked for")
        elif row["default"] < row["bm25"]:
            out.append(f"{what} is below BM25's {row['bm25']:.3f}")
    return out
