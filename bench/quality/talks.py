"""Quality on long conversations: LoCoMo, by category of question, and when to say *unknown*."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import doxa
from bench.quality.bm25 import BM25
from bench.quality.tables import Row, Task, answer, lines, rankings, recall_rows, title_of

__all__ = ["locomo"]

ADVERSARIAL = "adversarial"


def locomo(data: Path) -> Iterator[Row]:
    """Yield recall of the propositions that hold the evidence, a store for each conversation."""
    found: dict[str, list[tuple[Task, list[str]]]] = defaultdict(list)
    held, questions = lines(data / "propositions.jsonl"), lines(data / "questions.jsonl")
    for conversation in sorted({p["conv"] for p in held}):
        own = [p for p in held if p["conv"] == conversation]
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
        base = BM25((p["id"], p["text"]) for p in own)
        now = _time(max(p["asserted_at"] for p in own)) + dt.timedelta(days=1)
        tasks = [
            Task(q["question"], frozenset(q["gold_propositions"]), group=q["category_name"])
            for q in questions
            if q["conv"] == conversation and q["gold_propositions"]
        ]
        for how, answers in answer(tasks, rankings(mem, base, now=now)).items():
            found[how] += answers
    yield from recall_rows("LoCoMo", found, (5, 10))
    groups = sorted({task.group for task, _ in found["bm25"]})
    for group in groups:
        part = {
            how: [pair for pair in answers if pair[0].group == group]
            for how, answers in found.items()
        }
        yield from recall_rows(f"LoCoMo {group}", part, (5, 10))


def _time(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
