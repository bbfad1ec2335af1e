"""``python -m bench.quality DATA``: recall@k on real data beside BM25, default parameters.

DATA is a folder with the data sets; what is not there is named and skipped.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import doxa
from bench.quality.bm25 import BM25

Row = dict[str, Any]
TITLE = 300


def lines(path: Path) -> list[Row]:
    """Return the objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def title_of(text: str) -> str:
    """Return a text as a title: one line, not too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= TITLE else flat[: TITLE - 1] + "…"


def share(found: list[str], gold: set[str], k: int) -> float:
    """Return recall@k."""
    return len(gold & set(found[:k])) / len(gold)


def table(
    name: str,
    tasks: list[tuple[str, set[str], str]],
    rank: dict[str, Callable[[str, str], list[str]]],
    ks: tuple[int, ...],
) -> Iterator[Row]:
    """Yield one row per k: the mean recall of each ranking over the tasks."""
    found = {how: [(f(query, out), gold) for query, gold, out in tasks] for how, f in rank.items()}
    for k in ks:
        row: Row = {"set": name, "measure": f"recall@{k}", "tasks": len(tasks)}
        for how, answers in found.items():
            row[how] = sum(share(ids, gold, k) for ids, gold in answers) / len(answers)
        yield row


def asked(mem: doxa.Memory, **given: Any) -> Callable[[str, str], list[str]]:
    """Return a ranking by recall, the question's own document left out."""
    return lambda query, out: [i for i in mem.recall(query, k=25, **given).ids if i != out]


def rankings(mem: doxa.Memory, baseline: BM25) -> dict[str, Callable[[str, str], list[str]]]:
    """Return the three columns of every table."""
    return {
        "bm25": lambda query, out: baseline.rank(query, 25, out),
        "flat": asked(mem, spread=False),
        "default": asked(mem),
    }


def peps(data: Path) -> Iterator[Row]:
    """Supersession and references of Python's PEPs."""
    docs = lines(data / "docs.jsonl")
    mem = doxa.memory(seed_norms=False)
    relation = {"supersedes": "supersedes", "requires": "depends_on", "references": "relates"}
    with mem.transaction():
        for d in docs:
            mem.remember(
                title_of(d["title"]),
                d.get("summary", ""),
                id=d["id"],
                body=d.get("abstract", ""),
                kind="norm",
                on_duplicate="allow",
            )
        for link in lines(data / "links.jsonl"):
            if link["from"] in mem and link["to"] in mem and link["from"] != link["to"]:
                mem.link(link["from"], link["to"], relation[link["rel"]])
    base = BM25(
        (d["id"], f"{d['title']} {d.get('summary', '')} {d.get('abstract', '')}") for d in docs
    )
    tasks = lines(data / "dev" / "tasks.jsonl")
    old = [t for t in tasks if t["task"] == "supersession"]
    found: Row = {"set": "PEP supersession", "measure": "current in the top 5", "tasks": len(old)}
    above: Row = {"set": "PEP supersession", "measure": "stale above current", "tasks": len(old)}
    for how, rank in rankings(mem, base).items():
        places = []
        for t in old:
            ids, gold = rank(t["query"], ""), t["gold_current"]
            current = [gold] if isinstance(gold, str) else gold
            places.append(
                (min((ids.index(g) for g in current if g in ids), default=99), ids, t["stale"])
            )
        found[how] = sum(place < 5 for place, _, _ in places) / len(old)
        above[how] = sum(s in ids and ids.index(s) < place for place, ids, s in places) / len(old)
    yield from (found, above)
    cited = [
        (t["query"], set(t["gold"]), t.get("doc", t["id"]))
        for t in tasks
        if t["task"] == "associative" and t["gold"]
    ]
    yield from table("PEP references", cited, rankings(mem, base), (5, 10))


