"""In and out: importers, exporters.

A reader is a pure generator of items (:mod:`doxa.io.items`), one function writes them
into a memory (:mod:`doxa.io.apply`), one writes a memory out (:mod:`doxa.io.export`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from doxa.errors import InvalidValue
from doxa.io.apply import ImportReport, apply
from doxa.io.detect import FORMATS, detect
from doxa.io.export import export_file
from doxa.io.items import Item, Problem
from doxa.io.source import Source
from doxa.memory import Memory

__all__ = ["FORMATS", "ImportReport", "Problem", "export_file", "import_file", "read_file"]


def read_file(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that the command line uses
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, Iterator[Item]]:
    """Return a file's format and what it holds, item by item.

    Parameters
    ----------
    path : path
        A file or a folder.
    format : {"jsonl", "mcp", "markdown"}, optional
        Default: told from the content.
    progress : callable, optional
        Called with (done, total), in bytes or notes.
    """
    source = Source(Path(path), progress)
    chosen = format or detect(source)
    if chosen == "jsonl":
        from doxa.io.jsonl import read_jsonl

        return chosen, read_jsonl(source)
    if chosen == "mcp":
        from doxa.io.mcp import read_mcp

        return chosen, read_mcp(source)
    if chosen == "markdown":
        from doxa.io.vault import check_vault, read_vault

        if source.is_folder:
            check_vault(source.path)
        return chosen, read_vault(source)
    raise InvalidValue("format", chosen, f"one of {', '.join(FORMATS)}")


def import_file(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that the command line uses
    strict: bool = False,
    dry_run: bool = False,
    update: bool = False,
    defaults: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import a file or a folder; a second import of it adds nothing.

    Parameters
    ----------
    memory : Memory
        Where to.
    path : path
        What to read.
    format : {"jsonl", "mcp", "markdown"}, optional
        Default: told from the content.
    strict : bool
        One refused line refuses the whole: nothing is written.
    dry_run : bool
        Say what would be done, and write nothing.
    update : bool
        Rewrite propositions that are there with other wording; else they are refused.
    defaults : dict, optional
        Arguments of ``remember`` for rows that don't give them, such as ``kind``.
    progress : callable, optional
        Called with (done, total) of what is being read or written.

    Returns
    -------
    ImportReport
        Counts, and every line that was refused, by number.

    Examples
    --------
    >>> file = tmp_path / "rows.jsonl"
    >>> _ = file.write_text('{"title": "The port is 8080"}\\n{"titel": "a slip"}\\n')
    >>> mem = doxa.memory(seed_norms=False)
    >>> report = import_file(mem, file)
    >>> report.propositions, report.refused[0].line, import_file(mem, file).added
    (1, 2, 0)
    """
    chosen, items = read_file(path, format=format, progress=progress)
    report = apply(
        memory,
        items,
        strict=strict,
        dry_run=dry_run,
        update=update,
        defaults=defaults,
        message=f"import of {Path(path).name}",
        progress=None if chosen == "jsonl" else progress,  # lines are written as they are read
    )
    return msgspec.structs.replace(report, file=str(path), format=chosen)
