"""Reads a folder of Markdown notes: Obsidian vaults, basic-memory projects, or one note.

A note becomes a proposition (title, first paragraph as summary, the rest as body), a link
between notes ``relates``. Notes are named by their path, so a second import adds nothing.
Links resolve as in Obsidian: by path, by file name, then by title or alias; of several
notes of one name the nearest counts. A link to a note that is not there is kept as broken.
Hidden folders and linked folders are not entered.
"""

from __future__ import annotations

import datetime as dt
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

import msgspec
import yaml

from doxa.errors import InvalidValue
from doxa.io.front_matter import split_front_matter, without_front_matter
from doxa.io.items import Item, LinkItem, Problem, Row, name_key, parse_time, readable_id
from doxa.io.markdown import NoteLink, links, split_summary
from doxa.io.source import Source

__all__ = ["read_vault"]

_NOTE_BYTES: Final = 16 << 20
_CREATED: Final = ("created", "date", "created_at", "date created", "创建时间", "创建日期")
_TITLE_CHARACTERS: Final = 300
_SUFFIXES: Final = (".md", ".markdown")


class _Note(NamedTuple):
    path: str
    file: Path
    id: str
    title: str
    aliases: tuple[str, ...]
    properties: dict[str, Any]
    problem: str


def read_vault(source: Source) -> Iterator[Item]:
    """Yield the propositions and links of a vault.

    Parameters
    ----------
    source : Source
        A folder, or one Markdown file.

    Yields
    ------
    Problem, Row or LinkItem
        All rows before all links.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "茶.md").write_text("绿茶。见 [[咖啡]]", encoding="utf-8")
    ...     [getattr(item, "target", None) or item.fields["title"]
    ...      for item in read_vault(Source(Path(folder)))]
    ['茶', 'note/咖啡']
    """
    notes: list[_Note] = []
    for found in _notes(source):
        if isinstance(found, Problem):
            yield found
        else:
            notes.append(found)
    index = _Index(notes)
    out: list[LinkItem] = []
    ambiguous = 0
    for number, note in enumerate(notes, 1):
        text = _text(note.file)
        if isinstance(text, Problem):  # it changed since it was listed
            yield msgspec.structs.replace(text, where=note.path)
            continue
        first_line, content = (1, text) if note.problem else without_front_matter(text)
        if note.problem:
            yield Problem(1, note.problem, note.path, refused=False)
        yield Row(fields=_fields(note, content), where=note.path, line=1)
        for link in _links(note, content, first_line):
            target, several = index.resolve(link.target, note.path)
            ambiguous += several
            if target is not None and target != note.id:
                out.append(LinkItem(source=note.id, target=target, where=note.path, line=link.line))
        if source.progress is not None and number % 64 == 0:
            source.progress(number, len(notes))
    if ambiguous:
        what = f"{ambiguous:,} links name several notes: each was tied to the nearest"
        yield Problem(0, what, refused=False)
    yield from out


def _notes(source: Source) -> Iterator[_Note | Problem]:
    """Yield the notes of a folder in the order of their paths."""
    root = source.path if source.is_folder else source.path.parent
    for file in sorted(_files(root)) if source.is_folder else [source.path]:
        path = unicodedata.normalize("NFC", file.relative_to(root).as_posix())
        text = _text(file)
        if isinstance(text, Problem):
            yield msgspec.structs.replace(text, where=path)
            continue
        read = split_front_matter(text)
        stem = path[: -len(file.suffix)]
        title = _one_line(read.properties.get("title")) or PurePosixPath(stem).name
        aliases = _texts(read.properties.get("aliases")) + _texts(read.properties.get("alias"))
        identity = readable_id("note", stem)
        yield _Note(path, file, identity, title, tuple(aliases), read.properties, read.problem)


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                yield Path(folder, name)


def _text(file: Path) -> str | Problem:
    """Return a note's text with its lines ended by line feeds, or why it can't be read."""
    try:
        if not file.is_file():
            return Problem(0, "no regular file: skipped")
        if file.stat().st_size > _NOTE_BYTES:
            return Problem(0, f"larger than {_NOTE_BYTES >> 20} MiB: skipped")
        data = file.read_bytes()
    except OSError as error:
        return Problem(0, f"can't be read ({error.strerror}): skipped")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Problem(0, f"not UTF-8 (byte {error.start:,}): skipped")
    if "\0" in text:
        return Problem(0, "holds NUL characters, so it is no text: skipped")
    return text.replace("\r\n", "\n")


def _fields(note: _Note, content: str) -> dict[str, Any]:
    """Return the arguments of ``remember`` for a note."""
    summary, rest = split_summary(content, note.title)
    at, key = _created(note.properties)
    left = {
        name: value
        for name, value in note.properties.items()
        if value not in (None, "", [], {})
        and name != key
        and not (name == "title" and value == note.title)
    }
    fields: dict[str, Any] = {
        "id": note.id,
        "title": note.title,
        "summary": summary,
        "body": "\n\n".join(part for part in (rest, _properties(left)) if part),
        "source": note.path,
    }
    if at is not None:
        fields["at"] = at
    return fields


