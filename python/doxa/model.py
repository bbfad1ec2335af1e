"""The typed, frozen values of doxa and the rules that admit them.

Holds propositions, claims, links and the checks that turn what a caller gives
into what the store may hold. Every check names the field, the value and the rule.
Does no I/O and knows no store.
"""

from __future__ import annotations

import datetime as dt
import math
import unicodedata
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from doxa.errors import InvalidValue
from doxa.params import IMPORTANCES, RELATIONS
from doxa.scope import Scope

__all__ = [
    "IMPORTANCES",
    "KINDS",
    "NODE_TYPES",
    "RELATIONS",
    "SOURCE_CLASSES",
    "STATUSES",
    "Claim",
    "Context",
    "Entity",
    "Evidence",
    "Proposition",
    "Receipt",
]

Kind = Literal["norm", "knowledge", "task", "subject"]
Status = Literal["active", "pending", "superseded", "closed", "archived", "quarantined", "retired"]

#: The position of each name is the core's code.
NODE_TYPES: Final = ("proposition", "evidence", "event", "entity", "context")
KINDS: Final = ("norm", "knowledge", "task", "subject")
STATUSES: Final = (
    "active",
    "pending",
    "superseded",
    "closed",
    "archived",
    "quarantined",
    "retired",
)
#: Source class → initial confidence (docs/decisions/0002; the source's 001 and ours).
SOURCE_CLASSES: Final[Mapping[str, float]] = {
    "verified": 0.9,
    "user_explicit": 0.6,
    "third_party": 0.5,
    "inferred": 0.3,
}
CATEGORIES: Final = (
    "",
    "identity",
    "relationships",
    "knowledge",
    "health",
    "projects",
    "hobbies",
    "preferences",
    "finance",
    "obligations",
    "logistics",
    "other",
)
#: A proposition's category where the caller gives none.
CATEGORY_OF_KIND: Final[Mapping[str, str]] = {
    "norm": "",
    "knowledge": "knowledge",
    "task": "",
    "subject": "identity",
}

TITLE_CHARACTERS: Final = 300
TEXT_CHARACTERS: Final = 10_000_000
NAME_CHARACTERS: Final = 256
ID_BYTES: Final = 256
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICRO: Final = dt.timedelta(microseconds=1)
_FIRST: Final = (dt.datetime.min.replace(tzinfo=dt.UTC) - _EPOCH) // _MICRO
LAST_MICROSECOND: Final = (dt.datetime.max.replace(tzinfo=dt.UTC) - _EPOCH) // _MICRO


class Claim(msgspec.Struct, frozen=True):
    """An optional structure of a statement: subject, attribute, value.

    Parameters
    ----------
    subject : str
        An entity's id or free text, resolved when read.
    attribute : str
        What is said of it; with subject and scope it makes the *slot*.
    value : str, int, float, bool or None
        A literal or an entity's id.
    polarity : bool
        False says that it is not so.
    cardinality : {"single", "many"}
        Whether the slot holds one value at a time.
    qualifiers : mapping
        Dose, place, probability and the like.

    Examples
    --------
    >>> Claim("ada", "lives_in", "Istanbul").polarity
    True
    """

    subject: str
    attribute: str
    value: str | int | float | bool | None = None
    polarity: bool = msgspec.field(default=True)
    cardinality: Literal["single", "many"] = "single"
    qualifiers: dict[str, Any] = {}

    @classmethod
    def of(cls, value: Claim | Mapping[str, Any] | None) -> Claim | None:
        """Return ``value`` as a validated claim, or None.

        Raises
        ------
        InvalidValue
            For a field that is missing, unknown or of the wrong type.
        """
        if value is None:
            return None
        if isinstance(value, Claim):
            data: Mapping[str, Any] = msgspec.structs.asdict(value)
        elif isinstance(value, Mapping):
            data = value
        else:
            raise InvalidValue(
                "claim", value, "a Claim or a mapping with subject, attribute, value"
            )
        known = set(cls.__struct_fields__)
        for name in data:
            if name not in known:
                raise InvalidValue(
                    "claim", name, f"its fields are {', '.join(cls.__struct_fields__)}"
                )
        for name in ("subject", "attribute"):
            if name not in data:
                raise InvalidValue("claim", dict(data), f"needs {name!r}")
        literal = data.get("value")
        if isinstance(literal, float) and not math.isfinite(literal):
            raise InvalidValue(
                "claim.value", literal, "a finite number, a text, a truth value or None"
            )
        if isinstance(literal, str):
            literal = text("claim.value", literal, TEXT_CHARACTERS, empty=False)
        elif literal is not None and not isinstance(literal, (bool, int, float)):
            raise InvalidValue(
                "claim.value", literal, "a finite number, a text, a truth value or None"
            )
        if isinstance(literal, int) and not -(2**63) <= literal < 2**63:
            raise InvalidValue(
                "claim.value", literal, "a whole number of 64 bits; give it as a text"
            )
        polarity, cardinality = data.get("polarity", True), data.get("cardinality", "single")
        if not isinstance(polarity, bool):
            raise InvalidValue("claim.polarity", polarity, "True or False")
        return cls(
            subject=text("claim.subject", data["subject"], NAME_CHARACTERS, empty=False),
            attribute=text("claim.attribute", data["attribute"], NAME_CHARACTERS, empty=False),
            value=literal,
            polarity=polarity,
            cardinality=choice("claim.cardinality", cardinality, ("single", "many")),
            qualifiers=_qualifiers(data.get("qualifiers") or {}),
        )


