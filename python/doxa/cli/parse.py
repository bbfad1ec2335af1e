"""From the texts of a command line to the values that the library takes."""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Iterable
from typing import Any, Final

from doxa.errors import InvalidValue

__all__ = ["claim_of", "link_of", "params_of", "scope_of", "text_of", "time_of"]

_STDIN_CHARACTERS: Final = 10_000_001


def scope_of(pairs: Iterable[str] | None) -> dict[str, list[str]] | None:
    """Return a scope from ``dimension=value`` pairs; a dimension may be given again.

    Examples
    --------
    >>> scope_of(["env=prod", "env=dev", "repo=acme/billing"])
    {'env': ['prod', 'dev'], 'repo': ['acme/billing']}
    """
    if not pairs:
        return None
    scope: dict[str, list[str]] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark or not name.strip() or not value.strip():
            raise InvalidValue("--scope", pair, "dimension=value, such as env=prod")
        scope.setdefault(name, []).append(value)
    return scope


def time_of(option: str, text: str | None) -> dt.datetime | None:
    """Return an aware datetime.

    Examples
    --------
    >>> time_of("--at", "2026-03-01T09:00Z").hour
    9
    >>> time_of("--at", "2026-03-01")
    Traceback (most recent call last):
    doxa.errors.InvalidValue: --at: '2026-03-01' is not allowed: names no moment without its zone...
    """
    if text is None:
        return None
    try:
        value = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValue(option, text, "an ISO time with its zone: 2026-03-01T09:00Z") from None
    if value.utcoffset() is None:
        mended = f"{value.isoformat(timespec='minutes')}Z"
        raise InvalidValue(option, text, f"names no moment without its zone; write {mended}")
    return value


def params_of(pairs: Iterable[str] | None, *, published: bool = False) -> Any:
    """Return ``Params`` from ``name=value`` pairs (values in JSON), or None for none at all.

    Examples
    --------
    >>> params_of(["hops=1", "relevance=count"]).hops
    1
    """
    from doxa import Params

    if not pairs and not published:
        return None
    values: dict[str, Any] = {}
    for pair in pairs or ():
        name, mark, text = pair.partition("=")
        if not mark:
            raise InvalidValue("--param", pair, "name=value, such as hops=2")
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return Params.published(**values) if published else Params(**values)


def claim_of(parts: tuple[str, str, str] | None) -> dict[str, Any] | None:
    """Return a claim from its subject, attribute and value.

    Examples
    --------
    >>> claim_of(("ada", "lives_in", "Istanbul"))
    {'subject': 'ada', 'attribute': 'lives_in', 'value': 'Istanbul'}
    """
    if parts is None:
        return None
    return dict(zip(("subject", "attribute", "value"), parts, strict=True))


def link_of(text: str) -> tuple[str, str]:
    """Return (id, relation) from ``relation:id``, or from an id alone.

    Examples
    --------
    >>> link_of("depends_on:a17"), link_of("a17"), link_of("entity:a17")
    (('a17', 'depends_on'), ('a17', 'relates'), ('entity:a17', 'relates'))
    """
    from doxa.model import RELATIONS

    relation, mark, target = text.partition(":")
    return (target, relation) if mark and relation in RELATIONS else (text, "relates")


def text_of(text: str) -> str:
    """Return a text, or what stands on stdin where it is ``-``."""
    return sys.stdin.read(_STDIN_CHARACTERS).rstrip("\n") if text == "-" else text
