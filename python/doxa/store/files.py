"""The one interface through which everything touches files.

Nothing else in the package opens a file of a store. :class:`RealFiles` is the disk,
:class:`MemoryFiles` the same in RAM; the tests bring a simulated disk that loses what
was not synced. Operating-system errors become typed ones here, and only here.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import threading
import time
from collections.abc import Iterator
from typing import Any, Final, Protocol

from doxa.errors import (
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreNotFound,
    StoreReadOnly,
    StoreUnavailable,
    shorten,
)

__all__ = ["File", "Files", "MemoryFiles", "RealFiles", "os_errors"]

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_LOCK_PAUSE: Final = 0.001
_LOCK_LONGEST_PAUSE: Final = 0.02


class File(Protocol):
    """An open file."""

    path: str

    def write_at(self, offset: int, data: bytes) -> None:
        """Write bytes at an offset, all of them."""

    def read(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes from an offset; fewer only at the end of the file."""

    def size(self) -> int:
        """Return the length in bytes."""

    def map(self) -> Any:
        """Return the bytes as a read-only buffer, mapped where that is possible."""

    def sync(self) -> None:
        """Return when what was written is on the disk."""

    def close(self) -> None:
        """Close; closing twice is fine."""


class Files(Protocol):
    """A file system, as far as a store needs one."""

    def make_dir(self, path: str) -> None:
        """Make a directory; fine if it is there."""

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a directory; empty if there is none."""

    def exists(self, path: str) -> bool:
        """Tell whether a file or directory is there."""

    def create(self, path: str) -> File:
        """Create an empty file for writing, in the place of one that may be there."""

    def open(self, path: str, *, write: bool = False) -> File:
        """Open a file that is there."""

    def rename(self, old: str, new: str) -> None:
        """Rename, replacing a file of the new name."""

    def remove(self, path: str) -> None:
        """Remove a file, or a directory with all that is in it; fine if it is gone."""

    def sync_dir(self, path: str) -> None:
        """Return when the names in a directory are on the disk."""

    def lock(self, path: str, timeout: float) -> contextlib.AbstractContextManager[None]:
        """Hold a file's lock against other handles and processes."""


@contextlib.contextmanager
def os_errors(action: str, path: str) -> Iterator[None]:
    """Turn operating-system errors into the store's own.

    Raises
    ------
    StoreNotFound, StoreReadOnly, StoreFull, StoreUnavailable
    """
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise _typed(error, action, path) from error


def _typed(error: OSError, action: str, path: str) -> StoreError:
    why = os.strerror(error.errno) if error.errno else str(error)
    text = f"{action} {shorten(path, 200)}: {why}"
    if error.errno in _FULL:
        return StoreFull(f"{text}. Make room and repeat; what was acknowledged is safe.", path=path)
    if error.errno == errno.ENOENT:
        return StoreNotFound(f"{text}. Is this the store's directory?", path=path)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StoreReadOnly(
            f"{text}. Check the permissions, or open with read_only=True.", path=path
        )
    return StoreUnavailable(f"{text}. Once the cause is gone, open the store again.", path=path)


class _RealFile:
    def __init__(self, path: str, flags: int) -> None:
        self.path = path
        with os_errors("open", path):
            self._fd = os.open(path, flags | os.O_CLOEXEC, 0o644)

    def write_at(self, offset: int, data: bytes) -> None:
        view = memoryview(data)
        with os_errors("write", self.path):
            while view:
                done = os.pwrite(self._fd, view, offset)
                view, offset = view[done:], offset + done

    def read(self, offset: int, size: int) -> bytes:
        parts = []
        with os_errors("read", self.path):
            while size > 0:
                part = os.pread(self._fd, min(size, 1 << 30), offset)
                if not part:
                    break
                parts.append(part)
                offset, size = offset + len(part), size - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def size(self) -> int:
        try:  # the one call of every read: no context manager
            return os.fstat(self._fd).st_size
        except OSError as error:
            if self._fd < 0:
                raise StoreClosed(
                    f"{shorten(self.path, 200)} was closed meanwhile; open the store again",
                    path=self.path,
                ) from None
            raise _typed(error, "look at", self.path) from error

    def map(self) -> Any:
        with os_errors("map", self.path):
            if not os.fstat(self._fd).st_size:
                return b""
            return mmap.mmap(self._fd, 0, access=mmap.ACCESS_READ)

    def sync(self) -> None:
        with os_errors("sync", self.path):
            os.fsync(self._fd)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        # A file that a thread may still be looking at is dropped, not closed: this closes it.
        if getattr(self, "_fd", -1) >= 0:
            self.close()


