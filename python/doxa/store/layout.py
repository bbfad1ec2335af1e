"""How a store lies in its directory: FORMAT, the empty parts, and how big each is."""

from __future__ import annotations

import os
from typing import Final

from doxa._core import digest
from doxa.errors import FormatTooNew, StoreError, StoreNotFound, shorten
from doxa.store.files import Files, read_whole
from doxa.store.head import Head, HeadFile
from doxa.store.journal import EpochStart, corrupt, start_epoch

__all__ = ["FIRST_CHAIN", "PARTS", "folder_size", "lay_out", "read_format"]

FORMAT_VERSION: Final = 1
#: What stands before the first commit in the chain.
FIRST_CHAIN: Final = bytes(32)
#: Names that an unfinished creation may have left.
PARTS: Final = ("journal", "head", "lock", "checkpoint", "archive", "FORMAT.new")
_FORMAT_LIMIT: Final = 4096


def folder_size(files: Files, path: str) -> int:
    """Return the bytes of all files below a folder."""
    total = 0
    for name in files.names(path):
        if files.names(f"{path}/{name}"):
            total += folder_size(files, f"{path}/{name}")
            continue
        try:
            file = files.open(f"{path}/{name}")
        except StoreError:
            continue
        total += file.size()
        file.close()
    return total


def lay_out(files: Files, root: str, store_id: bytes) -> None:
    """Write an empty store; nothing of it counts before FORMAT has its name."""
    for part in ("journal", "checkpoint", "archive"):
        files.remove(f"{root}/{part}")
        files.make_dir(f"{root}/{part}")
    start = EpochStart(0, 0, 0, FIRST_CHAIN)
    file, length = start_epoch(files, root, 1, start, store_id)
    file.close()
    HeadFile(files, f"{root}/head").create(Head(1, 1, length, 0, 0, True, FIRST_CHAIN, store_id))
    fresh = files.create(f"{root}/FORMAT.new")
    try:
        body = f"doxa store\nversion {FORMAT_VERSION}\nid {store_id.hex()}\n".encode()
        fresh.write_at(0, body + f"check {digest(body).hex()}\n".encode())
        fresh.sync()
    finally:
        fresh.close()
    files.rename(f"{root}/FORMAT.new", f"{root}/FORMAT")
    files.sync_dir(root)
    parent = os.path.dirname(root) or "."
    files.sync_dir(parent)


def read_format(files: Files, root: str) -> bytes:
    """Return the id of the store in a directory.

    Raises
    ------
    StoreNotFound, FormatTooNew, StoreCorrupt
    """
    path = f"{root}/FORMAT"
    if not files.exists(path):
        raise StoreNotFound(
            f"there is no store at {shorten(root, 200)}; create it with doxa.open(…, create=True) "
            "or doxa init",
            path=root,
        )
    data = read_whole(files, path, _FORMAT_LIMIT)
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[0] == "doxa store" and len(lines) > 1 and lines[1].startswith("version "):
        version = lines[1].removeprefix("version ")
        if version.isdigit() and int(version) > FORMAT_VERSION and _checked(data):
            raise FormatTooNew(
                f"{path}: version {version}; this doxa reads up to {FORMAT_VERSION}. Install a newer "
                "doxa; the store was not touched.",
                path=path,
            )
    if not _checked(data) or len(lines) < 4 or not lines[2].startswith("id "):
        raise corrupt(path, "it is not what a store's FORMAT says")
    return bytes.fromhex(lines[2].removeprefix("id "))


def _checked(data: bytes) -> bool:
    body, mark, check = data.rpartition(b"check ")
    return bool(mark) and check == digest(body).hex().encode() + b"\n"
