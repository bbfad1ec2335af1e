"""Commands that move memories in and out: import, export."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from doxa.cli.output import Out
from doxa.cli.progress import progress
from doxa.cli.session import (
    FINDINGS,
    AgentOption,
    JsonOption,
    Session,
    StoreOption,
    guarded,
    session,
)
from doxa.errors import InvalidValue

if TYPE_CHECKING:
    from doxa.io import ImportReport
    from doxa.memory import Memory

__all__ = ["register", "tell_import"]

#: How many refused lines are listed; with --json all are.
SHOWN_PROBLEMS = 20
_KINDS = ("knowledge", "norm", "subject")


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("import")(guarded(import_))
    app.command("export")(guarded(export))


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file, or a folder of Markdown notes.")],
    format_: Annotated[
        str | None, typer.Option("--format", help="jsonl, mcp or markdown; else it is told.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing if a single line is refused.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Rewrite what is there with other wording.")
    ] = False,
    kind: Annotated[
        str, typer.Option(help="Of rows that don't say: knowledge, norm or subject.")
    ] = "knowledge",
    agent: AgentOption = "agent",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in an export, an MCP memory file or a Markdown vault; again adds nothing.

    A store that is not there yet is created, without norms of its own. A line that is
    refused is named by its number and makes the exit code 1.
    """
    from doxa.io import import_file

    here = session(context, store, as_json)
    if kind not in _KINDS:
        raise InvalidValue("--kind", kind, f"one of {', '.join(_KINDS)}")
    with _target(here, agent, dry_run) as mem, progress(f"importing {file.name}") as step:
        report = import_file(
            mem,
            file,
            format=format_,
            strict=strict,
            dry_run=dry_run,
            update=update,
            defaults={"kind": kind},
            progress=step,
        )
    here.out.document(msgspec.to_builtins(report))
    tell_import(here.out, report, dry_run=dry_run)
    if report.refused:
        raise typer.Exit(FINDINGS)


@contextlib.contextmanager
def _target(here: Session, agent: str, dry_run: bool) -> Iterator[Memory]:
    """Open the store to import into; one that is not there is made, in RAM for a dry run."""
    import doxa

    if dry_run and not here.path.exists():
        with doxa.memory(seed_norms=False, agent=agent) as mem:
            yield mem
    else:
        with here.open(create=not dry_run, seed_norms=False, agent=agent) as mem:
            yield mem


def tell_import(out: Out, report: ImportReport, *, dry_run: bool = False) -> None:
    """Say what an import did, and every line that it left out."""
    verb = "would add" if dry_run else "added"
    what = (
        ("propositions", report.propositions),
        ("entities", report.entities),
        ("contexts", report.contexts),
        ("evidence", report.evidence),
        ("links", report.links),
    )
    counted = [f"{count:,} {name}" for name, count in what if count]
    name = f"{report.file} ({report.format})"
    if dry_run or report.written:
        out.say(f"{name}: {verb} {', '.join(counted) or 'nothing'}")
    else:
        out.say(f"{name}: nothing was written, because of --strict", "red")
    asides: tuple[tuple[int, str], ...] = (
        (report.rewritten, "propositions brought up to date"),
        (report.duplicates, "rows said what is there already and were merged into it"),
        (report.already_there, "items were there already, or came twice"),
        (report.broken_links, "links lead to what is not there; kept, and mended when it comes"),
    )
    for count, text in asides:
        if count and (dry_run or report.written):
            out.say(f"  {count:,} {text}")
    _list(out, "noted", [str(problem) for problem in report.notes], "dim")
    _list(out, "refused", [str(problem) for problem in report.refused], "red")


def _list(out: Out, word: str, lines: list[str], style: str) -> None:
    for line in lines[:SHOWN_PROBLEMS]:
        out.say(f"  {word}: {line}", style)
    if len(lines) > SHOWN_PROBLEMS:
        out.say(f"  and {len(lines) - SHOWN_PROBLEMS:,} more {word}; --json lists all", style)


def export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Where to; - writes to stdout.")],
    format_: Annotated[
        str | None, typer.Option("--format", help="jsonl, parquet or arrow; else by the ending.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write everything out: JSON lines that import gives back without loss, or tables."""
    from doxa.io import export_file

    here = session(context, store, as_json)
    if str(file) == "-":
        _to_stdout(here, format_)
        return
    with progress(f"writing {file.name}") as step, here.open(read_only=True) as mem:
        count = export_file(mem, file, format=format_, overwrite=force, progress=step)
    here.out.document({"file": str(file), "records": count})
    here.out.say(f"wrote {count:,} records to {file}")


def _to_stdout(here: Session, format_: str | None) -> None:
    from doxa.io.export import canonical_lines

    if here.out.as_json or format_ not in (None, "jsonl"):
        raise InvalidValue("FILE", "-", "a file with --json and with other formats than jsonl")
    with here.open(read_only=True) as mem:
        for line in canonical_lines(mem):
            sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
