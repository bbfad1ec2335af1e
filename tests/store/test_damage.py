"""Any damage to a closed store is noticed: every bit of every byte, every truncation,
and files that were swapped, doubled or come from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from doxa.errors import FormatTooNew, StoreCorrupt, StoreError, StoreExists, StoreNotFound
from doxa.store import MemoryFiles, RealFiles, Row, Store, Text, repair

ROOT = "s"
#: Set to flip every bit in the tests; by default each byte is flipped in one bit, in turn.
EVERY_BIT = bool(os.environ.get("DOXA_EVERY_BIT"))


def opened(files, **given) -> Store:
    settings = {"read_only": False, "durability": "full", "key": None, "anchor": None, **given}
    return Store.open(files, ROOT, **settings)


def append(store: Store, number: int) -> None:
    with store.lock(1):
        list(store.read_new())
        fields = {"title": Text(f"statement {number} 端口"), "number": number}
        store.append(
            number, "main", "", [Row("proposition.add", 1, f"p{number}", number, "a", "", fields)]
        )


@pytest.fixture(scope="module")
def closed() -> dict[str, bytearray]:
    """A closed store with an archive, a checkpoint and a journal behind it."""
    files = MemoryFiles()
    store = Store.create(files, ROOT, durability="full", key=None, anchor=None, store_id=b"i" * 16)
    for number in range(6):
        append(store, number)
        if number == 3:
            with store.lock(1):
                table = pa.table({"number": list(range(4)), "title": ["端口"] * 4})
                store.checkpoint({"t": table}, {"a": np.arange(9, dtype="u4")}, {"n": 3})
                store.compact()
    store.close()
    return files._files


def copy(closed: dict[str, bytearray]) -> MemoryFiles:
    files = MemoryFiles()
    files._files = {path: bytearray(data) for path, data in closed.items()}
    return files


def everything(files: MemoryFiles) -> tuple:
    """Read all that a store holds."""
    store = opened(files)
    image = store.load_checkpoint()
    assert image is not None
    tail = [(c.seq, c.id, c.rows) for c in store.read_new()]
    tables = {name: [f.load().to_pydict() for f in parts] for name, parts in image.tables.items()}
    arrays = {name: array.tolist() for name, array in image.arrays.items()}
    history = [(c.seq, c.id, c.branch, c.time, c.message, c.rows) for c in store.history()]
    return tail, tables, arrays, image.meta, history


def test_every_flipped_byte_gives_an_error_or_the_identical_state(closed) -> None:
    truth = everything(copy(closed))
    flips = unnoticed = 0
    for path, data in closed.items():
        if path.endswith("/lock"):
            continue
        for at in range(len(data)):
            for bit in range(8) if EVERY_BIT else (at % 8,):
                files = copy(closed)
                files._files[path][at] ^= 1 << bit
                flips += 1
                try:
                    unnoticed += everything(files) != truth
                except StoreError:
                    pass
    print(f"{flips} flips, {unnoticed} unnoticed")
    assert unnoticed == 0
    assert flips > 10_000


def test_every_truncation_gives_an_error_or_the_identical_state(closed) -> None:
    truth = everything(copy(closed))
    for path, data in closed.items():
        if path.endswith("/lock"):
            continue
        for length in range(0, len(data), 1 if EVERY_BIT else 37):
            files = copy(closed)
            del files._files[path][length:]
            try:
                assert everything(files) == truth, f"{path} cut at {length}"
            except StoreError:
                pass


def test_a_missing_or_swapped_file_is_noticed(closed) -> None:
    truth = everything(copy(closed))
    paths = [p for p in closed if not p.endswith("/lock")]
    for path in paths:
        files = copy(closed)
        del files._files[path]
        with pytest.raises(StoreError):
            assert everything(files) == truth
            raise StoreCorrupt("identical state is fine too")
        for other in paths:
            if other != path and closed[other] != closed[path]:
                files = copy(closed)
                files._files[path], files._files[other] = files._files[other], files._files[path]
                with pytest.raises(StoreError):
                    everything(files)


def test_a_frame_spliced_in_from_another_store_is_refused(closed) -> None:
    files = MemoryFiles()
    store = Store.create(files, ROOT, durability="full", key=None, anchor=None, store_id=b"j" * 16)
    for number in range(6):
        append(store, number)
    store.close()
    journal = next(p for p in closed if p.startswith("s/journal/"))
    target = copy(closed)
    target._files[journal] = bytearray(files._files["s/journal/0000000001.log"])
    with pytest.raises(StoreError):
        everything(target)


def test_a_newer_format_is_refused_and_left_alone(closed) -> None:
    files = copy(closed)
    from doxa._core import digest

    body = b"doxa store\nversion 2\nid " + (b"i" * 16).hex().encode() + b"\n"
    files._files["s/FORMAT"] = bytearray(body + f"check {digest(body).hex()}\n".encode())
    before = {path: bytes(data) for path, data in files._files.items()}
    with pytest.raises(FormatTooNew, match="version 2"):
        opened(files)
    assert {path: bytes(data) for path, data in files._files.items()} == before


def test_a_wrong_key_is_refused() -> None:
    files = MemoryFiles()
    store = Store.create(
        files, ROOT, durability="full", key=b"k" * 16, anchor=None, store_id=b"i" * 16
    )
    append(store, 1)
    store.close()
    for key in (None, b"x" * 16):
        with pytest.raises(StoreCorrupt):
            list(opened(files, key=key).read_new())
    assert len(list(opened(files, key=b"k" * 16).read_new())) == 1


def test_a_directory_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreExists, match=r"notes\.txt"):
        Store.create(RealFiles(), str(tmp_path), durability="full", key=None, anchor=None)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_missing_store_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound, match="doxa init"):
        Store.open(
            RealFiles(),
            str(tmp_path / "x"),
            read_only=True,
            durability="full",
            key=None,
            anchor=None,
        )


def test_verify_names_the_damaged_file_and_repair_saves_the_rest(tmp_path: Path) -> None:
    root = str(tmp_path / "s")
    store = Store.create(RealFiles(), root, durability="full", key=None, anchor=None)
    for number in range(5):
        append(store, number)
    assert store.verify().ok
    store.close()
    journal = tmp_path / "s" / "journal" / "0000000001.log"
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 1
    journal.write_bytes(data)
    with pytest.raises(StoreCorrupt, match=r"0000000001\.log"):
        damaged = Store.open(
            RealFiles(), root, read_only=True, durability="full", key=None, anchor=None
        )
        list(damaged.read_new())
    report = repair(RealFiles(), root, str(tmp_path / "copy"))
    assert report.saved == 4
    assert len(report.lost) == 1
    assert report.problems
    assert journal.read_bytes() == bytes(data)
