"""Answers of different implementations, compared and summed up.

An answer is the ids (rows) of the top k and their scores. Two answers agree where scores differ by
at most 1e-5 relative and the order is the same except between scores that close: single and double
precision may break near-ties differently. Knows nothing of how an answer was found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench.reference.arrays import Arrays

RELATIVE = 1e-5

Answer = tuple[npt.NDArray[np.integer], npt.NDArray[np.floating]]


def agree(one: Answer, other: Answer) -> bool:
    """Whether two answers are the same up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([1, 2]), np.array([2.0, 1.0])
    >>> agree(a, (np.array([1, 2]), np.array([2.00001, 1.0])))
    True
    >>> agree(a, (np.array([2, 1]), np.array([2.0, 1.0])))
    False
    """
    (ids, scores), (other_ids, other_scores) = one, other
    if len(ids) != len(other_ids):
        return False
    if not np.allclose(scores, other_scores, rtol=RELATIVE, atol=0):
        return False
    for at in np.flatnonzero(np.asarray(ids) != np.asarray(other_ids)):
        close = np.isclose(scores, other_scores[at], rtol=2 * RELATIVE, atol=0)
        near_the_cut = bool(close[-1])
        if other_ids[at] not in np.asarray(ids)[close] and not near_the_cut:
            return False
    return True


def disagreements(some: Sequence[Answer], others: Sequence[Answer]) -> list[int]:
    """Positions at which two lists of answers don't agree."""
    return [
        at
        for at, (one, other) in enumerate(zip(some, others, strict=True))
        if not agree(one, other)
    ]


def seed_at_the_cut(arrays: Arrays, query: npt.NDArray[np.integer]) -> bool:
    """Whether the last seed and the best hit that is none are too close to tell in f32.

    Which of the two spreads is then a matter of rounding: such a query is not compared.
    """
    setting, seeds = arrays.setting, arrays.setting.max_seeds
    relevance = np.zeros(arrays.n)
    for term in query:
        part = arrays.postings[arrays.terms["start"][term] : arrays.terms["start"][term + 1]]
        relevance[part["doc"]] += part["value"] * float(arrays.terms["weight"][term])
    hits = np.flatnonzero(relevance)
    if hits.size <= seeds:
        return False
    scores = setting.alpha * relevance[hits] + setting.beta * arrays.nodes["strength"][hits]
    last, first_out = -np.partition(-scores, (seeds - 1, seeds))[[seeds - 1, seeds]]
    return bool(last - first_out <= RELATIVE * last)


def checksum(answers: Sequence[Answer]) -> str:
    """Digest of ids and of scores to four digits, for a reader who compares two reports.

    Ids are sorted within a query, so that a near-tie doesn't change the digest.
    """
    digest = hashlib.blake2b(digest_size=8)
    for ids, scores in answers:
        digest.update(np.sort(np.asarray(ids)).astype("<i8").tobytes())
        digest.update(f"{float(np.sum(scores)):.3g}".encode())
    return digest.hexdigest()
