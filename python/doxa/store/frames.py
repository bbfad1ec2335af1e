"""Frames of the journal: what one transaction is in bytes.

A frame is a fixed header, a payload and the hash of both. The payload holds the
canonical bytes of the commit, in which every text is a salted commitment, and beside
them the texts with their salts. A commit's id is the hash of the id before and the
canonical bytes: erasing a text changes neither. See docs/format.md, byte by byte.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from doxa._core import digest
from doxa.errors import StoreCorrupt

__all__ = ["Commit", "Frame", "Row", "Text", "decode_commit", "encode_commit", "read_frame"]

MAGIC: Final = b"DOXAFRM1"
HASH: Final = 32
_SALT: Final = 16
#: magic, kind, payload length, epoch, seq, synced seq, store id, parent
_HEADER: Final = struct.Struct("<8sIQQQQ16s32s")
_CHECK: Final = 8
HEADER_SIZE: Final = _HEADER.size + _CHECK
OVERHEAD: Final = HEADER_SIZE + HASH
#: No transaction is larger; a length beyond it is a damaged one.
MAX_PAYLOAD: Final = 1 << 31
EPOCH, COMMIT, CLOSED = 1, 2, 3
_KINDS: Final = (EPOCH, COMMIT, CLOSED)
_COMMITMENT: Final = 1


class Text(str):
    """A text to be committed to: it stands beside the canonical row, and can be erased."""

    __slots__ = ()


class Row(msgspec.Struct, frozen=True):
    """One operation of a commit."""

    op: str
    op_version: int
    target: str
    at: int
    agent: str
    channel: str
    fields: dict[str, Any]


class Commit(msgspec.Struct, frozen=True):
    """One transaction of the journal; ``id`` is its chain hash."""

    id: bytes
    parent: bytes
    seq: int
    branch: str
    time: int
    message: str
    rows: tuple[Row, ...]


class Frame(msgspec.Struct, frozen=True):
    """A verified frame: header fields, payload, and where the next one begins."""

    kind: int
    epoch: int
    seq: int
    synced: int
    store_id: bytes
    parent: bytes
    payload: bytes
    end: int


_encoder = msgspec.msgpack.Encoder()


def pack_frame(
    kind: int, epoch: int, seq: int, synced: int, store_id: bytes, parent: bytes, payload: bytes
) -> bytes:
    """Return a frame's bytes."""
    head = _HEADER.pack(MAGIC, kind, len(payload), epoch, seq, synced, store_id, parent)
    body = b"".join((head, digest(head)[:_CHECK], payload))
    return body + digest(body)


def read_header(data: bytes) -> tuple[int, int, int, int, int, bytes, bytes] | None:
    """Return (kind, length, epoch, seq, synced, store id, parent) of a sound header, or None."""
    if len(data) < HEADER_SIZE or not data.startswith(MAGIC):
        return None
    if digest(data[: _HEADER.size])[:_CHECK] != data[_HEADER.size : HEADER_SIZE]:
        return None
    _, kind, length, epoch, seq, synced, store_id, parent = _HEADER.unpack_from(data)
    if kind not in _KINDS or length > MAX_PAYLOAD:
        return None
    return kind, length, epoch, seq, synced, store_id, parent


def read_frame(data: bytes | memoryview, offset: int, base: int = 0) -> Frame | None:
    """Return the sound frame that begins at ``offset`` of ``data``, or None.

    Parameters
    ----------
    data : bytes
        A stretch of a journal file.
    offset : int
        Where in it the frame begins.
    base : int
        Where in the file the stretch begins.
    """
    header = read_header(bytes(data[offset : offset + HEADER_SIZE]))
    if header is None:
        return None
    kind, length, epoch, seq, synced, store_id, parent = header
    body = offset + HEADER_SIZE + length
    if body + HASH > len(data):
        return None
    if digest(bytes(data[offset:body])) != bytes(data[body : body + HASH]):
        return None
    payload = bytes(data[offset + HEADER_SIZE : body])
    return Frame(kind, epoch, seq, synced, store_id, parent, payload, base + body + HASH)


