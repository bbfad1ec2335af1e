"""Plain BM25 over the terms of doxa: the baseline of every quality table."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

import doxa

__all__ = ["BM25"]

K1, B = 0.8, 0.6


class BM25:
    """One field, k1 = 0.8, b = 0.6, no stems and no function words."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._postings: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._lengths: dict[str, int] = {}
        for name, text in texts:
            terms = doxa.terms(text)
            self._lengths[name] = len(terms)
            for term, count in Counter(terms).items():
                self._postings[term].append((name, count))
        self._mean = sum(self._lengths.values()) / max(1, len(self._lengths))

    def rank(self, query: str, k: int, leave_out: str = "") -> list[str]:
        """Return the ids of the best ``k`` texts."""
        n = len(self._lengths)
        scores: dict[str, float] = defaultdict(float)
        for term in set(doxa.terms(query)):
            held = self._postings.get(term, [])
            idf = math.log(1 + (n - len(held) + 0.5) / (len(held) + 0.5))
            for name, count in held:
                norm = K1 * (1 - B + B * self._lengths[name] / self._mean)
                scores[name] += idf * count * (K1 + 1) / (count + norm)
        scores.pop(leave_out, None)
        return [
            name for name, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
        ]
