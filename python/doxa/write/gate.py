"""The duplicate gate: is this statement already there?

Candidates come from the core (fingerprints, then the rarest terms), their texts from
the tables; the verdict is the core's ``compare``. Cost is bounded: fingerprints find
*equal* and *same*, at most 64 more candidates are read for *abstain*.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from doxa.scope import Scope
from doxa.state.state import State

__all__ = ["Match", "find_matches"]

#: Possible duplicates that are linked for review.
BEST: Final = 3
_RANK: Final = {"equal": 0, "same": 1, "abstain": 2}


class Match(msgspec.Struct, frozen=True):
    """A proposition that says the same, or may.

    Attributes
    ----------
    id : str
        The proposition.
    verdict : {"equal", "same", "abstain"}
        How sure the gate is.
    similarity : float
        In [0, 1].
    superseded_by : tuple of str
        What stands in its place.
    """

    id: str
    verdict: str
    similarity: float
    superseded_by: tuple[str, ...] = ()


def find_matches(
    state: State, statement: str, scope: Scope, claim: dict[str, Any] | None
) -> list[Match]:
    """Return what the store holds of this statement, the surest first.

    Parameters
    ----------
    state : State
        Where to look; what is staged is seen.
    statement : str
        Title and summary.
    scope : Scope
        Only propositions whose scope overlaps are compared.
    claim : dict or None
        A claim that differs in value or polarity makes two statements different, however
        alike their words are.

    Returns
    -------
    list of Match
        All *equal* and *same*; of *abstain* the best three.
    """
    params = state.params
    least = min(params.abstain_threshold, params.abstain_threshold_cjk)
    close = [
        (node, row)
        for node, certain, overlap in state.engine.candidates(statement)
        if (certain or overlap >= least)
        and (row := state.row(node)).scope.overlaps(scope)
        and not row.retired
    ]
    verdicts = state.engine.compare(
        statement,
        [f"{row.title}\n{row.summary}" if row.summary else row.title for _, row in close],
        params.duplicate_threshold,
        params.abstain_threshold,
        params.abstain_threshold_cjk,
    )
    found = []
    for (node, row), (verdict, similarity, _) in zip(close, verdicts, strict=True):
        if verdict in ("equal", "same") and claim is not None and row.claim is not None:
            held = msgspec.to_builtins(row.claim)
            if any(held[key] != claim[key] for key in ("value", "polarity", "qualifiers")):
                verdict = "abstain"
        if verdict in _RANK:
            found.append(Match(row.id, verdict, similarity, state.superseded_by(node)))
    found.sort(key=lambda match: (_RANK[match.verdict], -match.similarity, match.id))
    sure = [match for match in found if match.verdict != "abstain"]
    return sure + [match for match in found if match.verdict == "abstain"][:BEST]
