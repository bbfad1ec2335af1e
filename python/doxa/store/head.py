"""The head: how far the store is known to have got, in two slots written in turn.

Each slot has its own checksum; the newer sound one counts. A head is written after the
data that it speaks of was synced, so what it knows must be there: less is corruption.
"""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from doxa._core import digest
from doxa.errors import StoreCorrupt
from doxa.store.files import File, Files, read_whole

__all__ = ["Head", "HeadFile"]

_MAGIC: Final = b"DOXAHEAD"
#: magic, counter, epoch, journal end, seq, checkpoint seq, clean, chain hash, store id
_SLOT: Final = struct.Struct("<8sQQQQQQ32s16s")
_CHECK: Final = 32
SLOT_SIZE: Final = _SLOT.size + _CHECK
#: Slots lie in sectors of their own, so that one write cannot tear both.
STRIDE: Final = 4096
FILE_SIZE: Final = STRIDE + SLOT_SIZE


class Head(msgspec.Struct, frozen=True):
    """What a slot says."""

    counter: int
    epoch: int
    end: int
    seq: int
    checkpoint: int
    clean: bool
    chain: bytes
    store_id: bytes


class HeadFile:
    """The file with the two slots."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self.path = path

    def create(self, head: Head) -> None:
        """Write both slots and sync."""
        file = self._files.create(self.path)
        try:
            slot = _pack(head)
            file.write_at(0, slot + bytes(STRIDE - SLOT_SIZE) + slot)
            file.sync()
        finally:
            file.close()

    def read(self) -> Head:
        """Return the newer sound slot.

        Raises
        ------
        StoreCorrupt
            If neither slot is sound.
        """
        data = read_whole(self._files, self.path, FILE_SIZE)
        slots = [_unpack(data[at : at + SLOT_SIZE]) for at in (0, STRIDE)]
        sound = [slot for slot in slots if slot is not None]
        if not sound or len(data) != FILE_SIZE:
            raise StoreCorrupt(
                f"{self.path}: the head is damaged; use doxa repair to save a copy", path=self.path
            )
        return max(sound, key=lambda slot: slot.counter)

    def intact(self) -> bool:
        """Tell whether every byte of the file is as it was written."""
        data = read_whole(self._files, self.path, FILE_SIZE)
        slots = [_unpack(data[at : at + SLOT_SIZE]) for at in (0, STRIDE)]
        return len(data) == FILE_SIZE and None not in slots and not any(data[SLOT_SIZE:STRIDE])

    def write(self, head: Head, *, sync: bool) -> None:
        """Write the slot whose turn it is."""
        file: File = self._files.open(self.path, write=True)
        try:
            file.write_at(STRIDE * (head.counter % 2), _pack(head))
            if sync:
                file.sync()
        finally:
            file.close()


def _pack(head: Head) -> bytes:
    body = _SLOT.pack(
        _MAGIC,
        head.counter,
        head.epoch,
        head.end,
        head.seq,
        head.checkpoint,
        int(head.clean),
        head.chain,
        head.store_id,
    )
    return body + digest(body)


def _unpack(slot: bytes) -> Head | None:
    if len(slot) != SLOT_SIZE or not slot.startswith(_MAGIC):
        return None
    if digest(slot[: _SLOT.size]) != slot[_SLOT.size :]:
        return None
    _, counter, epoch, end, seq, checkpoint, clean, chain, store_id = _SLOT.unpack_from(slot)
    return Head(counter, epoch, end, seq, checkpoint, bool(clean), chain, store_id)
