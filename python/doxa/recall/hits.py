"""What a recall returns: arrays from the core, objects made when asked for.

``Hits`` keeps the core's result (which keeps its snapshot and query, so that paths can
be recomputed) and reads titles from the tables on first touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, overload

import msgspec
import numpy as np
import pyarrow as pa

from doxa import _core
from doxa.errors import InvalidValue
from doxa.params import RELATIONS
from doxa.state.state import State

__all__ = ["Hit", "Hits", "Step"]

_RELATION: Final = tuple(RELATIONS)
_SUPERSEDED, _CONDITIONAL = 1, 2


class Step(msgspec.Struct, frozen=True):
    """One link on the way from a seed to a hit."""

    source: str
    relation: str
    target: str


class Hit(msgspec.Struct, frozen=True):
    """One proposition that was recalled.

    Attributes
    ----------
    id, title, summary : str
        The proposition.
    score : float
        The sum of ``terms``.
    terms : dict of str to float
        ``relevance``, ``strength``, ``activation``, ``succession``: what the score is made of.
    path : tuple of Step
        The strongest chain of links from a seed; empty for a seed and a direct hit.
    notes : tuple of str
        What a reader has to know: superseded by what, pending, conditional.
    """

    id: str
    title: str
    summary: str
    score: float
    terms: dict[str, float]
    path: tuple[Step, ...]
    notes: tuple[str, ...]


class Hits(Sequence[Hit]):
    """A ranked, lazy result.

    ``ids`` and ``scores`` cost least; ``hits[i]`` makes a :class:`Hit`.
    """

    __slots__ = ("_cache", "_ids", "_raw", "_state")

    def __init__(self, raw: _core.RawHits, state: State) -> None:
        self._raw = raw
        self._state = state
        self._ids: list[str] | None = None
        self._cache: dict[int, Hit] = {}

    def __len__(self) -> int:
        return len(self._raw)

    @property
    def ids(self) -> list[str]:
        """Ids, the best first."""
        if self._ids is None:
            self._ids = self._raw.ids()
        return self._ids

    @property
    def scores(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Scores, the best first: float64, one per hit."""
        return self._raw.scores

    @property
    def confidence(self) -> float:
        """Whether anything relevant is known, in [0, 1].

        The share of the query's information (idf) that the best hit covers; where the query
        names an entity, times the best hit about it over the best hit.
        """
        return self._raw.confidence

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | list[Hit]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        count = len(self)
        at = index + count if index < 0 else index
        if not 0 <= at < count:
            raise IndexError(f"hit {index} of {count}")
        hit = self._cache.get(at)
        if hit is None:
            hit = self._cache[at] = self._make(at)
        return hit

    def __iter__(self) -> Iterator[Hit]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Hits: {len(self)}, best {self.ids[0]!r}>" if len(self) else "<Hits: none>"

    def _make(self, at: int) -> Hit:
        raw, state = self._raw, self._state
        node = int(raw.nodes[at])
        row = state.row(node)
        terms = {
            "relevance": float(raw.relevance[at]),
            "strength": float(raw.strength[at]),
            "activation": float(raw.activation[at]),
        }
        lifted = float(raw.succession[at])
        if lifted:
            terms["succession"] = lifted
        return Hit(
            id=self.ids[at],
            title=row.title,
            summary=row.summary,
            score=float(raw.scores[at]),
            terms=terms,
            path=self._path(at),
            notes=self._notes(at, node),
        )

    def _path(self, at: int) -> tuple[Step, ...]:
        name = self._state.engine.id
        return tuple(
            Step(name(a), _RELATION[relation], name(b)) for a, relation, b in self._raw.path(at)
        )

    def _notes(self, at: int, node: int) -> tuple[str, ...]:
        notes = []
        flags = int(self._raw.flags[at])
        row = self._state.row(node)
        if flags & _SUPERSEDED:
            names = ", ".join(self._name(head) for head in self._raw.successor(at))
            notes.append(f"superseded by {names}" if names else "superseded")
        if row.retired:
            notes.append(f"retired: {row.retired.replace('_', ' ')}")
        elif row.base_status != "active":
            notes.append(row.base_status)
        if flags & _CONDITIONAL:
            notes.append(f"applies only if {row.scope}")
        return tuple(notes)

    def _name(self, node: int) -> str:
        state = self._state
        return f"{state.engine.id(node)} ({state.row(node).title})"

    def to_arrow(self) -> pa.Table:
        """Return the hits as a table: id, title, summary, score and its terms.

        Returns
        -------
        pyarrow.Table
            One row per hit, the best first.
        """
        raw = self._raw
        hits = list(self)
        return pa.table(
            {
                "id": pa.array([hit.id for hit in hits], pa.string()),
                "title": pa.array([hit.title for hit in hits], pa.string()),
                "summary": pa.array([hit.summary for hit in hits], pa.string()),
                "score": raw.scores,
                "relevance": raw.relevance,
                "strength": raw.strength,
                "activation": raw.activation,
                "succession": raw.succession,
                "notes": pa.array([list(hit.notes) for hit in hits], pa.list_(pa.string())),
            }
        )

    def to_text(self, budget: int = 2000, counter: Callable[[str], int] | None = None) -> str:
        """Return the hits as text for a prompt, whole hits only, within a budget of tokens.

        Parameters
        ----------
        budget : int
            Tokens, at least 0.
        counter : callable, optional
            Text to tokens; by default characters / 4, and 1 for each CJK character.
        """
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
            raise InvalidValue("budget", budget, "a whole number of tokens, 0 or more")
        count = counter or count_tokens
        lines: list[str] = []
        left = budget
        for hit in self:
            line = f"- [{hit.id}] {hit.title}"
            if hit.summary:
                line += f": {hit.summary}"
            if hit.notes:
                line += f" ({'; '.join(hit.notes)})"
            cost = count(line)
            if cost > left:
                break
            lines.append(line)
            left -= cost
        return "\n".join(lines)

    def explain(self) -> str:
        """Return in words why each hit is where it is."""
        lines = []
        for place, hit in enumerate(self, 1):
            sum_of = " + ".join(f"{name} {value:.3f}" for name, value in hit.terms.items())
            lines.append(f"{place}. {hit.id}: {hit.title}")
            lines.append(f"   score {hit.score:.3f} = {sum_of}")
            if hit.path:
                way = hit.path[0].source + "".join(
                    f" -{step.relation}-> {step.target}" for step in hit.path
                )
                lines.append(f"   reached by {way}")
            lines.extend(f"   {note}" for note in hit.notes)
        return "\n".join(lines) if lines else "nothing was found"


def count_tokens(text: str) -> int:
    """Return a rough number of tokens: characters / 4, and 1 for each CJK character.

    Examples
    --------
    >>> count_tokens("port 8080"), count_tokens("端口")
    (3, 2)
    """
    wide = sum(
        1
        for c in text
        if "\u2e80" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7a3" or c >= "\U00020000"
    )
    return wide + -(-(len(text) - wide) // 4)
