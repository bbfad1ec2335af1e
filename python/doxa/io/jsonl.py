"""Reads JSON lines: canonical exports, and plain rows of propositions.

A line with ``recorded_at`` is a record of an export and is admitted as it was. A line
without it holds arguments of ``remember`` (``title``, ``summary``, ``kind``, …) and is
remembered as new, through the duplicate gate. A file that says it is an export and has
no last line, or counts other records than it has, was cut or changed: that is reported.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from doxa.errors import InvalidValue, shorten
from doxa.io.canonical import VERSION, EndRecord, HeaderRecord, decode
from doxa.io.items import Item, Problem, Row, Stored, parse_time
from doxa.io.source import LINE_BYTES, Source

__all__ = ["read_jsonl"]

_TIMES: Final = ("at", "valid_from", "valid_to", "event_at", "review_by")
#: The arguments of ``remember`` that a row may give; what is no text is checked there.
_FIELDS: Final = frozenset(
    (
        "id",
        "title",
        "summary",
        "body",
        "kind",
        "importance",
        "scope",
        "category",
        "claim",
        "about",
        "context",
        "valid_from",
        "valid_to",
        "event_at",
        "exit_condition",
        "review_by",
        "confidence",
        "source",
        "source_class",
        "evidence",
        "links",
        "reason",
        "at",
        "by",
    )
)
_CANONICAL_TYPES: Final = frozenset(
    ("doxa", "end", "context", "entity", "evidence", "proposition", "link")
)


def read_jsonl(source: Source) -> Iterator[Item]:
    """Yield the records and rows of a JSON lines file.

    Parameters
    ----------
    source : Source
        The file.

    Yields
    ------
    Stored, Row or Problem
        In the order of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.jsonl")
    ...     _ = file.write_text('{"title": "The port is 8080"}\\nnonsense')
    ...     [type(item).__name__ for item in read_jsonl(Source(file))]
    ['Row', 'Problem']
    """
    file = _File()
    try:
        for line, data in source.lines():
            yield from file.items(line, data)
            if file.too_new:
                return
    except InvalidValue as error:  # the file breaks off; what stands before is taken
        yield Problem(file.last + 1, f"{error}: nothing was read from here on")
    if file.is_export and not file.ended:
        yield Problem(file.last, "the file has no end line: it was cut short after this line")


class _File:
    """What has been seen of a file: whether it is an export, whole, and counts right."""

    def __init__(self) -> None:
        self.last = 0
        self.records = 0
        self.is_export = self.ended = self.too_new = False

    def items(self, line: int, data: bytes | None) -> Iterator[Item]:
        """Yield what a line holds."""
        self.last = line
        if data is None:
            yield Problem(line, f"longer than {LINE_BYTES >> 20} MiB: skipped")
            return
        if not data.strip():
            return
        try:
            item = _item(line, data)
        except InvalidValue as error:
            self.records += self.is_export
            yield Problem(line, f"{error}: skipped")
            return
        if isinstance(item, HeaderRecord):
            self.is_export = True
            self.too_new = item.version > VERSION
            if self.too_new:
                yield Problem(line, _newer(item.version))
        elif isinstance(item, EndRecord):
            self.ended = True
            if item.records != self.records:
                says = f"{item.records:,} records; it has {self.records:,}"
                yield Problem(line, f"the file says that it holds {says}")
        else:
            self.records += isinstance(item, Stored)
            yield item


def _newer(version: int) -> str:
    return f"format version {version} is newer than {VERSION}: nothing was read; upgrade doxa"


def _item(line: int, data: bytes) -> HeaderRecord | EndRecord | Stored | Row:
    if b'"recorded_at"' in data:  # nearly always a record; what is none gets its message below
        with contextlib.suppress(InvalidValue):
            return Stored(record=decode(data), line=line)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        shown = shorten(data.decode("utf-8", "replace"))
        raise InvalidValue(f"not JSON ({error}), {shown}") from None
    if not isinstance(value, dict):
        raise InvalidValue(f"a {_name(value)} where an object is expected")
    kind = value.get("type")
    if kind in ("doxa", "end") or "recorded_at" in value or kind in ("context", "entity", "link"):
        record = decode(data)
        if isinstance(record, (HeaderRecord, EndRecord)):
            return record
        return Stored(record=record, line=line)
    return Row(fields=_row(value), line=line)


def _row(value: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(value)
    kind = fields.pop("type", "proposition")
    if kind != "proposition":
        known = ", ".join(sorted(_CANONICAL_TYPES))
        raise InvalidValue(f"unknown type {shorten(kind)}; known are {known}")
    for name in fields:
        if name not in _FIELDS:
            raise InvalidValue(f"unknown field {name!r}; known are {', '.join(sorted(_FIELDS))}")
    if "title" not in fields:
        raise InvalidValue("no title: a row needs at least a title")
    for name in _TIMES:
        if fields.get(name) is not None:
            moment, assumed = parse_time(fields[name])
            if moment is None or assumed:
                rule = "a time with its zone, such as 2026-03-01T09:00:00Z"
                raise InvalidValue(name, fields[name], rule)
            fields[name] = moment
    return fields


def _name(value: object) -> str:
    names = {list: "list", str: "text", bool: "truth value", int: "number", float: "number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
