"""The norms about its own upkeep that a new store begins with."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["SEED_NORMS"]

SEED_NORMS: Final[tuple[dict[str, Any], ...]] = (
    {
        "id": "doxa/norm/settle-before-clearing",
        "title": "Store conclusions as explicit propositions before a context is cleared",
        "summary": "What is only in the conversation is lost with it. There is no lossy summary: "
        "write each conclusion that should outlast the context as a proposition of its own.",
    },
    {
        "id": "doxa/norm/append-rather-than-rewrite",
        "title": "Append a note rather than rewrite a proposition's wording",
        "summary": "An appended note is signed and dated and keeps what was said before. Rewrite "
        "only wording that is wrong, and only the revision that was read.",
    },
    {
        "id": "doxa/norm/check-facts-before-ruling",
        "title": "Check the facts before ruling between two memories that conflict",
        "summary": "New is not right. Classify the conflict first: scope, evolution, overstatement "
        "or contradiction. A verifiable fact decides; recency and repetition do not.",
    },
    {
        "id": "doxa/norm/review-open-tasks",
        "title": "Review open tasks at their date and close them with an outcome",
        "summary": "A task past its date is overdue, never expired: it needs an outcome (done, "
        "abandoned) or a new date.",
    },
)
