"""What opening and verifying a store report."""

from __future__ import annotations

import msgspec

__all__ = ["RecoveryReport", "VerifyReport"]


class RecoveryReport(msgspec.Struct, frozen=True):
    """What opening found behind the last sound commit.

    Attributes
    ----------
    epoch, offset, size : int
        Where the torn tail was and how long.
    kept : str
        The file that holds its bytes, empty if nothing was written (read-only).
    """

    epoch: int
    offset: int
    size: int
    kept: str


class VerifyReport(msgspec.Struct, frozen=True):
    """What reading every byte of the store showed.

    Attributes
    ----------
    commits : int
        Commits whose place in the chain was checked.
    bytes_read : int
        Bytes that were checked against a hash.
    problems : tuple of str
        What does not match; empty if all is well.
    """

    commits: int
    bytes_read: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.problems
