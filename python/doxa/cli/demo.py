"""``doxa demo``: real documents taken in, asked, corrected, and kept through a kill.

Runs the public API over the PEPs that ship with the package; every figure that it prints
is measured in this run.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from doxa.cli.output import Out
from doxa.cli.reading import hits_document, tell_hits
from doxa.cli.session import FINDINGS, JsonOption, StoreOption, guarded, session
from doxa.errors import StoreExists

if TYPE_CHECKING:
    from doxa.memory import Memory

__all__ = ["register", "take_in_peps"]

QUESTIONS: Final = (
    "assign to a variable inside an expression",
    "how is the global interpreter lock made optional",
    "typed dictionaries with some keys that may be missing",
)
#: Asked in the words of a document that another has replaced.
OLD_WORDS: Final = "Enumerations in Python"
OLD: Final = "PEP 354"
SUCCESSOR: Final = "PEP 435"
CHINESE_NOTE: Final = "团队约定：新项目的依赖写进 pyproject.toml，不再用 setup.py"
CHINESE_REASON: Final = "原因：构建工具能直接读取元数据，不必执行代码。依据是 PEP 621。"
CHINESE_QUESTION: Final = "依赖写在哪里"
ACKNOWLEDGED: Final = 40
TIMED_QUERIES: Final = 400
_NOW: Final = dt.datetime(2026, 9, 21, tzinfo=dt.UTC)
_CHILD_SECONDS: Final = 20.0


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("demo")(guarded(demo))


def demo(
    context: typer.Context,
    directory: Annotated[
        Path | None, typer.Option("--directory", help="Keep the store here; else it is removed.")
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in 736 real documents, ask, correct, be killed, lose nothing. Ten seconds."""
    here = session(context, None, as_json)
    kept = directory or store
    if kept is not None and kept.exists():
        raise StoreExists(f"{kept} is there already; the demo wants a directory of its own")
    began = time.perf_counter()
    with _place(kept) as path:
        figures = _run(here.out, path)
    figures["seconds"] = round(time.perf_counter() - began, 2)
    here.out.document(figures)
    _next_steps(here.out, kept, figures["seconds"])
    kill = figures["kill"]
    if kill["lost"] or kill["acknowledged"] < ACKNOWLEDGED:
        raise typer.Exit(FINDINGS)


