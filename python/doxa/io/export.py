"""Writes a memory to a file: canonical JSON lines, or its tables as Arrow or Parquet.

A canonical export is byte-stable: the same memory gives the same bytes, and so does a
new store into which the export was imported. The file takes its place only when it is
whole. Reads through ``to_arrow`` and nothing else.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from doxa.errors import InvalidValue
from doxa.io.canonical import (
    VERSION,
    ClaimRecord,
    ContextRecord,
    EndRecord,
    EntityRecord,
    EvidenceRecord,
    HeaderRecord,
    LinkRecord,
    PropositionRecord,
    Record,
    encode,
)

if TYPE_CHECKING:
    from doxa.memory import Memory

__all__ = ["EXPORTS", "canonical_lines", "export_file"]

EXPORTS: Final = ("jsonl", "parquet", "arrow")
_TABLES: Final = ("contexts", "entities", "evidence", "propositions", "links")
_ORDER: Final = {"links": ["source", "target", "relation"]}
_CHUNK: Final = 4096


def canonical_lines(
    memory: Memory, progress: Callable[[int, int], None] | None = None
) -> Iterator[bytes]:
    """Yield the lines of a canonical export, each with its line feed.

    Examples
    --------
    >>> mem = doxa.memory(seed_norms=False)
    >>> list(canonical_lines(mem))
    [b'{"type":"doxa","version":1}\\n', b'{"type":"end","records":0}\\n']
    """
    tables = {name: _sorted(name, memory.to_arrow(name)) for name in _TABLES}
    total = sum(table.num_rows for table in tables.values())
    yield encode(HeaderRecord(version=VERSION)) + b"\n"
    done = 0
    for name, table in tables.items():
        make = _RECORDS[name]
        for batch in table.to_batches(_CHUNK):
            for row in batch.to_pylist():
                yield encode(make(row)) + b"\n"
            done += batch.num_rows
            if progress is not None:
                progress(done, total)
    yield encode(EndRecord(records=total)) + b"\n"


def export_file(
    memory: Memory,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that the command line uses
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write a memory to a file, or its tables to a folder.

    Parameters
    ----------
    memory : Memory
        What to write.
    path : path
        A file for ``jsonl`` (gzipped where it ends in ``.gz``), a folder for the others.
    format : {"jsonl", "parquet", "arrow"}, optional
        Default: by the path's ending, else ``jsonl``.
    overwrite : bool
        Whether a file that is there may be replaced.
    progress : callable, optional
        Called with (records written, records in all).

    Returns
    -------
    int
        How many records or rows were written.

    Raises
    ------
    InvalidValue
        If something is at the path, or the format is unknown.

    Examples
    --------
    >>> mem = doxa.memory(seed_norms=False)
    >>> _ = mem.remember("The port is 8080")
    >>> export_file(mem, tmp_path / "memory.jsonl")
    1
    """
    target = Path(path)
    chosen = format or _by_ending(target)
    if chosen not in EXPORTS:
        raise InvalidValue("format", chosen, f"one of {', '.join(EXPORTS)}")
    if target.exists() and not overwrite:
        raise InvalidValue("file", str(target), "nothing is there yet; or allow to overwrite it")
    if chosen == "jsonl":
        with _replacing(target) as stream:
            count = -2
            for line in canonical_lines(memory, progress):
                stream.write(line)
                count += 1
        return count
    return _export_tables(memory, target, chosen)


def _by_ending(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return next((kind for kind in EXPORTS if name.endswith(f".{kind}")), "jsonl")


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """Write beside a file, and put it in place when it is whole and on disk."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        opened = part.open("wb")
    except OSError as error:
        rule = f"a place that can be written ({error.strerror})"
        raise InvalidValue("file", str(target), rule) from None
    try:
        with opened as raw:
            if target.suffix == ".gz":
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
                    yield stream  # type: ignore[misc]
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _export_tables(memory: Memory, folder: Path, kind: str) -> int:
    """Write each table to a file of its own."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name in _TABLES:
        table = _sorted(name, memory.to_arrow(name))
        count += table.num_rows
        with _replacing(folder / f"{name}.{kind}") as stream:
            if kind == "parquet":
                pq.write_table(table, stream)
            else:
                with pa.ipc.new_file(stream, table.schema) as writer:
                    writer.write_table(table)
    return count


def _sorted(name: str, table: pa.Table) -> pa.Table:
    order = pc.sort_indices(table, [(key, "ascending") for key in _ORDER.get(name, ["id"])])
    return table.take(order)


def _context(row: dict[str, Any]) -> Record:
    return ContextRecord(**row)


def _entity(row: dict[str, Any]) -> Record:
    row["entity_type"] = row.pop("type")
    row["aliases"] = tuple(row["aliases"])
    return EntityRecord(**row)


def _evidence(row: dict[str, Any]) -> Record:
    return EvidenceRecord(**row)


def _proposition(row: dict[str, Any]) -> Record:
    del row["commit_seq"]
    row["status"] = row.pop("base_status")
    row["scope"] = json.loads(row["scope"]) if row["scope"] else {}
    row["claim"] = ClaimRecord(**_ordered(json.loads(row["claim"]))) if row["claim"] else None
    if row["last_used"] == row["recorded_at"]:
        row["last_used"] = None
    return PropositionRecord(**row)


def _ordered(claim: dict[str, Any]) -> dict[str, Any]:
    return {**claim, "qualifiers": dict(sorted(claim.get("qualifiers", {}).items()))}


def _link(row: dict[str, Any]) -> Record:
    return LinkRecord(**row)


_RECORDS: Final[dict[str, Callable[[dict[str, Any]], Record]]] = {
    "contexts": _context,
    "entities": _entity,
    "evidence": _evidence,
    "propositions": _proposition,
    "links": _link,
}
