"""Where an import reads from: a file or a folder, its bytes by numbered line.

Lines end at ``\\n`` only: U+2028 and friends are text. A byte order mark and ``\\r`` at
a line's end are taken off. Gzip is undone by name (``.gz``). No line is held beyond
``LINE_BYTES``. Knows nothing of what the lines mean.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final, cast

from doxa.errors import InvalidValue

__all__ = ["DOCUMENT_BYTES", "LINE_BYTES", "Source"]

LINE_BYTES: Final = 64 << 20
DOCUMENT_BYTES: Final = 1 << 30
_HEAD_BYTES: Final = 64 << 10
_WIDE: Final = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Source:
    """A file or folder to be read.

    Parameters
    ----------
    path : Path
        A file, or a folder for a vault.
    progress : callable, optional
        Called now and then with (bytes read, bytes in all).

    Raises
    ------
    InvalidValue
        If there is nothing at the path or it can't be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.jsonl")
    ...     _ = file.write_bytes(b"\\xef\\xbb\\xbf{}\\r\\n[1]")
    ...     list(Source(file).lines())
    [(1, b'{}'), (2, b'[1]')]
    """

    def __init__(self, path: Path, progress: Callable[[int, int], None] | None = None) -> None:
        if not path.exists():
            raise InvalidValue("file", str(path), "a file or folder that exists")
        self.path = path
        self.name = path.name
        self.progress = progress

    @property
    def is_folder(self) -> bool:
        """Whether the source is a folder."""
        return self.path.is_dir()

    def head(self) -> bytes:
        """Return the first bytes, as they are after gzip and without a byte order mark."""
        data = b""
        with self._open() as stream, self._readable():
            try:
                while len(data) < _HEAD_BYTES and (chunk := stream.readline(_HEAD_BYTES)):
                    data += chunk
            except (EOFError, zlib.error):
                if not data:  # a compressed file that was cut: its beginning will do here
                    raise
        for mark, encoding in _WIDE.items():
            if data.startswith(mark):
                return data[: len(data) // 2 * 2].decode(encoding, "replace").encode()
        return data.removeprefix(codecs.BOM_UTF8)

    def lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield (line number, bytes without the line's end); None for a line that is too long.

        Raises
        ------
        InvalidValue
            Where the file can't be read on, such as a compressed one that was cut.
        """
        total = self.path.stat().st_size
        with self._open() as stream, self._readable():
            number = 0
            while chunk := stream.readline(LINE_BYTES + 1):
                number += 1
                if number == 1:
                    chunk = chunk.removeprefix(codecs.BOM_UTF8)
                if len(chunk) > LINE_BYTES and not chunk.endswith(b"\n"):
                    while chunk and not chunk.endswith(b"\n"):
                        chunk = stream.readline(LINE_BYTES)
                    yield number, None
                    continue
                if self.progress is not None and number % 256 == 0:
                    self.progress(self._position(stream), total)
                yield number, chunk.removesuffix(b"\n").removesuffix(b"\r")

    def text(self) -> str:
        """Return the whole file as text; bytes that are no UTF-8 become lone surrogates.

        Raises
        ------
        InvalidValue
            For a file beyond ``DOCUMENT_BYTES``, or one that can't be read to its end.
        """
        with self._open() as stream, self._readable():
            data = stream.read(DOCUMENT_BYTES + 1)
        if len(data) > DOCUMENT_BYTES:
            limit = f"at most {DOCUMENT_BYTES >> 20} MiB in this format"
            raise InvalidValue("file", self.name, limit)
        for mark, encoding in _WIDE.items():
            if data.startswith(mark):
                return data.decode(encoding, "replace")
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")

    def _open(self) -> IO[bytes]:
        try:
            if not self.path.is_file():  # a pipe would be waited for, and is read twice
                raise InvalidValue("file", str(self.path), "a regular file; save it to one first")
            if self.path.suffix == ".gz":
                return cast(IO[bytes], gzip.open(self.path, "rb"))
            return self.path.open("rb")
        except OSError as error:
            raise InvalidValue(
                "file", str(self.path), f"a file that can be read ({error.strerror})"
            ) from None

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, zlib.error) as error:
            what = getattr(error, "strerror", None) or str(error)
            raise InvalidValue("file", str(self.path), f"a file that is whole ({what})") from None

    @staticmethod
    def _position(stream: IO[bytes]) -> int:
        raw = getattr(stream, "fileobj", None)
        return int((raw if raw is not None else stream).tell())
