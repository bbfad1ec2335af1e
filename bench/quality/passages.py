"""Quality on questions that take several steps: MuSiQue, HotpotQA, MQuAKE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import doxa
from bench.quality.bm25 import BM25
from bench.quality.tables import (
    NO_VARIANTS,
    WRITTEN,
    Row,
    Task,
    Variants,
    answer,
    lines,
    rankings,
    recall_rows,
    title_of,
)

__all__ = ["hotpot", "mquake", "musique"]

#: Titles shorter than this stand in too many texts by chance.
_SHORTEST_TITLE = 4
_LONGEST_NAME_BYTES = 200
_DISAMBIGUATION = re.compile(r"\s*\(.*\)$")


def musique(data: Path, more: Variants = NO_VARIANTS) -> Iterator[Row]:
    """Yield recall of MuSiQue passages, tied by ready-made entities and by titles."""
    passages = lines(data / "musique_passages.jsonl")
    named = {row["passage"]: row["entities"] for row in lines(data / "musique_openie.jsonl")}
    path = data / "dev" / "musique_questions.jsonl"
    yield from _questions("MuSiQue", _passages(passages, named), passages, path, more)


def hotpot(data: Path, more: Variants = NO_VARIANTS) -> Iterator[Row]:
    """Yield recall of HotpotQA passages, tied by the titles that stand in them."""
    passages = lines(data / "hotpot_passages.jsonl")
    for passage in passages:
        passage["text"] = " ".join(passage["sentences"])
    path = data / "dev" / "hotpot_questions.jsonl"
    yield from _questions("HotpotQA", _passages(passages, {}), passages, path, more)


def _passages(passages: list[Row], named: Mapping[str, list[str]]) -> doxa.Memory:
    """Return a memory of passages: each is about its title and mentions what stands in its text.

    What stands there are the entities given, and every title of another passage.
    """
    mem = doxa.memory(seed_norms=False)
    titles = {_entity_name(passage["title"]) for passage in passages}
    with mem.transaction():
        for p in passages:
            mem.remember(
                title_of(p["title"]), p["text"], id=p["id"], at=WRITTEN, on_duplicate="allow"
            )
        for p in passages:
            own = _entity_name(p["title"])
            _tie(mem, p["id"], own, "about")
            found = {title for title in titles if _stands_in(title, p["text"])}
            for name in sorted({*found, *named.get(p["id"], [])} - {own}):
                _tie(mem, p["id"], name, "mentions")
    return mem


def _entity_name(title: str) -> str:
    """Return a title without what sets it apart from others of its name."""
    return _DISAMBIGUATION.sub("", title)


def _stands_in(title: str, text: str) -> bool:
    return len(title) >= _SHORTEST_TITLE and title in text


def _tie(mem: doxa.Memory, passage: str, name: str, relation: str) -> None:
    if 1 < len(name.encode()) <= _LONGEST_NAME_BYTES:
        entity = mem.beliefs.entity(name, id=f"entity/{name.casefold()}")
        mem.link(passage, entity.id, relation)


def _questions(
    name: str, mem: doxa.Memory, passages: list[Row], path: Path, more: Variants
) -> Iterator[Row]:
    base = BM25((p["id"], f"{p['title']} {p['text']}") for p in passages)
    tasks = [Task(q["question"], frozenset(q["gold"])) for q in lines(path)]
    yield from recall_rows(name, answer(tasks, rankings(mem, base, more)), (2, 5, 10))


def mquake(data: Path, more: Variants = NO_VARIANTS) -> Iterator[Row]:
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
        yield from recall_rows(name, answer(tasks, rankings(mem, base, more)), (10, 20))


def _facts(facts: list[Row]) -> doxa.Memory:
    mem = doxa.memory(seed_norms=False)
    with mem.transaction():
        for fact in facts:
            mem.remember(title_of(fact["text"]), id=fact["id"], at=WRITTEN, on_duplicate="allow")
            for name, relation in ((fact["subject"], "about"), (fact["object"], "value")):
                entity = mem.beliefs.entity(name, id=f"entity/{name}")
                mem.link(fact["id"], entity.id, relation)
        for fact in facts:
            for old in fact.get("supersedes", []):
                mem.link(fact["id"], old, "supersedes")
    return mem
