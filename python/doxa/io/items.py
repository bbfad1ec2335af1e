"""What importers yield: entities, rows, links, stored records and problems, each with its place.

Holds values only. Every item knows where in the input it came from, so that whatever is
refused later can be named by file and line. Knows no file format and no store.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import unicodedata
from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from doxa.io.canonical import Record
from doxa.io.source import Source

__all__ = [
    "EntityItem",
    "Item",
    "LinkItem",
    "Problem",
    "Reader",
    "Row",
    "Stored",
    "derived_id",
    "name_key",
    "parse_time",
]

ID_BYTES = 256
_DIGEST_BYTES = 10


class Problem(msgspec.Struct, frozen=True):
    """Something in the input that was not taken in as it stands.

    Parameters
    ----------
    line : int
        Line in the file, from 1; 0 for the whole of it.
    what : str
        What is wrong and what was done about it.
    where : str
        The file within a folder; empty for a single file.
    refused : bool
        True where content was left out; False where it was taken in differently.
    """

    line: int
    what: str
    where: str = ""
    refused: bool = True

    def __str__(self) -> str:
        place = ", ".join(filter(None, [self.where, f"line {self.line}" if self.line else ""]))
        return f"{place}: {self.what}" if place else self.what


class EntityItem(msgspec.Struct, frozen=True, kw_only=True):
    """Who or what rows are about. ``id`` is derived from the name, not random."""

    id: str
    name: str
    type: str = ""
    aliases: tuple[str, ...] = ()
    at: dt.datetime | None = None
    line: int = 0
    where: str = ""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A proposition to be remembered; ``fields`` are keyword arguments of ``remember``."""

    fields: dict[str, Any]
    line: int = 0
    where: str = ""


class LinkItem(msgspec.Struct, frozen=True, kw_only=True):
    """A link by ids. One whose target is nowhere to be found is kept as broken."""

    source: str
    target: str
    relation: str = "relates"
    weight: float = 1.0
    line: int = 0
    where: str = ""


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a canonical export: admitted as it was, past the duplicate gate."""

    record: Record
    line: int = 0
    where: str = ""


Item = EntityItem | Row | LinkItem | Stored | Problem


class Reader(Protocol):
    """An importer: a pure generator of items."""

    def __call__(self, source: Source) -> Iterator[Item]:
        """Yield the items of a source, nothing left out in silence."""
        ...


def name_key(name: str) -> str:
    """Return the key under which two spellings of a name are the same.

    Examples
    --------
    >>> name_key("  ＣＰＵ  Package ") == name_key("cpu package")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def derived_id(prefix: str, *parts: str) -> str:
    """Return an id that depends on nothing but the parts.

    Examples
    --------
    >>> derived_id("mcp/obs", "ada", "x") == derived_id("mcp/obs", "ada", "x")
    True
    """
    data = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return f"{prefix}/{hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()}"


def readable_id(prefix: str, name: str) -> str:
    """Return ``prefix/name`` where that is a valid id, else one that ends in a digest.

    Examples
    --------
    >>> readable_id("note", "卡片/笔记")
    'note/卡片/笔记'
    """
    composed = unicodedata.normalize("NFC", name)
    clean = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in composed)
    whole = f"{prefix}/{clean}"
    if len(whole.encode()) <= ID_BYTES and clean == composed:
        return whole
    digest = derived_id("", name)[1:]
    room = ID_BYTES - len(digest) - 1
    return f"{whole.encode()[:room].decode('utf-8', 'ignore')}~{digest}"


def parse_time(value: object) -> tuple[dt.datetime | None, bool]:
    """Return a time as an aware datetime (None if it is none), and whether its zone was assumed.

    Examples
    --------
    >>> parse_time("2025-03-24T14:38:53.603Z")[0].isoformat()
    '2025-03-24T14:38:53.603000+00:00'
    >>> parse_time("2025-03-24")
    (datetime.datetime(2025, 3, 24, 0, 0, tzinfo=datetime.timezone.utc), True)
    """
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            return None, False
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        return None, False
    if value.utcoffset() is None:
        return value.replace(tzinfo=dt.UTC), True
    try:
        return value.astimezone(dt.UTC), False
    except OverflowError:
        return None, False