def _properties(properties: dict[str, Any]) -> str:
    """Return front matter as text, so that it can be found and nothing of it is lost."""
    if not properties:
        return ""
    return str(
        yaml.safe_dump(properties, allow_unicode=True, sort_keys=False, width=10_000)
    ).strip()


def _created(properties: dict[str, Any]) -> tuple[dt.datetime | None, str]:
    """Return when a note was made and the property that says so; a date is taken as UTC."""
    for key in _CREATED:
        at, _ = parse_time(properties.get(key))
        if at is not None:
            return at, key
    return None, ""


def _links(note: _Note, content: str, first_line: int) -> Iterator[NoteLink]:
    """Yield the links of a note, those in its properties included, each target once."""
    seen = set()
    for name in _nested_texts(note.properties):
        for link in links(name):
            if link.target not in seen:
                seen.add(link.target)
                yield link._replace(line=1)
    for link in links(content, first_line):
        if link.target not in seen:
            seen.add(link.target)
            yield link


class _Index:
    """Finds notes by what a link calls them."""

    def __init__(self, notes: list[_Note]) -> None:
        self.paths: dict[str, str] = {}
        self.names: dict[str, list[_Note]] = {}
        self.titles: dict[str, list[_Note]] = {}
        for note in notes:
            stem = _stem(note.path)
            self.paths.setdefault(_key(stem), note.id)
            self.names.setdefault(_key(PurePosixPath(stem).name), []).append(note)
        for note in notes:
            for name in dict.fromkeys(name_key(n) for n in (note.title, *note.aliases)):
                self.titles.setdefault(name, []).append(note)

    def resolve(self, target: str, path: str) -> tuple[str | None, bool]:
        """Return a note's id (None for a file that is no note), and whether several fit."""
        stem = _stem(target)
        if _is_attachment(target) and _key(stem) not in self.names:
            return None, False
        folder = PurePosixPath(path).parent
        for candidate in (stem, _normal(folder / stem)):
            exact = self.paths.get(_key(candidate))
            if exact is not None and "/" in candidate:
                return exact, False
        name = _key(PurePosixPath(stem).name)
        fits = [n for n in self.names.get(name, ()) if _ends_with(_stem(n.path), stem)]
        fits = fits or self.titles.get(name_key(stem), [])
        if not fits:
            return readable_id("note", _normal(PurePosixPath(stem))), False
        best = min(fits, key=lambda note: _distance(note.path, folder))
        return best.id, len(fits) > 1


def _distance(path: str, folder: PurePosixPath) -> tuple[bool, int, str]:
    """Order notes of one name: those of the same folder first, then the shortest path."""
    return PurePosixPath(path).parent != folder, path.count("/"), path


def _ends_with(path: str, target: str) -> bool:
    wanted = _key(target.removeprefix("./"))
    return _key(path) == wanted or _key(path).endswith(f"/{wanted}")


def _normal(path: PurePosixPath) -> str:
    """Return a path without ``.`` and ``..``, which never leads out of the vault."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            del parts[-1:]
        elif part not in (".", "/"):
            parts.append(part)
    return "/".join(parts) or path.name or "?"


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _stem(path: str) -> str:
    lowered = path.lower()
    for suffix in _SUFFIXES:
        if lowered.endswith(suffix):
            return path[: -len(suffix)]
    return path


def _is_attachment(target: str) -> bool:
    """Tell whether a link names a file of another kind, such as an image."""
    suffix = PurePosixPath(target).suffix.lower()
    return suffix in _ATTACHMENTS


def _one_line(value: object) -> str:
    if not isinstance(value, (str, int, float)):
        return ""
    line = " ".join(str(value).split())
    return line if len(line) <= _TITLE_CHARACTERS else ""


def _texts(value: object) -> list[str]:
    """Return the names in a property: a list, or a text with commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [str(item).strip() for item in value if isinstance(item, (str, int, float))]
    return []


def _nested_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _nested_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _nested_texts(item)


_ATTACHMENTS: Final = frozenset(
    (
        *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".avif", ".pdf", ".epub"),
        *(".mp3", ".mp4", ".wav", ".m4a", ".ogg", ".flac", ".mov", ".mkv", ".webm", ".canvas"),
        *(".base", ".csv", ".xlsx", ".docx", ".pptx", ".zip", ".json", ".html", ".css", ".js"),
        *(".txt", ".py", ".xml"),
    )
)


def check_vault(path: Path) -> None:
    """Refuse a folder without notes.

    Raises
    ------
    InvalidValue
        If no Markdown file is below the path.
    """
    if next(_files(path), None) is None:
        raise InvalidValue("file", str(path), "a folder with Markdown notes (*.md) below it")
