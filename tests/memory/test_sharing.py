"""Several handles and processes on one store: nothing lost, one order, nothing half seen."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import doxa

WRITES = 25
WRITER = """
import sys
import doxa
store, name, count = sys.argv[1:]
with doxa.open(store, agent=name, seed_norms=False) as mem:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(count)):
        with mem.transaction():
            a = mem.remember(f"{name}{number}x", id=f"{name}-{number}-a")
            b = mem.remember(f"{name}{number}y", id=f"{name}-{number}-b")
            mem.link(a.id, b.id)
        if number % 10 == 5:
            mem.upkeep.compact()
"""


def start_writer(store: Path, name: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store), name, str(WRITES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def start(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.close()


def finish(process: subprocess.Popen[str]) -> None:
    assert process.wait(60) == 0, "a writer failed; its error is above"
    assert process.stdout is not None
    process.stdout.close()


def in_a_child(body: Callable[[], object]) -> None:
    """Run ``body`` in a forked child and expect it to end without an error."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_two_processes_write_while_one_reads_and_nothing_is_lost(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with doxa.open(store, seed_norms=False) as reader:
        writers = [start_writer(store, name) for name in ("ada", "bob")]
        for writer in writers:
            start(writer)
        order: list[str] = []
        while any(writer.poll() is None for writer in writers):
            now = [p.id for p in reader]
            assert now[: len(order)] == order, "the order of what was seen changed"
            assert len(now) % 2 == 0, "half a transaction was seen"
            order = now
        for writer in writers:
            finish(writer)
        order = [p.id for p in reader]
        assert len(order) == len(set(order)) == 4 * WRITES
        linked = reader.to_arrow("links").filter(
            reader.to_arrow("links")["relation"].to_numpy(zero_copy_only=False) == "relates"
        )
        assert linked.num_rows == 2 * WRITES
        assert [p.id for p in reader] == order
    with doxa.open(store) as again:
        assert [p.id for p in again] == order
        assert again.upkeep.verify().ok
        numbers = again.to_arrow("journal")["seq"].to_pylist()
        assert sorted(set(numbers)) == list(range(1, 2 * WRITES + 2))
        assert numbers == sorted(numbers)


def test_a_forked_child_may_not_use_the_handle_of_its_parent(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "store", seed_norms=False) as mem:
        mem.remember("The API listens on port 8080", id="port")
        calls: list[Callable[[], object]] = [
            lambda: mem.recall("port"),
            lambda: mem.recall_many(["port"]),
            lambda: mem.get("port"),
            lambda: len(mem),
            lambda: mem.remember("The cache is Redis"),
            lambda: mem.use("port"),
            lambda: mem.upkeep.compact(),
            lambda: mem.upkeep.verify(),
        ]

        def child() -> None:
            for call in calls:
                with pytest.raises(doxa.ForkedHandle, match="open the store anew"):
                    call()

        in_a_child(child)
        assert mem.remember("The cache is Redis").status == "active"
        assert mem.recall("cache redis").ids[0] != "port"


def test_a_forked_child_opens_its_own_handle_and_recalls_on_all_cores(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with doxa.open(store, seed_norms=False) as mem:
        for number in range(40):
            mem.remember(f"server {number} listens on port {8000 + number}", id=f"s{number}")
        queries = [f"port {8000 + number}" for number in range(40)]
        truth = [hits.ids for hits in mem.recall_many(queries, k=3)]

        def child() -> None:
            with doxa.open(store) as own:
                assert [hits.ids for hits in own.recall_many(queries, k=3)] == truth
                own.remember("the child was here", id="child")

        in_a_child(child)
        assert "child" in mem
        assert [hits.ids for hits in mem.recall_many(queries, k=3)] == truth


def test_a_writer_that_holds_the_lock_too_long_is_named(tmp_path: Path) -> None:
    store = tmp_path / "store"
    doxa.open(store, seed_norms=False).close()
    code = (
        "import fcntl, os, sys, time; fd = os.open(sys.argv[1], os.O_RDWR); "
        "fcntl.flock(fd, fcntl.LOCK_EX); os.pwrite(fd, f'{os.getpid():<20}\\n'.encode(), 0); "
        "print('held', flush=True); time.sleep(60)"
    )
    with (
        doxa.open(store, lock_timeout=0.2) as mem,
        subprocess.Popen(
            [sys.executable, "-c", code, str(store / "lock")], stdout=subprocess.PIPE, text=True
        ) as holder,
    ):
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        began = time.monotonic()
        with pytest.raises(doxa.StoreBusy, match=str(holder.pid)) as caught:
            mem.remember("this waits in vain")
        assert 0.2 <= time.monotonic() - began < 5
        assert caught.value.pid == str(holder.pid)
        assert len(mem.recall("vain")) == 0, "reading waits for no lock"
        holder.kill()
        holder.wait()
        assert mem.remember("this goes through").status == "active"
    fd = os.open(store / "lock", os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)


@pytest.mark.parametrize("compactions", [0, 1, 2, 3])
@pytest.mark.parametrize("between", [True, False], ids=["with commits between", "in a row"])
def test_a_reader_follows_another_handle_over_compactions(
    tmp_path: Path, compactions: int, between: bool
) -> None:
    store = tmp_path / "store"
    with (
        doxa.open(store, seed_norms=False) as writer,
        doxa.open(store) as reader,
        doxa.open(store, read_only=True) as only,
    ):
        writer.remember("first", id="p0")
        assert "p0" in reader
        assert "p0" in only
        writer.upkeep.checkpoint()
        writer.remember("second thing", id="p1")
        for number in range(compactions):
            writer.upkeep.compact()
            if between:
                writer.remember(f"after compaction {number}", id=f"c{number}")
        writer.remember("the last of all", id="last")
        expected = [p.id for p in writer]
        assert [p.id for p in reader] == expected
        assert [p.id for p in only] == expected
        assert reader.recall("last of all").ids == writer.recall("last of all").ids
        reader.remember("written by the reader", id="mine")
        assert "mine" in writer
        assert "mine" in only
