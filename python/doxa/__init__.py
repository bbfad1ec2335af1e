"""doxa: governed memory for long-running agents, in the agent's own process.

A proposition graph with explained recall. Start with :func:`doxa.open` (a directory on
disk) or :func:`doxa.memory` (in RAM).
"""

from __future__ import annotations

from doxa._core import normalize, similarity, terms
from doxa.errors import (
    AlreadyExists,
    CommitUncertain,
    DoxaError,
    DuplicateFound,
    ForkedHandle,
    FormatTooNew,
    InternalError,
    InvalidValue,
    MissingExtra,
    NotFound,
    NotInThisVersion,
    StaleRevision,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreExists,
    StoreFull,
    StoreNotFound,
    StorePoisoned,
    StoreReadOnly,
    StoreUnavailable,
    TransactionConflict,
)
from doxa.handle import memory, open  # noqa: A004 - the public name
from doxa.memory import Memory
from doxa.model import Claim, Context, Entity, Evidence, Proposition, Receipt
from doxa.params import Params
from doxa.recall.hits import Hit, Hits, Step
from doxa.scope import Scope

__version__ = "0.1.0"

__all__ = [
    "AlreadyExists",
    "Claim",
    "CommitUncertain",
    "Context",
    "DoxaError",
    "DuplicateFound",
    "Entity",
    "Evidence",
    "ForkedHandle",
    "FormatTooNew",
    "Hit",
    "Hits",
    "InternalError",
    "InvalidValue",
    "Memory",
    "MissingExtra",
    "NotFound",
    "NotInThisVersion",
    "Params",
    "Proposition",
    "Receipt",
    "Scope",
    "StaleRevision",
    "Step",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreExists",
    "StoreFull",
    "StoreNotFound",
    "StorePoisoned",
    "StoreReadOnly",
    "StoreUnavailable",
    "TransactionConflict",
    "__version__",
    "memory",
    "normalize",
    "open",
    "similarity",
    "terms",
]
