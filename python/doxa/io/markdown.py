"""What a Markdown note says: its links, its first paragraph, the rest.

Links inside code are no links. Text is kept as written; only the first paragraph, which
becomes a summary, is rendered (``[[target|shown]]`` as *shown*). Knows no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

__all__ = ["NoteLink", "links", "rendered", "split_summary"]

_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_CODE_SPAN: Final = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_WIKI: Final = re.compile(r"(!?)\[\[([^\[\]\n]+?)\]\]")
_INLINE: Final = re.compile(r"(!?)\[([^\[\]\n]*)\]\(<?([^()\s<>]+(?: [^()<>]*?)?)>?\)")
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_NO_PROSE: Final = re.compile(
    r"""\s*(?:
        [#]{1,6}\s            # a heading
      | [-*+]\s | \d+[.)]\s   # a list
      | > | \|                # a quotation or callout, a table
      | [-*_]{3,}\s*$         # a rule
      | %% | <!-- | \$\$      # a comment, mathematics
      | !\[                   # an image or embed
      | [\w\s-]{1,40}::       # an inline property
    )""",
    re.VERBOSE,
)
#: A first paragraph beyond this is cut at a sentence for the summary, and kept whole in the body.
_SUMMARY_CHARACTERS: Final = 1_200
#: In longer lines (embedded data, mostly) spans of code are not looked for.
_LONG_LINE: Final = 20_000
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|[。！？]")


class NoteLink(NamedTuple):
    """A link as written: the note it names, the line, whether it embeds."""

    target: str
    line: int
    embeds: bool


def links(text: str, first_line: int = 1) -> Iterator[NoteLink]:
    """Yield the links to other notes, in order.

    Examples
    --------
    >>> [link.target for link in links("See [[A|a]], ![[B#part]] and [c](d%20e.md) `[[no]]`")]
    ['A', 'B', 'd e.md']
    """
    fence = ""
    for number, line in enumerate(text.split("\n"), first_line):
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
            continue
        if fence:
            continue
        plain = _CODE_SPAN.sub("", line) if len(line) <= _LONG_LINE else line
        for match in _WIKI.finditer(plain):
            target = match.group(2).replace("\\|", "|").split("|", 1)[0]
            if name := _without_place(target):
                yield NoteLink(name, number, bool(match.group(1)))
        for match in _INLINE.finditer(plain):
            target = unquote(match.group(3).split(' "', 1)[0])
            name = "" if _SCHEME.match(target) or target[0] in "#/" else _without_place(target)
            if name:
                yield NoteLink(name, number, bool(match.group(1)))


def _without_place(target: str) -> str:
    """Return a link's target without the heading or block that it points to."""
    return target.split("#", 1)[0].split("^", 1)[0].strip().rstrip("\\")


def rendered(text: str) -> str:
    """Return Markdown with its links as they are shown.

    Examples
    --------
    >>> rendered("See [[LYT 笔记框架|lyt kit]] and [[MOC#why]], [here](x.md)")
    'See lyt kit and MOC, here'
    """

    def wiki(match: re.Match[str]) -> str:
        target, _, shown = match.group(2).replace("\\|", "|").partition("|")
        return shown.strip() or _without_place(target) or target.strip("#^ ")

    return _INLINE.sub(lambda match: match.group(2), _WIKI.sub(wiki, text))


def split_summary(text: str, title: str = "") -> tuple[str, str]:
    """Return a note's first paragraph, rendered, and the rest of it, as written.

    A paragraph is a run of lines that are neither headings, lists, quotations, tables nor
    code. A first heading that only repeats the title is dropped.

    Examples
    --------
    >>> split_summary("# Tea\\n\\nGreen, no sugar.\\n\\n- often\\n", "Tea")
    ('Green, no sugar.', '- often')
    """
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("# ") and lines[first][2:].strip() == title:
        del lines[first]
    start, end = _paragraph(lines)
    if start == end:
        return "", "\n".join(lines).strip("\n")
    paragraph = "\n".join(lines[start:end]).strip()
    summary = rendered(paragraph).strip()
    if len(summary) > _SUMMARY_CHARACTERS:
        return _cut(summary), "\n".join(lines).strip("\n")
    before = "\n".join(lines[:start]).strip("\n")
    after = "\n".join(lines[end:]).strip("\n")
    return summary, "\n\n".join(part for part in (before, after) if part)


def _paragraph(lines: list[str]) -> tuple[int, int]:
    """Return the range of lines of the first paragraph of prose."""
    fence, start = "", None
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
            prose = False
        else:
            prose = not fence and bool(line.strip()) and not _NO_PROSE.match(line)
        if prose and start is None:
            start = number
        elif not prose and start is not None:
            return start, number
    return (0, 0) if start is None else (start, len(lines))


def _cut(text: str) -> str:
    """Return the sentences that fit into a summary."""
    head = text[:_SUMMARY_CHARACTERS]
    ends = [match.end() for match in _SENTENCE_END.finditer(head)]
    return head[: ends[-1]].strip() if ends else f"{head.rstrip()}…"
