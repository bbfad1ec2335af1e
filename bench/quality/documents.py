"""Quality on linked documents: Python's PEPs and a Chinese vault.

From a document to those it refers to, and from what is out of date to what is in force.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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

__all__ = ["peps", "vault"]

RELATION = {"supersedes": "supersedes", "requires": "depends_on", "references": "relates"}
#: 20 of 22, where the successors that the links name count as current: see `peps`.
LEAST_CURRENT, MOST_STALE = 0.90, 0.091
_WIKILINK = re.compile(r"!?\[\[([^\]|]*)(?:\|([^\]]*))?\]\]")


def peps(data: Path, more: Variants = NO_VARIANTS) -> Iterator[Row]:
    """Yield supersession and references of PEPs.

    The gold names direct successors. Two of them are themselves superseded according to the links,
    so the second pair of rows counts the standing end of the chain instead.
    """
    docs, links = lines(data / "docs.jsonl"), lines(data / "links.jsonl")
    mem = doxa.memory(seed_norms=False)
    with mem.transaction():
        for d in docs:
            mem.remember(
                title_of(d["title"]),
                d.get("summary") or "",
                id=d["id"],
                body=(d.get("abstract") or "").removeprefix(d.get("summary") or ""),
                kind="norm",
                at=WRITTEN,
                on_duplicate="allow",
            )
        for link in links:
            if link["from"] in mem and link["to"] in mem and link["from"] != link["to"]:
                mem.link(link["from"], link["to"], RELATION[link["rel"]])
    base = BM25(
        (d["id"], f"{d['title']} {d.get('abstract') or d.get('summary') or ''}") for d in docs
    )
    tasks = lines(data / "dev" / "tasks.jsonl")
    old = [task for task in tasks if task["task"] == "supersession"]
    newer: dict[str, set[str]] = {}
    for link in links:
        if link["rel"] == "supersedes":
            newer.setdefault(link["to"], set()).add(link["from"])
    ranks = rankings(mem, base, more)
    direct = [({*_listed(t["gold_current"])}, t) for t in old]
    ends = [(_ends(t["stale"], newer), t) for t in old]
    for name, current in (("PEP supersession", direct), ("PEP chain ends", ends)):
        yield from _supersession(name, current, ranks)
    cited = [
        Task(t["query"], frozenset(t["gold"]), t["query_doc"])
        for t in tasks
        if t["task"] == "associative" and t["gold"]
    ]
    yield from recall_rows("PEP references", answer(cited, ranks), (5, 10))


def _listed(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(value)  # type: ignore[call-overload]


def _ends(start: str, newer: dict[str, set[str]]) -> set[str]:
    seen, waiting = {start}, [start]
    ends = set()
    while waiting:
        at = waiting.pop()
        if at != start and at not in newer:
            ends.add(at)
        waiting.extend(newer.get(at, set()) - seen)
        seen |= newer.get(at, set())
    return ends


def _supersession(name: str, old: list[tuple[set[str], Row]], ranks: dict) -> Iterator[Row]:  # type: ignore[type-arg]
    found: Row = {"set": name, "measure": "current in the top 5", "tasks": len(old)}
    above: Row = {"set": name, "measure": "stale above current", "tasks": len(old)}
    found["least"], above["most"] = LEAST_CURRENT, MOST_STALE
    for how, rank in ranks.items():
        hits = stale_first = 0
        for current, task in old:
            ids = rank(Task(task["query"], frozenset(current)))
            place = min((ids.index(one) for one in current if one in ids), default=len(ids))
            hits += place < 5
            stale_first += task["stale"] in ids and ids.index(task["stale"]) < place
        found[how], above[how] = hits / len(old), stale_first / len(old)
    yield from (found, above)


def vault(data: Path, more: Variants = NO_VARIANTS) -> Iterator[Row]:
    """Yield recall of the notes that a Chinese note links to, asked by its title."""
    notes = lines(data / "notes.jsonl")
    mem = doxa.memory(seed_norms=False)
    texts = {n["id"]: _WIKILINK.sub(r"\1", n.get("text") or "") for n in notes}
    with mem.transaction():
        for n in notes:
            mem.remember(
                title_of(n["title"]), texts[n["id"]], id=n["id"], at=WRITTEN, on_duplicate="allow"
            )
        for n in notes:
            for link in n.get("links", []):
                if link["id"] and link["id"] != n["id"]:
                    mem.link(n["id"], link["id"])
    base = BM25((n["id"], f"{n['title']} {texts[n['id']]}") for n in notes)
    tasks = [
        Task(t["query"], frozenset(t["gold"]), t["query_note"])
        for t in lines(data / "dev" / "tasks.jsonl")
    ]
    yield from recall_rows("Chinese vault links", answer(tasks, rankings(mem, base, more)), (5, 10))
