"""All constants of doxa in one frozen, validated value.

Holds every number that a formula uses, each with its source. Knows no store and
does no I/O; :attr:`Params.tuning` compiles what the core needs.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from doxa import _core
from doxa.errors import InvalidValue

__all__ = ["IMPORTANCES", "RELATIONS", "Params"]

#: Importance levels, lowest first. The position is the core's code.
IMPORTANCES: Final = ("low", "medium", "high", "resident")

#: Relations with their default conductance (spec: `docs/model.md`). The position is the core's code.
RELATIONS: Final[Mapping[str, float]] = {
    "relates": 0.4,
    "supports": 0.8,
    "refutes": 0.5,
    "depends_on": 0.8,
    "part_of": 0.4,
    "about": 1.0,
    "value": 1.0,
    "mentions": 0.4,
    "in_context": 0.15,
    "occurred_in": 0.15,
    "supersedes": 0.0,
    "possible_duplicate": 0.0,
    "incompatible": 0.0,
}

_UNIT: Final = (0.0, 1.0)
_POSITIVE: Final = (0.0, math.inf)
_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "alpha": _POSITIVE,
    "beta": _POSITIVE,
    "rho": _UNIT,
    "w_title": _POSITIVE,
    "w_summary": _POSITIVE,
    "w_body": _POSITIVE,
    "w_t": _POSITIVE,
    "w_u": _POSITIVE,
    "lam": _UNIT,
    "theta": _POSITIVE,
    "seed_power": (0.0, 16.0),
    "damp_allowance": _POSITIVE,
    "k1": _POSITIVE,
    "b": _UNIT,
    "embedding_weight": _POSITIVE,
    "duplicate_threshold": _UNIT,
    "abstain_threshold": _UNIT,
    "abstain_threshold_cjk": _UNIT,
}
_WHOLE: Final[Mapping[str, tuple[int, int]]] = {
    "hops": (0, 8),
    "max_seeds": (0, 100_000),
    "resident_quota": (0, 1_000_000),
}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "relevance": ("bm25", "count"),
    "damp": ("sender", "receiver"),
    "direction": ("out", "both"),
}
#: Use counts between which the source's rule "frequency never beats recency" is checked.
_USES_OFTEN: Final = 1001
_LARGEST: Final = 1e6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Params:
    """The constants of all formulas.

    Parameters
    ----------
    alpha, beta : float
        Weights of relevance and of strength in ``combined`` (ours; source `000` §4.2 asks
        for alpha much larger than beta).
    rho : float
        Factor for what is superseded, in [0, 1] (ours).
    w_title, w_summary, w_body : float
        Field weights (title and summary from `000`; the body's chosen on development data).
        The id counts as the title, a date as the summary, evidence as the body.
    base, half_life : mapping
        Strength by importance: the base and the time constant in days (`000` §5.2).
    w_t, w_u : float
        Weights of recency and of frequency in strength.
    hops : int
        Hops of the spread, 0 to 8.
    lam : float
        Decay per hop, in [0, 1].
    theta : float
        Pruning threshold of one contribution.
    max_seeds, seed_power
        How many seeds spread, and how sharply weaker seeds are turned down.
    damp : {"sender", "receiver"}
        Whose degree damps: the sender's (`000`, prose) or the receiver's (its formula).
    damp_allowance : float
        Degree up to which nothing is damped; 0 is the published form.
    direction : {"out", "both"}
        Along links, or both ways.
    conductance : mapping
        By relation, in [0, 1]; what is not named keeps its default.
    lift_successor : bool
        Whether what replaced a superseded hit is lifted above it.
    relevance : {"bm25", "count"}
        The ranking function of the flat match.
    k1, b : float
        BM25's saturation and length normalisation.
    embedding_weight : float
        Weight of the optional embedder's cosine.
    duplicate_threshold, abstain_threshold, abstain_threshold_cjk : float
        The duplicate gate: order agreement for *same*, similarity for *abstain*.
    resident_quota : int
        How many propositions may be resident.
    authorities : tuple of str
        Who may confirm a ruling.

    Raises
    ------
    InvalidValue
        For an unknown name, a wrong type, a value out of range, or a strength function that
        breaks the source's rules (`000` §5.2): base and half-life grow with importance,
        recency exceeds each step of the base, frequency never beats recency.

    Examples
    --------
    >>> Params(hops=2).hops
    2
    >>> Params.published().relevance
    'count'
    >>> Params(lam=1.5)
    Traceback (most recent call last):
    doxa.errors.InvalidValue: lam: 1.5 is not allowed: a number from 0 to 1
    """

    alpha: float = 1.0
    beta: float = 0.1
    rho: float = 0.3
    w_title: float = 2.0
    w_summary: float = 1.0
    w_body: float = 0.75
    base: Mapping[str, float] = dataclasses.field(
        default_factory=lambda: dict(zip(IMPORTANCES, (0.0, 0.2, 0.4, 0.6), strict=True))
    )
    half_life: Mapping[str, float] = dataclasses.field(
        default_factory=lambda: dict(zip(IMPORTANCES, (7.0, 21.0, 45.0, 60.0), strict=True))
    )
    w_t: float = 1.0
    w_u: float = 0.05
    hops: int = 3
    lam: float = 0.9
    theta: float = 0.02
    max_seeds: int = 8
    seed_power: float = 1.0
    damp: str = "sender"
    damp_allowance: float = 8.0
    direction: str = "out"
    conductance: Mapping[str, float] = dataclasses.field(default_factory=dict)
    lift_successor: bool = True
    relevance: str = "bm25"
    k1: float = 0.8
    b: float = 0.6
    embedding_weight: float = 0.5
    duplicate_threshold: float = 0.85
    abstain_threshold: float = 0.4
    abstain_threshold_cjk: float = 0.3
    resident_quota: int = 64
    authorities: tuple[str, ...] = ()

    def __init__(self, **values: Any) -> None:
        fields = {field.name: field for field in dataclasses.fields(self)}
        for name in values:
            if name not in fields:
                raise InvalidValue(
                    f"Params has no {name!r}; its names are {', '.join(sorted(fields))}",
                    field=name,
                )
        for name, field in fields.items():
            if name in values:
                value = _checked(name, values[name])
            elif field.default is not dataclasses.MISSING:
                value = field.default
            else:
                assert field.default_factory is not dataclasses.MISSING
                value = _checked(name, field.default_factory())
            object.__setattr__(self, name, value)
        _check_strength(self)

    @classmethod
    def published(cls, **changes: Any) -> Params:
        """Return the source's own settings (`000` §4, §5), with changes.

        Examples
        --------
        >>> p = Params.published(hops=1)
        >>> p.damp, p.direction, p.hops, p.lam
        ('receiver', 'both', 1, 0.5)
        """
        values: dict[str, Any] = {
            "relevance": "count",
            "w_body": 0.25,
            "max_seeds": 64,
            "seed_power": 0.0,
            "lam": 0.5,
            "hops": 2,
            "theta": 0.02,
            "damp": "receiver",
            "damp_allowance": 0.0,
            "direction": "both",
        }
        return cls(**{**values, **changes})

    def replace(self, **changes: Any) -> Params:
        """Return a copy with some values changed; ``conductance`` replaces by relation.

        Examples
        --------
        >>> Params().replace(theta=0.1).theta
        0.1
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return type(self)(**{**values, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain data, which ``Params(**…)`` reads back.

        Examples
        --------
        >>> Params(**Params(hops=1).to_dict()) == Params(hops=1)
        True
        """
        out: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Mapping):
                value = dict(value)
            elif isinstance(value, tuple):
                value = list(value)
            out[field.name] = value
        return out

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))

    @cached_property
    def tuning(self) -> _core.Tuning:
        """The same constants, compiled for the core."""
        return _core.Tuning(
            alpha=self.alpha,
            beta=self.beta,
            rho=self.rho,
            w_title=self.w_title,
            w_summary=self.w_summary,
            w_body=self.w_body,
            base=[self.base[level] for level in IMPORTANCES],
            half_life=[self.half_life[level] for level in IMPORTANCES],
            w_t=self.w_t,
            w_u=self.w_u,
            hops=self.hops,
            lam=self.lam,
            theta=self.theta,
            max_seeds=self.max_seeds,
            seed_power=self.seed_power,
            damp=self.damp,
            damp_allowance=self.damp_allowance,
            direction=self.direction,
            conductance=[self.conductance[relation] for relation in RELATIONS],
            lift_successor=self.lift_successor,
            relevance=self.relevance,
            k1=self.k1,
            b=self.b,
        )


def _checked(name: str, value: Any) -> Any:
    if name in _RANGES:
        return _number(name, value, *_RANGES[name])
    if name in _WHOLE:
        low, high = _WHOLE[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InvalidValue(name, value, f"a whole number from {low} to {high}")
        return value
    if name in _CHOICES:
        if not isinstance(value, str) or value not in _CHOICES[name]:
            raise InvalidValue(name, value, f"one of {', '.join(map(repr, _CHOICES[name]))}")
        return value
    if name in ("base", "half_life"):
        return _by_level(name, value)
    if name == "conductance":
        return _by_relation(value)
    if name == "authorities":
        return _names(name, value)
    if not isinstance(value, bool):
        raise InvalidValue(name, value, "True or False")
    return value


def _number(name: str, value: Any, low: float, high: float) -> float:
    rule = (
        f"a number from {low:g} to {high:g}" if high < math.inf else f"a number of {low:g} or more"
    )
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidValue(name, value, rule)
    try:
        number = float(value)
    except OverflowError:
        raise InvalidValue(name, value, f"{rule}, at most {_LARGEST:g}") from None
    if not low <= number <= high:
        raise InvalidValue(name, value, rule)
    if number > _LARGEST:
        raise InvalidValue(name, value, f"{rule}, at most {_LARGEST:g}")
    return number


def _by_level(name: str, value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping) or set(value) != set(IMPORTANCES):
        raise InvalidValue(name, value, f"a mapping with exactly {', '.join(IMPORTANCES)}")
    out = {
        level: _number(f"{name}[{level!r}]", value[level], 0.0, math.inf) for level in IMPORTANCES
    }
    if name == "half_life" and min(out.values()) <= 0:
        raise InvalidValue(name, value, "days above 0")
    return out


def _by_relation(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise InvalidValue("conductance", value, "a mapping from relation to a number from 0 to 1")
    for relation in value:
        if relation not in RELATIONS:
            raise InvalidValue("conductance", relation, f"one of {', '.join(RELATIONS)}")
    return {
        relation: _number(f"conductance[{relation!r}]", value.get(relation, default), 0.0, 1.0)
        for relation, default in RELATIONS.items()
    }


def _names(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple, set, frozenset)):
        raise InvalidValue(name, value, "a list of names")
    for item in value:
        if not isinstance(item, str) or not item.strip():
            raise InvalidValue(name, item, "a name of at least one character")
    return tuple(sorted(set(value)))


def _check_strength(params: Params) -> None:
    base = [params.base[level] for level in IMPORTANCES]
    days = [params.half_life[level] for level in IMPORTANCES]
    for name, values in (("base", base), ("half_life", days)):
        if any(low > high for low, high in itertools.pairwise(values)):
            raise InvalidValue(name, getattr(params, name), "must not fall as importance grows")
    steps = [high - low for low, high in itertools.pairwise(base)]
    if params.w_t <= max(steps):
        raise InvalidValue(
            "w_t", params.w_t, f"above each step of base (the largest is {max(steps):g})"
        )
    month = params.w_t * (math.exp(-3 / days[-1]) - math.exp(-30 / days[-1]))
    often = params.w_u * math.log(_USES_OFTEN / 2)
    if month <= often:
        raise InvalidValue(
            "w_u",
            params.w_u,
            "frequency must not beat recency: w_t·(e^(−3/hl) − e^(−30/hl)) = "
            f"{month:.4g} must exceed w_u·ln(1001/2) = {often:.4g} for residents",
        )
