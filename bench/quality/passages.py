"""Quality on questions that take several steps: MuSiQue, HotpotQA, MQuAKE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import doxa
from bench.quality.bm25 import BM25
from bench.quality.tables import Row, Task, answer, lines, rankings, recall_rows, title_of

__all__ = ["hotpot", "mquake", "musique"]

#: Titles shorter than this stand in too many texts by chance.
_SHORTEST_TITLE = 4
_LONGEST_NAME_BYTES = 200


def musique(data: Path) -> Iterator[Row]:
    """Yield recall of MuSiQue passages, linked by ready-made entities and by titles."""
    passages = lines(data / "musique_passages.jsonl")
    mem = _passages(passages)
    with mem.transaction():
        for row in lines(data / "musique_openie.jsonl"):
            for name in set(row["entities"]):
                if 1 < len(name.encode()) <= _LONGEST_NAME_BYTES:
                    entity = mem.beliefs.entity(name, id=f"entity/{name}")
                    mem.link(row["passage"], entity.id, "mentions")
    yield from _questions("MuSiQue", mem, passages, data / "dev" / "musique_questions.jsonl")


def hotpot(data: Path) -> Iterator[Row]:
    """Yield recall of HotpotQA passages, linked by the titles that stand in them."""
    passages = lines(data / "hotpot_passages.jsonl")
    for passage in passages:
        passage["text"] = " ".join(passage["sentences"])
    mem = _passages(passages)
    yield from _questions("HotpotQA", mem, passages, data / "dev" / "hotpot_questions.jsonl")


def _passages(passages: list[Row]) -> doxa.Memory:
    """Return a memory of passages, each linked to those whose title stands in its text."""
    mem = doxa.memory(seed_norms=False)
    titles: dict[str, list[str]] = defaultdict(list)
    with mem.transaction():
        for p in passages:
            mem.remember(title_of(p["title"]), p["text"], id=p["id"], on_duplicate="allow")
            titles[p["title"]].append(p["id"])
        for p in passages:
            for title, ids in titles.items():
                if len(title) >= _SHORTEST_TITLE and title in p["text"]:
                    for target in ids:
                        if target != p["id"]:
                            mem.link(p["id"], target)
    return mem


def _questions(name: str, mem: doxa.Memory, passages: list[Row], path: Path) -> Iterator[Row]:
    base = BM25((p["id"], f"{p['title']} {p['text']}") for p in passages)
    tasks = [Task(q["question"], frozenset(q["gold"])) for q in lines(path)]
    yield from recall_rows(name, answer(tasks, rankings(mem, base)), (2, 5, 10))


def mquake(data: Path) -> Iterator[Row]:
    """Yield recall of whole chains of facts before and after edits that supersede some."""
    facts, questions = lines(data / "facts.jsonl"), lines(data / "questions.jsonl")
    first = [fact for fact in facts if fact["asserted"] == "t0"]
    for name, held, chain in (
        ("MQuAKE before edits", first, "chain_t0"),
        ("MQuAKE after edits", facts, "chain_t1"),
    ):
        mem = _facts(held)
        base = BM25((fact["id"], fact["text"]) for fact in held)
        tasks = [
            Task(text, frozenset(q[chain]))
            for q in questions
            for text in q["questions"]
            if q.get("consistent_in_pool", True)
        ]
        yield from recall_rows(name, answer(tasks, rankings(mem, base)), (10, 20))


def _facts(facts: list[Row]) -> doxa.Memory:
    mem = doxa.memory(seed_norms=False)
    with mem.transaction():
        for fact in facts:
            mem.remember(title_of(fact["text"]), id=fact["id"], on_duplicate="allow")
            for name, relation in ((fact["subject"], "about"), (fact["object"], "value")):
                entity = mem.beliefs.entity(name, id=f"entity/{name}")
                mem.link(fact["id"], entity.id, relation)
        for fact in facts:
            for old in fact.get("supersedes", []):
                mem.link(fact["id"], old, "supersedes")
    return mem
