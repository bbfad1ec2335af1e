"""Quality on long conversations: LoCoMo, by category of question, and when to say *unknown*."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import doxa
from bench.quality.bm25 import BM25
from bench.quality.tables import (
    NO_VARIANTS,
    Row,
    Task,
    Variants,
    answer,
    lines,
    rankings,
    recall_rows,
    title_of,
)

__all__ = ["locomo", "unknown"]

ADVERSARIAL = "adversarial"
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def locomo(data: Path, more: Variants = NO_VARIANTS) -> Iterator[Row]:
    """Yield recall of the propositions that hold the evidence, a store for each conversation."""
    found: dict[str, list[tuple[Task, list[str]]]] = defaultdict(list)
    questions = lines(data / "questions.jsonl")
    for conversation, own in _conversations(data):
        mem = _memory(own)
        base = BM25((p["id"], p["text"]) for p in own)
        tasks = [
            Task(q["question"], frozenset(q["gold_propositions"]), group=q["category_name"])
            for q in questions
            if q["conv"] == conversation and q["gold_propositions"]
        ]
        for how, answers in answer(tasks, rankings(mem, base, more, now=_after(own))).items():
            found[how] += answers
    yield from recall_rows("LoCoMo", found, (5, 10))
    groups = sorted({task.group for task, _ in found["bm25"]})
    for group in groups:
        part = {
            how: [pair for pair in answers if pair[0].group == group]
            for how, answers in found.items()
        }
        yield from recall_rows(f"LoCoMo {group}", part, (5, 10))


def unknown(data: Path, more: Variants = NO_VARIANTS) -> Iterator[Row]:
    """Yield the operating curve of ``hits.confidence``: the share of questions that are answered.

    ``answerable``: the store holds the evidence. ``misled``: adversarial questions, which ask one
    person about the other's doings. ``foreign``: questions put to the store of another talk.
    """
    stores = {name: (_memory(own), _after(own)) for name, own in _conversations(data)}
    names = list(stores)
    seen: dict[str, list[float]] = {"answerable": [], "misled": [], "foreign": []}
    for q in lines(data / "questions.jsonl"):
        mem, now = stores[q["conv"]]
        if q["category_name"] == ADVERSARIAL:
            seen["misled"].append(mem.recall(q["question"], now=now).confidence)
            continue
        if q["gold_propositions"]:
            seen["answerable"].append(mem.recall(q["question"], now=now).confidence)
        if len(names) > 1:
            mem, now = stores[names[names.index(q["conv"]) - 1]]
            seen["foreign"].append(mem.recall(q["question"], now=now).confidence)
    for threshold in THRESHOLDS:
        row: Row = {"set": "LoCoMo", "measure": f"confidence at least {threshold}"}
        for group, values in seen.items():
            row[group] = sum(v >= threshold for v in values) / max(1, len(values))
        yield row


def _conversations(data: Path) -> Iterator[tuple[str, list[Row]]]:
    held = lines(data / "propositions.jsonl")
    for conversation in sorted({p["conv"] for p in held}):
        yield conversation, [p for p in held if p["conv"] == conversation]


def _memory(own: list[Row]) -> doxa.Memory:
    mem = doxa.memory(seed_norms=False)
    with mem.transaction():
        for p in own:
            mem.remember(
                title_of(p["text"]),
                id=p["id"],
                about=p["about"],
                at=_time(p["asserted_at"]),
                on_duplicate="allow",
            )
    return mem


def _after(own: list[Row]) -> dt.datetime:
    """A day after the last session: the time that is asked at."""
    return _time(max(p["asserted_at"] for p in own)) + dt.timedelta(days=1)


def _time(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
