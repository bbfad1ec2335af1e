"""Finds JSON values in a text that may be lines, one document, several, or broken.

Yields each value with the line it begins on; arrays at the top, and arrays right under a
top-level object, are opened, so that their elements have lines of their own and those
before a break survive. Knows nothing of what the values mean.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Generator, Iterator
from typing import Any, Final, NamedTuple

from doxa.errors import shorten
from doxa.io.items import Problem

__all__ = ["MEMBERS", "Value", "json_values"]

#: The key of a value that gathers the members of a document which are no arrays.
MEMBERS: Final = "(members)"

_DECODER: Final = json.JSONDecoder()
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_BREAK: Final = re.compile(r"\n")
_FAULTS: Final = (ValueError, RecursionError)
#: The first line of a pretty-printed document, which is no value by itself.
_OPENING: Final = re.compile(r'[\[{]\s*("[^"]*"\s*:\s*[\[{]?)?\s*')


class Value(NamedTuple):
    """A value, its line, and the key of the array or member that it stood in."""

    line: int
    key: str
    value: Any


def json_values(text: str) -> Iterator[Value | Problem]:
    """Yield the values of a text, and a problem for each line that holds none.

    Examples
    --------
    >>> [type(found).__name__ for found in json_values('hello\\n{"a": 1}\\n{"b"')]
    ['Problem', 'Value', 'Problem']
    """
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def line(self, position: int) -> int:
        return bisect_right(self.starts, position)

    def skip(self, position: int) -> int:
        match = _BLANK.match(self.text, position)
        return match.end() if match else position

    def run(self) -> Iterator[Value | Problem]:
        position = self.skip(0)
        while position < len(self.text):
            line = self.line(position)
            end = self.starts[line] if line < len(self.starts) else len(self.text)
            content = self.text[position:end].strip().rstrip(",")
            try:
                yield Value(line, "", json.loads(content))
                position = self.skip(end)
                continue
            except _FAULTS as error:
                fault = error
            position = yield from self.document(position, line, end, content, fault)

    def document(
        self, position: int, line: int, end: int, content: str, fault: Exception
    ) -> Generator[Value | Problem, None, int]:
        """Read a value of several lines, or give up this one line; return where to go on."""
        try:
            value, after = _DECODER.raw_decode(self.text, position)
        except _FAULTS:
            if _OPENING.fullmatch(content):
                yield from self.parts(position)
                return len(self.text)
            yield Problem(line, self.describe(content, fault, end))
            return self.skip(end)
        if isinstance(value, dict) and ("name" in value or not _holds_lists(value)):
            yield Value(line, "", value)
        else:
            yield from self.parts(position)
        return self.skip(after)

    def describe(self, content: str, fault: Exception, end: int) -> str:
        cut = content[:1] in ("{", "[") and not self.text[end:].strip()
        last = "; it is the last line, so the file may have been cut short" if cut else ""
        return f"not JSON ({fault}): {shorten(content)}: skipped{last}"

    def parts(self, position: int) -> Iterator[Value | Problem]:
        """Yield the elements of the array or the members of the object at a position."""
        opening = self.text[position]
        start = self.line(position)
        try:
            if opening == "[":
                yield from self.elements(position, "")
            else:
                yield from self.members(position)
        except _BrokenError as broken:
            line = self.line(min(broken.position, len(self.text) - 1))
            yield Problem(
                line,
                f"the document that begins on line {start} breaks here ({broken}): "
                "what follows was skipped",
            )

    def elements(self, position: int, key: str) -> Generator[Value, None, int]:
        """Yield the elements of an array; return the position behind it."""
        position = self.skip(position + 1)
        while self.text[position : position + 1] != "]":
            line = self.line(position)
            value, position = self.one(position)
            yield Value(line, key, value)
            position = self.separator(position, "]")
        return self.skip(position + 1)

    def members(self, position: int) -> Generator[Value, None, int]:
        """Yield the members of an object; those that are arrays element by element."""
        start = self.line(position)
        single: dict[str, Any] = {}
        position = self.skip(position + 1)
        while self.text[position : position + 1] != "}":
            key, position = self.one(position)
            if not isinstance(key, str) or self.text[position : position + 1] != ":":
                raise _BrokenError("expected a name and a colon", position)
            position = self.skip(position + 1)
            if self.text[position : position + 1] == "[":
                position = yield from self.elements(position, key)
            else:
                single[key], position = self.one(position)
            position = self.separator(position, "}")
        if single:
            yield Value(start, MEMBERS, single)
        return position + 1

    def one(self, position: int) -> tuple[Any, int]:
        try:
            value, end = _DECODER.raw_decode(self.text, position)
        except json.JSONDecodeError as error:
            raise _BrokenError(error.msg, error.pos) from None
        except _FAULTS as error:
            raise _BrokenError(str(error), position) from None
        return value, self.skip(end)

    def separator(self, position: int, closing: str) -> int:
        here = self.text[position : position + 1]
        if here == ",":
            return self.skip(position + 1)
        if here != closing:
            raise _BrokenError(f"expected a comma or {closing!r}", position)
        return position


def _holds_lists(value: dict[str, Any]) -> bool:
    """Tell whether an object is a document that lists things."""
    return any(isinstance(item, list) and item for item in value.values())


class _BrokenError(Exception):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position
