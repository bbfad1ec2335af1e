"""Fixtures of the tests of import and export."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import doxa
from doxa.io import ImportReport, import_file


@pytest.fixture
def mem() -> Iterator[doxa.Memory]:
    """A memory in RAM without norms of its own."""
    with doxa.memory(seed_norms=False) as memory:
        yield memory


@pytest.fixture
def take(mem: doxa.Memory, tmp_path: Path) -> Callable[..., ImportReport]:
    """Import a text as a file."""

    def run(content: str | bytes, name: str = "memory.jsonl", **options: object) -> ImportReport:
        file = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        file.write_bytes(data)
        return import_file(mem, file, **options)  # type: ignore[arg-type]

    return run
