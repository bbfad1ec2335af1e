"""How the command line speaks: one JSON document, tables on a terminal, plain text else.

Text out of a memory is untrusted: control characters, terminal escapes and characters
that turn the direction of writing are shown as escapes. Rich is loaded on a terminal only.
"""

from __future__ import annotations

import datetime as dt
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Out", "printable", "when"]

#: Format characters that hide or reorder text; the joiners that emoji need are left alone.
_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
_KEPT: Final = frozenset("\n\t")


def printable(text: str) -> str:
    """Return a text that changes nothing but what is read.

    Examples
    --------
    >>> printable("red \\x1b[31m text")
    'red \\\\x1b[31m text'
    """
    if text.isprintable():
        return text
    return "".join(_escaped(c) for c in text)


def _escaped(character: str) -> str:
    if character in _KEPT:
        return character
    if character in _TURNING or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return character


def when(value: dt.datetime | None) -> str:
    """Return a time as read by people: minutes, UTC.

    Examples
    --------
    >>> when(dt.datetime(2026, 3, 1, 9, 30, tzinfo=dt.UTC))
    '2026-03-01 09:30Z'
    """
    if value is None:
        return ""
    return f"{value.astimezone(dt.UTC).isoformat(' ', 'minutes')[:16]}Z"


def _plain(value: Any) -> Any:
    """Turn what JSON has no word for into what it has."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item"):
        return value.item()
    return str(value)


class Out:
    """Where a command's answer goes.

    Parameters
    ----------
    as_json : bool
        Everything that is not the one document of :meth:`document` is dropped.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self._console: Console | None = None

    @property
    def terminal(self) -> bool:
        """Whether a person at a terminal reads along."""
        return not self.as_json and sys.stdout.isatty()

    @property
    def console(self) -> Console:
        """Rich's console on stdout."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(highlight=False)
        return self._console

    def document(self, value: object) -> None:
        """Write the one JSON document, if that is what was asked for."""
        if self.as_json:
            data = msgspec.json.encode(value, enc_hook=_plain)
            if sys.stdout.isatty():
                data = msgspec.json.format(data, indent=2)
            sys.stdout.write(f"{data.decode()}\n")

    def say(self, text: str = "", style: str = "") -> None:
        """Write a line."""
        if self.as_json:
            return
        if not self.terminal:
            sys.stdout.write(f"{printable(text)}\n")
            return
        from rich.text import Text

        self.console.print(Text(printable(text), style=style))

    def heading(self, text: str) -> None:
        """Write a line that opens a part."""
        self.say()
        self.say(text, "bold")

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Write names and values, one pair a line."""
        shown = [(name, value) for name, value in pairs if value != ""]
        width = max((len(name) for name, _ in shown), default=0)
        for name, value in shown:
            first, *more = printable(value).split("\n")
            self._pair(f"{name:<{width}}  ", first)
            for line in more:
                self._pair(" " * (width + 2), line)

    def _pair(self, name: str, value: str) -> None:
        if self.as_json:
            return
        if not self.terminal:
            sys.stdout.write(f"{name}{value}".rstrip() + "\n")
            return
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=0)
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        grid.add_row(name, Text(value))
        self.console.print(grid)

    def table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numbers: Sequence[int] = (),
        styles: Mapping[int, str] | None = None,
        ratio: int | None = None,
        leading: int = 0,
    ) -> None:
        """Write a table.

        Parameters
        ----------
        columns, rows
            Headings and cells; a cell may have several lines.
        numbers : sequence of int
            Columns that are set to the right.
        styles : mapping of int to str, optional
            Rich styles by column, on a terminal.
        ratio : int, optional
            The column that takes the room which is left.
        leading : int
            Empty lines between rows, on a terminal.
        """
        if self.as_json:
            return
        cells = [[printable(cell) for cell in row] for row in rows]
        if not self.terminal:
            sys.stdout.write(_plain_table(columns, cells, frozenset(numbers)))
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, leading=leading)
        for at, name in enumerate(columns):
            table.add_column(
                name,
                justify="right" if at in numbers else "left",
                style=(styles or {}).get(at),
                no_wrap=at in numbers,
                ratio=1 if at == ratio else None,
                overflow="fold",
            )
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        self.console.print(table)


def _plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[int]
) -> str:
    """Return a table without lines and colours: columns parted by two spaces, nothing cut."""
    flat = [[cell.replace("\n", "; ").replace("\t", " ") for cell in row] for row in rows]
    widths = [max(_width(cell) for cell in column) for column in zip(columns, *flat, strict=True)]
    lines = []
    for row in (columns, *flat):
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            room = " " * (width - _width(cell))
            cells.append(room + cell if at in numbers else cell + room)
        lines.append("  ".join(cells).rstrip())
    return "".join(f"{line}\n" for line in lines)


def _width(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
