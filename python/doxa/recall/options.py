"""From the arguments of a recall to what the core takes.

Checks every argument by name and turns scopes into verdicts: for each distinct scope in
the store, whether it applies to the situation, may apply, or does not. What the core
takes is cached, so that a call with the usual arguments costs next to nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import msgspec

from doxa import _core, model
from doxa.errors import InvalidValue, NotFound, NotInThisVersion, shorten
from doxa.model import CATEGORIES, KINDS, STATUSES
from doxa.params import Params
from doxa.scope import Scope
from doxa.state.state import State

__all__ = ["Options", "options"]

MAX_K: Final = 100_000
#: Statuses that recall returns unless told otherwise.
DEFAULT_STATUSES: Final = frozenset(("active", "pending", "closed", "superseded"))
#: What ``include=`` may add to them.
_INCLUDABLE: Final = ("archived", "quarantined", "retired")
_NO, _MAY, _YES = 0, 1, 2


class Options(msgspec.Struct, frozen=True):
    """Checked arguments of one recall."""

    k: int
    params: Params
    spread: bool
    filter: _core.Filter | None
    min_confidence_of_hits: float | None


def options(
    state: State,
    own_params: Params,
    *,
    k: object = 10,
    scope: object = None,
    kinds: object = None,
    categories: object = None,
    about: object = None,
    statuses: object = None,
    include: object = None,
    hops: object = None,
    spread: object = True,
    relevance: object = None,
    lifecycle: object = "off",
    valid_at: dt.datetime | None = None,
    as_of: object = None,
    history: object = False,
    min_confidence: object = None,
    min_confidence_of_hits: object = None,
    layers: object = None,
    params: object = None,
) -> Options:
    """Check all arguments of ``recall``.

    Raises
    ------
    InvalidValue
        Naming the first argument that breaks a rule.
    NotInThisVersion
        For an argument whose part of doxa is not built yet.
    """
    _not_yet(lifecycle, as_of, layers)
    used = own_params if params is None else read_params(params, state.params)
    wanted = None if hops is None else model.whole("hops", hops, 0, 8)
    ranking = None if relevance is None else model.choice("relevance", relevance, ("bm25", "count"))
    past = model.flag("history", history)
    if wanted is not None or ranking is not None or past:
        used = _varied(used, wanted, ranking, past)
    situation = None if scope is None else Scope.of(scope)  # type: ignore[arg-type]
    return Options(
        k=model.whole("k", k, 0, MAX_K),
        params=used,
        spread=model.flag("spread", spread),
        filter=_filter(
            state, situation, kinds, categories, about, statuses, include, valid_at, min_confidence
        ),
        min_confidence_of_hits=None
        if min_confidence_of_hits is None
        else model.number("min_confidence_of_hits", min_confidence_of_hits, 0.0, 1.0),
    )


def _not_yet(lifecycle: object, as_of: object, layers: object) -> None:
    if lifecycle != "off":
        model.choice("lifecycle", lifecycle, ("off", "typed", "generic"))
        raise NotInThisVersion(
            f"lifecycle={lifecycle!r} is not built yet: this version scores with lifecycle='off'"
        )
    if as_of is not None:
        raise NotInThisVersion("as_of is not built yet: this version recalls from the last commit")
    if layers is not None:
        raise NotInThisVersion("layers are not built yet: recall from each store by itself")


def read_params(value: object, own: Params) -> Params:
    """Return params for one call; what governs writing can't be given that way."""
    if not isinstance(value, Params):
        raise InvalidValue("params", value, "a doxa.Params")
    if value.authorities and value.authorities != own.authorities:
        raise InvalidValue(
            "params", value.authorities, "authorities belong to the store: use set_params"
        )
    return value


@lru_cache(maxsize=256)
def _varied(params: Params, hops: object, relevance: object, history: bool) -> Params:
    changes: dict[str, Any] = {}
    if hops is not None:
        changes["hops"] = hops
    if relevance is not None:
        changes["relevance"] = relevance
    if history:
        changes["lift_successor"] = False
    return params.replace(**changes)


def _filter(
    state: State,
    situation: Scope | None,
    kinds: object,
    categories: object,
    about: object,
    statuses: object,
    include: object,
    valid_at: dt.datetime | None,
    min_confidence: object,
) -> _core.Filter | None:
    given = (situation, kinds, categories, about, statuses, include, valid_at, min_confidence)
    if all(item is None for item in given):
        return None
    wanted = set(DEFAULT_STATUSES) if statuses is None else chosen("statuses", statuses, STATUSES)
    if include is not None:
        wanted |= chosen("include", include, _INCLUDABLE)
    return _core.Filter(
        statuses=_mask(wanted, STATUSES),
        kinds=None if kinds is None else _mask(chosen("kinds", kinds, KINDS), KINDS),
        categories=None
        if categories is None
        else _mask(chosen("categories", categories, CATEGORIES), CATEGORIES),
        scopes=None if situation is None else verdicts(state, situation),
        valid_at=model.micros("valid_at", valid_at),
        min_confidence=None
        if min_confidence is None
        else model.number("min_confidence", min_confidence, -1.0, 1.0),
        only=None if about is None else _about(state, about),
    )


def verdicts(state: State, situation: Scope) -> bytes:
    """Return for each scope code of the store: 0 does not apply, 1 may apply, 2 applies."""
    return bytes(_verdict(scope, situation) for scope in state.scopes)


@lru_cache(maxsize=65_536)
def _verdict(scope: Scope, situation: Scope) -> int:
    if scope.covers(situation):
        return _YES
    return _MAY if scope.overlaps(situation) else _NO


def chosen(field: str, value: object, allowed: tuple[str, ...]) -> set[str]:
    """Return the names given, one or several, all of them allowed ones."""
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Iterable):
        raise InvalidValue(field, value, f"some of {', '.join(map(repr, allowed))}")
    return {str(model.choice(field, item, allowed)) for item in value}


def _mask(names: set[str], order: tuple[str, ...]) -> int:
    return sum(1 << order.index(name) for name in names)


def _about(state: State, value: object) -> list[int]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Iterable):
        raise InvalidValue("about", value, "an entity's id or name, or several")
    nodes: set[int] = set()
    for name in names:
        checked = model.identifier("about", name)
        entity = state.entity(checked)
        if entity is None:
            raise NotFound(
                f"about: there is no one entity {shorten(checked)}; beliefs.resolve(…) offers "
                "what comes near",
                id=checked,
            )
        nodes.update(state.about(entity))
    return sorted(nodes)
