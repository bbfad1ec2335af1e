"""Edits of what is there: notes, wording, fields, uses, retirement.

Each function returns a *work*: it checks against the staged state and then emits rows
(see :mod:`doxa.state.live`). Arguments are checked before, by the caller's side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from doxa.errors import InvalidValue, NotFound, StaleRevision, shorten
from doxa.model import instant
from doxa.state.live import Stage, Work
from doxa.state.state import EVIDENCE, PROPOSITION, State
from doxa.store import Text
from doxa.write.admission import committed_claim, put_evidence
from doxa.write.drafts import EvidenceDraft
from doxa.write.links import add_link

__all__ = ["append", "known", "restore", "retire", "rewrite", "set_fields", "use"]

#: The only grounds for retiring anything.
GROUNDS: Final = ("falsified", "scene_gone")
_TEXTS: Final = ("title", "summary", "body")


def known(state: State, node_id: str) -> int:
    """Return the node of a proposition.

    Raises
    ------
    NotFound
        If there is none of this id.
    """
    node = state.node(node_id, PROPOSITION)
    if node is None:
        raise NotFound(f"there is no proposition {shorten(node_id)}", id=node_id)
    return node


def append(node_id: str, text: str, *, by: str, at: int) -> Work[str]:
    """Add a signed, timestamped note to a body."""

    def work(stage: Stage) -> str:
        known(stage.state, node_id)
        stage.emit("proposition.append", node_id, at, {"text": Text(text), "by": by})
        return node_id

    return work


def rewrite(
    node_id: str, wording: Mapping[str, str], *, expected_rev: int, by: str, at: int
) -> Work[str]:
    """Replace wording, if the caller has read the current revision."""

    def work(stage: Stage) -> str:
        node = known(stage.state, node_id)
        held = stage.state.row(node)
        if held.rev != expected_rev:
            raise StaleRevision(
                f"expected_rev: {expected_rev} is not the revision of {shorten(node_id)}, which is "
                f"{held.rev}: {shorten(held.title)}. Read it again and rewrite that.",
                id=node_id,
                current=stage.state.proposition(node),
            )
        if held.retired:
            raise InvalidValue(
                "id", node_id, "a retired proposition is not rewritten; restore it first"
            )
        if all(getattr(held, name) == value for name, value in wording.items()):
            return node_id
        texts = {name: Text(value) for name, value in wording.items()}
        stage.emit("proposition.rewrite", node_id, at, {"wording": texts, "by": by})
        return node_id

    return work


def set_fields(node_id: str, changes: Mapping[str, Any], *, by: str, at: int) -> Work[str]:
    """Change fields that are not wording."""

    def work(stage: Stage) -> str:
        node = known(stage.state, node_id)
        row = stage.state.row(node)
        first = changes.get("valid_from", row.valid_from)
        last = changes.get("valid_to", row.valid_to)
        if first is not None and last is not None and last <= first:
            raise InvalidValue(
                "valid_to",
                instant(last).isoformat(),
                f"after valid_from ({instant(first).isoformat()})",
            )
        if (
            "exit_condition" in changes
            and row.kind == "task"
            and not changes["exit_condition"].strip()
        ):
            raise InvalidValue(
                "exit_condition", changes["exit_condition"], "a task says what counts as done"
            )
        fields: dict[str, Any] = dict(changes)
        if "claim" in fields:
            fields["claim"] = committed_claim(fields["claim"])
        if "exit_condition" in fields:
            fields["exit_condition"] = Text(fields["exit_condition"])
        stage.emit("proposition.set", node_id, at, fields)
        return node_id

    return work


def use(ids: tuple[str, ...], *, at: int) -> Work[int]:
    """Record that propositions were really used."""

    def work(stage: Stage) -> int:
        for node_id in ids:
            known(stage.state, node_id)
        if ids:
            stage.emit("proposition.use", "", at, {"ids": list(ids)})
        return len(ids)

    return work


def retire(
    node_id: str,
    ground: str,
    *,
    reason: str,
    evidence: tuple[tuple[str, EvidenceDraft], ...],
    by: str,
    at: int,
) -> Work[str]:
    """Take a proposition out of recall; it stays in the journal and can be restored."""

    def work(stage: Stage) -> str:
        row = stage.state.row(known(stage.state, node_id))
        if row.retired:
            raise InvalidValue("id", node_id, f"it is retired already ({row.retired})")
        for drawn, item in evidence:
            if item.text:
                put_evidence(stage, drawn, item, by=by, at=at, context="")
            elif stage.state.node(drawn, EVIDENCE) is None:
                raise NotFound(f"evidence: there is no evidence {shorten(drawn)}", id=drawn)
            add_link(stage, drawn, node_id, "refutes", at=at, by=by)
        ids = [drawn for drawn, _ in evidence]
        fields = {"ground": ground, "reason": Text(reason), "evidence": ids, "by": by}
        stage.emit("proposition.retire", node_id, at, fields)
        return node_id

    return work


def restore(node_id: str, *, by: str, at: int) -> Work[str]:
    """Bring a retired proposition back."""

    def work(stage: Stage) -> str:
        row = stage.state.row(known(stage.state, node_id))
        if not row.retired:
            raise InvalidValue("id", node_id, "it is not retired")
        stage.emit("proposition.restore", node_id, at, {"by": by})
        return node_id

    return work
