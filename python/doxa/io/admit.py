"""Admits records of an export as they were: past the gate, with id, author and times.

Every field is checked by the rules that hold for ``remember``; what is there already is
never overwritten. A link to an id that is not there is kept as broken and takes effect
when that id appears. Each function returns a *work* (see :mod:`doxa.state.live`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from doxa import model
from doxa.errors import InvalidValue, NotFound, shorten
from doxa.io.canonical import (
    ClaimRecord,
    ContextRecord,
    EntityRecord,
    EvidenceRecord,
    LinkRecord,
    PropositionRecord,
    Record,
)
from doxa.model import TEXT_CHARACTERS, Claim, Receipt
from doxa.params import IMPORTANCES
from doxa.scope import Scope
from doxa.state.live import Stage, Work
from doxa.state.records import (
    CODECS,
    ContextRow,
    EntityRow,
    EvidenceRow,
    LinkRow,
    PropositionRow,
)
from doxa.state.state import CONTEXT, ENTITY, EVIDENCE, PROPOSITION, State
from doxa.store import Text
from doxa.write.drafts import link_weight
from doxa.write.links import add_link, check_link, held_weight

__all__ = ["admission", "link_work"]

_COUNT: Final = 2**53
_RETIRED: Final = ("", "falsified", "scene_gone")
#: Columns whose words are committed to rather than stored in the row, so that they can be erased.
_COMMITTED: Final = frozenset(
    (
        *("title", "summary", "body", "exit_condition", "source", "retired_reason", "claim"),
        *("text", "name", "description"),
    )
)
#: What makes two records of one id the same.
_WORDING: Final = {
    "propositions": ("title", "summary", "body"),
    "evidence": ("text", "source"),
    "entities": ("name",),
    "contexts": ("description",),
}
_NODE_TYPE: Final = {
    "propositions": PROPOSITION,
    "evidence": EVIDENCE,
    "entities": ENTITY,
    "contexts": CONTEXT,
}


def admission(record: Record) -> Work[Receipt]:
    """Return the work that admits a record.

    Raises
    ------
    InvalidValue
        Naming the first field that breaks a rule.
    """
    if isinstance(record, LinkRecord):
        return _link(record)
    if isinstance(record, PropositionRecord):
        return _whole("propositions", _proposition(record))
    if isinstance(record, EvidenceRecord):
        return _whole("evidence", _evidence(record))
    if isinstance(record, EntityRecord):
        return _whole("entities", _entity(record))
    if isinstance(record, ContextRecord):
        return _whole("contexts", _context(record))
    raise InvalidValue("record", record, "a context, entity, evidence, proposition or link")


def _whole(table: str, row: Any) -> Work[Receipt]:
    def work(stage: Stage) -> Receipt:
        state = stage.state
        node = state.engine.node(row.id)
        if node is not None:
            return _there(state, node, table, row)
        codec = CODECS[table]
        fields: dict[str, Any] = {"table": table}
        for name, value in zip(codec.schema.names, codec.values(row), strict=True):
            fields[name] = _committed(value) if name in _COMMITTED else value
        if "aliases" in fields:
            fields["aliases"] = [Text(alias) for alias in fields["aliases"]]
        stage.emit("record.load", row.id, row.recorded_at, fields)
        return Receipt(ids=(row.id,), outcome="added")

    return work


def _committed(value: Any) -> Any:
    return Text(value) if isinstance(value, str) else value


def _there(state: State, node: int, table: str, row: Any) -> Receipt:
    """Answer for an id that is there: nothing is overwritten."""
    if state.engine.node_type(node) != _NODE_TYPE[table]:
        raise InvalidValue(f"id: {shorten(row.id)} is taken by a node of another type")
    held = state.record(node)
    for name in _WORDING[table]:
        ours, theirs = getattr(held, name), getattr(row, name)
        if ours != theirs and not (name == "body" and ours.startswith(theirs)):
            raise InvalidValue(
                f"id: {shorten(row.id)} is there with another {name}, {shorten(ours)}; "
                "what is there was kept"
            )
    return Receipt(ids=(row.id,), outcome="unchanged")


def _proposition(record: PropositionRecord) -> PropositionRow:
    recorded = _time("recorded_at", record.recorded_at)
    first, last = (
        model.micros("valid_from", record.valid_from),
        model.micros("valid_to", record.valid_to),
    )
    if first is not None and last is not None and last <= first:
        raise InvalidValue("valid_to", record.valid_to, "after valid_from")
    used = model.micros("last_used", record.last_used)
    return PropositionRow(
        id=model.identifier("id", record.id),
        title=model.title(record.title),
        summary=_text("summary", record.summary),
        body=_text("body", record.body),
        kind=model.choice("kind", record.kind, model.KINDS),
        importance=model.choice("importance", record.importance, IMPORTANCES),
        scope=Scope(record.scope),
        category=model.choice("category", record.category, model.CATEGORIES),
        claim=_claim(record.claim),
        valid_from=first,
        valid_to=last,
        event_at=model.micros("event_at", record.event_at),
        confidence=model.number("confidence", record.confidence, -1.0, 1.0),
        last_used=recorded if used is None else used,
        use_count=model.whole("use_count", record.use_count, 0, _COUNT),
        exit_condition=_text("exit_condition", record.exit_condition),
        review_by=model.micros("review_by", record.review_by),
        author=_name("author", record.author),
        agent=_name("agent", record.agent),
        source=_text("source", record.source),
        source_class=model.choice("source_class", record.source_class, model.SOURCE_CLASSES),
        context=_reference("context", record.context),
        recorded_at=recorded,
        rev=model.whole("rev", record.rev, 1, _COUNT),
        base_status=model.choice("status", record.status, model.STATUSES),
        retired=model.choice("retired", record.retired, _RETIRED),
        retired_reason=_text("retired_reason", record.retired_reason),
        commit_seq=0,
        id_given=record.id_given,
        time_given=record.time_given,
    )


def _claim(record: ClaimRecord | None) -> Claim | None:
    return None if record is None else Claim.of(msgspec.structs.asdict(record))


def _evidence(record: EvidenceRecord) -> EvidenceRow:
    return EvidenceRow(
        id=model.identifier("id", record.id),
        text=_text("text", record.text),
        source=_text("source", record.source),
        source_class=model.choice("source_class", record.source_class, model.SOURCE_CLASSES),
        author=_name("author", record.author),
        agent=_name("agent", record.agent),
        context=_reference("context", record.context),
        recorded_at=_time("recorded_at", record.recorded_at),
    )


def _entity(record: EntityRecord) -> EntityRow:
    return EntityRow(
        id=model.identifier("id", record.id),
        name=model.text("name", record.name, model.NAME_CHARACTERS, empty=False),
        type=_name("entity_type", record.entity_type),
        aliases=tuple(
            model.text("aliases", alias, model.NAME_CHARACTERS, empty=False)
            for alias in record.aliases
        ),
        author=_name("author", record.author),
        recorded_at=_time("recorded_at", record.recorded_at),
    )


def _context(record: ContextRecord) -> ContextRow:
    return ContextRow(
        id=model.identifier("id", record.id),
        within=_reference("within", record.within),
        description=_text("description", record.description),
        author=_name("author", record.author),
        recorded_at=_time("recorded_at", record.recorded_at),
    )


def _text(field: str, value: str) -> str:
    return model.text(field, value, TEXT_CHARACTERS)


def _name(field: str, value: str) -> str:
    return model.text(field, value, model.NAME_CHARACTERS)


def _reference(field: str, value: str) -> str:
    return model.identifier(field, value) if value else ""


def _time(field: str, value: Any) -> int:
    micros = model.micros(field, value)
    if micros is None:
        raise InvalidValue(field, value, "a time")
    return micros


def _link(record: LinkRecord) -> Work[Receipt]:
    first, last = (
        model.micros("valid_from", record.valid_from),
        model.micros("valid_to", record.valid_to),
    )
    if first is not None and last is not None and last <= first:
        raise InvalidValue("valid_to", record.valid_to, "after valid_from")
    return link_work(
        record.source,
        record.target,
        record.relation,
        record.weight,
        at=_time("recorded_at", record.recorded_at),
        by=_name("author", record.author),
        valid_from=first,
        valid_to=last,
    )


def link_work(
    source: str,
    target: str,
    relation: str,
    weight: float,
    *,
    at: int,
    by: str,
    valid_from: int | None = None,
    valid_to: int | None = None,
) -> Work[Receipt]:
    """Return the work that writes a link, broken where an end is not there.

    Its receipt says ``added``, ``unchanged``, or ``broken``.
    """
    a, b = model.identifier("source", source), model.identifier("target", target)
    kind, strength = model.relation(relation), link_weight(weight)

    def work(stage: Stage) -> Receipt:
        state = stage.state
        if held_weight(state, a, b, kind) is not None or _waits(state, a, b, kind):
            return Receipt(ids=(a, b), outcome="unchanged")
        try:
            check_link(state, a, b, kind)
        except NotFound:
            fields = {
                "source": a,
                "target": b,
                "relation": kind,
                "weight": strength,
                "valid_from": valid_from,
                "valid_to": valid_to,
                "author": by,
            }
            stage.emit("link.add", a, at, fields)
            return Receipt(ids=(a, b), outcome="broken")
        add_link(
            stage, a, b, kind, strength, at=at, by=by, valid_from=valid_from, valid_to=valid_to
        )
        return Receipt(ids=(a, b), outcome="added")

    return work


def _waits(state: State, source: str, target: str, relation: str) -> bool:
    """Tell whether a link is kept as broken already."""
    for end in (source, target):
        for number in state.waiting.get(end) or ():
            link: LinkRow = state.tables["links"].get(number)
            if (link.source, link.target, link.relation) == (source, target, relation):
                return True
    return False
