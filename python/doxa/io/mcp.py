"""Reads the memory file of the MCP memory server, in the shapes met in the wild.

An observation becomes a proposition about its entity; a relation becomes a proposition
with a claim (subject, relation type, object), linked to both. The same content gives the
same ids whatever file, order or shape it comes in, so a second import adds nothing.

A title must be understood alone, so an observation that does not name its entity is
prefixed with the name. An object that is no entity of the file ("status" → "done") is a
literal of the claim, not a new entity.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from doxa.errors import shorten
from doxa.io.items import (
    EntityItem,
    Item,
    LinkItem,
    Problem,
    Row,
    derived_id,
    name_key,
    parse_time,
    readable_id,
)
from doxa.io.json_values import MEMBERS, json_values
from doxa.io.source import Source

__all__ = ["read_mcp"]

_ENTITY_LISTS: Final = frozenset(("entities", "nodes", "vertices"))
_RELATION_LISTS: Final = frozenset(("relations", "edges", "links", "relationships"))
_WRAPPERS: Final = frozenset(("graph", "data", "memory", "knowledge_graph", "knowledgeGraph"))
_ENTITY_TYPES: Final = frozenset(("entity", "node"))
_RELATION_TYPES: Final = frozenset(("relation", "relationship", "edge", "link"))
_FROM: Final = ("from", "source", "start", "startNode", "from_entity", "fromEntity", "subject")
_TO: Final = ("to", "target", "end", "endNode", "to_entity", "toEntity", "object")
_RELATION: Final = ("relationType", "relation_type", "relation", "predicate", "label", "name")
_NAME: Final = ("name", "entityName", "entity_name", "title")
_KIND: Final = ("entityType", "entity_type")
_OBSERVATIONS: Final = ("observations", "contents")
_TEXT: Final = ("content", "text", "observation", "contents", "value")
_WHEN: Final = ("createdAt", "created_at", "timestamp", "date")
#: Bookkeeping of other tools that says nothing about the entity.
_BOOKKEEPING: Final = frozenset(
    (
        *("type", "id", "uuid", "version", "labels", "properties", "identity", "elementId"),
        *("updatedAt", "updated_at", "relations", "relationships", "aliases"),
        *(_NAME + _KIND + _OBSERVATIONS + _WHEN),
    )
)
#: Attributes that hold one value at a time.
_SINGLE: Final = frozenset(
    ("status", "state", "priority", "phase", "stage", "version", "owner", "current status")
)
_TITLE_CHARACTERS: Final = 300
_BREAKS: Final = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


class _Entity(NamedTuple):
    line: int
    name: str
    type: str
    aliases: tuple[str, ...]
    at: dt.datetime | None


class _Saying(NamedTuple):
    line: int
    entity: str
    attribute: str
    text: str
    at: dt.datetime | None


class _Relation(NamedTuple):
    line: int
    subject: str
    attribute: str
    object: str
    qualifiers: dict[str, Any]
    at: dt.datetime | None


def read_mcp(source: Source) -> Iterator[Item]:
    """Yield entities, propositions and links of an MCP memory file.

    Parameters
    ----------
    source : Source
        JSON lines, an array, or one object with lists of entities and relations.

    Yields
    ------
    Problem, EntityItem, Row or LinkItem
        Entities before what is about them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> text = '{"type":"entity","name":"ada","entityType":"person","observations":["Likes tea"]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "memory.json")
    ...     _ = file.write_text(text)
    ...     [getattr(item, "fields", {}).get("title") for item in read_mcp(Source(file))]
    [None, 'ada: Likes tea', None]
    """
    graph = _Graph()
    for value in json_values(source.text()):
        if isinstance(value, Problem):
            yield value
        else:
            yield from graph.take(value.line, value.key, value.value)
    yield from graph.items(source.name)


class _Graph:
    """Gathers what a file holds; only then is it known which objects are entities."""

    def __init__(self) -> None:
        self.entities: dict[str, _Entity] = {}
        self.sayings: list[_Saying] = []
        self.relations: list[_Relation] = []
        self.names: dict[str, str] = {}
        self.zone_assumed = 0

    def take(self, line: int, key: str, value: Any) -> Iterator[Problem]:
        """Take a value in; yield what could not be."""
        if isinstance(value, list):
            for element in value:
                yield from self.take(line, key, element)
        elif not isinstance(value, Mapping):
            yield Problem(line, f"{shorten(value)} is no object: skipped")
        elif key == MEMBERS:
            yield from self.members(line, value)
        elif _is_relation(key, value):
            yield from self.relation(line, value, None)
        elif _is_entity(key, value):
            yield from self.entity(line, value)
        elif any(name in value for name in _ENTITY_LISTS | _RELATION_LISTS | _WRAPPERS):
            yield from self.members(line, value)
        else:
            yield Problem(line, f"{_unknown(value)}: skipped")

    def members(self, line: int, document: Mapping[str, Any]) -> Iterator[Problem]:
        """Take the members of a document: lists, maps by name, wrappers."""
        for key, value in document.items():
            if key in _WRAPPERS and isinstance(value, (Mapping, list)):
                yield from self.take(line, "", value)
            elif key in _ENTITY_LISTS and isinstance(value, Mapping):
                for name, entity in value.items():
                    named = {"name": name, **entity} if isinstance(entity, Mapping) else entity
                    yield from self.take(line, key, named)
            elif key in _ENTITY_LISTS | _RELATION_LISTS:
                yield from self.take(line, key, value)
            else:
                yield Problem(line, f"{key!r} of the document isn't taken in", refused=False)

    def entity(self, line: int, value: Mapping[str, Any]) -> Iterator[Problem]:
        """Take an entity with its observations, properties and nested relations."""
        properties = value.get("properties")
        flat = {**properties, **value} if isinstance(properties, Mapping) else dict(value)
        name = _first(flat, _NAME) or _text(flat.get("id"))
        if not name:
            yield Problem(line, f"an entity without a name, {shorten(value)}: skipped")
            return
        identity = flat.get("id", value.get("identity"))
        if identity is not None:
            self.names[str(identity)] = name
        at = self.when(flat)
        yield from self.add_entity(_Entity(line, name, _type(value, flat), _aliases(flat), at))
        for list_name in _OBSERVATIONS:
            if flat.get(list_name) is not None:
                yield from self.observations(line, name, flat[list_name], at)
        for key, item in flat.items():
            if key not in _BOOKKEEPING and item is not None and item != "":
                yield from self.property(line, name, key, item, at)
        for list_name in ("relations", "relationships"):
            nested = flat.get(list_name)
            for item in nested if isinstance(nested, list) else [] if nested is None else [nested]:
                if isinstance(item, Mapping):
                    yield from self.relation(line, item, name)
                else:
                    what = f"a relation of {name!r} is no object, {shorten(item)}: skipped"
                    yield Problem(line, what)

    def add_entity(self, entity: _Entity) -> Iterator[Problem]:
        """Add an entity, or what is new about a known one of the same name."""
        key = name_key(entity.name)
        known = self.entities.get(key)
        if known is not None:
            other = () if entity.name == known.name else (entity.name,)
            if other and entity.name not in known.aliases:
                what = f"{entity.name!r} is taken as another spelling of {known.name!r}"
                yield Problem(entity.line, what, refused=False)
            aliases = tuple(dict.fromkeys((*known.aliases, *other, *entity.aliases)))
            entity = known._replace(type=known.type or entity.type, aliases=aliases)
        self.entities[key] = entity

    def observations(
        self, line: int, name: str, value: Any, at: dt.datetime | None
    ) -> Iterator[Problem]:
        for number, item in enumerate(value if isinstance(value, list) else [value], 1):
            text, when = item, at
            if isinstance(item, Mapping):
                text, when = _first(item, _TEXT), self.when(item) or at
            if isinstance(text, (int, float)) and not isinstance(text, bool):
                text = str(text)
            if not isinstance(text, str) or not text.strip():
                what = f"observation {number} of {name!r} is no text, {shorten(item)}: skipped"
                yield Problem(line, what)
            else:
                self.sayings.append(_Saying(line, name, "", text, when))

    def property(
        self, line: int, name: str, key: str, value: Any, at: dt.datetime | None
    ) -> Iterator[Problem]:
        if isinstance(value, (str, int, float)):
            self.sayings.append(_Saying(line, name, key, _literal(value), at))
        elif isinstance(value, list) and all(isinstance(v, (str, int, float)) for v in value):
            for item in value:
                self.sayings.append(_Saying(line, name, key, _literal(item), at))
        else:
            what = f"{key!r} of {name!r} is nested, {shorten(value)}: not taken in"
            yield Problem(line, what)

    def relation(self, line: int, value: Mapping[str, Any], owner: str | None) -> Iterator[Problem]:
        """Take a relation; nested in an entity, its subject may go without saying."""
        subject, object_ = _end(value, _FROM) or owner or "", _end(value, _TO)
        attribute = _first(value, _RELATION)
        kind = value.get("type")
        if not attribute and isinstance(kind, str) and kind.casefold() not in _RELATION_TYPES:
            attribute = kind
        missing = [
            word
            for word, part in (("from", subject), ("to", object_), ("relationType", attribute))
            if not part
        ]
        if missing:
            what = f"a relation without {' and '.join(missing)}, {shorten(dict(value))}: skipped"
            yield Problem(line, what)
            return
        known = {*_FROM, *_TO, *_RELATION, *_WHEN, "type", "id", "version", "properties"}
        properties = value.get("properties")
        extra = {**properties, **value} if isinstance(properties, Mapping) else value
        qualifiers = {
            key: item
            for key, item in extra.items()
            if key not in known and isinstance(item, (str, int, float))
        }
        at = self.when(value)
        self.relations.append(_Relation(line, subject, attribute, object_, qualifiers, at))

    def when(self, value: Mapping[str, Any]) -> dt.datetime | None:
        for key in _WHEN:
            at, assumed = parse_time(value.get(key))
            if at is not None:
                self.zone_assumed += assumed
                return at
        return None

    def items(self, file: str) -> Iterator[Item]:
        """Yield everything gathered, entities first."""
        if self.zone_assumed:
            what = f"{self.zone_assumed:,} times without a zone were taken as UTC"
            yield Problem(0, what, refused=False)
        relations = [
            relation._replace(
                subject=self.names.get(relation.subject, relation.subject),
                object=self.names.get(relation.object, relation.object),
            )
            for relation in self.relations
        ]
        for who in [(s.line, s.entity) for s in self.sayings] + [
            (r.line, r.subject) for r in relations
        ]:
            if name_key(who[1]) not in self.entities:
                what = f"{who[1]!r} is spoken of but is no entity of the file: it was made one"
                yield Problem(who[0], what, refused=False)
                yield from self.add_entity(_Entity(who[0], who[1], "", (), None))
        for entity in self.entities.values():
            yield EntityItem(
                id=_entity_id(entity.name),
                name=entity.name,
                type=entity.type,
                aliases=entity.aliases,
                at=entity.at,
                line=entity.line,
            )
        for saying in self.sayings:
            yield from _observed(saying, file)
        for relation in relations:
            yield from _related(relation, name_key(relation.object) in self.entities, file)


def _observed(saying: _Saying, file: str) -> Iterator[Item]:
    """Yield the proposition of an observation or a property, and its link."""
    subject = _entity_id(saying.entity)
    said = unicodedata.normalize("NFC", saying.text).strip()
    identity = derived_id("mcp/obs", name_key(saying.entity), saying.attribute, said)
    text = f"{saying.attribute}: {saying.text}" if saying.attribute else saying.text
    title, summary = _statement(saying.entity, text)
    fields: dict[str, Any] = {"id": identity, "title": title, "summary": summary, "source": file}
    if saying.attribute:
        single = _is_single(saying.attribute)
        fields["claim"] = _claim(subject, saying.attribute, saying.text, single, {})
    if saying.at is not None:
        fields["at"] = saying.at
    yield Row(fields=fields, line=saying.line)
    yield LinkItem(source=identity, target=subject, relation="about", line=saying.line)


def _related(relation: _Relation, to_entity: bool, file: str) -> Iterator[Item]:
    """Yield the proposition of a relation, and its links."""
    subject, attribute = _entity_id(relation.subject), relation.attribute
    identity = derived_id(
        "mcp/rel", name_key(relation.subject), attribute, name_key(relation.object)
    )
    words = attribute.replace("_", " ").strip()
    title, summary = _statement("", f"{relation.subject} {words} {relation.object}")
    value = _entity_id(relation.object) if to_entity else relation.object
    single = _is_single(attribute)
    fields: dict[str, Any] = {
        "id": identity,
        "title": title,
        "summary": summary,
        "source": file,
        "claim": _claim(subject, attribute, value, single, relation.qualifiers),
    }
    if relation.at is not None:
        fields["at"] = relation.at
    yield Row(fields=fields, line=relation.line)
    yield LinkItem(source=identity, target=subject, relation="about", line=relation.line)
    if to_entity:
        yield LinkItem(source=identity, target=value, relation="value", line=relation.line)


def _statement(name: str, text: str) -> tuple[str, str]:
    """Return a title of one line that names its subject, and the text where that cut it."""
    line = " ".join("".join(" " if c in _BREAKS else c for c in text).split(" ")).strip()
    title = line if name_key(name) in name_key(line) else f"{name}: {line}"
    if len(title) > _TITLE_CHARACTERS:
        return f"{title[: _TITLE_CHARACTERS - 1]}…", text
    return title, "" if line == text.strip() else text


def _claim(
    subject: str, attribute: str, value: str, single: bool, qualifiers: dict[str, Any]
) -> dict[str, Any]:
    return {
        "subject": subject,
        "attribute": attribute,
        "value": value,
        "cardinality": "single" if single else "many",
        "qualifiers": qualifiers,
    }


def _is_single(attribute: str) -> bool:
    words = name_key(attribute.replace("_", " ")).removeprefix("has ").removeprefix("is ")
    return words in _SINGLE


def _entity_id(name: str) -> str:
    return readable_id("entity", name_key(name))


def _is_relation(key: str, value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if isinstance(kind, str) and kind.casefold() in _RELATION_TYPES:
        return True
    if isinstance(kind, str) and kind.casefold() in _ENTITY_TYPES:
        return False
    if key in _RELATION_LISTS:
        return True
    return key == "" and bool(_end(value, _FROM)) and bool(_end(value, _TO))


def _is_entity(key: str, value: Mapping[str, Any]) -> bool:
    if key in _ENTITY_LISTS:
        return True
    kind = value.get("type")
    if isinstance(kind, str) and kind.casefold() in _ENTITY_TYPES:
        return True
    if kind is None and any(name in value for name in _ENTITY_LISTS):
        return False
    named = bool(_first(value, _NAME)) or ("id" in value and "properties" in value)
    told = any(name in value for name in (*_OBSERVATIONS, *_KIND, "properties", "relations"))
    return named and (told or kind is None)


def _unknown(value: Mapping[str, Any]) -> str:
    if "type" in value:
        return f"unknown type {shorten(value['type'])}; known are 'entity' and 'relation'"
    return f"neither an entity nor a relation, {shorten(dict(value))}"


def _first(value: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        if text := _text(value.get(key)):
            return text
    return ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def _literal(value: str | int | float) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _end(value: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the name or id at one end of a relation."""
    for key in keys:
        end = value.get(key)
        if isinstance(end, Mapping):
            end = _first(end, _NAME) or end.get("id")
        if text := _text(end):
            return text
    return ""


def _type(value: Mapping[str, Any], flat: Mapping[str, Any]) -> str:
    if stated := _first(flat, _KIND):
        return stated
    labels = flat.get("labels")
    if isinstance(labels, list) and labels and isinstance(labels[0], str):
        return labels[0]
    if isinstance(labels, str):
        return labels
    inner = value.get("properties")
    kinds = [flat.get("type"), inner.get("type") if isinstance(inner, Mapping) else None]
    for kind in kinds:
        if isinstance(kind, str) and kind.casefold() not in _ENTITY_TYPES:
            return kind
    return ""


def _aliases(flat: Mapping[str, Any]) -> tuple[str, ...]:
    value = flat.get("aliases")
    names = value if isinstance(value, list) else [value]
    return tuple(name.strip() for name in names if isinstance(name, str) and name.strip())