def find_frames(data: bytes, start: int) -> Iterator[Frame]:
    """Yield sound frames anywhere in a damaged stretch, by their magic."""
    at = data.find(MAGIC, start)
    while at >= 0:
        frame = read_frame(data, at)
        if frame is not None:
            yield frame
            at = data.find(MAGIC, frame.end)
        else:
            at = data.find(MAGIC, at + 1)


def _committed(value: Any, texts: list[list[Any]], salts: Iterator[bytes]) -> Any:
    """Return a value with its texts replaced by commitments; collect texts and salts."""
    if isinstance(value, Text):
        salt = next(salts)
        texts.append([salt, str(value)])
        return msgspec.msgpack.Ext(_COMMITMENT, digest(salt + value.encode()))
    if isinstance(value, dict):
        return {key: _committed(item, texts, salts) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_committed(item, texts, salts) for item in value]
    return value


def _salts() -> Iterator[bytes]:
    while True:
        block = os.urandom(64 * _SALT)
        for at in range(0, len(block), _SALT):
            yield block[at : at + _SALT]


_SALTS: Final = _salts()


def encode_commit(
    parent: bytes,
    seq: int,
    branch: str,
    time: int,
    message: str,
    rows: Sequence[Row],
    key: bytes | None,
) -> tuple[bytes, bytes]:
    """Return a commit's id and its frame's payload."""
    texts: list[list[Any]] = []
    body = [
        seq,
        branch,
        time,
        _committed(Text(message), texts, _SALTS),
        [
            [
                row.op,
                row.op_version,
                row.target,
                row.at,
                row.agent,
                row.channel,
                {name: _committed(value, texts, _SALTS) for name, value in row.fields.items()},
            ]
            for row in rows
        ],
    ]
    canonical = _encoder.encode(body)
    return chain_hash(parent, canonical, key), _encoder.encode([canonical, texts])


def chain_hash(parent: bytes, canonical: bytes, key: bytes | None) -> bytes:
    """Return the id of the commit that follows ``parent``."""
    return digest(parent + canonical, key)


def decode_commit(parent: bytes, payload: bytes, key: bytes | None, where: str) -> Commit:
    """Return the commit of a verified payload, checking every text against its commitment.

    Raises
    ------
    StoreCorrupt
        If a text does not match, or the payload is not what a commit is.
    """
    try:
        canonical, texts = msgspec.msgpack.decode(payload, type=tuple[bytes, list[Any]])
        held = iter(texts)

        def text_of(code: int, data: memoryview) -> Any:
            entry = next(held)
            if code != _COMMITMENT:
                raise ValueError(f"extension {code} is unknown")
            if entry is None:  # erased
                return Text("")
            salt, text = entry
            if digest(bytes(salt) + text.encode()) != bytes(data):
                raise ValueError("a text does not match its commitment")
            return text

        seq, branch, time, message, rows = msgspec.msgpack.decode(canonical, ext_hook=text_of)
        return Commit(
            id=chain_hash(parent, canonical, key),
            parent=parent,
            seq=seq,
            branch=branch,
            time=time,
            message=message,
            rows=tuple(Row(*row) for row in rows),
        )
    except (ValueError, TypeError, StopIteration, msgspec.MsgspecError, RecursionError) as error:
        raise StoreCorrupt(
            f"{where}: the frame's hash is right but its content is no commit ({error}); it was "
            "written by something else. Use doxa repair to save the rest.",
            path=where,
        ) from error


def raw_rows(payload: bytes) -> tuple[bytes, list[Any]]:
    """Return the canonical bytes and the texts of a payload, unchecked."""
    canonical, texts = msgspec.msgpack.decode(payload, type=tuple[bytes, list[Any]])
    return canonical, texts


def rows_of(commits: Iterable[Commit]) -> Iterator[tuple[Commit, Row]]:
    """Yield every row with its commit."""
    for commit in commits:
        for row in commit.rows:
            yield commit, row
