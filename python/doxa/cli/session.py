"""What all commands share: the store, the answer's form, errors and exit codes.

``--store`` and ``--json`` stand before or after the command. An error is one line on
stderr (and a document with ``--json``), never a traceback. Loads doxa itself only when a
store is opened.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec

import typer

from doxa.cli.output import Out, printable
from doxa.errors import (
    DoxaError,
    DuplicateFound,
    InvalidValue,
    QuotaReached,
    StaleRevision,
    StoreError,
    TransactionConflict,
    ascii_safe,
)

if TYPE_CHECKING:
    from doxa.memory import Memory

__all__ = [
    "FINDINGS",
    "INPUT",
    "INTERRUPTED",
    "STORE",
    "AgentOption",
    "JsonOption",
    "Session",
    "StoreOption",
    "guarded",
    "session",
]

FINDINGS: Final = 1
INPUT: Final = 2
STORE: Final = 3
INTERRUPTED: Final = 130

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="The store's directory (or DOXA_STORE)."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Answer with one JSON document on stdout.")
]
AgentOption = Annotated[
    str, typer.Option("--agent", envvar="DOXA_AGENT", help="Who writes.", show_default=True)
]

_P = ParamSpec("_P")
_REFUSALS: Final = (DuplicateFound, QuotaReached, StaleRevision, TransactionConflict)


class Session:
    """The options that stood before or after the command."""

    def __init__(self, store: Path | None, as_json: bool) -> None:
        self.store = store
        self.out = Out(as_json)

    @property
    def path(self) -> Path:
        """The store's directory.

        Raises
        ------
        InvalidValue
            If none was named.
        """
        if self.store is None:
            raise InvalidValue("--store: no store was named; give --store DIR or set DOXA_STORE")
        return self.store

    @contextmanager
    def open(self, **options: Any) -> Iterator[Memory]:
        """Open the store for a block; reading needs no more than ``read_only=True``."""
        import doxa

        options.setdefault("create", False)
        options.setdefault("channel", "cli")
        with doxa.open(self.path, **options) as memory:
            yield memory

    def report(self, error: DoxaError) -> None:
        """Write an error: a line on stderr, with ``--json`` a document on stdout too."""
        _to_stderr(f"doxa: {error}")
        details = {name: value for name, value in error.details.items() if _is_simple(value)}
        named = {"type": type(error).__name__, "message": str(error), **details}
        self.out.document({"error": named})


def session(context: typer.Context, store: Path | None, as_json: bool) -> Session:
    """Return the session of a command: its own options count before the global ones."""
    above = context.obj if isinstance(context.obj, dict) else {}
    return Session(store or above.get("store"), as_json or bool(above.get("json")))


def guarded(function: Callable[_P, None]) -> Callable[_P, None]:
    """Turn a command's errors into a line and an exit code."""

    @functools.wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        context: Any = kwargs["context"]
        store: Any = kwargs.get("store")
        here = session(context, store, bool(kwargs.get("as_json")))
        try:
            function(*args, **kwargs)
            sys.stdout.flush()
        except DoxaError as error:
            here.report(error)
            raise typer.Exit(_code(error)) from None
        except BrokenPipeError:
            _mute_stdout()
            raise typer.Exit(0) from None
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            here.report(DoxaError(what))
            raise typer.Exit(INPUT) from None
        except KeyboardInterrupt:
            _to_stderr("doxa: interrupted; what was not committed yet was not written")
            raise typer.Exit(INTERRUPTED) from None

    return run


def _code(error: DoxaError) -> int:
    if isinstance(error, StoreError):
        return STORE
    return FINDINGS if isinstance(error, _REFUSALS) else INPUT


def _to_stderr(line: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    text = printable(line).replace("\n", " ")
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def _mute_stdout() -> None:
    """Let the interpreter flush into nothing when the reader of a pipe has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_simple(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def shown(value: object) -> str:
    """Return a value as it is safe to show in a message."""
    return ascii_safe(value) if isinstance(value, str) else repr(value)