class Receipt(msgspec.Struct, frozen=True):
    """What a write did and what was found on the way.

    Attributes
    ----------
    commit : str
        The commit's id, empty inside an open transaction.
    ids : tuple of str
        What was written.
    outcome : str
        ``added``, ``duplicate``, ``changed``, ``unchanged`` or ``refused``.
    duplicate_of : str
        The proposition that was there already.
    possible_duplicates : tuple of str
        Linked for review.
    warnings : tuple of str
        Texts that do not stand alone, and other things worth a look.
    error : str
        Why a row was refused.
    """

    commit: str = ""
    ids: tuple[str, ...] = ()
    outcome: str = "added"
    duplicate_of: str = ""
    possible_duplicates: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""


class Proposition(msgspec.Struct, frozen=True, kw_only=True):
    """One self-contained conclusion: the unit of recall and of governance.

    Times are aware datetimes in UTC. ``receipt`` is filled on what a write returns.
    """

    id: str
    title: str
    summary: str = ""
    body: str = ""
    kind: str = "knowledge"
    importance: str = "medium"
    scope: Scope = Scope()
    category: str = ""
    claim: Claim | None = None
    valid_from: dt.datetime | None = None
    valid_to: dt.datetime | None = None
    event_at: dt.datetime | None = None
    confidence: float = 0.0
    status: str = "active"
    last_used: dt.datetime
    use_count: int = 0
    exit_condition: str = ""
    review_by: dt.datetime | None = None
    author: str = ""
    source: str = ""
    source_class: str = "user_explicit"
    recorded_at: dt.datetime
    rev: int = 1
    superseded_by: tuple[str, ...] = ()
    receipt: Receipt = Receipt()


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """Who or what propositions are about."""

    id: str
    name: str
    type: str = ""
    aliases: tuple[str, ...] = ()
    recorded_at: dt.datetime
    receipt: Receipt = Receipt()


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A situation in which evidence was gathered or a belief holds."""

    id: str
    within: str = ""
    description: str = ""
    recorded_at: dt.datetime
    receipt: Receipt = Receipt()


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What was actually said, read, run or measured. Never changes."""

    id: str
    text: str
    source: str = ""
    source_class: str = "user_explicit"
    recorded_at: dt.datetime


def text(field: str, value: object, limit: int, *, empty: bool = True) -> str:
    """Return a text as given, or refuse it.

    Raises
    ------
    InvalidValue
        For what is no string, is too long or (unless ``empty``) blank, or holds a lone
        surrogate or NUL, which no UTF-8 file keeps.

    Examples
    --------
    >>> text("title", "端口是 8080", 300)
    '端口是 8080'
    """
    if not isinstance(value, str):
        raise InvalidValue(field, value, "a string")
    if len(value) > limit:
        raise InvalidValue(field, value, f"at most {limit:,} characters")
    if not empty and not value.strip():
        raise InvalidValue(field, value, "at least one character that is no white space")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidValue(
                field, value, f"no lone surrogates (one is at character {error.start})"
            ) from None
    if "\0" in value:
        raise InvalidValue(field, value, f"no NUL (one is at character {value.index(chr(0))})")
    return str(value)


