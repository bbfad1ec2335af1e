"""Processes that die and processes that share: what was acknowledged stays, whole and in order.

The file is also the program of the processes: ``python tests/test_processes.py nursery``
imports doxa once and then forks a child for each line that it reads, so that a kill costs
milliseconds. ``DOXA_KILLS`` sets the number of kills.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import doxa

KILLS = int(os.environ.get("DOXA_KILLS", "60"))
LONGEST_LIFE = 0.4
#: One in so many steps of a child is a checkpoint, one a compaction.
UPKEEP_EVERY = 25


def pair(mem: doxa.Memory, name: str) -> list[str]:
    """Commit two linked propositions as one transaction."""
    with mem.transaction(name):
        first = mem.remember(f"{name} is the first half", id=f"{name}-a", on_duplicate="allow")
        second = mem.remember(f"{name} is the second half", id=f"{name}-b", on_duplicate="allow")
        mem.link(first.id, second.id, "depends_on")
    return [first.id, second.id]


def live_until_killed(store: str, log: str, name: str) -> None:
    """Write without end; after each returned call add what it wrote to the log."""
    chance = random.Random(name)
    acknowledged = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    mem = doxa.open(store, agent=name, seed_norms=False)
    step = 0
    while True:
        step += 1
        draw = chance.randrange(2 * UPKEEP_EVERY)
        if draw == 0:
            mem.upkeep.checkpoint()
            continue
        if draw == 1:
            mem.upkeep.compact()
            continue
        if draw % 3 == 0:
            title = f"{name} says {step} alone"
            ids = [mem.remember(title, id=f"{name}-{step}", on_duplicate="allow").id]
        else:
            ids = pair(mem, f"{name}-{step}")
        mem.use(ids)
        os.write(acknowledged, (" ".join(ids) + "\n").encode())
        os.fsync(acknowledged)


def nursery() -> None:
    """Fork a child for each line of input (store, log, name) and print its process number."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        store, log, name = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            try:
                live_until_killed(store, log, name)
            finally:
                os._exit(3)
        print(child, flush=True)


class Nursery:
    """The parent's end of :func:`nursery`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def child(self, store: Path, log: Path, name: str) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{store}\t{log}\t{name}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def children() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


def kill(child: int) -> None:
    """Kill a child that has to be alive, and wait until it is gone."""
    os.kill(child, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.0005)


def acknowledged(log: Path) -> list[list[str]]:
    """Return what returned calls wrote; a last line without its end was not finished."""
    if not log.exists():
        return []
    whole, _, _ = log.read_text().rpartition("\n")
    return [line.split() for line in whole.split("\n") if line]


def check_whole(mem: doxa.Memory) -> set[str]:
    """Check that of each pair all is there or nothing, and return the ids."""
    held = [p.id for p in mem]
    ids = set(held)
    assert len(held) == len(ids)
    halves = {item[:-2] for item in ids if item.endswith(("-a", "-b"))}
    missing = [name for name in halves if not {f"{name}-a", f"{name}-b"} <= ids]
    assert not missing, f"half of {missing} is there"
    table = mem.to_arrow("links").select(["source", "target", "relation"]).to_pylist()
    linked = {(row["source"], row["target"]) for row in table if row["relation"] == "depends_on"}
    assert linked == {(f"{name}-a", f"{name}-b") for name in halves}
    return ids


@pytest.mark.skipif(not Path("/proc").exists(), reason="waits for the end of a child in /proc")
@pytest.mark.timeout(60 + 4 * KILLS)
def test_what_was_acknowledged_survives_every_kill(tmp_path: Path, children: Nursery) -> None:
    store, log, chance = tmp_path / "store", tmp_path / "log", random.Random(9)
    before: set[str] = set()
    for number in range(KILLS):
        child = children.child(store, log, f"life{number}")
        time.sleep(chance.uniform(0.0, LONGEST_LIFE) ** 1.5)
        kill(child)
        if not (store / "FORMAT").exists():
            continue
        said = {item for line in acknowledged(log) for item in line}
        with doxa.open(store, seed_norms=False) as mem:
            ids = check_whole(mem)
            assert said <= ids, f"kill {number}: {sorted(said - ids)} was acknowledged and is lost"
            assert before <= ids
            more = {name.removesuffix("-a").removesuffix("-b") for name in ids - said - before}
            assert len(more) <= 1, f"kill {number}: more than one commit was under way: {more}"
            report = mem.upkeep.verify()
            assert report.ok, report.problems
        before = ids
    assert len(before) > KILLS


if __name__ == "__main__":
    nursery()
