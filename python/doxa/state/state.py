"""The state of a store: a fold over the operations of its journal.

``State.apply`` takes one row at a time and changes tables and core together; it checks
nothing that admission has checked (gates, quotas), so replaying a journal gives the
state that writing it gave. A fork costs O(1) and shares everything; the writer applies
a commit's rows to a fork and :meth:`State.adopt` publishes it. Does no I/O.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from doxa import _core
from doxa.model import (
    CATEGORIES,
    IMPORTANCES,
    KINDS,
    NODE_TYPES,
    STATUSES,
    Claim,
    Proposition,
    instant,
)
from doxa.params import RELATIONS, Params
from doxa.scope import Scope
from doxa.state import records
from doxa.state.records import (
    CODECS,
    ContextRow,
    EntityRow,
    EvidenceRow,
    LinkRow,
    PropositionRow,
)
from doxa.state.tables import Layered, Table
from doxa.store import Row

#: Scopes are shared by all forks of a state; two threads may stage at once.
_SCOPES: Final = threading.Lock()
__all__ = ["PROPOSITION", "State", "name_key"]

PROPOSITION, EVIDENCE, EVENT, ENTITY, CONTEXT = range(len(NODE_TYPES))
_TABLE_OF: Final = ("propositions", "evidence", "events", "entities", "contexts")
_RELATION: Final = {name: code for code, name in enumerate(RELATIONS)}
_RELATION_NAME: Final = tuple(RELATIONS)
_KIND: Final = {name: code for code, name in enumerate(KINDS)}
_IMPORTANCE: Final = {name: code for code, name in enumerate(IMPORTANCES)}
_STATUS: Final = {name: code for code, name in enumerate(STATUSES)}
_CATEGORY: Final = {name: code for code, name in enumerate(CATEGORIES)}
SUPERSEDES: Final = _RELATION["supersedes"]
ABOUT: Final = _RELATION["about"]
SUPPORTS: Final = _RELATION["supports"]


def name_key(name: str) -> str:
    """Return the key under which an entity's name is found: normalised, spaces folded.

    Examples
    --------
    >>> name_key("  Ada  LOVELACE ")
    'ada lovelace'
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


