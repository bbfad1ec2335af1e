"""Importers meet anything: whatever the bytes, they end with items and problems, no crash."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doxa
from doxa.errors import InvalidValue
from doxa.io import import_file, read_file
from doxa.io.items import Problem
from tests.io.test_mcp import SHAPES

NOTE = '---\ntitle: 索引\naliases: [a, "b"]\ncreated: 2024-03-01\n---\n# T\n\nText [[a|b]] `x`.\n'
EXPORT = (
    '{"type":"doxa","version":1}\n'
    '{"type":"proposition","id":"a","title":"t","recorded_at":"2024-01-01T00:00:00Z",'
    '"claim":{"subject":"s","attribute":"a","value":1.5},"scope":{"env":["prod"]}}\n'
    '{"title":"a row","at":"2024-01-01T00:00:00Z"}\n'
    '{"type":"end","records":1}\n'
)
JSON_WORDS = ["{", "}", "[", "]", ",", ":", '"', "null", "1e999", "\\ud800", "\n", "\x00", "\u2028"]


def read(folder: Path, data: bytes, kind: str) -> None:
    """Read bytes as a format; everything but a typed refusal is a fault."""
    file = folder / {"markdown": "note.md"}.get(kind, "file.json")
    file.write_bytes(data)
    try:
        for item in read_file(file, format=kind)[1]:
            if isinstance(item, Problem):
                assert str(item)
    except InvalidValue:
        pass


@pytest.mark.parametrize("kind", ["jsonl", "mcp", "markdown"])
@settings(max_examples=150, deadline=None)
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_are_read_without_a_crash(
    kind: str, data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    read(tmp_path_factory.mktemp("any"), data, kind)


@pytest.mark.parametrize("kind", ["jsonl", "mcp", "markdown"])
def test_damaged_files_are_read_without_a_crash(kind: str, tmp_path: Path) -> None:
    chance = random.Random(11)
    whole = {"jsonl": [EXPORT], "markdown": [NOTE], "mcp": list(SHAPES.values())}[kind]
    for _ in range(600):
        data = bytearray(chance.choice(whole).encode())
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    data[at:at] = chance.choice(JSON_WORDS).encode()
                case _:
                    del data[at : at + chance.randrange(1, 30)]
            if not data:
                data = bytearray(b"{")
        read(tmp_path, bytes(data), kind)


def test_a_pipe_is_refused_or_skipped_and_never_waited_for(tmp_path) -> None:
    os.mkfifo(tmp_path / "note.md")
    os.mkfifo(tmp_path / "rows.jsonl")
    (tmp_path / "real.md").write_text("# Ports\n\nThe API listens on 8080", encoding="utf-8")
    with doxa.memory(seed_norms=False) as mem:
        import_file(mem, tmp_path)
        assert len(mem) == 1
        with pytest.raises(doxa.InvalidValue, match="regular file"):
            import_file(mem, tmp_path / "rows.jsonl")
