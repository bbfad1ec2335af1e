"""Scope algebra: where a proposition applies, and how two scopes meet.

A scope maps dimensions (``env``, ``repo``, …) to sets of values; a missing dimension
means any. A value may be a path: ``acme/billing`` lies within ``acme``. Values are
immutable and hashable, so scopes serve as keys.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

from doxa.errors import InvalidValue

__all__ = ["Scope"]

_MAX_DIMENSIONS: Final = 32
_MAX_VALUES: Final = 256
_MAX_CHARACTERS: Final = 256


class Scope(Mapping[str, frozenset[str]]):
    """Where something applies: dimension → values.

    Parameters
    ----------
    mapping : mapping, optional
        Dimension to a value or to several. Dimensions may also be keyword arguments.

    Raises
    ------
    InvalidValue
        For an empty name, an empty set of values, a value that is no string, or a path with
        an empty part.

    Examples
    --------
    >>> team = Scope(repo="acme")
    >>> billing = Scope(repo="acme/billing", env=["prod", "staging"])
    >>> team.covers(billing), billing.covers(team), billing.narrower(team)
    (True, False, True)
    >>> Scope().covers(billing)
    True
    """

    __slots__ = ("_hash", "_items")

    def __init__(self, mapping: Mapping[str, Any] | None = None, /, **dimensions: Any) -> None:
        if mapping is not None and not isinstance(mapping, Mapping):
            raise InvalidValue("scope", mapping, "a Scope or a mapping from dimension to values")
        merged = {**(mapping or {}), **dimensions}
        if len(merged) > _MAX_DIMENSIONS:
            raise InvalidValue("scope", len(merged), f"at most {_MAX_DIMENSIONS} dimensions")
        pairs = ((_name(name), _values(name, values)) for name, values in merged.items())
        self._items: dict[str, frozenset[str]] = dict(sorted(pairs))
        self._hash = hash(tuple(self._items.items()))

    def __getitem__(self, dimension: str) -> frozenset[str]:
        return self._items[dimension]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Scope):
            return self._items == other._items
        return NotImplemented

    def __repr__(self) -> str:
        return f"Scope({self.to_dict()!r})" if self._items else "Scope()"

    def __str__(self) -> str:
        return " ".join(
            f"{name}={'|'.join(sorted(values))}" for name, values in self._items.items()
        )

    def to_dict(self) -> dict[str, list[str]]:
        """Return plain data: dimension → sorted list of values.

        Examples
        --------
        >>> Scope(env={"prod", "dev"}).to_dict()
        {'env': ['dev', 'prod']}
        """
        return {name: sorted(values) for name, values in self._items.items()}

    def covers(self, other: Scope | Mapping[str, Any]) -> bool:
        """Tell whether every situation of ``other`` is one of this scope.

        Examples
        --------
        >>> Scope(env="prod").covers({"env": "prod", "repo": "acme"})
        True
        """
        theirs = Scope.of(other)
        return all(
            name in theirs._items
            and all(any(_within(value, mine) for mine in values) for value in theirs._items[name])
            for name, values in self._items.items()
        )

    def overlaps(self, other: Scope | Mapping[str, Any]) -> bool:
        """Tell whether some situation may belong to both.

        Examples
        --------
        >>> Scope(env="prod").overlaps({"env": "dev"}), Scope(env="prod").overlaps({"repo": "x"})
        (False, True)
        """
        theirs = Scope.of(other)
        return all(
            any(
                _within(mine, their) or _within(their, mine)
                for mine in values
                for their in theirs._items[name]
            )
            for name, values in self._items.items()
            if name in theirs._items
        )

    def narrower(self, other: Scope | Mapping[str, Any]) -> bool:
        """Tell whether this lies within ``other`` and is smaller: where norms meet, it wins.

        Examples
        --------
        >>> Scope(repo="acme/billing").narrower(Scope(repo="acme"))
        True
        """
        theirs = Scope.of(other)
        return theirs.covers(self) and not self.covers(theirs)

    @classmethod
    def of(cls, value: Scope | Mapping[str, Any] | None) -> Scope:
        """Return ``value`` as a scope; None is the scope of everything.

        Examples
        --------
        >>> Scope.of(None)
        Scope()
        """
        return value if isinstance(value, Scope) else cls(value)


def _within(inner: str, outer: str) -> bool:
    return inner == outer or (inner.startswith(outer) and inner[len(outer)] == "/")


def _name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > _MAX_CHARACTERS:
        raise InvalidValue(
            "scope", name, f"a dimension is a name of 1 to {_MAX_CHARACTERS} characters"
        )
    return _clean("scope", name)


def _values(name: str, values: object) -> frozenset[str]:
    field = f"scope[{name!r}]"
    if isinstance(values, str):
        values = (values,)
    if not isinstance(values, (list, tuple, set, frozenset)) or not values:
        raise InvalidValue(field, values, "a value or a non-empty list of values")
    if len(values) > _MAX_VALUES:
        raise InvalidValue(field, len(values), f"at most {_MAX_VALUES} values")
    return frozenset(_value(field, value) for value in values)


def _value(field: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_CHARACTERS:
        raise InvalidValue(field, value, f"a string of 1 to {_MAX_CHARACTERS} characters")
    if "" in value.split("/"):
        raise InvalidValue(field, value, "a path has no empty part: write 'acme/billing'")
    return _clean(field, value)


def _clean(field: str, value: str) -> str:
    """Return the value in NFC, or refuse what no text file could hold."""
    if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) < 0xE000 for c in value):
        raise InvalidValue(field, value, "no control characters and no lone surrogates")
    return unicodedata.normalize("NFC", value)