def title(value: object) -> str:
    """Return a title of one line, 1 to 300 characters."""
    checked = text("title", value, TITLE_CHARACTERS, empty=False)
    if any(c in checked for c in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        raise InvalidValue("title", checked, "one line; put more into summary or body")
    return checked


def identifier(field: str, value: object) -> str:
    """Return an id in NFC: 1 to 256 bytes of UTF-8, no control characters.

    Examples
    --------
    >>> identifier("id", "e\\u0301")
    'é'
    """
    if not isinstance(value, str):
        raise InvalidValue(field, value, "an id is a string")
    checked = unicodedata.normalize("NFC", text(field, value, TEXT_CHARACTERS, empty=False))
    if len(checked.encode()) > ID_BYTES:
        raise InvalidValue(field, value, f"1 to {ID_BYTES} bytes of UTF-8")
    if any(unicodedata.category(c) == "Cc" for c in checked):
        raise InvalidValue(field, value, "an id has no control characters")
    return checked


def choice(field: str, value: object, allowed: tuple[str, ...] | Mapping[str, Any]) -> Any:
    """Return one of the allowed names."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidValue(field, value, f"one of {', '.join(map(repr, allowed))}")
    return value


def relation(value: object) -> str:
    """Return the name of a relation."""
    return str(choice("relation", value, RELATIONS))


def micros(field: str, value: object) -> int | None:
    """Return an aware datetime as microseconds since 1970 in UTC; None stays None.

    Raises
    ------
    InvalidValue
        For a naive datetime, another type, or a time outside the years 1 to 9999 in UTC.

    Examples
    --------
    >>> micros("at", dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC))
    1000000
    """
    if value is None:
        return None
    if not isinstance(value, dt.datetime):
        raise InvalidValue(field, value, "an aware datetime, such as datetime.now(timezone.utc)")
    if value.utcoffset() is None:
        raise InvalidValue(
            field,
            value.isoformat(),
            "a naive datetime names no moment; add its zone: "
            "value.replace(tzinfo=timezone.utc) or value.astimezone()",
        )
    us = (value - _EPOCH) // _MICRO
    if not _FIRST <= us <= LAST_MICROSECOND:
        raise InvalidValue(field, value.isoformat(), "within the years 1 to 9999 in UTC")
    return us


def moment(us: int | None) -> dt.datetime | None:
    """Return microseconds since 1970 as an aware datetime in UTC."""
    return None if us is None else _EPOCH + dt.timedelta(microseconds=us)


def instant(us: int) -> dt.datetime:
    """Return microseconds since 1970 as an aware datetime in UTC."""
    return _EPOCH + dt.timedelta(microseconds=us)


def number(field: str, value: object, low: float, high: float, *, open_low: bool = False) -> float:
    """Return a finite number within a range."""
    rule = (
        f"a number {'above' if open_low else 'from'} {low:g} {'up ' if open_low else ''}to {high:g}"
    )
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidValue(field, value, rule)
    if not low <= value <= high or (open_low and value == low):
        raise InvalidValue(field, value, rule)
    return float(value)


def whole(field: str, value: object, low: int, high: int) -> int:
    """Return a whole number within a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidValue(field, value, f"a whole number from {low:,} to {high:,}")
    return value


def flag(field: str, value: object) -> bool:
    """Return a truth value, and nothing that only looks like one."""
    if not isinstance(value, bool):
        raise InvalidValue(field, value, "True or False")
    return value


def _qualifiers(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or len(value) > 64:
        raise InvalidValue("claim.qualifiers", value, "a mapping of at most 64 names to literals")
    out: dict[str, Any] = {}
    for name, item in value.items():
        key = text("claim.qualifiers", name, NAME_CHARACTERS, empty=False)
        if isinstance(item, str):
            out[key] = text(f"claim.qualifiers[{key!r}]", item, TEXT_CHARACTERS)
        elif (
            item is None
            or isinstance(item, bool)
            or (isinstance(item, (int, float)) and math.isfinite(item) and abs(item) < 2**63)
        ):
            out[key] = item
        else:
            raise InvalidValue(
                f"claim.qualifiers[{key!r}]", item, "a text, a finite number, a truth value"
            )
    return dict(sorted(out.items()))
