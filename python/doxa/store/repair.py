"""Repair: what can still be read of a damaged store, as a copy.

The source is never written to. Commits are taken in the order of the history as long as
they verify; from damaged stretches every frame whose own hash is right is taken too. The
copy has a chain of its own; the report says what was saved and what was not.
"""

from __future__ import annotations

import os

import msgspec

from doxa.errors import StoreError, StoreExists, StoreNotFound
from doxa.store import archive
from doxa.store.files import Files, read_whole
from doxa.store.frames import COMMIT, OVERHEAD, Commit, decode_commit, find_frames
from doxa.store.journal import epoch_numbers, epoch_path
from doxa.store.store import Store

__all__ = ["RepairReport", "repair"]

_LIMIT = 1 << 40


class RepairReport(msgspec.Struct, frozen=True):
    """What a repair saved.

    Attributes
    ----------
    saved : int
        Commits in the copy.
    lost : tuple of (int, int)
        Ranges of commit numbers, inclusive, that are nowhere to be read.
    problems : tuple of str
        What was damaged.
    target : str
        The copy.
    """

    saved: int
    lost: tuple[tuple[int, int], ...]
    problems: tuple[str, ...]
    target: str


def repair(files: Files, source: str, target: str, key: bytes | None = None) -> RepairReport:
    """Save what can be read of a store into a new one.

    Parameters
    ----------
    source, target : str
        The damaged store, and a directory that does not exist.

    Raises
    ------
    StoreNotFound
        If there is nothing like a store at ``source``.
    StoreExists
        If ``target`` is there.
    """
    if not files.names(f"{source}/journal") and not files.names(f"{source}/archive"):
        raise StoreNotFound(f"{source}: there is no journal and no archive to repair", path=source)
    if files.exists(target):
        raise StoreExists(f"{target}: repair writes a new directory; choose another", path=target)
    problems: list[str] = []
    found: dict[int, Commit] = {}
    for epoch in archive.numbers(files, source):
        try:
            for commit in archive.history(files, source, epoch, key):
                found.setdefault(commit.seq, commit)
        except StoreError as error:
            problems.append(str(error))
    for epoch in epoch_numbers(files, source):
        path = epoch_path(source, epoch)
        data = read_whole(files, path, _LIMIT)
        end = 0
        for frame in find_frames(data, 0):
            if frame.kind == COMMIT:
                try:
                    commit = decode_commit(frame.parent, frame.payload, key, path)
                    found[commit.seq] = commit
                except StoreError as error:
                    problems.append(str(error))
            start = frame.end - OVERHEAD - len(frame.payload)
            if start != end:
                problems.append(f"{path}: damaged from byte {end:,} to {start:,}")
            end = frame.end
        if end < len(data):
            problems.append(
                f"{path}: damaged from byte {end:,} to the end, {len(data) - end:,} bytes"
            )
    lost = _gaps(sorted(found))
    store = Store.create(
        files, target, durability="batch", key=None, anchor=None, store_id=os.urandom(16)
    )
    try:
        with store.lock(30.0):
            for _ in store.read_new():
                pass
            for seq in sorted(found):
                commit = found[seq]
                store.append(commit.time, commit.branch, commit.message, commit.rows)
    finally:
        store.close()
    return RepairReport(len(found), lost, tuple(problems), target)


def _gaps(seqs: list[int]) -> tuple[tuple[int, int], ...]:
    out = []
    expected = 1
    for seq in seqs:
        if seq > expected:
            out.append((expected, seq - 1))
        expected = seq + 1
    return tuple(out)
