"""Admission: what happens when a proposition is remembered.

There is no filter by value. The one gate is objective (is it already there?), and every
other rule is checked before anything is staged. Returns receipts; raises only what the
caller asked to be raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from doxa import _core
from doxa.errors import AlreadyExists, DuplicateFound, InvalidValue, NotFound, shorten
from doxa.model import Receipt
from doxa.scope import Scope
from doxa.state.live import Live, Stage
from doxa.state.state import CONTEXT, ENTITY, EVIDENCE, PROPOSITION, State
from doxa.store import Text
from doxa.write.drafts import Draft, EvidenceDraft
from doxa.write.gate import Match, find_matches
from doxa.write.links import add_link, check_link
from doxa.write.standalone import warnings

__all__ = ["Admission"]


class Admission:
    """One proposition on its way in; run by :meth:`Live.write`, again if others came between.

    Parameters
    ----------
    live : Live
        Where it goes.
    draft : Draft
        Checked arguments.
    on_duplicate : {"raise", "merge", "allow"}
        What to do where the same statement is there.
    now : int
        The clock in microseconds, for what the caller dated by default.
    context : str
        The handle's own context; a reference, not a link.
    """

    def __init__(
        self, live: Live, draft: Draft, *, on_duplicate: str, now: int, context: str
    ) -> None:
        self.draft = draft
        self.on_duplicate = on_duplicate
        self.at = now if draft.at is None else draft.at
        self.context = context
        self.id = draft.id or live.draw_id(self.at, draft.statement)
        self._drawn = [item.id or live.draw_id(self.at, item.text) for item in draft.evidence]

    def __call__(self, stage: Stage) -> Receipt:
        """Check against the staged state, then write.

        Raises
        ------
        AlreadyExists
            If the caller's id is taken.
        DuplicateFound
            With ``on_duplicate="raise"`` where the same statement is there.
        NotFound
            If a link, an evidence id or a context names what is not there.
        """
        draft, state = self.draft, stage.state
        scope = Scope(draft.fields["scope"])
        matches = find_matches(state, draft.statement, scope, draft.fields["claim"])
        sure = [m for m in matches if m.verdict != "abstain" and not m.superseded_by]
        if draft.id and state.engine.node(draft.id) is not None:
            return self._taken(state, sure)
        if sure and self.on_duplicate == "raise":
            raise DuplicateFound(_duplicate_message(sure[0], state), matches=sure)
        self._check_references(state)
        if sure and self.on_duplicate == "merge":
            return self._merge(stage, sure[0])
        notes = list(warnings(draft.fields["title"], draft.fields["summary"]))
        self._write(stage, notes)
        maybe = self._link_matches(stage, matches)
        return Receipt(
            ids=(self.id,),
            outcome="added",
            possible_duplicates=maybe,
            warnings=tuple(notes),
        )

    def _taken(self, state: State, sure: list[Match]) -> Receipt:
        """Answer for an id that is there: the same again is a duplicate, else an error."""
        if self.on_duplicate == "merge" and any(match.id == self.id for match in sure):
            return Receipt(ids=(self.id,), outcome="duplicate", duplicate_of=self.id)
        raise AlreadyExists(
            f"id: {shorten(self.id)} is taken by "
            f"{_what(state, self.id)}; leave id out, choose another, or use append or rewrite",
            id=self.id,
        )

    def _check_references(self, state: State) -> None:
        for item in self.draft.evidence:
            if item.id and not item.text and state.node(item.id, EVIDENCE) is None:
                raise NotFound(f"evidence: there is no evidence {shorten(item.id)}", id=item.id)
            if item.id and item.text and state.engine.node(item.id) is not None:
                raise AlreadyExists(
                    f"evidence.id: {shorten(item.id)} is taken; evidence never changes", id=item.id
                )
        new = [item.id for item in self.draft.evidence if item.id and item.text]
        if len(new) != len(set(new)):
            raise InvalidValue("evidence.id", new, "each piece of evidence has an id of its own")
        for name in self.draft.about:
            bearers = state.entities_named(name)
            if state.entity(name) is None and len(bearers) > 1:
                rule = f"several entities bear this name ({', '.join(bearers)}): give the id"
                raise InvalidValue("about", name, rule)
            if state.entity(name) is None and (
                name == self.id or state.engine.node(name) is not None
            ):
                raise InvalidValue("about", name, "this id belongs to something that is no entity")
        for link in self.draft.links:
            if link.target != self.id:
                check_link(state, None, link.target, link.relation)
            else:
                check_link(state, self.id, self.id, link.relation)

    def _write(self, stage: Stage, notes: list[str]) -> None:
        draft, at = self.draft, self.at
        fields = {
            **draft.fields,
            "title": Text(draft.fields["title"]),
            "summary": Text(draft.fields["summary"]),
            "body": Text(draft.fields["body"]),
            "exit_condition": Text(draft.fields["exit_condition"]),
            "source": Text(draft.fields["source"]),
            "claim": committed_claim(draft.fields["claim"]),
            "context": draft.context or self.context,
        }
        stage.emit("proposition.add", self.id, at, fields)
        author = draft.fields["author"]
        if draft.context:
            if stage.state.engine.node(draft.context) is None:
                stage.emit(
                    "context.put",
                    draft.context,
                    at,
                    {"within": "", "description": Text(""), "author": author},
                )
            add_link(stage, self.id, draft.context, "in_context", at=at, by=author)
        self._write_entities(stage, notes)
        for item, drawn in zip(draft.evidence, self._drawn, strict=True):
            self._write_evidence(stage, item, drawn, self.id)
        for link in draft.links:
            add_link(stage, self.id, link.target, link.relation, link.weight, at=at, by=author)
        if draft.reason:
            notes.append(f"reason: {draft.reason}")

    def _write_entities(self, stage: Stage, notes: list[str]) -> None:
        draft, state, author = self.draft, stage.state, self.draft.fields["author"]
        subjects = list(draft.about)
        claim = draft.fields["claim"]
        if claim is not None:
            known = state.entity(claim["subject"])
            if known and known not in subjects:
                subjects.append(known)
        for name in dict.fromkeys(subjects):
            entity = state.entity(name)
            if entity is None:
                entity = name
                stage.emit(
                    "entity.put",
                    name,
                    self.at,
                    {"name": Text(name), "type": "", "aliases": [], "author": author},
                )
                notes.append(f"new entity {name!r}: nothing of this name was there")
            add_link(stage, self.id, entity, "about", at=self.at, by=author)
        if claim is not None and isinstance(claim["value"], str):
            value = state.node(claim["value"], ENTITY)
            if value is not None:
                add_link(stage, self.id, claim["value"], "value", at=self.at, by=author)

    def _write_evidence(self, stage: Stage, item: EvidenceDraft, drawn: str, target: str) -> None:
        author = self.draft.fields["author"]
        if item.text and stage.state.engine.node(drawn) is None:
            context = self.draft.context or self.context
            put_evidence(stage, drawn, item, by=author, at=self.at, context=context)
        add_link(stage, drawn, target, "supports", at=self.at, by=author)

    def _link_matches(self, stage: Stage, matches: list[Match]) -> tuple[str, ...]:
        """Link what may say the same for review, and what superseded the same statement."""
        if self.on_duplicate == "allow":
            matches = [match for match in matches if match.verdict == "abstain"]
        targets: dict[str, None] = {}
        for match in matches:
            for other in match.superseded_by or (match.id,):
                targets[other] = None
        author = self.draft.fields["author"]
        for target in targets:
            add_link(stage, self.id, target, "possible_duplicate", at=self.at, by=author)
        return tuple(targets)

    def _merge(self, stage: Stage, match: Match) -> Receipt:
        """Add the incoming words as a note, unless they are equal, and its evidence."""
        draft, at, author = self.draft, self.at, self.draft.fields["author"]
        mark = len(stage.rows)
        if match.verdict == "same":
            stage.emit(
                "proposition.append",
                match.id,
                at,
                {"text": Text(draft.statement), "by": author},
            )
        for item, drawn in zip(draft.evidence, self._drawn, strict=True):
            self._write_evidence(stage, item, drawn, match.id)
        if not draft.evidence and draft.fields["source"]:
            row = stage.state.record(stage.state.must(match.id))
            if draft.fields["source"] != row.source:
                self._merge_source(stage, match.id)
        changed = len(stage.rows) > mark
        notes = ("added a source or a note to what is there",) if changed else ()
        return Receipt(ids=(match.id,), outcome="duplicate", duplicate_of=match.id, warnings=notes)

    def _merge_source(self, stage: Stage, target: str) -> None:
        """Keep the other source of a statement that is there as evidence of its own."""
        source = self.draft.fields["source"]
        item = EvidenceDraft(
            "", self.draft.statement, source, self.draft.fields["source_class"], self.draft.at
        )
        self._write_evidence(stage, item, evidence_id(target, source, self.draft.statement), target)


def put_evidence(
    stage: Stage, evidence: str, item: EvidenceDraft, *, by: str, at: int, context: str
) -> None:
    """Write new evidence."""
    stage.emit(
        "evidence.add",
        evidence,
        at if item.at is None else item.at,
        {
            "text": Text(item.text),
            "source": Text(item.source),
            "source_class": item.source_class,
            "author": by,
            "context": context,
        },
    )


def evidence_id(target: str, source: str, text: str) -> str:
    """Return the id of a second source: the same statement from it again is the same evidence."""
    seed = msgspec.msgpack.encode([target, source, text])
    return f"evidence-{_core.digest(seed).hex()[:32]}"


def committed_claim(claim: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a claim whose words are committed to, so that they can be erased."""
    if claim is None:
        return None
    value = claim["value"]
    return {
        **claim,
        "subject": Text(claim["subject"]),
        "value": Text(value) if isinstance(value, str) else value,
        "qualifiers": {
            key: Text(item) if isinstance(item, str) else item
            for key, item in claim["qualifiers"].items()
        },
    }


def _what(state: State, node_id: str) -> str:
    node = state.must(node_id)
    kinds = {
        PROPOSITION: "a proposition",
        EVIDENCE: "evidence",
        ENTITY: "an entity",
        CONTEXT: "a context",
    }
    return kinds.get(state.engine.node_type(node), "another node")


def _duplicate_message(match: Match, state: State) -> str:
    title = state.row(state.must(match.id)).title
    return (
        f"this statement is there already as {shorten(match.id)} ({match.verdict}, similarity "
        f"{match.similarity:.2f}): {shorten(title)}. Add what is new with append({match.id!r}, …), "
        f"change its wording with rewrite, connect it with link, or store it all the same with "
        f"on_duplicate='allow'"
    )