def multihop(data: Path, name: str) -> Iterator[Row]:
    """MuSiQue and HotpotQA passages, linked by the names that stand in them."""
    short = {"MuSiQue": "musique", "HotpotQA": "hotpot"}[name]
    passages = lines(data / f"{short}_passages.jsonl")
    for p in passages:
        p["text"] = p.get("text") or " ".join(p["sentences"])
    mem = doxa.memory(seed_norms=False)
    entities = (
        {e["passage"]: e["entities"] for e in lines(data / "musique_openie.jsonl")}
        if short == "musique"
        else {}
    )
    titles: dict[str, list[str]] = defaultdict(list)
    with mem.transaction():
        for p in passages:
            mem.remember(title_of(p["title"]), p["text"], id=p["id"], on_duplicate="allow")
            titles[p["title"]].append(p["id"])
        for p in passages:
            for entity in {e for e in entities.get(p["id"], []) if 1 < len(e.encode()) <= 200}:
                known = mem.beliefs.entity(entity, id=f"entity/{entity}")
                mem.link(p["id"], known.id, "mentions")
            for other, ids in titles.items():
                if len(other) > 3 and other in p["text"]:
                    for target in ids:
                        if target != p["id"]:
                            mem.link(p["id"], target)
    base = BM25((p["id"], f"{p['title']} {p['text']}") for p in passages)
    tasks = [
        (q["question"], set(q["gold"]), "")
        for q in lines(data / "dev" / f"{short}_questions.jsonl")
    ]
    yield from table(name, tasks, rankings(mem, base), (5, 10))


def locomo(data: Path) -> Iterator[Row]:
    """Long conversations: ready-made propositions, questions with gold evidence; a store each."""
    found: dict[str, list[tuple[list[str], set[str]]]] = defaultdict(list)
    held = lines(data / "propositions.jsonl")
    for conv in sorted({p["conv"] for p in held}):
        own = [p for p in held if p["conv"] == conv]
        mem = doxa.memory(seed_norms=False)
        with mem.transaction():
            for p in own:
                mem.remember(
                    title_of(p["text"]), id=p["id"], about=p["about"], on_duplicate="allow"
                )
        base = BM25((p["id"], p["text"]) for p in own)
        for q in lines(data / "questions.jsonl"):
            if q["conv"] == conv and q["gold_propositions"]:
                for how, rank in rankings(mem, base).items():
                    found[how].append((rank(q["question"], ""), set(q["gold_propositions"])))
    for k in (5, 10):
        row: Row = {"set": "LoCoMo", "measure": f"recall@{k}", "tasks": len(found["bm25"])}
        for how, answers in found.items():
            row[how] = sum(share(ids, gold, k) for ids, gold in answers) / len(answers)
        yield row


def vault(data: Path) -> Iterator[Row]:
    """A Chinese vault: from a note to the notes it links to."""
    notes = lines(data / "notes.jsonl")
    mem = doxa.memory(seed_norms=False)
    with mem.transaction():
        for n in notes:
            mem.remember(title_of(n["title"]), n.get("text", ""), id=n["id"], on_duplicate="allow")
        for n in notes:
            for link in n.get("links", []):
                if link["id"] and link["id"] != n["id"]:
                    mem.link(n["id"], link["id"])
    base = BM25((n["id"], f"{n['title']} {n.get('text', '')}") for n in notes)
    by_id = {n["id"]: n for n in notes}
    tasks = []
    for t in lines(data / "dev" / "tasks.jsonl"):
        source = t.get("doc") or t.get("note") or t["id"].split("-")[-1]
        query = t.get("query") or by_id[source]["title"]
        tasks.append((query.replace("[[", "").replace("]]", ""), set(t["gold"]), source))
    yield from table("Chinese vault links", tasks, rankings(mem, base), (5, 10))


SETS: dict[str, tuple[str, Callable[[Path], Iterator[Row]]]] = {
    "peps": ("peps", peps),
    "locomo": ("locomo/dev", locomo),
    "musique": ("multihop", lambda d: multihop(d, "MuSiQue")),
    "hotpot": ("multihop", lambda d: multihop(d, "HotpotQA")),
    "vault": ("vault_zh", vault),
}


def main() -> None:
    """Run the sets that are there and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with the data sets")
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    given = parser.parse_args()
    rows: list[Row] = []
    for name in given.sets:
        folder, run = SETS[name]
        if not (given.data / folder).is_dir():
            Console(stderr=True).print(f"{name}: skipped, {given.data / folder} is not there")
            continue
        rows.extend(run(given.data / folder))
    if given.json:
        print(json.dumps(rows))
        return
    out = Table(
        title="recall with default parameters, beside BM25 (k1 0.8, b 0.6) over the same terms"
    )
    for column in ("set", "measure", "tasks", "bm25", "flat", "default"):
        out.add_column(column, justify="left" if column in ("set", "measure") else "right")
    for row in rows:
        out.add_row(
            *(
                f"{row[c]:.3f}" if isinstance(row.get(c), float) else str(row.get(c, ""))
                for c in ("set", "measure", "tasks", "bm25", "flat", "default")
            )
        )
    Console().print(out)


if __name__ == "__main__":
    main()
