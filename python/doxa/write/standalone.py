"""Warnings about texts that may not stand alone, in English and Chinese.

A proposition is read months later, without the conversation that it came from. These
screens are literal and only warn: nothing is refused for them.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["warnings"]

_PRONOUN: Final = re.compile(
    r"^\W*(?:he|she|it|they|this|that|these|those|his|her|their|its)\b"
    r"|\b(?:the former|the latter|as above|mentioned above|see above)\b",
    re.IGNORECASE,
)
_PRONOUN_ZH: Final = re.compile(
    r"^(?:他们|她们|它们|他|她|它|这个|那个|这些|那些|其)|上述|如上|前者|后者|该(?:人|项|公司)"
)
_DATE: Final = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|recently|currently|right now|"
    r"(?:last|next|this) (?:week|month|year|quarter|night|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
    r"\d+ (?:days?|weeks?|months?|years?) ago|in \d+ (?:days?|weeks?|months?))\b",
    re.IGNORECASE,
)
_DATE_ZH: Final = re.compile(
    r"今天|明天|昨天|前天|后天|今晚|昨晚|最近|目前|(?:上|下|这|本)(?:周|个?月|星期|季度)|(?:今|明|去)年|\d+\s*(?:天|周|个月|年)(?:前|后)"
)
_SENTENCE: Final = re.compile(r"[.!?](?=\s+[A-Z\"'(])|[。！？；](?=\S)|\n\s*\S")
_ABBREVIATION: Final = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|cf|Dr|Mr|Mrs|Ms|Prof|St|No|Inc|Ltd|[A-Z])\.$"
)


def warnings(title: str, summary: str) -> tuple[str, ...]:
    """Return what a reader without context may stumble over.

    Parameters
    ----------
    title, summary : str
        The statement in one line, and in a few sentences.

    Returns
    -------
    tuple of str
        One sentence per finding, empty where nothing was found.

    Examples
    --------
    >>> warnings("She moved to London yesterday", "")[0]
    "unresolved pronoun 'She': name who or what is meant"
    >>> warnings("Ada moved to London on 2026-03-01", "")
    ()
    """
    found = []
    for pattern in (_PRONOUN, _PRONOUN_ZH):
        for text in (title, summary):
            match = pattern.search(text)
            if match:
                word = match.group().strip(" \t\"'([*-_")
                found.append(f"unresolved pronoun {word!r}: name who or what is meant")
                break
    for pattern in (_DATE, _DATE_ZH):
        match = pattern.search(title) or pattern.search(summary)
        if match:
            found.append(f"relative date {match.group()!r}: write the date itself")
    if _statements(title) > 1:
        found.append("several statements in one: store them apart, so that each can change alone")
    return tuple(found)


def _statements(title: str) -> int:
    """Count the sentences of a title."""
    count = 1
    for match in _SENTENCE.finditer(title):
        if not _ABBREVIATION.search(title[: match.start() + 1]):
            count += 1
    return count