@contextlib.contextmanager
def _place(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield kept
        return
    folder = Path(tempfile.mkdtemp(prefix="doxa-demo-"))
    try:
        yield folder / "store"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(out: Out, path: Path) -> dict[str, Any]:
    import doxa

    figures: dict[str, Any] = {}
    with doxa.open(path, agent="demo") as mem:
        figures["taken_in"] = _take_in(out, mem)
        figures["questions"] = _ask(out, mem)
        figures["superseded"] = _ask_in_old_words(out, mem)
        figures["chinese"] = _note_in_chinese(out, mem)
    figures["kill"] = _kill(out, path)
    with doxa.open(path, agent="demo", read_only=True) as mem:
        figures["speed"] = _time(out, mem)
    return figures


# -- taking in -----------------------------------------------------------------------------


def take_in_peps(mem: Memory) -> dict[str, int]:
    """Remember the PEPs that ship with doxa, with their links.

    Returns
    -------
    dict
        ``propositions``, ``links``, ``superseded``, ``possible_duplicates``.
    """
    from doxa.data import peps

    documents = peps()
    receipts = mem.remember_many([_row(pep) for pep in documents], on_duplicate="allow")
    there = {receipt.ids[0] for receipt in receipts if receipt.ids}
    counts = {"propositions": len(there), "links": 0, "superseded": 0}
    counts["possible_duplicates"] = sum(len(r.possible_duplicates) for r in receipts)
    with mem.transaction("links between PEPs"):
        for pep in documents:
            at = _day(pep["created"])
            for field, relation in _RELATIONS:
                for target in pep.get(field, ()):
                    if target in there:
                        mem.link(pep["id"], target, relation, at=at)
                        counts["links"] += 1
                        counts["superseded"] += relation == "supersedes"
    return counts


_RELATIONS: Final = (
    ("references", "relates"),
    ("requires", "depends_on"),
    ("supersedes", "supersedes"),
)


def _row(pep: dict[str, Any]) -> dict[str, Any]:
    facts = [f"{pep['type']}. Status: {pep['status']}."]
    facts += [f"{date}: {status}." for date, status in pep.get("history", ())]
    if "python_version" in pep:
        facts.insert(1, f"Python version: {pep['python_version']}.")
    return {
        "id": pep["id"],
        "title": pep["title"],
        "summary": pep.get("summary", ""),
        "body": "\n".join(filter(None, [pep.get("more", ""), " ".join(facts)])),
        "kind": "norm",
        "at": _day(pep["created"]),
        "source": f"https://peps.python.org/{pep['id'].lower().replace(' ', '-')}",
        "source_class": "third_party",
    }


def _day(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def _take_in(out: Out, mem: Memory) -> dict[str, Any]:
    began = time.perf_counter()
    counts = take_in_peps(mem)
    spent = time.perf_counter() - began
    out.heading("1. Taken in: Python's PEPs, durable on disk")
    rows = [
        ("documents (norms)", f"{counts['propositions']:,}"),
        ("links between them", f"{counts['links']:,}"),
        ("of these: one supersedes another", f"{counts['superseded']:,}"),
        ("pairs that may say the same, linked for review", f"{counts['possible_duplicates']:,}"),
        ("seconds, duplicate gate included", f"{spent:.2f}"),
    ]
    out.table(("what", "how many"), rows, numbers=(1,), styles={1: "bold"})
    return {**counts, "seconds": round(spent, 3)}


# -- asking --------------------------------------------------------------------------------


def _ask(out: Out, mem: Memory) -> list[dict[str, Any]]:
    out.heading("2. Asked: each score is the sum of named terms")
    documents = []
    for question in QUESTIONS:
        hits = mem.recall(question, k=3, now=_NOW)
        documents.append(hits_document(question, hits))
        out.say(f"» {question}", "cyan")
        tell_hits(out, hits)
    return documents


def _ask_in_old_words(out: Out, mem: Memory) -> dict[str, Any]:
    out.heading("3. Asked in the words of a document that was replaced")
    hits = mem.recall(OLD_WORDS, k=3, now=_NOW)
    out.say(f"» {OLD_WORDS}", "cyan")
    tell_hits(out, hits, explain=True)
    old = next((hit for hit in hits if hit.id == OLD), None)
    above = bool(hits) and hits[0].id == SUCCESSOR
    if above and old is not None and old.notes:
        out.say(f"{SUCCESSOR} stands above {OLD}, whose title this is; {OLD} names it.")
    else:
        out.say(f"{SUCCESSOR} was NOT found above {OLD}.", "red")
    return {
        **hits_document(OLD_WORDS, hits),
        "successor_first": above,
        "notes": list(old.notes) if old else [],
    }


def _note_in_chinese(out: Out, mem: Memory) -> dict[str, Any]:
    out.heading("4. A note in Chinese, remembered and recalled")
    note = mem.remember(
        CHINESE_NOTE, CHINESE_REASON, kind="norm", links=[("PEP 621", "depends_on")]
    )
    hits = mem.recall(CHINESE_QUESTION, k=2)
    out.say(f"» {CHINESE_QUESTION}", "cyan")
    tell_hits(out, hits, explain=True)
    return {
        "id": note.id,
        "recalled": bool(hits) and hits[0].id == note.id,
        **hits_document(CHINESE_QUESTION, hits),
    }


# -- being killed --------------------------------------------------------------------------


def write_until_killed(path: str) -> None:
    """Write notes to a store without end, saying each id once it is durable."""
    import doxa

    with doxa.open(path, agent="victim") as mem:
        number = 0
        while True:
            number += 1
            note = mem.remember(f"Build {number} of the nightly run passed", on_duplicate="allow")
            sys.stdout.write(f"{note.id}\n")
            sys.stdout.flush()


def _kill(out: Out, path: Path) -> dict[str, Any]:
    import doxa

    acknowledged = _write_and_kill(path)
    began = time.perf_counter()
    with doxa.open(path, agent="demo") as mem:
        reopened = time.perf_counter() - began
        lost = [node_id for node_id in acknowledged if node_id not in mem]
        found = len(acknowledged) - len(lost)
    out.heading("5. Killed (kill -9) in the middle of writing")
    rows = [
        ("notes whose write had returned", f"{len(acknowledged):,}"),
        ("found after reopening", f"{found:,}"),
        ("lost", f"{len(lost):,}"),
        ("milliseconds to reopen", f"{reopened * 1000:.0f}"),
    ]
    out.table(("what", "how many"), rows, numbers=(1,), styles={1: "bold"})
    return {
        "acknowledged": len(acknowledged),
        "found": found,
        "lost": len(lost),
        "reopened_ms": round(reopened * 1000, 1),
    }


def _write_and_kill(path: Path) -> list[str]:
    """Let a child process write, kill it, and return the ids that it was told are durable."""
    code = f"from doxa.cli.demo import write_until_killed as w; w({str(path)!r})"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        timer = threading.Timer(_CHILD_SECONDS, child.kill)
        timer.start()
        try:
            acknowledged = [line.strip() for line in islice(child.stdout, ACKNOWLEDGED)]
        finally:
            child.send_signal(signal.SIGKILL)
            timer.cancel()
        rest = child.stdout.read().split("\n")
    return acknowledged + [line for line in rest[:-1] if line]  # the last one may be half a line


# -- speed ---------------------------------------------------------------------------------


def _time(out: Out, mem: Memory) -> dict[str, Any]:
    queries = [item.title for item in mem.propositions(kinds="norm")][:TIMED_QUERIES]
    for query in queries[:50]:
        mem.recall(query, now=_NOW)
    times = []
    for query in queries:
        began = time.perf_counter_ns()
        mem.recall(query, now=_NOW)
        times.append((time.perf_counter_ns() - began) / 1000)
    times.sort()
    median, p99 = statistics.median(times), times[int(len(times) * 0.99)]
    out.heading("6. Time of one recall, with the title of each document as the question")
    rows = [(f"{len(times):,}", f"{median:.0f}", f"{p99:.0f}")]
    out.table(("recalls", "median µs", "p99 µs"), rows, numbers=(0, 1, 2), styles={1: "bold"})
    return {"recalls": len(times), "median_us": round(median, 1), "p99_us": round(p99, 1)}


def _next_steps(out: Out, kept: Path | None, seconds: float) -> None:
    out.heading(f"Done in {seconds:.1f} s. Three things to try next:")
    where = kept or Path("memory")
    if kept is None:
        first = f"doxa demo --directory {where}    keep this store, to ask it yourself:"
    else:
        first = f"doxa show --store {where} 'PEP 435'    one document in full, with its links"
    out.say(f"  1. {first}")
    out.say(f"     doxa recall --store {where} --explain 'namespace packages'")
    out.say("  2. doxa import --store mine memory.jsonl    take in your own: an MCP memory file,")
    out.say("     a folder of Markdown notes, or JSON lines with titles")
    out.say("  3. doxa bench --quick    the speed of recall on this machine; then, from Python:")
    out.say('     import doxa; mem = doxa.open("memory"); mem.recall("…")')
