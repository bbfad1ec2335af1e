"""A disk that keeps only what was synced, and every image that a crash may leave of it.

Behind the same interface as the real files. Each inode has durable bytes and pending
writes; each name is durable or pending. After every operation :meth:`Disk.images` yields
what a power cut there could leave: each prefix of what is pending, everything but one
write, the last write cut at bytes with old, zero and garbage fill. Switches in ``bugs``
make the disk (or the use of it) lie, to prove that the tests notice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from doxa.errors import StoreNotFound

#: A crash image: path -> bytes.
Image = dict[str, bytes]

_CUTS = 6


@dataclass(frozen=True)
class Write:
    inode: int
    offset: int
    data: bytes


@dataclass(frozen=True)
class Name:
    """A change of names in a directory: link, or rename where ``old`` is given."""

    folder: str
    path: str
    inode: int | None
    old: str = ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _write(data: bytes, offset: int, piece: bytes) -> bytes:
    if len(data) < offset:
        data += bytes(offset - len(data))
    return data[:offset] + piece + data[offset + len(piece) :]


@dataclass
class Disk:
    """See the module's text."""

    bugs: frozenset[str] = frozenset()
    step: Callable[[Disk], None] | None = None
    durable: dict[int, bytes] = field(default_factory=dict)
    durable_names: dict[str, int] = field(default_factory=dict)
    live: dict[int, bytes] = field(default_factory=dict)
    live_names: dict[str, int] = field(default_factory=dict)
    pending: list[Write | Name] = field(default_factory=list)
    fresh: int = 0
    operations: int = 0

    @classmethod
    def of(cls, image: Image, **given: Any) -> Disk:
        """Return a disk that holds an image, all of it durable."""
        disk = cls(**given)
        for path, data in image.items():
            disk.fresh += 1
            disk.durable[disk.fresh] = disk.live[disk.fresh] = data
            disk.durable_names[path] = disk.live_names[path] = disk.fresh
        return disk

    def done(self, *, changed: bool = True) -> None:
        """Count an operation and let the test look at what a crash would leave."""
        self.operations += 1
        if changed and self.step is not None:
            self.step(self)

    # -- changes -------------------------------------------------------------------------

    def write(self, inode: int, offset: int, data: bytes) -> None:
        self.live[inode] = _write(self.live[inode], offset, data)
        self.pending.append(Write(inode, offset, bytes(data)))
        self.done()

    def name(self, change: Name) -> None:
        _rename(self.live_names, change)
        self.pending.append(change)
        self.done()

    def sync(self, inode: int) -> None:
        if "no sync" not in self.bugs:
            for op in self.pending:
                if isinstance(op, Write) and op.inode == inode:
                    self.durable[inode] = _write(self.durable.get(inode, b""), op.offset, op.data)
            self.durable.setdefault(inode, b"")
            self.pending = [
                o for o in self.pending if not (isinstance(o, Write) and o.inode == inode)
            ]
        self.done()

    def sync_folder(self, folder: str) -> None:
        if "no directory sync" not in self.bugs:
            for op in self.pending:
                if isinstance(op, Name) and op.folder == folder:
                    _rename(self.durable_names, op)
            self.pending = [
                o for o in self.pending if not (isinstance(o, Name) and o.folder == folder)
            ]
        self.done()

    # -- what a crash leaves ----------------------------------------------------------------

    def images(self) -> Iterator[Image]:
        """Yield every image that a crash at this moment may leave."""
        ops = self.pending
        for length in range(len(ops) + 1):
            yield self._image(ops[:length])
        for dropped in (n for n, op in enumerate(ops[:-1]) if isinstance(op, Write)):
            yield self._image(ops[:dropped] + ops[dropped + 1 :])
        if ops and isinstance(ops[-1], Write):
            yield from self._torn(ops[:-1], ops[-1])

    def _torn(self, before: list[Write | Name], last: Write) -> Iterator[Image]:
        size = len(last.data)
        cuts = (
            range(1, size)
            if size <= _CUTS
            else sorted({1, 8, 88, 95, 96, size // 3, size // 2, size - 33, size - 1})
        )
        for cut in cuts:
            if not 0 < cut < size:
                continue
            rest = size - cut
            yield self._image([*before, Write(last.inode, last.offset, last.data[:cut])])
            for fill in (bytes(rest), bytes((7 * i + 13) % 251 for i in range(rest))):
                yield self._image([*before, Write(last.inode, last.offset, last.data[:cut] + fill)])

    def _image(self, ops: list[Write | Name]) -> Image:
        inodes, names = dict(self.durable), dict(self.durable_names)
        for op in ops:
            if isinstance(op, Write):
                inodes[op.inode] = _write(inodes.get(op.inode, b""), op.offset, op.data)
            else:
                _rename(names, op)
        return {path: inodes.get(inode, b"") for path, inode in names.items()}


def _rename(names: dict[str, int], change: Name) -> None:
    if change.old:
        start = change.old + "/"
        moved = [p for p in names if p == change.old or p.startswith(start)]
        if not moved:
            return
        _drop(names, change.path)
        for path in moved:
            names[change.path + path[len(change.old) :]] = names.pop(path)
    elif change.inode is None:
        _drop(names, change.path)
    else:
        names[change.path] = change.inode


def _drop(names: dict[str, int], path: str) -> None:
    for held in [p for p in names if p == path or p.startswith(path + "/")]:
        del names[held]


class _File:
    def __init__(self, disk: Disk, path: str, inode: int) -> None:
        self.disk, self.path, self._inode = disk, path, inode

    def write_at(self, offset: int, data: bytes) -> None:
        self.disk.write(self._inode, offset, bytes(data))

    def read(self, offset: int, size: int) -> bytes:
        if "short read" in self.disk.bugs:
            size = min(size, 200)
        return self.disk.live[self._inode][offset : offset + size]

    def size(self) -> int:
        return len(self.disk.live[self._inode])

    def map(self) -> Any:
        return self.disk.live[self._inode]

    def sync(self) -> None:
        self.disk.sync(self._inode)

    def close(self) -> None:
        pass


class SimulatedFiles:
    """The store's file interface over a :class:`Disk`."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk

    def make_dir(self, path: str) -> None:
        pass

    def names(self, path: str) -> list[str]:
        start = path + "/"
        return sorted(
            {p[len(start) :].split("/")[0] for p in self.disk.live_names if p.startswith(start)}
        )

    def exists(self, path: str) -> bool:
        return any(p == path or p.startswith(path + "/") for p in self.disk.live_names)

    def create(self, path: str) -> _File:
        disk = self.disk
        disk.fresh += 1
        disk.live[disk.fresh] = b""
        disk.name(Name(_folder(path), path, disk.fresh))
        return _File(disk, path, disk.fresh)

    def open(self, path: str, *, write: bool = False) -> _File:
        inode = self.disk.live_names.get(path)
        if inode is None:
            raise StoreNotFound(f"open {path!r}: no such file", path=path)
        return _File(self.disk, path, inode)

    def rename(self, old: str, new: str) -> None:
        self.disk.name(Name(_folder(new), new, None, old))

    def remove(self, path: str) -> None:
        if self.exists(path):
            self.disk.name(Name(_folder(path), path, None))

    def sync_dir(self, path: str) -> None:
        self.disk.sync_folder(path)

    @contextlib.contextmanager
    def lock(self, path: str, timeout: float) -> Iterator[None]:
        yield
