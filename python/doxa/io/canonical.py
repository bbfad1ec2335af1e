"""The records of a canonical export: one JSON object per line, byte-stable.

Each record type is a frozen struct whose fields stand in alphabetical order behind
``type``, so that encoding it is canonical: equal records give equal bytes, and decoding
what was encoded gives an equal record. Defaults are left out. Times are UTC with ``Z``.
Documented in ``docs/export.md``. Knows nothing of files and stores.
"""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import Any, Final, Literal

import msgspec

from doxa.errors import InvalidValue

__all__ = [
    "VERSION",
    "ContextRecord",
    "EndRecord",
    "EntityRecord",
    "EvidenceRecord",
    "HeaderRecord",
    "LinkRecord",
    "PropositionRecord",
    "Record",
    "decode",
    "encode",
]

VERSION: Final = 1


class _Base(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    pass


class HeaderRecord(_Base, frozen=True, kw_only=True, tag="doxa"):
    """The first line: says what the file is."""

    version: int


class EndRecord(_Base, frozen=True, kw_only=True, tag="end"):
    """The last line: how many records stand before it, so that a cut file is noticed."""

    records: int


class ContextRecord(_Base, frozen=True, kw_only=True, tag="context"):
    """A situation."""

    author: str = ""
    description: str = ""
    id: str
    recorded_at: dt.datetime
    within: str = ""


class EntityRecord(_Base, frozen=True, kw_only=True, tag="entity"):
    """Who or what propositions are about."""

    aliases: tuple[str, ...] = ()
    author: str = ""
    entity_type: str = ""
    id: str
    name: str
    recorded_at: dt.datetime


class EvidenceRecord(_Base, frozen=True, kw_only=True, tag="evidence"):
    """What was said, read, run or measured."""

    agent: str = ""
    author: str = ""
    context: str = ""
    id: str
    recorded_at: dt.datetime
    source: str = ""
    source_class: str = "user_explicit"
    text: str


class ClaimRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The structure of a statement, with its fields in alphabetical order."""

    attribute: str
    cardinality: Literal["single", "many"] = "single"
    polarity: bool = True
    qualifiers: dict[str, Any] = {}
    subject: str
    value: str | int | float | bool | None = None


class PropositionRecord(_Base, frozen=True, kw_only=True, tag="proposition"):
    """A proposition as it stands; ``status`` is what no link and no retirement says."""

    agent: str = ""
    author: str = ""
    body: str = ""
    category: str = ""
    claim: ClaimRecord | None = None
    confidence: float = 0.0
    context: str = ""
    event_at: dt.datetime | None = None
    exit_condition: str = ""
    id: str
    id_given: bool = True
    importance: str = "medium"
    kind: str = "knowledge"
    last_used: dt.datetime | None = None
    recorded_at: dt.datetime
    retired: str = ""
    retired_reason: str = ""
    rev: int = 1
    review_by: dt.datetime | None = None
    scope: dict[str, list[str]] = {}
    source: str = ""
    source_class: str = "user_explicit"
    status: str = "active"
    summary: str = ""
    time_given: bool = True
    title: str
    use_count: int = 0
    valid_from: dt.datetime | None = None
    valid_to: dt.datetime | None = None


class LinkRecord(_Base, frozen=True, kw_only=True, tag="link"):
    """A link; ``broken`` where its target is in no store."""

    author: str = ""
    broken: bool = False
    recorded_at: dt.datetime
    relation: str
    source: str
    target: str
    valid_from: dt.datetime | None = None
    valid_to: dt.datetime | None = None
    weight: float = 1.0


Record = (
    HeaderRecord
    | EndRecord
    | ContextRecord
    | EntityRecord
    | EvidenceRecord
    | PropositionRecord
    | LinkRecord
)

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Record)
#: Characters that other readers take for the end of a line; JSON may write them as escapes.
_BREAKS: Final = (
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
    ("\x85".encode(), b"\\u0085"),
)


def encode(record: Record) -> bytes:
    """Return a record's canonical line, without its line feed.

    Examples
    --------
    >>> encode(HeaderRecord(version=1))
    b'{"type":"doxa","version":1}'
    """
    data = _ENCODER.encode({"type": record.__struct_config__.tag, **_stated(record)})
    if not data.isascii():
        for raw, escape in _BREAKS:
            data = data.replace(raw, escape)
    return data


def _stated(record: msgspec.Struct) -> dict[str, Any]:
    """Return the fields that differ from their defaults, by value (msgspec compares identity)."""
    out = {}
    for name, default in _defaults(type(record)):
        value = getattr(record, name)
        if default is msgspec.NODEFAULT or value != default:
            if isinstance(value, msgspec.Struct):
                value = _stated(value)
            out[name] = dict(sorted(value.items())) if isinstance(value, dict) else value
    return out


@cache
def _defaults(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (
            field.encode_name,
            field.default
            if field.default_factory is msgspec.NODEFAULT
            else field.default_factory(),
        )
        for field in msgspec.structs.fields(kind)
    )


def decode(line: bytes) -> Record:
    """Return the record of a line.

    Raises
    ------
    InvalidValue
        For what is no JSON, no known record, or has an unknown field, a missing one or one of
        the wrong type.

    Examples
    --------
    >>> decode(b'{"type":"end","records":3}')
    EndRecord(records=3)
    """
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidValue(f"not a record: {error}") from None