class RealFiles:
    """The disk."""

    def make_dir(self, path: str) -> None:
        with os_errors("create", path):
            os.makedirs(path, exist_ok=True)

    def names(self, path: str) -> list[str]:
        with os_errors("list", path):
            try:
                return sorted(os.listdir(path))
            except (FileNotFoundError, NotADirectoryError):
                return []

    def exists(self, path: str) -> bool:
        with os_errors("look at", path):
            return os.path.lexists(path)

    def create(self, path: str) -> File:
        return _RealFile(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)

    def open(self, path: str, *, write: bool = False) -> File:
        return _RealFile(path, (os.O_RDWR if write else os.O_RDONLY) | os.O_NOFOLLOW)

    def rename(self, old: str, new: str) -> None:
        with os_errors("rename", old):
            os.replace(old, new)

    def remove(self, path: str) -> None:
        with os_errors("remove", path):
            if os.path.isdir(path) and not os.path.islink(path):
                for name in os.listdir(path):
                    self.remove(os.path.join(path, name))
                os.rmdir(path)
            elif os.path.lexists(path):
                os.unlink(path)

    def sync_dir(self, path: str) -> None:
        with os_errors("sync", path):
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    @contextlib.contextmanager
    def lock(self, path: str, timeout: float) -> Iterator[None]:
        with os_errors("open", path):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            self._acquire(fd, path, timeout)
            with contextlib.suppress(OSError):  # the number only serves other handles' messages
                os.pwrite(fd, f"{os.getpid():<20}\n".encode(), 0)
            try:
                yield
            finally:
                # Closing would not do: a child forked meanwhile shares the lock.
                fcntl.flock(fd, fcntl.LOCK_UN)
        finally:
            os.close(fd)

    @staticmethod
    def _acquire(fd: int, path: str, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        pause = _LOCK_PAUSE
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
                    raise StoreBusy(
                        f"{shorten(path, 200)}: another writer (process {holder or 'unknown'}) held "
                        f"the lock for {timeout:g} s. Wait and repeat, or look at that process.",
                        path=path,
                        pid=holder,
                    ) from None
            except OSError as error:
                raise _typed(error, "lock", path) from error
            time.sleep(pause)
            pause = min(pause * 1.5, _LOCK_LONGEST_PAUSE)


class _MemoryFile:
    def __init__(self, path: str, data: bytearray) -> None:
        self.path = path
        self._data = data

    def write_at(self, offset: int, data: bytes) -> None:
        missing = offset - len(self._data)
        if missing > 0:
            self._data += bytes(missing)
        self._data[offset : offset + len(data)] = data

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._data[offset : offset + size])

    def size(self) -> int:
        return len(self._data)

    def map(self) -> Any:
        return bytes(self._data)

    def sync(self) -> None:
        """Nothing to wait for."""

    def close(self) -> None:
        """Nothing to give back."""


class MemoryFiles:
    """Files in RAM, gone with the object."""

    def __init__(self) -> None:
        self._files: dict[str, bytearray] = {}
        self._dirs: set[str] = set()
        self._lock = threading.RLock()

    def make_dir(self, path: str) -> None:
        self._dirs.add(path)

    def names(self, path: str) -> list[str]:
        start = path.rstrip("/") + "/"
        found = {
            name[len(start) :].split("/")[0]
            for name in (*self._files, *self._dirs)
            if name.startswith(start)
        }
        return sorted(found)

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._dirs

    def create(self, path: str) -> File:
        self._files[path] = bytearray()
        return _MemoryFile(path, self._files[path])

    def open(self, path: str, *, write: bool = False) -> File:
        if path not in self._files:
            raise StoreNotFound(f"open {shorten(path, 200)}: there is no such file", path=path)
        return _MemoryFile(path, self._files[path])

    def rename(self, old: str, new: str) -> None:
        start = old + "/"
        for path in [p for p in self._files if p == old or p.startswith(start)]:
            self._files[new + path[len(old) :]] = self._files.pop(path)
        for path in [p for p in self._dirs if p == old or p.startswith(start)]:
            self._dirs.discard(path)
            self._dirs.add(new + path[len(old) :])

    def remove(self, path: str) -> None:
        start = path + "/"
        for held in [p for p in self._files if p == path or p.startswith(start)]:
            del self._files[held]
        self._dirs = {d for d in self._dirs if d != path and not d.startswith(start)}

    def sync_dir(self, path: str) -> None:
        """Nothing to wait for."""

    @contextlib.contextmanager
    def lock(self, path: str, timeout: float) -> Iterator[None]:
        if not self._lock.acquire(timeout=timeout):
            raise StoreBusy(f"another thread held the lock for {timeout:g} s", path=path)
        try:
            yield
        finally:
            self._lock.release()


def read_whole(files: Files, path: str, limit: int) -> bytes:
    """Return a small file's bytes, refusing one that is larger than it may be."""
    file = files.open(path)
    try:
        size = file.size()
        if size > limit:
            raise StoreCorrupt(
                f"{shorten(path, 200)}: {size:,} bytes, at most {limit:,} belong there", path=path
            )
        return file.read(0, size)
    finally:
        file.close()
