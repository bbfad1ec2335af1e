"""From what a caller gives to a draft that the store may hold.

Every argument of ``remember`` is checked here, before anything is staged. Knows the
rules of each kind; does no I/O and reads no state.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from doxa import model
from doxa.errors import InvalidValue
from doxa.model import CATEGORIES, CATEGORY_OF_KIND, KINDS, SOURCE_CLASSES, TEXT_CHARACTERS, Claim
from doxa.params import IMPORTANCES
from doxa.scope import Scope

__all__ = [
    "SETTABLE",
    "Draft",
    "EvidenceDraft",
    "LinkDraft",
    "checked_changes",
    "draft",
    "evidence_drafts",
]

SETTABLE: Final = (
    "importance",
    "scope",
    "category",
    "claim",
    "valid_from",
    "valid_to",
    "event_at",
    "exit_condition",
    "review_by",
    "confidence",
)
REVIEW_DAYS: Final = 30
_DAY: Final = 86_400_000_000
_MAX_LIST: Final = 10_000


class LinkDraft(msgspec.Struct, frozen=True):
    """A link from the proposition that is being written."""

    target: str
    relation: str
    weight: float


class EvidenceDraft(msgspec.Struct, frozen=True):
    """Evidence given with a proposition: new text, or the id of what is there."""

    id: str
    text: str
    source: str
    source_class: str
    at: int | None


class Draft(msgspec.Struct, frozen=True):
    """A checked proposition, ready for admission."""

    id: str
    fields: dict[str, Any]
    at: int | None
    about: tuple[str, ...]
    context: str
    evidence: tuple[EvidenceDraft, ...]
    links: tuple[LinkDraft, ...]
    reason: str

    @property
    def statement(self) -> str:
        """The text that the duplicate gate compares: title and summary."""
        title, summary = self.fields["title"], self.fields["summary"]
        return f"{title}\n{summary}" if summary else str(title)


def draft(
    title: object,
    summary: object = "",
    *,
    id: object = None,  # noqa: A002 - the public name
    body: object = "",
    kind: object = "knowledge",
    importance: object = "medium",
    scope: object = None,
    category: object = None,
    claim: object = None,
    about: object = (),
    context: object = None,
    valid_from: dt.datetime | None = None,
    valid_to: dt.datetime | None = None,
    event_at: dt.datetime | None = None,
    exit_condition: object = "",
    review_by: dt.datetime | None = None,
    confidence: object = None,
    source: object = "",
    source_class: object = "user_explicit",
    evidence: object = (),
    links: object = (),
    reason: object = "",
    at: dt.datetime | None = None,
    by: object = None,
    now: int,
    agent: str,
) -> Draft:
    """Check all arguments of ``remember`` and return a draft.

    Raises
    ------
    InvalidValue
        Naming the first field that breaks a rule.
    """
    kind_name = model.choice("kind", kind, KINDS)
    class_name = model.choice("source_class", source_class, SOURCE_CLASSES)
    recorded = model.micros("at", at)
    moment = now if recorded is None else recorded
    checked_claim = Claim.of(claim)  # type: ignore[arg-type]
    first, last = model.micros("valid_from", valid_from), model.micros("valid_to", valid_to)
    if first is None and checked_claim is not None:
        first = moment
    if first is not None and last is not None and last <= first:
        raise InvalidValue(
            "valid_to", valid_to, f"after valid_from ({model.instant(first).isoformat()})"
        )
    fields = {
        "title": model.title(title),
        "summary": model.text("summary", summary, TEXT_CHARACTERS),
        "body": model.text("body", body, TEXT_CHARACTERS),
        "kind": kind_name,
        "importance": model.choice("importance", importance, IMPORTANCES),
        "scope": _scope(scope),
        "category": _category(category, kind_name),
        "claim": None if checked_claim is None else msgspec.to_builtins(checked_claim),
        "valid_from": first,
        "valid_to": last,
        "event_at": model.micros("event_at", event_at),
        "confidence": _confidence(confidence, kind_name, class_name),
        **_task(kind_name, exit_condition, review_by, moment),
        "author": agent if by is None else name("by", by),
        "source": model.text("source", source, TEXT_CHARACTERS),
        "source_class": class_name,
        "generated": id is None,
        "dated": recorded is not None,
    }
    return Draft(
        id="" if id is None else model.identifier("id", id),
        fields=fields,
        at=recorded,
        about=_names("about", about),
        context="" if context is None else model.identifier("context", context),
        evidence=evidence_drafts(evidence, str(fields["source"]), class_name, recorded),
        links=_links(links),
        reason=model.text("reason", reason, TEXT_CHARACTERS),
    )


def name(field: str, value: object) -> str:
    """Return a name of 1 to 256 characters."""
    return model.text(field, value, model.NAME_CHARACTERS, empty=False)


def _scope(value: object) -> dict[str, list[str]]:
    if value is not None and not isinstance(value, Mapping):
        raise InvalidValue("scope", value, "a Scope or a mapping from dimension to values")
    return Scope.of(value).to_dict()


def _category(value: object, kind: str) -> str:
    if value is None:
        return CATEGORY_OF_KIND[kind]
    return str(model.choice("category", value, CATEGORIES))


def _confidence(value: object, kind: str, source_class: str) -> float:
    if value is not None:
        return model.number("confidence", value, -1.0, 1.0)
    return 1.0 if kind in ("norm", "task") else SOURCE_CLASSES[source_class]


def _task(
    kind: str, exit_condition: object, review_by: dt.datetime | None, moment: int
) -> dict[str, Any]:
    condition = model.text("exit_condition", exit_condition, TEXT_CHARACTERS)
    review = model.micros("review_by", review_by)
    if kind == "task":
        if not condition.strip():
            raise InvalidValue(
                "exit_condition", condition, "a task says what counts as done, in at least one word"
            )
        if review is None:
            review = min(moment + REVIEW_DAYS * _DAY, model.LAST_MICROSECOND)
    return {"exit_condition": condition, "review_by": review}


def _items(field: str, value: object) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (str, Mapping)):
        return [value]
    if not isinstance(value, Iterable) or isinstance(value, (bytes, bytearray)):
        raise InvalidValue(field, value, "one item or a list of items")
    items = list(value)
    if len(items) > _MAX_LIST:
        raise InvalidValue(field, len(items), f"at most {_MAX_LIST:,} items")
    return items


def _names(field: str, value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(model.identifier(field, item) for item in _items(field, value)))


def _links(value: object) -> tuple[LinkDraft, ...]:
    out = []
    for item in _items("links", value):
        if isinstance(item, str):
            target, relation, weight = item, "relates", 1.0
        elif isinstance(item, Mapping):
            extra = set(item) - {"to", "relation", "weight"}
            if extra or "to" not in item:
                raise InvalidValue("links", dict(item), "a mapping with to, relation and weight")
            target = item["to"]
            relation, weight = item.get("relation", "relates"), item.get("weight", 1.0)
        elif isinstance(item, (tuple, list)) and 2 <= len(item) <= 3:
            target, relation = item[0], item[1]
            weight = item[2] if len(item) == 3 else 1.0
        else:
            raise InvalidValue(
                "links", item, "an id, (id, relation), (id, relation, weight) or a mapping"
            )
        out.append(
            LinkDraft(
                model.identifier("links", target), model.relation(relation), link_weight(weight)
            )
        )
    return tuple(out)


def link_weight(value: object) -> float:
    """Return a link's weight, above 0 and at most 1."""
    return model.number("weight", value, 0.0, 1.0, open_low=True)


