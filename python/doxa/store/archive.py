"""The archive: journal epochs that a checkpoint covers, as Arrow files.

One file per epoch with a row per operation; texts and salts stand in columns of their
own. The chain is recomputed from the columns when the archive is read, so a changed row
does not pass. Covered by a digest beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
import pyarrow as pa

from doxa._core import digest
from doxa.store.files import Files, read_whole
from doxa.store.frames import Commit, Frame, chain_hash, decode_commit, raw_rows, rows_of
from doxa.store.journal import corrupt

__all__ = ["history", "numbers", "table_of", "write"]

_DIGEST: Final = 32
_SCHEMA: Final = pa.schema(
    [
        ("seq", pa.int64()),
        ("commit", pa.binary(_DIGEST)),
        ("parent", pa.binary(_DIGEST)),
        ("branch", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("message", pa.binary()),
        ("op", pa.string()),
        ("op_version", pa.int32()),
        ("target", pa.string()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("agent", pa.string()),
        ("channel", pa.string()),
        ("fields", pa.large_binary()),
        ("texts", pa.large_binary()),
    ]
)


def numbers(files: Files, root: str) -> list[int]:
    """Return the numbers of the archived epochs, in order."""
    names = files.names(f"{root}/archive")
    return sorted(int(n[:10]) for n in names if n.endswith(".arrow") and n[:10].isdigit())


def write(files: Files, root: str, epoch: int, frames: list[tuple[Frame, bytes]]) -> None:
    """Archive an epoch's commits (frame, commit id), durable before it returns."""
    columns: list[list[Any]] = [[] for _ in _SCHEMA]
    for frame, commit in frames:
        canonical, texts = raw_rows(frame.payload)
        _, branch, when, message, rows = msgspec.msgpack.decode(
            canonical, type=tuple[int, str, int, msgspec.Raw, list[msgspec.Raw]]
        )
        head = [frame.seq, commit, frame.parent, branch, when, bytes(message)]
        kept: bytes | None = msgspec.msgpack.encode(texts)
        bodies: list[msgspec.Raw | None] = [*rows] or [None]
        for row in bodies:
            body = [None] * 7 if row is None else msgspec.msgpack.decode(row, type=_RawRow)
            values = [*head, *body[:6], None if body[6] is None else bytes(body[6]), kept]
            for column, value in zip(columns, values, strict=True):
                column.append(value)
            kept = None  # once per commit
    arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA))
    data = sink.getvalue().to_pybytes()
    folder = f"{root}/archive"
    files.make_dir(folder)
    # The check comes first: an archive that has its name is whole.
    for suffix, content in (("check", digest(data)), ("arrow", data)):
        path = f"{folder}/{epoch:010}.{suffix}"
        file = files.create(f"{path}.new")
        try:
            file.write_at(0, content)
            file.sync()
        finally:
            file.close()
        files.rename(f"{path}.new", path)
    files.sync_dir(folder)


_RawRow = tuple[str, int, str, int, str, str, msgspec.Raw]


def history(files: Files, root: str, epoch: int, key: bytes | None) -> Iterator[Commit]:
    """Yield the commits of an archived epoch, each checked against its place in the chain.

    Raises
    ------
    StoreCorrupt
        If the file is damaged or a row does not hash to its commit.
    """
    path = f"{root}/archive/{epoch:010}.arrow"
    check = read_whole(files, f"{root}/archive/{epoch:010}.check", _DIGEST)
    file = files.open(path)
    try:
        data = file.map()
    finally:
        file.close()
    if digest(data) != check:
        raise corrupt(path, "the archived epoch is damaged")
    try:
        table = pa.ipc.open_file(pa.py_buffer(data)).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise corrupt(path, f"its hash is right but it is no table ({error})") from error
    rows: list[dict[str, Any]] = []
    for row in table.cast(_plain(table.schema)).to_pylist():
        if rows and row["seq"] != rows[0]["seq"]:
            yield _commit(rows, key, path)
            rows = []
        rows.append(row)
    if rows:
        yield _commit(rows, key, path)


def _plain(schema: pa.Schema) -> pa.Schema:
    """Return the schema with times as plain microseconds."""
    return pa.schema(
        [pa.field(f.name, pa.int64()) if pa.types.is_timestamp(f.type) else f for f in schema]
    )


def _commit(rows: list[dict[str, Any]], key: bytes | None, path: str) -> Commit:
    first = rows[0]
    body = [
        first["seq"],
        first["branch"],
        first["time"],
        msgspec.Raw(first["message"]),
        [
            [
                row["op"],
                row["op_version"],
                row["target"],
                row["at"],
                row["agent"],
                row["channel"],
                msgspec.Raw(row["fields"]),
            ]
            for row in rows
            if row["op"] is not None
        ],
    ]
    canonical = msgspec.msgpack.encode(body)
    if chain_hash(first["parent"], canonical, key) != first["commit"]:
        raise corrupt(path, f"commit {first['seq']} does not hash to its id", key is not None)
    texts = msgspec.msgpack.decode(first["texts"])
    payload = msgspec.msgpack.encode([canonical, texts])
    return decode_commit(first["parent"], payload, key, path)


def table_of(commits: Iterable[Commit]) -> pa.Table:
    """Return every row of commits as an Arrow table, fields as JSON text."""
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "seq",
            "commit",
            "branch",
            "time",
            "at",
            "agent",
            "channel",
            "op",
            "op_version",
            "target",
            "fields",
        )
    }
    for commit, row in rows_of(commits):
        values = (
            commit.seq,
            commit.id.hex(),
            commit.branch,
            commit.time,
            row.at,
            row.agent,
            row.channel,
            row.op,
            row.op_version,
            row.target,
            msgspec.json.encode(row.fields).decode(),
        )
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    when = pa.timestamp("us", tz="UTC")
    types = {"seq": pa.int64(), "time": when, "at": when, "op_version": pa.int32()}
    return pa.table(
        {name: pa.array(c, types.get(name, pa.string())) for name, c in columns.items()}
    )
