"""Front matter of Markdown notes: a small YAML mapping between two lines of ``---``.

YAML is read by PyYAML's safe loader with anchors and aliases refused (a few hundred bytes
of them expand to gigabytes). What is no valid mapping is left in the text and reported.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import yaml

__all__ = ["FrontMatter", "split_front_matter", "without_front_matter"]

_BLOCK: Final = re.compile(r"---[ \t]*\n(.*?\n|)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_CHARACTERS: Final = 65_536


class FrontMatter(NamedTuple):
    """The properties of a note, and what went wrong where there are none."""

    properties: dict[str, Any]
    problem: str


def _load(text: str) -> Any:
    if any(
        isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)
    ):
        raise yaml.YAMLError("anchors and aliases are not read")
    return yaml.safe_load(text)


def split_front_matter(text: str) -> FrontMatter:
    """Return the properties of a note.

    Examples
    --------
    >>> split_front_matter("---\\ntags: [a, b]\\n---\\nHello").properties
    {'tags': ['a', 'b']}
    >>> split_front_matter("---\\na: [\\n---\\nHello").problem
    'the front matter is not valid YAML (line 3): it was kept as text'
    """
    match = _BLOCK.match(text)
    if match is None:
        return FrontMatter({}, "")
    if len(match.group(1)) > _MAX_CHARACTERS:
        return FrontMatter({}, "the front matter is too long: it was kept as text")
    try:
        loaded = _load(match.group(1))
    except yaml.MarkedYAMLError as error:
        at = f" (line {error.problem_mark.line + 2})" if error.problem_mark else ""
        return FrontMatter({}, f"the front matter is not valid YAML{at}: it was kept as text")
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return FrontMatter({}, "the front matter is not valid YAML: it was kept as text")
    if loaded is None:
        loaded = {}
    if not isinstance(loaded, dict):
        what = "the front matter is no mapping of names to values: it was kept as text"
        return FrontMatter({}, what)
    return FrontMatter({str(key): value for key, value in loaded.items()}, "")


def without_front_matter(text: str) -> tuple[int, str]:
    """Return the line on which a note's own text begins, and that text.

    Examples
    --------
    >>> without_front_matter("---\\na: 1\\n---\\nHello")
    (4, 'Hello')
    """
    match = _BLOCK.match(text)
    if match is None:
        return 1, text
    return text.count("\n", 0, match.end()) + 1, text[match.end() :]
