"""The command line ``doxa``: thin commands over the library."""

from __future__ import annotations

import contextlib
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; what the console script and ``python -m doxa`` call."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        from doxa.cli.app import app

        app(prog_name="doxa")
    except KeyboardInterrupt:
        sys.exit(130)
