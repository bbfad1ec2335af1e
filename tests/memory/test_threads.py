"""Threads on one handle: nothing is lost, nothing is half seen, no reader fails."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import doxa

THREADS = 4
EACH = 36
SECONDS = 0.8


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    """Let threads take turns a thousand times as often as usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(usual)


def run(*bodies: Callable[[], None]) -> None:
    """Run bodies at once and raise what the first of them raised."""
    errors: list[BaseException] = []

    def guarded(body: Callable[[], None]) -> None:
        try:
            body()
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_four_threads_remember_and_recall_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False, durability="batch") as mem:

        def work(name: str) -> None:
            for number in range(EACH):
                held = mem.remember(
                    f"{name}{number}x", id=f"{name}{number}", scope={"env": f"{name}{number}"}
                )
                assert held.id in mem.recall(f"{name}{number}x").ids
                mem.use(held.id)
                if number % 3 == 0:
                    with mem.transaction():
                        mem.append(held.id, "noted", by=name)
                        mem.remember(f"{name}{number}y", id=f"{name}{number}y", links=[held.id])

        run(*(lambda name=name: work(name) for name in "abcd"))
        truth = list(mem)
        assert len(truth) == len({p.id for p in truth}) == THREADS * (EACH + EACH // 3)
        assert all(p.use_count == 1 for p in truth if not p.id.endswith("y"))
        assert sum(p.rev == 2 for p in truth) == THREADS * EACH // 3
        for name in "abcd":
            for number in range(0, EACH, 7):
                found = mem.recall(
                    f"{name}{number}x", scope={"env": f"{name}{number}"}, spread=False
                )
                assert f"{name}{number}" in found.ids
        links = mem.to_arrow("links").num_rows
    with doxa.open(tmp_path / "s") as mem:
        assert list(mem) == truth
        assert mem.to_arrow("links").num_rows == links
        assert mem.upkeep.verify().ok


def test_threads_that_stage_new_scopes_at_once_keep_them_apart(tmp_path: Path) -> None:
    mem = doxa.memory(seed_norms=False)

    def work(name: str) -> None:
        for number in range(EACH):
            with mem.transaction():
                for part in range(5):
                    mem.remember(f"{name}{number}p{part}", scope={"env": f"{name}{number}p{part}"})

    run(*(lambda name=name: work(name) for name in "abcd"))
    for p in mem:
        (env,) = p.scope["env"]
        assert env == p.title
        assert mem.recall(p.title, scope={"env": env}, spread=False).ids == [p.id], env


READS: dict[str, Callable[[doxa.Memory], object]] = {
    "iterating": lambda mem: [p.title for p in mem],
    "tables": lambda mem: [
        mem.to_arrow(name).num_rows for name in ("propositions", "links", "entities")
    ],
    "strength": lambda mem: mem.rescore().num_rows,
    "counts": lambda mem: mem.stats(),
    "recall": lambda mem: [(hit.title, hit.path, hit.notes) for hit in mem.recall("number", k=20)],
    "many": lambda mem: [
        hits.to_arrow() for hits in mem.recall_many(["number", "about 3", "x"], k=20)
    ],
    "names": lambda mem: [mem.beliefs.resolve(f"thing {n}") for n in range(5)],
}


@pytest.mark.parametrize("name", READS)
def test_a_reader_never_fails_while_another_thread_writes(name: str, tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False, durability="memory") as mem:
        for number in range(50):
            mem.remember(f"number {number} n{number}", id=f"p{number}", about=f"thing {number % 5}")
        mem.upkeep.compact()
    with doxa.open(tmp_path / "s", durability="memory") as mem:
        end = time.monotonic() + SECONDS

        def write() -> None:
            number = 50
            while time.monotonic() < end:
                mem.remember(
                    f"n{number} x{number}", id=f"p{number}", about=f"thing {number}", links=["p1"]
                )
                mem.append(f"p{number % 50}", "number")
                mem.use(f"p{number % 50}")
                if number % 20 == 0:
                    mem.upkeep.compact()
                number += 1

        def read() -> None:
            while time.monotonic() < end:
                READS[name](mem)

        run(write, read, read)


def test_a_transaction_is_seen_whole_by_other_threads(tmp_path: Path) -> None:
    mem = doxa.memory(seed_norms=False)
    end = time.monotonic() + SECONDS

    def write() -> None:
        number = 0
        while time.monotonic() < end:
            with mem.transaction():
                mem.remember(f"pair a{number}", id=f"a{number}", on_duplicate="allow")
                mem.remember(f"pair b{number}", id=f"b{number}", on_duplicate="allow")
            number += 1

    def read() -> None:
        while time.monotonic() < end:
            ids = mem.recall("pair", k=1000, spread=False).ids
            assert len(ids) % 2 == 0
            assert {i[1:] for i in ids if i[0] == "a"} == {i[1:] for i in ids if i[0] == "b"}

    run(write, read, read)


def test_the_handle_can_be_closed_while_others_use_it(tmp_path: Path) -> None:
    mem = doxa.open(tmp_path / "s", seed_norms=False, durability="memory")
    began = threading.Event()

    def write() -> None:
        number = 0
        with pytest.raises(doxa.StoreClosed):
            while True:
                mem.remember(f"n{number}", id=f"p{number}", on_duplicate="allow")
                began.set()
                number += 1

    def read() -> None:
        with pytest.raises(doxa.StoreClosed):
            while True:
                mem.recall("n1")

    def close() -> None:
        began.wait(10)
        time.sleep(0.1)
        mem.close()

    run(write, read, close)
    with doxa.open(tmp_path / "s") as again:
        assert again.upkeep.verify().ok
        assert [p.id for p in again] == [f"p{number}" for number in range(len(again))]
