"""Tells what kind of thing a file is, from its name and its first bytes."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from doxa.errors import InvalidValue
from doxa.io.source import Source

__all__ = ["FORMATS", "detect"]

#: Names that ``--format`` takes, with what they are.
FORMATS: Final = {
    "jsonl": "a canonical export of doxa, or one object with at least a title on each line",
    "mcp": "the memory file of the MCP memory server, in any of its shapes",
    "markdown": "a folder of Markdown notes, or one note",
}
_MARKDOWN: Final = (".md", ".markdown")
_MCP_WORDS: Final = re.compile(
    r'"(?:entities|relations|observations|entityType|relationType|nodes|edges|labels)"\s*:'
)


def detect(source: Source) -> str:
    """Return the name of a source's format.

    Raises
    ------
    InvalidValue
        If nothing in the first 64 KiB tells.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "x")
    ...     _ = file.write_text('{"type": "entity", "name": "a", "observations": []}')
    ...     detect(Source(file))
    'mcp'
    """
    if source.is_folder or source.path.suffix.lower() in _MARKDOWN:
        return "markdown"
    head = source.head().decode("utf-8", "replace")
    for line in head.split("\n"):
        found = _of_line(line.strip())
        if found:
            return found
    if _MCP_WORDS.search(head):
        return "mcp"
    names = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
    raise InvalidValue(
        f"{source.path}: its first lines don't tell what it is. Name it with --format ({names})"
    )


def _of_line(line: str) -> str:
    """Return the format that a line shows by itself, if it does."""
    if not line.startswith("{"):
        return ""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return _of_object(value) if isinstance(value, dict) else ""


def _of_object(value: dict[str, Any]) -> str:
    kind = value.get("type")
    if kind == "doxa" or "recorded_at" in value:
        return "jsonl"
    if any(name in value for name in ("observations", "entityType", "relationType", "labels")):
        return "mcp"
    if "title" in value and kind in (None, "proposition"):
        return "jsonl"
    if kind in ("entity", "relation", "node", "relationship") or "entities" in value:
        return "mcp"
    return ""
