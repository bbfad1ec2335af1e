"""The rows of the store's tables: compact, frozen, with their Arrow columns.

Times are microseconds since 1970 in UTC (Arrow ``timestamp[us, UTC]`` on disk); scopes
and claims are JSON text in Arrow. The tables hold every fact; the core's columns and
indexes are derived from them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec
import pyarrow as pa

from doxa import model
from doxa.model import Claim, Proposition, instant, moment
from doxa.scope import Scope
from doxa.state.tables import Codec

__all__ = [
    "CODECS",
    "ContextRow",
    "EntityRow",
    "EvidenceRow",
    "LinkRow",
    "PropositionRow",
]

R = TypeVar("R")


class PropositionRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A proposition as it stands: what its standing operations say, not what was derived."""

    id: str
    title: str
    summary: str
    body: str
    kind: str
    importance: str
    scope: Scope
    category: str
    claim: Claim | None
    valid_from: int | None
    valid_to: int | None
    event_at: int | None
    confidence: float
    last_used: int
    use_count: int
    exit_condition: str
    review_by: int | None
    author: str
    agent: str
    source: str
    source_class: str
    context: str
    recorded_at: int
    rev: int
    base_status: str
    retired: str
    retired_reason: str
    commit_seq: int
    id_given: bool
    time_given: bool


class EvidenceRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What was said, read, run or measured."""

    id: str
    text: str
    source: str
    source_class: str
    author: str
    agent: str
    context: str
    recorded_at: int


class EntityRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Who or what propositions are about."""

    id: str
    name: str
    type: str
    aliases: tuple[str, ...]
    author: str
    recorded_at: int


class ContextRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A situation; may lie within another."""

    id: str
    within: str
    description: str
    author: str
    recorded_at: int


class LinkRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One statement of a link. The last one for (source, target, relation) counts."""

    source: str
    target: str
    relation: str
    weight: float
    valid_from: int | None
    valid_to: int | None
    author: str
    recorded_at: int
    broken: bool


_TIME: Final = pa.timestamp("us", tz="UTC")
_TEXTS: Final = pa.large_string()
_SHORT: Final = pa.string()


@lru_cache(maxsize=65_536)
def _scope_json(scope: Scope) -> str:
    return msgspec.json.encode(scope.to_dict()).decode() if scope else ""


@lru_cache(maxsize=65_536)
def _scope_from(text: str) -> Scope:
    return Scope(msgspec.json.decode(text)) if text else Scope()


def _claim_json(claim: Claim | None) -> str:
    return msgspec.json.encode(claim).decode() if claim is not None else ""


def _claim_from(text: str) -> Claim | None:
    return msgspec.json.decode(text, type=Claim) if text else None


def _micros(value: dt.datetime | int | None) -> int | None:
    return model.micros("time", value) if isinstance(value, dt.datetime) else value


_TO_ARROW: Final[dict[str, Callable[[Any], Any]]] = {
    "scope": _scope_json,
    "claim": _claim_json,
    "aliases": list,
}
_FROM_ARROW: Final[dict[str, Callable[[Any], Any]]] = {
    "scope": _scope_from,
    "claim": _claim_from,
    "aliases": tuple,
    **dict.fromkeys(
        ("valid_from", "valid_to", "event_at", "last_used", "review_by", "recorded_at"), _micros
    ),
}


def _codec(cls: type[R], types: dict[str, pa.DataType]) -> Codec[R]:
    names: tuple[str, ...] = cls.__struct_fields__  # type: ignore[attr-defined]
    schema = pa.schema([pa.field(name, types[name]) for name in names])
    outgoing = [(name, _TO_ARROW.get(name)) for name in names]
    incoming = [(name, _FROM_ARROW.get(name)) for name in names]

    def build(values: Sequence[Any]) -> R:
        return cls(
            **{
                name: value if convert is None else convert(value)
                for (name, convert), value in zip(incoming, values, strict=True)
            }
        )

    def values(record: R) -> Sequence[Any]:
        return [
            getattr(record, name) if convert is None else convert(getattr(record, name))
            for name, convert in outgoing
        ]

    return Codec(schema, build, values)


def _types(**columns: pa.DataType) -> dict[str, pa.DataType]:
    return columns


CODECS: Final[dict[str, Codec[Any]]] = {
    "propositions": _codec(
        PropositionRow,
        _types(
            id=_SHORT,
            title=_TEXTS,
            summary=_TEXTS,
            body=_TEXTS,
            kind=_SHORT,
            importance=_SHORT,
            scope=_TEXTS,
            category=_SHORT,
            claim=_TEXTS,
            valid_from=_TIME,
            valid_to=_TIME,
            event_at=_TIME,
            confidence=pa.float64(),
            last_used=_TIME,
            use_count=pa.int64(),
            exit_condition=_TEXTS,
            review_by=_TIME,
            author=_SHORT,
            agent=_SHORT,
            source=_TEXTS,
            source_class=_SHORT,
            context=_SHORT,
            recorded_at=_TIME,
            rev=pa.int64(),
            base_status=_SHORT,
            retired=_SHORT,
            retired_reason=_TEXTS,
            commit_seq=pa.int64(),
            id_given=pa.bool_(),
            time_given=pa.bool_(),
        ),
    ),
    "evidence": _codec(
        EvidenceRow,
        _types(
            id=_SHORT,
            text=_TEXTS,
            source=_TEXTS,
            source_class=_SHORT,
            author=_SHORT,
            agent=_SHORT,
            context=_SHORT,
            recorded_at=_TIME,
        ),
    ),
    "entities": _codec(
        EntityRow,
        _types(
            id=_SHORT,
            name=_TEXTS,
            type=_SHORT,
            aliases=pa.list_(_TEXTS),
            author=_SHORT,
            recorded_at=_TIME,
        ),
    ),
    "contexts": _codec(
        ContextRow,
        _types(id=_SHORT, within=_SHORT, description=_TEXTS, author=_SHORT, recorded_at=_TIME),
    ),
    "links": _codec(
        LinkRow,
        _types(
            source=_SHORT,
            target=_SHORT,
            relation=_SHORT,
            weight=pa.float64(),
            valid_from=_TIME,
            valid_to=_TIME,
            author=_SHORT,
            recorded_at=_TIME,
            broken=pa.bool_(),
        ),
    ),
}


def proposition(row: PropositionRow, status: str, superseded_by: tuple[str, ...]) -> Proposition:
    """Return the public value of a row with its derived status."""
    return Proposition(
        id=row.id,
        title=row.title,
        summary=row.summary,
        body=row.body,
        kind=row.kind,
        importance=row.importance,
        scope=row.scope,
        category=row.category,
        claim=row.claim,
        valid_from=moment(row.valid_from),
        valid_to=moment(row.valid_to),
        event_at=moment(row.event_at),
        confidence=row.confidence,
        status=status,
        last_used=instant(row.last_used),
        use_count=row.use_count,
        exit_condition=row.exit_condition,
        review_by=moment(row.review_by),
        author=row.author,
        source=row.source,
        source_class=row.source_class,
        recorded_at=instant(row.recorded_at),
        rev=row.rev,
        superseded_by=superseded_by,
    )
