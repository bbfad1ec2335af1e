"""Checkpoints: a state as Arrow files whose every byte is covered by a manifest.

Written aside, synced, and renamed into place whole. The manifest holds the length and
the hashes of each file and is hashed itself; a file is verified before Arrow parses it.
The core's arrays are verified when the checkpoint is opened, a table's files when they
are first read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from doxa._core import digest
from doxa.errors import StoreCorrupt
from doxa.store.files import Files, read_whole
from doxa.store.journal import Position, corrupt

__all__ = ["Checkpoint", "TableFile", "load", "newest", "save", "verify"]

CHUNK: Final = 1 << 20
ROWS_PER_FILE: Final = 65_536
_MANIFEST_LIMIT: Final = 1 << 30
_MANIFEST: Final = "MANIFEST"
_PENDING: Final = "pending"


class _FileEntry(msgspec.Struct, frozen=True):
    size: int
    rows: int
    chunks: list[str]


class _Manifest(msgspec.Struct, frozen=True):
    store_id: str
    position: Position
    meta: dict[str, Any]
    tables: dict[str, list[str]]
    arrays: list[str]
    files: dict[str, _FileEntry]


class TableFile:
    """One file of a table, mapped, verified and parsed on first use."""

    def __init__(self, read: Callable[[], Any], rows: int, path: str) -> None:
        self._read = read
        self.length = rows
        self.path = path

    def load(self) -> pa.RecordBatch:
        """Return the rows.

        Raises
        ------
        StoreCorrupt
            If a byte of the file is not what was written.
        """
        buffer = self._read()
        try:
            reader = pa.ipc.open_file(pa.py_buffer(buffer))
            batch = reader.get_batch(0)
        except (pa.ArrowInvalid, OSError) as error:
            raise corrupt(self.path, f"its hash is right but it is no table ({error})") from error
        if batch.num_rows != self.length:
            raise corrupt(self.path, f"{batch.num_rows} rows, the manifest says {self.length}")
        return batch


class Checkpoint(msgspec.Struct, frozen=True):
    """A verified checkpoint."""

    position: Position
    meta: dict[str, Any]
    tables: dict[str, list[TableFile]]
    arrays: dict[str, Any]


def _name(seq: int) -> str:
    return f"{seq:012}"


def newest(files: Files, root: str) -> int | None:
    """Return the commit of the newest checkpoint that is there, or None."""
    found = [int(n) for n in files.names(f"{root}/checkpoint") if n.isdigit() and len(n) == 12]
    return max(found, default=None)


def save(
    files: Files,
    root: str,
    store_id: bytes,
    position: Position,
    tables: Mapping[str, pa.Table],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    meta: Mapping[str, Any],
) -> None:
    """Write a checkpoint of the state after ``position``; it is there whole or not at all."""
    folder = f"{root}/checkpoint"
    aside = f"{folder}/{_PENDING}"
    files.make_dir(folder)
    files.remove(aside)
    files.make_dir(aside)
    entries: dict[str, _FileEntry] = {}
    parts: dict[str, list[str]] = {}
    for name, table in tables.items():
        parts[name] = []
        for number, start in enumerate(range(0, table.num_rows, ROWS_PER_FILE)):
            piece = table.slice(start, ROWS_PER_FILE).combine_chunks()
            batch = piece.to_batches()[0]
            file = f"{name}-{number:05}.arrow"
            entries[file] = _write(files, f"{aside}/{file}", _ipc(batch), batch.num_rows)
            parts[name].append(file)
    for name, array in arrays.items():
        batch = pa.record_batch([pa.array(array)], names=["value"])
        file = f"index-{name}.arrow"
        entries[file] = _write(files, f"{aside}/{file}", _ipc(batch), batch.num_rows)
    manifest = _Manifest(store_id.hex(), position, dict(meta), parts, list(arrays), entries)
    body = msgspec.msgpack.encode(manifest)
    _write(files, f"{aside}/{_MANIFEST}", body + digest(body), 0)
    files.sync_dir(aside)
    final = f"{folder}/{_name(position.seq)}"
    files.remove(final)
    files.rename(aside, final)
    files.sync_dir(folder)


def _ipc(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _write(files: Files, path: str, data: Any, rows: int) -> _FileEntry:
    view = memoryview(data).cast("B")
    file = files.create(path)
    try:
        file.write_at(0, view)  # type: ignore[arg-type]
        file.sync()
    finally:
        file.close()
    chunks = [digest(view[at : at + CHUNK]).hex() for at in range(0, len(view), CHUNK)]
    return _FileEntry(len(view), rows, chunks)


def _manifest(files: Files, folder: str, store_id: bytes) -> _Manifest:
    path = f"{folder}/{_MANIFEST}"
    data = read_whole(files, path, _MANIFEST_LIMIT)
    body, check = data[:-32], data[-32:]
    if digest(body) != check:
        raise corrupt(path, "the checkpoint's manifest is damaged")
    try:
        manifest = msgspec.msgpack.decode(body, type=_Manifest)
    except msgspec.MsgspecError as error:
        raise corrupt(path, f"it is no manifest ({error})") from error
    if manifest.store_id != store_id.hex():
        raise corrupt(path, "the checkpoint belongs to another store")
    return manifest


def _reader(files: Files, path: str, entry: _FileEntry) -> Callable[[], Any]:
    """Map a file; return a function that verifies all of it and gives its bytes.

    It is mapped at once, so that a newer checkpoint may remove its name.
    """
    file = files.open(path)
    try:
        if file.size() != entry.size:
            raise corrupt(path, f"{file.size():,} bytes, the manifest says {entry.size:,}")
        data = file.map()
    finally:
        file.close()

    def read() -> Any:
        view = memoryview(data).cast("B")
        for number, wanted in enumerate(entry.chunks):
            chunk = view[number * CHUNK : (number + 1) * CHUNK]
            if digest(chunk).hex() != wanted:
                raise corrupt(
                    path, f"its bytes from {number * CHUNK:,} on are not what was written"
                )
        return data

    return read


def load(files: Files, root: str, store_id: bytes, seq: int) -> Checkpoint:
    """Open the checkpoint of a commit: manifest and index verified, tables on first use.

    Raises
    ------
    StoreCorrupt
        If anything of it is missing or damaged.
    """
    folder = f"{root}/checkpoint/{_name(seq)}"
    manifest = _manifest(files, folder, store_id)
    if manifest.position.seq != seq:
        raise corrupt(folder, f"its manifest speaks of commit {manifest.position.seq}")
    missing = set(manifest.files) - set(files.names(folder))
    if missing:
        raise corrupt(folder, f"{sorted(missing)[0]} is missing")
    arrays = {}
    for name in manifest.arrays:
        file = f"index-{name}.arrow"
        entry = manifest.files[file]
        read = _reader(files, f"{folder}/{file}", entry)
        column = TableFile(read, entry.rows, f"{folder}/{file}").load().column(0)
        arrays[name] = _values(column)
    tables = {
        name: [
            TableFile(
                _reader(files, f"{folder}/{file}", manifest.files[file]),
                manifest.files[file].rows,
                f"{folder}/{file}",
            )
            for file in names
        ]
        for name, names in manifest.tables.items()
    }
    return Checkpoint(manifest.position, manifest.meta, tables, arrays)


def _values(column: pa.Array) -> np.ndarray[Any, Any]:
    """Return a numeric column as an array over the same (mapped) memory."""
    array: np.ndarray[Any, Any] = column.to_numpy(zero_copy_only=True)
    return array


def verify(files: Files, root: str, store_id: bytes, seq: int) -> tuple[int, list[str]]:
    """Read all of a checkpoint; return the bytes read and what is wrong with it."""
    folder = f"{root}/checkpoint/{_name(seq)}"
    read, problems = 0, []
    try:
        manifest = _manifest(files, folder, store_id)
    except StoreCorrupt as error:
        return 0, [str(error)]
    for name, entry in manifest.files.items():
        try:
            _reader(files, f"{folder}/{name}", entry)()
            read += entry.size
        except StoreCorrupt as error:
            problems.append(str(error))
    return read, problems


def move(files: Files, root: str, store_id: bytes, seq: int, position: Position) -> None:
    """Let a checkpoint continue at another place in the journal, behind the same commit."""
    folder = f"{root}/checkpoint/{_name(seq)}"
    manifest = msgspec.structs.replace(_manifest(files, folder, store_id), position=position)
    body = msgspec.msgpack.encode(manifest)
    _write(files, f"{folder}/{_MANIFEST}.new", body + digest(body), 0)
    files.rename(f"{folder}/{_MANIFEST}.new", f"{folder}/{_MANIFEST}")
    files.sync_dir(folder)


def drop_older(files: Files, root: str, seq: int) -> None:
    """Remove checkpoints older than the one of commit ``seq``, and what was never finished."""
    folder = f"{root}/checkpoint"
    for name in files.names(folder):
        if name == _PENDING or (name.isdigit() and int(name) < seq):
            files.remove(f"{folder}/{name}")
