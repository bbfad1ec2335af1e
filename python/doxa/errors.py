"""Every error that doxa raises: one tree, classes by cause.

Each message says what happened, the value, the rule and what to do next. Where
Python has a word for the cause (``ValueError``, ``LookupError``, ``OSError``)
that class is the second base, so ordinary handlers work.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AlreadyExists",
    "CommitUncertain",
    "DoxaError",
    "DuplicateFound",
    "ForkedHandle",
    "FormatTooNew",
    "InternalError",
    "InvalidValue",
    "MissingExtra",
    "NotFound",
    "NotInThisVersion",
    "QuotaReached",
    "StaleRevision",
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
    "shorten",
]

_SHOWN = 80


def shorten(value: object, limit: int = _SHOWN) -> str:
    """Return a printable form of a value for a message, at most about ``limit`` characters.

    Examples
    --------
    >>> shorten("x" * 200, 10)
    "'xxxxxxxxxx…' (200 characters)"
    """
    if isinstance(value, str):
        if len(value) > limit:
            return f"{ascii_safe(value[:limit])[:-1]}…' ({len(value)} characters)"
        return ascii_safe(value)
    try:
        text = repr(value)
    except (RecursionError, ValueError, OverflowError):
        return f"<a {type(value).__name__} that cannot be printed>"
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= limit else f"{text[:limit]}…"


def ascii_safe(value: str) -> str:
    """Return ``repr(value)`` with everything that cannot be encoded or seen escaped."""
    return repr(value).encode("utf-8", "backslashreplace").decode("utf-8")


class DoxaError(Exception):
    """Root of all errors of doxa.

    Parameters
    ----------
    message : str
        What happened, the value, the rule and what to do.
    **details
        The same as data: each becomes an attribute.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details
        for name, value in details.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.args, self.details))


def _rebuild(cls: type[DoxaError], args: tuple[Any, ...], details: dict[str, Any]) -> DoxaError:
    error = cls.__new__(cls)
    Exception.__init__(error, *args)
    error.details = details
    for name, value in details.items():
        setattr(error, name, value)
    return error


class InvalidValue(DoxaError, ValueError):
    """An argument that the rules do not allow.

    Attributes
    ----------
    field, rule : str
        Which argument, and the rule that it breaks.
    value : object
        The value as given.
    """

    def __init__(self, field: str, value: object = None, rule: str = "", /, **details: Any) -> None:
        if rule:
            known = {"field": field, "value": value, "rule": rule}
            super().__init__(
                f"{field}: {shorten(value)} is not allowed: {rule}", **known, **details
            )
        else:  # a finished message
            super().__init__(field, **details)


class NotFound(DoxaError, LookupError):
    """An id that the store does not hold."""


class AlreadyExists(DoxaError, ValueError):
    """An id that is taken."""


class NotInThisVersion(DoxaError):
    """An argument of the fixed interface whose part is not built yet."""


class MissingExtra(DoxaError, ImportError):
    """An optional dependency that is not installed; the message names the extra."""


class DuplicateFound(DoxaError):
    """The same statement is already there.

    Attributes
    ----------
    matches : list of (id, verdict, similarity)
        What was found, the best first.
    """

    matches: list[Any]


class StaleRevision(DoxaError):
    """The revision that the caller has read is no longer the current one.

    Attributes
    ----------
    current : Proposition
        The text as it is now.
    """

    current: Any


class QuotaReached(DoxaError):
    """A quota is used up; one has to leave before another comes."""


class TransactionConflict(DoxaError):
    """Something that a transaction relied on was changed by another writer.

    Nothing of the transaction was written.
    """


class StoreError(DoxaError, OSError):
    """Trouble with the store on disk."""


class StoreNotFound(StoreError):
    """There is no store at this path."""


class StoreExists(StoreError):
    """A store (or something else) is already at this path."""


class StoreCorrupt(StoreError):
    """Bytes that do not match their checksums, or an acknowledged commit that is missing."""


class StoreBusy(StoreError):
    """Another writer holds the lock beyond the deadline."""


class StorePoisoned(StoreError):
    """A sync failed earlier on this handle; it reads, but writes only after reopening."""


class CommitUncertain(StoreError):
    """A sync failed: whether this commit survives a power cut is unknown."""


class StoreReadOnly(StoreError):
    """A write on a handle or a file system that only reads."""


class StoreFull(StoreError):
    """No space or quota left; nothing acknowledged is lost."""


class StoreUnavailable(StoreError):
    """Another resource error: no permission, too many open files, input or output error."""


class StoreClosed(StoreError):
    """The handle was closed."""


class FormatTooNew(StoreError):
    """The store was written by a newer version of doxa; it was not touched."""


class ForkedHandle(StoreError):
    """The handle was opened by another process (this one was forked from it)."""


class InternalError(DoxaError, RuntimeError):
    """A fault of doxa itself (a panic in the core). Please report it with the message."""
