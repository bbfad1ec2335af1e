"""A progress bar on stderr for what takes more than a second; silent on anything else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Steps", "progress"]

PATIENCE_SECONDS: Final = 1.0


class Steps:
    """Called with (done, total); shows a bar once the work has taken a second.

    Parameters
    ----------
    what : str
        What is being done.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._since = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._wanted = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Say how far the work is."""
        if not self._wanted:
            return
        if self._bar is None or self._task is None:
            if time.monotonic() - self._since < PATIENCE_SECONDS:
                return
            self._start(total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total, description=self.what)

    def then(self, what: str) -> None:
        """Go on to another part of the work."""
        self.what = what

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.what, total=total)

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def progress(what: str) -> Iterator[Steps]:
    """Show a bar while a block runs.

    Examples
    --------
    >>> with progress("importing") as step:
    ...     step(1, 2)
    """
    steps = Steps(what)
    try:
        yield steps
    finally:
        steps.stop()