def evidence_drafts(
    value: object, source: str, source_class: str, at: int | None
) -> tuple[EvidenceDraft, ...]:
    """Check the evidence given with a proposition: texts, or mappings with text or id."""
    out = []
    for item in _items("evidence", value):
        data = {"text": item} if isinstance(item, str) else item
        if not isinstance(data, Mapping) or not data:
            raise InvalidValue("evidence", item, "a text, or a mapping with text or id")
        extra = set(data) - {"id", "text", "source", "source_class", "at"}
        if extra or not ("text" in data or "id" in data):
            raise InvalidValue(
                "evidence", dict(data), "a mapping with text or id, source, source_class, at"
            )
        given = model.micros("evidence.at", data.get("at"))
        out.append(
            EvidenceDraft(
                id="" if "id" not in data else model.identifier("evidence.id", data["id"]),
                text=""
                if "text" not in data
                else model.text("evidence.text", data["text"], TEXT_CHARACTERS, empty=False),
                source=model.text("evidence.source", data.get("source", source), TEXT_CHARACTERS),
                source_class=model.choice(
                    "evidence.source_class", data.get("source_class", source_class), SOURCE_CLASSES
                ),
                at=at if given is None else given,
            )
        )
    return tuple(out)


def checked_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments of ``set`` field by field."""
    out: dict[str, Any] = {}
    for field, value in changes.items():
        if field == "importance":
            out[field] = model.choice(field, value, model.IMPORTANCES)
        elif field == "scope":
            out[field] = Scope.of(value).to_dict()
        elif field == "category":
            out[field] = model.choice(field, value, model.CATEGORIES)
        elif field == "claim":
            claim = Claim.of(value)
            out[field] = None if claim is None else msgspec.to_builtins(claim)
        elif field == "exit_condition":
            out[field] = model.text(field, value, TEXT_CHARACTERS)
        elif field == "confidence":
            out[field] = model.number(field, value, -1.0, 1.0)
        else:
            out[field] = model.micros(field, value)
    return out
