"""Links: what may be linked to what, and the rows that do it."""

from __future__ import annotations

from typing import Final

from doxa import model
from doxa.errors import InvalidValue, NotFound, shorten
from doxa.model import NODE_TYPES, RELATIONS
from doxa.state.live import Stage
from doxa.state.state import CONTEXT, ENTITY, EVENT, EVIDENCE, PROPOSITION, SUPERSEDES, State

__all__ = ["add_link", "check_link", "remove_link"]

#: Relation → node types at its start and at its end; others may link anything.
_ENDS: Final = {
    "supports": ((PROPOSITION, EVIDENCE), (PROPOSITION,)),
    "refutes": ((PROPOSITION, EVIDENCE), (PROPOSITION,)),
    "about": ((PROPOSITION,), (ENTITY,)),
    "value": ((PROPOSITION,), (ENTITY,)),
    "mentions": ((PROPOSITION, EVIDENCE, EVENT), (ENTITY,)),
    "in_context": ((PROPOSITION, EVIDENCE, EVENT), (CONTEXT,)),
    "occurred_in": ((PROPOSITION, EVIDENCE, EVENT), (CONTEXT, EVENT)),
    "supersedes": ((PROPOSITION,), (PROPOSITION,)),
    "possible_duplicate": ((PROPOSITION,), (PROPOSITION,)),
    "incompatible": ((PROPOSITION,), (PROPOSITION,)),
}
_CODES: Final = {name: code for code, name in enumerate(RELATIONS)}
#: The core keeps weights in single precision.
_SAME: Final = 1e-6


def check_link(state: State, source: str | None, target: str, relation: str) -> None:
    """Check a link against the state; ``source`` None is a proposition not yet written.

    Raises
    ------
    InvalidValue
        For a self-link, an end of the wrong type, or a cycle of supersession.
    NotFound
        If an end is not there.
    """
    if source == target:
        raise InvalidValue("link", target, "a node is not linked to itself")
    a = PROPOSITION if source is None else _type(state, "from", source)
    b = _type(state, "to", target)
    allowed = _ENDS.get(relation)
    if allowed is not None:
        for end, node_type, name, good in (
            ("from", a, source, allowed[0]),
            ("to", b, target, allowed[1]),
        ):
            if node_type not in good:
                kinds = " or ".join(NODE_TYPES[code] for code in good)
                raise InvalidValue(
                    f"{relation} ({end})",
                    name,
                    f"{relation} has a {kinds} there; this is of type {NODE_TYPES[node_type]}",
                )
    if relation == "supersedes" and source is not None and supersedes(state, target, source):
        raise InvalidValue(
            "supersedes",
            f"{source} → {target}",
            "no cycle: the second already supersedes the first",
        )


def supersedes(state: State, newer: str, older: str) -> bool:
    """Tell whether ``newer`` stands, over any number of steps, in the place of ``older``."""
    goal, start = state.must(newer), state.must(older)
    seen, queue = {start}, [start]
    while queue:
        node = queue.pop()
        for a, b, relation, _ in state.engine.links(node):
            if relation == SUPERSEDES and b == node and a not in seen:
                if a == goal:
                    return True
                seen.add(a)
                queue.append(a)
    return False


def _type(state: State, end: str, node_id: str) -> int:
    node = state.engine.node(node_id)
    if node is None:
        raise NotFound(
            f"link ({end}): there is no {shorten(node_id)}; remember it first", id=node_id
        )
    return int(state.engine.node_type(node))


def add_link(
    stage: Stage,
    source: str,
    target: str,
    relation: str,
    weight: float = 1.0,
    *,
    at: int,
    by: str,
    valid_from: int | None = None,
    valid_to: int | None = None,
) -> bool:
    """Write a link; return False where exactly this link was there already."""
    check_link(stage.state, source, target, relation)
    held = held_weight(stage.state, source, target, relation)
    if held is not None and abs(held - weight) < _SAME and valid_from is None and valid_to is None:
        return False
    stage.emit(
        "link.add",
        source,
        at,
        {
            "source": source,
            "target": target,
            "relation": relation,
            "weight": weight,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "author": by,
        },
    )
    return True


def remove_link(stage: Stage, source: str, target: str, relation: str, *, at: int, by: str) -> None:
    """Take a link back.

    Raises
    ------
    NotFound
        If it is not there.
    """
    if held_weight(stage.state, source, target, relation) is None:
        raise NotFound(
            f"unlink: there is no link {shorten(source)} {relation} {shorten(target)}",
            source=source,
            target=target,
            relation=relation,
        )
    stage.emit(
        "link.remove",
        source,
        at,
        {"source": source, "target": target, "relation": relation, "author": by},
    )


def held_weight(state: State, source: str, target: str, relation: str) -> float | None:
    """Return the weight of a link that stands, or None."""
    a, b = state.engine.node(source), state.engine.node(target)
    if a is None or b is None:
        return None
    return state.engine.link_weight(a, b, _CODES[relation])


def checked_ends(a: object, b: object, relation: object) -> tuple[str, str, str]:
    """Check the arguments that name a link."""
    return model.identifier("a", a), model.identifier("b", b), model.relation(relation)
