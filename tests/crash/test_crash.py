"""After a crash at any moment the store holds exactly the first k commits, and no
acknowledged one is missing: checked on every image that the simulated disk can leave."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from doxa.errors import StoreError, StoreNotFound
from doxa.store import Row, Store, Text
from doxa.store import store as store_module

from .simulated import Disk, Image, SimulatedFiles

ROOT = "s"
#: The commit that is written after each recovery.
EXTRA = 999
Ack = Callable[[bytes], None]


def row(number: int) -> Row:
    fields = {"title": Text(f"statement {number} 端口 {number}"), "number": number}
    return Row("proposition.add", 1, f"p{number}", number, "agent", "", fields)


def opened(files: SimulatedFiles, durability: str = "full") -> Store:
    return Store.open(files, ROOT, read_only=False, durability=durability, key=None, anchor=None)


def append(store: Store, number: int, ack: Ack) -> None:
    with store.lock(1):
        list(store.read_new())
        ack(store.append(number, "main", f"m{number}", [row(number)]).id)


def write_and_reopen(files: SimulatedFiles, ack: Ack) -> None:
    store = Store.create(files, ROOT, durability="full", key=None, anchor=None, store_id=b"i" * 16)
    for number in range(3):
        append(store, number, ack)
    store.close()
    store = opened(files)
    list(store.read_new())
    for number in range(3, 5):
        append(store, number, ack)


def checkpoint_and_archive(files: SimulatedFiles, ack: Ack) -> None:
    store = Store.create(files, ROOT, durability="full", key=None, anchor=None, store_id=b"i" * 16)
    for number in range(4):
        append(store, number, ack)
        if number in (1, 2):
            with store.lock(1):
                list(store.read_new())
                table = pa.table({"number": list(range(number + 1))})
                store.checkpoint({"t": table}, {"a": np.arange(number, dtype="u4")}, {"n": number})
                store.compact()
    store.close()


def two_handles_and_uses(files: SimulatedFiles, ack: Ack) -> None:
    store = Store.create(files, ROOT, durability="full", key=None, anchor=None, store_id=b"i" * 16)
    other = opened(files)
    for number in range(4):
        writer = (store, other)[number % 2]
        writer.ride([row(100 + number)])
        append(writer, number, ack)
    other.close()
    store.close()


WORKLOADS = (write_and_reopen, checkpoint_and_archive, two_handles_and_uses)


class Checker:
    """Looks at every image after every operation of a workload."""

    def __init__(
        self, workload: Callable[[SimulatedFiles, Ack], None], bugs: frozenset[str]
    ) -> None:
        self.acknowledged: list[bytes] = []
        self.images = self.recoveries = 0
        self.failures: list[str] = []
        self._seen: set[tuple[str, int]] = set()
        self._history: list[bytes] = []
        silent = Disk()
        workload(SimulatedFiles(silent), lambda _: None)
        self.total = silent.operations
        self.disk = Disk(bugs=bugs, step=self._step)
        self._truth = self._learn(workload)
        try:
            workload(SimulatedFiles(self.disk), self.acknowledged.append)
        except (StoreError, AssertionError) as error:
            self.failures.append(f"the workload itself failed: {error}")

    @staticmethod
    def _learn(workload: Callable[[SimulatedFiles, Ack], None]) -> int:
        acks: list[bytes] = []
        workload(SimulatedFiles(Disk()), acks.append)
        return len(acks)

    def _step(self, disk: Disk) -> None:
        for image in disk.images():
            key = (_digest(image), len(self.acknowledged))
            if key not in self._seen:
                self._seen.add(key)
                self.images += 1
                self._check(image, inside=self.images % 5 == 0)

    def _check(self, image: Image, *, inside: bool) -> None:
        acknowledged = len(self.acknowledged)
        disk = Disk.of(image)
        again: list[Image] = []
        if inside:
            disk.step = lambda d: again.extend(d.images())
        problem = recovered(disk, self.acknowledged, self._truth)
        if problem:
            self.failures.append(
                f"after operation {self.disk.operations}, {acknowledged} acknowledged: {problem}"
            )
        for later in again[:: max(1, len(again) // 6)]:
            self.recoveries += 1
            problem = recovered(Disk.of(later), self.acknowledged, self._truth)
            if problem:
                self.failures.append(f"crash inside recovery: {problem}")


def _digest(image: Image) -> str:
    state = hashlib.sha1(usedforsecurity=False)
    for path in sorted(image):
        state.update(path.encode() + b"\0" + len(image[path]).to_bytes(8, "big") + image[path])
    return state.hexdigest()


def recovered(disk: Disk, acknowledged: list[bytes], total: int) -> str:
    """Open an image, write one commit more, read all back; return what is wrong."""
    files = SimulatedFiles(disk)
    try:
        store = opened(files)
        known = numbers(store)
    except StoreNotFound as error:
        return "" if not acknowledged else f"the store is gone: {error}"
    except StoreError as error:
        return f"{type(error).__name__}: {error}"
    first = [number for number in known if number != EXTRA]
    if first + [EXTRA] * (len(known) - len(first)) != known:
        return f"commits {known}: what recovery wrote is not behind the history"
    if first != list(range(len(first))) or len(first) > total:
        return f"commits {known} are no prefix of the history"
    if len(first) < len(acknowledged):
        return f"{len(acknowledged)} were acknowledged, {len(known)} are there"
    try:
        append(store, EXTRA, lambda _: None)
        store.close()
        after = numbers(opened(files))
    except StoreError as error:
        return f"writing after recovery: {type(error).__name__}: {error}"
    if after != [*known, EXTRA]:
        return f"after one more commit: {after}"
    return ""


def numbers(store: Store) -> list[int]:
    """Return the numbers of all commits, checking the checkpoint and the rows on the way."""
    image = store.load_checkpoint()
    if image is not None:
        assert image.tables["t"][0].load().num_rows == image.meta["n"] + 1
    list(store.read_new())
    out = []
    for commit in store.history():
        assert commit.rows[-1].fields["title"] == f"statement {commit.time} 端口 {commit.time}"
        out.append(commit.time)
    assert store.last[0] == len(out)
    return out


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: w.__name__)
def test_every_crash_image_holds_a_prefix_with_all_that_was_acknowledged(workload) -> None:
    checker = Checker(workload, frozenset())
    print(f"{checker.images} images, {checker.recoveries} inside recovery")
    assert checker.failures == []
    assert checker.images > 150
    assert checker.recoveries > 50


@pytest.mark.parametrize("bug", ["no sync", "no directory sync", "short read"])
def test_the_harness_notices_a_disk_that_lies(bug) -> None:
    found = [Checker(workload, frozenset({bug})).failures for workload in WORKLOADS]
    assert any(found), f"{bug!r} went unnoticed"


def test_the_harness_notices_appending_behind_a_torn_tail(monkeypatch) -> None:
    monkeypatch.setattr(store_module.Store, "_prepare_tail", lambda self: None)
    assert any(Checker(workload, frozenset()).failures for workload in WORKLOADS)


def test_the_harness_notices_a_format_file_named_before_its_store_is_whole(monkeypatch) -> None:
    real = store_module.lay_out

    def early(files, root, store_id) -> None:
        file = files.create(f"{root}/FORMAT")
        body = f"doxa store\nversion 1\nid {store_id.hex()}\n".encode()
        file.write_at(0, body + f"check {store_module.digest(body).hex()}\n".encode())
        file.sync()
        files.sync_dir(root)
        real(files, root, store_id)

    monkeypatch.setattr(store_module, "lay_out", early)
    assert any(Checker(workload, frozenset()).failures for workload in WORKLOADS)
