"""The journal: a chain of epoch files, each a row of frames.

Every file begins with an EPOCH frame that says where the epoch before it ended, and a
finished one ends with a CLOSED frame, by which readers notice that another began. What
stands behind the end that the next epoch names is dead: a torn tail, or frames whose
sync failed and which were written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from doxa.errors import StoreCorrupt
from doxa.store.files import File, Files
from doxa.store.frames import (
    CLOSED,
    COMMIT,
    EPOCH,
    HASH,
    HEADER_SIZE,
    Commit,
    Frame,
    decode_commit,
    find_frames,
    pack_frame,
    read_frame,
    read_header,
)

__all__ = ["EpochStart", "Position", "epoch_numbers", "epoch_path", "scan_epoch", "start_epoch"]

_STEP: Final = 1 << 20


class EpochStart(msgspec.Struct, frozen=True):
    """The payload of an EPOCH frame: where the epoch before ended."""

    previous: int
    previous_end: int
    base_seq: int
    base_chain: bytes


class Position(msgspec.Struct, frozen=True):
    """A place in the journal: after commit ``seq``, whose id is ``chain``."""

    epoch: int
    end: int
    seq: int
    chain: bytes


def epoch_path(root: str, epoch: int) -> str:
    """Return the path of an epoch's file."""
    return f"{root}/journal/{epoch:010}.log"


def epoch_numbers(files: Files, root: str) -> list[int]:
    """Return the numbers of the epochs that are there, in order."""
    out = []
    for name in files.names(f"{root}/journal"):
        stem, dot, kind = name.partition(".")
        if kind == "log" and dot and stem.isdigit() and len(stem) == 10:
            out.append(int(stem))
    return sorted(out)


def start_epoch(
    files: Files,
    root: str,
    epoch: int,
    start: EpochStart,
    store_id: bytes,
    frames: Sequence[bytes] = (),
) -> tuple[File, int]:
    """Create an epoch's file, durable with its name; return it open and its length.

    ``frames`` are commits that are written again in it, before it has its name.
    """
    path = epoch_path(root, epoch)
    frame = pack_frame(
        EPOCH,
        epoch,
        start.base_seq,
        start.base_seq,
        store_id,
        start.base_chain,
        msgspec.msgpack.encode(start),
    )
    whole = b"".join((frame, *frames))
    fresh = f"{root}/journal/{epoch:010}.new"
    file = files.create(fresh)
    try:
        file.write_at(0, whole)
        file.sync()
    finally:
        file.close()
    files.rename(fresh, path)
    files.sync_dir(f"{root}/journal")
    return files.open(path, write=True), len(whole)


def read_start(file: File, epoch: int, store_id: bytes) -> tuple[EpochStart, Position]:
    """Return an epoch's first frame and the position behind it.

    Raises
    ------
    StoreCorrupt
        If it is no sound EPOCH frame of this store and number.
    """
    frame = _frame_at(file, 0, file.size())
    if frame is None or frame.kind != EPOCH:
        raise corrupt(file.path, "its first frame is damaged")
    if frame.epoch != epoch or frame.store_id != store_id:
        raise corrupt(file.path, "it belongs to another epoch or another store")
    try:
        start = msgspec.msgpack.decode(frame.payload, type=EpochStart)
    except msgspec.MsgspecError as error:
        raise corrupt(file.path, f"its first frame is no epoch's ({error})") from error
    return start, Position(epoch, frame.end, start.base_seq, start.base_chain)


def _frame_at(file: File, offset: int, size: int) -> Frame | None:
    header = read_header(file.read(offset, HEADER_SIZE))
    if header is None or offset + HEADER_SIZE + header[1] + HASH > size:
        return None
    return read_frame(file.read(offset, HEADER_SIZE + header[1] + HASH), 0, offset)


def scan_epoch(
    file: File, position: Position, store_id: bytes, *, until: int | None = None
) -> Iterator[Frame | int]:
    """Yield sound COMMIT and CLOSED frames from a position on; last, the number of bytes left.

    Stops at the first frame that is not sound, not of this store, or not the next one.
    """
    size = file.size() if until is None else min(until, file.size())
    offset, seq, stretch, base = position.end, position.seq, b"", position.end
    while offset < size:
        frame = read_frame(stretch, offset - base, base)
        if frame is None:
            header = read_header(file.read(offset, HEADER_SIZE))
            if header is None:
                break
            whole = HEADER_SIZE + header[1] + HASH
            if offset + whole > size:
                break
            stretch, base = file.read(offset, max(_STEP, whole)), offset
            frame = read_frame(stretch, 0, base)
        if frame is None or frame.end > size:
            break
        if frame.store_id != store_id or frame.epoch != position.epoch:
            break
        if frame.kind == COMMIT and frame.seq == seq + 1:
            seq += 1
        elif not (frame.kind == CLOSED and frame.seq == seq):
            break
        yield frame
        offset = frame.end
        if frame.kind == CLOSED:
            break
    yield size - offset


def commit_of(frame: Frame, chain: bytes, key: bytes | None, path: str) -> Commit:
    """Return the commit of a frame that must follow ``chain``.

    Raises
    ------
    StoreCorrupt
        If its parent is another commit, or its content does not hash to its place.
    """
    if frame.parent != chain:
        raise corrupt(
            path, f"commit {frame.seq} does not follow the one before it", key is not None
        )
    commit = decode_commit(chain, frame.payload, key, path)
    if commit.seq != frame.seq:
        raise corrupt(path, f"commit {frame.seq} says that it is {commit.seq}")
    return commit


def acknowledged_later(file: File, offset: int, seq: int) -> bool:
    """Tell whether a sound frame behind a bad one says that ``seq`` was synced."""
    data = file.read(offset, max(file.size() - offset, 0))
    return any(frame.synced >= seq or frame.seq > seq for frame in find_frames(data, 1))


def corrupt(path: str, what: str, keyed: bool = False) -> StoreCorrupt:
    """Return the error for a damaged file."""
    hint = " (or the key is another one)" if keyed else ""
    return StoreCorrupt(
        f"{path}: {what}{hint}. The store was not changed; use doxa repair to save a copy.",
        path=path,
    )