class State:
    """Tables, core and parameters after some commit.

    Parameters
    ----------
    params : Params
        The store's own parameters.
    language : str
        ``"en"`` or ``""``.
    """

    def __init__(self, params: Params, language: str) -> None:
        self.params = params
        self.language = language
        self.engine = _core.Engine(params.tuning, language)
        self.tables: dict[str, Table[Any]] = {name: Table(codec) for name, codec in CODECS.items()}
        #: normalised name or alias -> ids of the entities that bear it
        self.names: Layered[str, tuple[str, ...]] = Layered()
        #: id that is not there -> rows of the links table that wait for it
        self.waiting: Layered[str, tuple[int, ...]] = Layered()
        #: scopes by code; shared by all forks, only ever appended to
        self.scopes: list[Scope] = [Scope()]
        self._scope_code: dict[Scope, int] = {Scope(): 0}
        self.commit_seq = 0
        self.commit_time: int | None = None
        #: open transactions that read this state: while there are any it does not change
        self.pins = 0
        #: the state that this one was forked from and reads through to
        self.below: State | None = None

    # -- forks -----------------------------------------------------------------------

    def fork(self) -> State:
        """Return a state that sees this one and keeps its own changes."""
        child = State.__new__(State)
        child.params = self.params
        child.language = self.language
        child.engine = self.engine.fork()
        child.tables = {name: table.fork() for name, table in self.tables.items()}
        child.names = self.names.fork()
        child.waiting = self.waiting.fork()
        child.scopes = self.scopes
        child._scope_code = self._scope_code
        child.commit_seq = self.commit_seq
        child.commit_time = self.commit_time
        child.pins = 0
        child.below = self
        return child

    def adopt(self, child: State) -> None:
        """Take over the changes of a fork; readers see them from here on."""
        for name, table in self.tables.items():
            table.adopt(child.tables[name])
        self.names.adopt(child.names)
        self.waiting.adopt(child.waiting)
        self.params = child.params
        self.language = child.language
        self.commit_seq = child.commit_seq
        self.commit_time = child.commit_time
        self.engine.adopt(child.engine)

    # -- reading ---------------------------------------------------------------------

    def node(self, node_id: str, kind: int = PROPOSITION) -> int | None:
        """Return the core's node of an id, or None if no node of this type has it."""
        node = self.engine.node(node_id)
        if node is None or self.engine.node_type(node) != kind:
            return None
        return node

    def must(self, node_id: str) -> int:
        """Return the node of an id that is known to be there."""
        node = self.engine.node(node_id)
        if node is None:
            raise KeyError(f"{node_id!r} is named before it was added")
        return node

    def row(self, node: int) -> PropositionRow:
        """Return the row of a proposition's node."""
        record: PropositionRow = self.tables["propositions"].get(self.engine.row(node))
        return record

    def record(self, node: int) -> Any:
        """Return the row of any node."""
        table = self.tables[_TABLE_OF[self.engine.node_type(node)]]
        return table.get(self.engine.row(node))

    def superseded_by(self, node: int) -> tuple[str, ...]:
        """Return the ids of what standing ``supersedes`` links put in a node's place."""
        newer = [a for a, b, rel, _ in self.engine.links(node) if rel == SUPERSEDES and b == node]
        return tuple(sorted(self.engine.id(a) for a in newer))

    def status(self, row: PropositionRow, superseded: bool) -> str:
        """Return the derived status: each state holds as long as something standing says so."""
        if row.retired:
            return "retired"
        if superseded:
            return "superseded"
        return row.base_status

    def proposition(self, node: int) -> Proposition:
        """Return the public value of a node."""
        row = self.row(node)
        newer = self.superseded_by(node)
        return records.proposition(row, self.status(row, bool(newer)), newer)

    def scope_code(self, scope: Scope) -> int:
        """Return the code of a scope, giving it one if it is new."""
        code = self._scope_code.get(scope)
        if code is None:
            with _SCOPES:
                code = self._scope_code.setdefault(scope, len(self.scopes))
                if code == len(self.scopes):
                    self.scopes.append(scope)
        return code

    def entities_named(self, name: str) -> tuple[str, ...]:
        """Return the ids of the entities whose name or alias this is."""
        return self.names.get(name_key(name)) or ()

    def entity(self, name: str) -> str | None:
        """Return the id of the entity with this id or exactly this name; None if none or several."""
        if self.node(name, ENTITY) is not None:
            return name
        bearers = self.entities_named(name)
        return bearers[0] if len(bearers) == 1 else None

    def about(self, entity: str) -> list[int]:
        """Return the nodes of the propositions that are about an entity."""
        node = self.engine.node(entity)
        if node is None:
            return []
        return [a for a, b, rel, _ in self.engine.links(node) if rel == ABOUT and b == node]

    def arrow(self, table: str) -> pa.Table:
        """Return a table as it stands; of links only those that hold."""
        whole = self.tables[table].to_arrow()
        if table != "links" or not whole.num_rows:
            return whole
        keyed = whole.select(["source", "target", "relation"]).append_column(
            "row", pa.array(range(whole.num_rows), pa.int64())
        )
        last = keyed.group_by(["source", "target", "relation"]).aggregate([("row", "max")])
        rows = last["row_max"].combine_chunks().sort()
        kept = whole.take(rows)
        return kept.filter(pc.greater(kept["weight"], 0.0))

    def reindex(self) -> None:
        """Build the core anew from the tables, as another term pipeline asks for."""
        self.engine = _core.Engine(self.params.tuning, self.language)
        tables = self.tables
        for number, context in enumerate(tables["contexts"]):
            self.engine.add_node(context.id, CONTEXT, number)
        for number, entity in enumerate(tables["entities"]):
            node = self.engine.add_node(entity.id, ENTITY, number)
            self.engine.set_names(node, [entity.name, *entity.aliases])
        for number, item in enumerate(tables["evidence"]):
            self.engine.add_node(item.id, EVIDENCE, number)
        for number, row in enumerate(tables["propositions"]):
            self.engine.add_node(row.id, PROPOSITION, number)
        for link in self.arrow("links").to_pylist():
            a, b = self.engine.node(link["source"]), self.engine.node(link["target"])
            if a is not None and b is not None:
                self.engine.add_link(a, b, _RELATION[link["relation"]], link["weight"])
        for row in tables["propositions"]:
            node = self.must(row.id)
            self._index_columns(node, row, superseded=bool(self.superseded_by(node)))
            self._reindex(node, row)

    # -- the fold --------------------------------------------------------------------

    def apply(self, rows: Iterable[Row]) -> None:
        """Fold rows of one commit into this state, in their order."""
        for row in rows:
            _FOLD[row.op](self, row, row.fields)

    def _create(self, row: Row, fields: Mapping[str, Any]) -> None:
        self.params = Params(**fields["params"])
        self.language = fields["language"]
        self.engine = _core.Engine(self.params.tuning, self.language)

    def _set_params(self, row: Row, fields: Mapping[str, Any]) -> None:
        self.params = Params(**fields["params"])
        self.engine.set_tuning(self.params.tuning)

    def _add_proposition(self, row: Row, fields: Mapping[str, Any]) -> None:
        claim = fields["claim"]
        record = PropositionRow(
            id=row.target,
            title=fields["title"],
            summary=fields["summary"],
            body=fields["body"],
            kind=fields["kind"],
            importance=fields["importance"],
            scope=Scope(fields["scope"]) if fields["scope"] else self.scopes[0],
            category=fields["category"],
            claim=None if claim is None else msgspec.convert(claim, Claim),
            valid_from=fields["valid_from"],
            valid_to=fields["valid_to"],
            event_at=fields["event_at"],
            confidence=fields["confidence"],
            last_used=row.at,
            use_count=0,
            exit_condition=fields["exit_condition"],
            review_by=fields["review_by"],
            author=fields["author"],
            agent=row.agent,
            source=fields["source"],
            source_class=fields["source_class"],
            context=fields["context"],
            recorded_at=row.at,
            rev=1,
            base_status="active",
            retired="",
            retired_reason="",
            commit_seq=self.commit_seq,
            id_given=not fields["generated"],
            time_given=fields["dated"],
        )
        self._put_proposition(record)

    def _put_proposition(self, record: PropositionRow) -> None:
        number = self.tables["propositions"].append(record)
        node = self.engine.add_node(record.id, PROPOSITION, number)
        self._index_columns(node, record, superseded=False)
        self._index_text(node, record, [])
        self._heal(record.id)

    def _load(self, row: Row, fields: Mapping[str, Any]) -> None:
        """Take a whole row as another store exported it."""
        values = dict(fields)
        table = values.pop("table")
        record = CODECS[table].build([values[name] for name in CODECS[table].schema.names])
        if isinstance(record, PropositionRow):
            self._put_proposition(msgspec.structs.replace(record, commit_seq=self.commit_seq))
        else:
            number = self.tables[table].append(record)
            self.engine.add_node(row.target, _TABLE_OF.index(table), number)
            if isinstance(record, EntityRow):
                self._name_entity(row.target, record)
            self._heal(row.target)

    def _change(self, node: int, **changes: Any) -> PropositionRow:
        number = self.engine.row(node)
        table = self.tables["propositions"]
        record: PropositionRow = msgspec.structs.replace(table.get(number), **changes)
        table.replace(number, record)
        return record

    def _append(self, row: Row, fields: Mapping[str, Any]) -> None:
        node = self.must(row.target)
        old = self.row(node)
        note = signed_note(fields["text"], fields["by"], row.at)
        body = f"{old.body}\n\n{note}" if old.body else note
        record = self._change(node, body=body, rev=old.rev + 1)
        self._reindex(node, record)

    def _rewrite(self, row: Row, fields: Mapping[str, Any]) -> None:
        node = self.must(row.target)
        record = self._change(node, **fields["wording"], rev=self.row(node).rev + 1)
        self._reindex(node, record)

    def _set(self, row: Row, fields: Mapping[str, Any]) -> None:
        node = self.must(row.target)
        changes = dict(fields)
        if "scope" in changes:
            changes["scope"] = Scope(changes["scope"])
        if "claim" in changes and changes["claim"] is not None:
            changes["claim"] = msgspec.convert(changes["claim"], Claim)
        record = self._change(node, **changes, rev=self.row(node).rev + 1)
        self._index_columns(node, record, superseded=bool(self.superseded_by(node)))

    def _use(self, row: Row, fields: Mapping[str, Any]) -> None:
        for target in fields["ids"]:
            node = self.must(target)
            old = self.row(node)
            last = max(old.last_used, row.at) if old.use_count else row.at
            record = self._change(node, last_used=last, use_count=old.use_count + 1)
            self.engine.set_columns(node, last_used=last, use_count=record.use_count)

    def _retire(self, row: Row, fields: Mapping[str, Any]) -> None:
        node = self.must(row.target)
        record = self._change(node, retired=fields["ground"], retired_reason=fields["reason"])
        self._index_columns(node, record, superseded=False)

    def _restore(self, row: Row, fields: Mapping[str, Any]) -> None:
        node = self.must(row.target)
        record = self._change(node, retired="", retired_reason="")
        self._index_columns(node, record, superseded=bool(self.superseded_by(node)))

    def _add_evidence(self, row: Row, fields: Mapping[str, Any]) -> None:
        record = EvidenceRow(
            id=row.target,
            text=fields["text"],
            source=fields["source"],
            source_class=fields["source_class"],
            author=fields["author"],
            agent=row.agent,
            context=fields["context"],
            recorded_at=row.at,
        )
        self.engine.add_node(row.target, EVIDENCE, self.tables["evidence"].append(record))
        self._heal(row.target)

    def _put_entity(self, row: Row, fields: Mapping[str, Any]) -> None:
        record = EntityRow(
            id=row.target,
            name=fields["name"],
            type=fields["type"],
            aliases=tuple(fields["aliases"]),
            author=fields["author"],
            recorded_at=row.at,
        )
        node = self.engine.node(row.target)
        if node is None:
            number = self.tables["entities"].append(record)
            node = self.engine.add_node(row.target, ENTITY, number)
            self._heal(row.target)
        else:
            number = self.engine.row(node)
            old: EntityRow = self.tables["entities"].get(number)
            record = msgspec.structs.replace(record, recorded_at=old.recorded_at)
            self.tables["entities"].replace(number, record)
            for name in (old.name, *old.aliases):
                key = name_key(name)
                left = tuple(i for i in self.names.get(key) or () if i != row.target)
                self.names.put(key, left)
        self._name_entity(row.target, record)

    def _name_entity(self, target: str, record: EntityRow) -> None:
        for name in (record.name, *record.aliases):
            key = name_key(name)
            bearers = self.names.get(key) or ()
            if target not in bearers:
                self.names.put(key, (*bearers, target))
        self.engine.set_names(self.must(target), [record.name, *record.aliases])

    def _put_context(self, row: Row, fields: Mapping[str, Any]) -> None:
        record = ContextRow(
            id=row.target,
            within=fields["within"],
            description=fields["description"],
            author=fields["author"],
            recorded_at=row.at,
        )
        node = self.engine.node(row.target)
        if node is None:
            self.engine.add_node(row.target, CONTEXT, self.tables["contexts"].append(record))
            self._heal(row.target)
        else:
            self.tables["contexts"].replace(self.engine.row(node), record)

    def _add_link(self, row: Row, fields: Mapping[str, Any]) -> None:
        source, target = fields["source"], fields["target"]
        a, b = self.engine.node(source), self.engine.node(target)
        relation = fields["relation"]
        broken = a is None or b is None
        number = self.tables["links"].append(
            LinkRow(
                source=source,
                target=target,
                relation=relation,
                weight=fields["weight"],
                valid_from=fields["valid_from"],
                valid_to=fields["valid_to"],
                author=fields["author"],
                recorded_at=row.at,
                broken=broken,
            )
        )
        if a is None or b is None:
            for end, node in ((source, a), (target, b)):
                if node is None:
                    self.waiting.put(end, (*(self.waiting.get(end) or ()), number))
            return
        code = _RELATION[relation]
        self.engine.add_link(a, b, code, fields["weight"])
        self._after_link(a, b, code)

    def _heal(self, node_id: str) -> None:
        """Put links in place that waited for an id that is there now."""
        rows = self.waiting.get(node_id)
        if not rows:
            return
        self.waiting.put(node_id, ())
        table = self.tables["links"]
        for number in rows:
            link: LinkRow = table.get(number)
            a, b = self.engine.node(link.source), self.engine.node(link.target)
            if a is None or b is None or not link.broken:
                continue
            table.replace(number, msgspec.structs.replace(link, broken=False))
            code = _RELATION[link.relation]
            self.engine.add_link(a, b, code, link.weight)
            self._after_link(a, b, code)

    def _remove_link(self, row: Row, fields: Mapping[str, Any]) -> None:
        source, target, relation = fields["source"], fields["target"], fields["relation"]
        a, b = self.engine.node(source), self.engine.node(target)
        self.tables["links"].append(
            LinkRow(
                source=source,
                target=target,
                relation=relation,
                weight=0.0,
                valid_from=None,
                valid_to=None,
                author=fields["author"],
                recorded_at=row.at,
                broken=False,
            )
        )
        if a is None or b is None:
            return
        code = _RELATION[relation]
        self.engine.remove_link(a, b, code)
        self._after_link(a, b, code)

    def _after_link(self, a: int, b: int, code: int) -> None:
        """Bring what is derived from links up to date."""
        if code == SUPERSEDES:
            self._index_columns(b, self.row(b), superseded=bool(self.superseded_by(b)))
        elif code == SUPPORTS and self.engine.node_type(a) == EVIDENCE:
            self._reindex(b, self.row(b))

    # -- what the core derives from a row ----------------------------------------------

    def _index_columns(self, node: int, record: PropositionRow, *, superseded: bool) -> None:
        self.engine.set_columns(
            node,
            kind=_KIND[record.kind],
            importance=_IMPORTANCE[record.importance],
            status=_STATUS[self.status(record, superseded)],
            category=_CATEGORY[record.category],
            scope=self.scope_code(record.scope),
            last_used=record.last_used,
            use_count=record.use_count,
            recorded_at=record.recorded_at,
            valid_from=record.valid_from,
            valid_to=record.valid_to,
            event_at=record.event_at,
            confidence=record.confidence,
        )

    def _reindex(self, node: int, record: PropositionRow) -> None:
        self._index_text(node, record, self.evidence_texts(node))

    def evidence_texts(self, node: int) -> list[str]:
        """Return the texts of the evidence that supports a proposition, by evidence id."""
        given = sorted(
            (self.engine.id(a), a)
            for a, b, rel, _ in self.engine.links(node)
            if b == node and rel == SUPPORTS and self.engine.node_type(a) == EVIDENCE
        )
        return [self.record(a).text for _, a in given]

    def _index_text(self, node: int, record: PropositionRow, evidence: list[str]) -> None:
        self.engine.set_text(
            node,
            record.title,
            record.summary,
            record.body,
            record.id if record.id_given else "",
            date_terms(record),
            evidence,
        )


def signed_note(text: str, by: str, at: int) -> str:
    """Return a note as it stands in a body: signature and time, then the text."""
    when = instant(at).isoformat(timespec="seconds").replace("+00:00", "Z")
    return f"[{when} {by}] {text}"


def date_terms(record: PropositionRow) -> str:
    """Return the text of the date field: when it happens, holds or was said.

    A date is there to be asked for only if somebody gave one; the moment of writing is not.
    """
    if record.event_at is not None:
        us = record.event_at
    elif record.time_given:
        us = record.recorded_at
    else:
        return ""
    when = instant(us)
    return f"{when:%Y-%m-%d} {when.day} {when:%B} {when.year:04d}"


_FOLD: Final[dict[str, Any]] = {
    "store.create": State._create,
    "params.set": State._set_params,
    "proposition.add": State._add_proposition,
    "record.load": State._load,
    "proposition.append": State._append,
    "proposition.rewrite": State._rewrite,
    "proposition.set": State._set,
    "proposition.use": State._use,
    "proposition.retire": State._retire,
    "proposition.restore": State._restore,
    "evidence.add": State._add_evidence,
    "entity.put": State._put_entity,
    "context.put": State._put_context,
    "link.add": State._add_link,
    "link.remove": State._remove_link,
}
