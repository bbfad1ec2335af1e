"""A state rebuilt from its journal equals the one in memory, field by field, to the bit.

Random histories of every operation are written to a store; what the store shows is then
compared with what it shows after reopening from the journal, from a checkpoint, from a
compacted store, and from a checkpoint with a journal behind it. A second handle takes
part, so that what is caught up is compared with what is replayed too.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import doxa

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
WORDS = (
    "port",
    "cache",
    "Redis",
    "deploys",
    "running",
    "ran",
    "v2.1",
    "数据库",
    "端口",
    "is",
    "not",
    "snake_case",
)
NAMES = ("Ada", "Redis", "billing team", "艾达")
RELATIONS = ("relates", "supports", "depends_on", "supersedes", "incompatible", "part_of")
QUERIES = (
    "port cache",
    "running deploys",
    "数据库端口",
    "Redis billing team",
    "is not v2 snake",
    "q1",
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
PICK = st.integers(0, 11)
DAYS = st.integers(0, 200)
SCOPES = st.sampled_from([None, {"env": "prod"}, {"env": ["prod", "dev"], "repo": "a/b"}])
CLAIM = {"subject": "Ada", "attribute": "port", "value": "Redis", "qualifiers": {"dose": 2}}

REMEMBER = st.fixed_dictionaries(
    {
        "title": TEXTS,
        "summary": st.one_of(st.just(""), TEXTS),
        "body": st.one_of(st.just(""), TEXTS),
        "kind": st.sampled_from(["norm", "knowledge", "subject"]),
        "importance": st.sampled_from(["low", "medium", "high", "resident"]),
        "scope": SCOPES,
        "about": st.lists(st.sampled_from(NAMES), max_size=2),
        "context": st.sampled_from([None, "session", "meeting"]),
        "claim": st.sampled_from([None, CLAIM]),
        "evidence": st.lists(TEXTS, max_size=2),
        "on_duplicate": st.sampled_from(["merge", "allow", "raise"]),
        "source": st.sampled_from(["", "a.txt", "b.txt"]),
    },
    optional={"confidence": st.floats(-1, 1), "given": st.just(True), "day": DAYS},
)
OPERATION = st.one_of(
    st.tuples(st.just("remember"), REMEMBER),
    st.tuples(st.just("append"), PICK, TEXTS),
    st.tuples(st.just("rewrite"), PICK, st.sampled_from(["title", "summary", "body"]), TEXTS),
    st.tuples(st.just("set"), PICK, st.sampled_from([
        {"importance": "low"}, {"scope": {"env": "dev"}}, {"scope": {}}, {"confidence": 0.25},
        {"valid_from": START}, {"valid_to": NOW}, {"claim": None}, {"category": "health"},
    ])),
    st.tuples(st.just("link"), PICK, PICK, st.sampled_from(RELATIONS), st.floats(0.01, 1.0)),
    st.tuples(st.just("unlink"), PICK, PICK, st.sampled_from(RELATIONS)),
    st.tuples(st.just("use"), st.lists(PICK, max_size=3), DAYS),
    st.tuples(st.just("retire"), PICK, TEXTS),
    st.tuples(st.just("restore"), PICK),
    st.tuples(st.just("entity"), st.sampled_from(NAMES), st.lists(st.sampled_from(WORDS), max_size=2)),
    st.tuples(st.just("params"), st.integers(0, 3)),
)  # fmt: skip
HISTORY = st.lists(
    st.one_of(
        OPERATION,
        st.tuples(st.just("transaction"), st.lists(OPERATION, max_size=4), st.booleans()),
        st.tuples(st.just("elsewhere"), OPERATION),
        st.tuples(st.just("upkeep"), st.sampled_from(["checkpoint", "compact", "reopen"])),
    ),
    min_size=1,
    max_size=14,
)


class Abort(Exception):
    """Ends a transaction that shall leave nothing."""


class World:
    """A store on disk and one handle of it; another one writes in between."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.open()

    def open(self) -> None:
        self.mem = doxa.open(self.path, seed_norms=False, durability="memory")

    def reopen(self) -> None:
        self.mem.close()
        self.open()

    def run(self, operation: tuple[Any, ...]) -> None:
        """Do one step; what the rules refuse does nothing."""
        name, *rest = operation
        if name == "upkeep":
            step = self.reopen if rest[0] == "reopen" else getattr(self.mem.upkeep, rest[0])
            step()
        elif name == "transaction":
            with contextlib.suppress(Abort), self.mem.transaction("several"):
                for inner in rest[0]:
                    self.run(inner)
                if rest[1]:
                    raise Abort
        elif name == "elsewhere":
            mine, self.mem = self.mem, doxa.open(self.path, agent="other", durability="memory")
            try:
                self.run(rest[0])
            finally:
                self.mem.close()
                self.mem = mine
        else:
            with contextlib.suppress(doxa.DoxaError):
                getattr(self, f"do_{name}")(*rest)

    def id(self, pick: int) -> str:
        ids = [p.id for p in self.mem]
        return ids[pick % len(ids)] if ids else "none"

    def do_remember(self, values: dict[str, Any]) -> None:
        self.count += 1
        values = dict(values)
        day = values.pop("day", None)
        if values.pop("given", False):
            values["id"] = f"q{self.count}"
        if day is not None:
            values["at"] = START + dt.timedelta(days=day)
        self.mem.remember(**values)

    def do_append(self, pick: int, text: str) -> None:
        self.mem.append(self.id(pick), text, at=START)

    def do_rewrite(self, pick: int, field: str, text: str) -> None:
        held = self.mem.get(self.id(pick))
        self.mem.rewrite(held.id, expected_rev=held.rev, **{field: text})

    def do_set(self, pick: int, changes: dict[str, Any]) -> None:
        self.mem.set(self.id(pick), **changes)

    def do_link(self, a: int, b: int, relation: str, weight: float) -> None:
        self.mem.link(self.id(a), self.id(b), relation, weight=weight)

    def do_unlink(self, a: int, b: int, relation: str) -> None:
        self.mem.unlink(self.id(a), self.id(b), relation)

    def do_use(self, picks: list[int], day: int) -> None:
        self.mem.use([self.id(pick) for pick in picks], at=START + dt.timedelta(days=day))

    def do_retire(self, pick: int, why: str) -> None:
        self.mem.upkeep.retire(self.id(pick), "falsified", evidence=[why])

    def do_restore(self, pick: int) -> None:
        self.mem.upkeep.restore(self.id(pick))

    def do_entity(self, name: str, aliases: list[str]) -> None:
        self.mem.beliefs.entity(name, aliases=aliases)

    def do_params(self, hops: int) -> None:
        self.mem.set_params(doxa.Params(hops=hops, direction="both" if hops == 2 else "out"))


def view(mem: doxa.Memory) -> dict[str, Any]:
    """Return all that a store shows, recall to the bit; sizes and pending changes left out."""
    tables = {
        name: mem.to_arrow(name).to_pylist()
        for name in ("propositions", "links", "evidence", "entities", "contexts")
    }
    hits: dict[str, Any] = {}
    for label, params in (("own", None), ("published", doxa.Params.published())):
        for query in QUERIES:
            given: dict[str, Any] = {} if params is None else {"params": params}
            found = mem.recall(query, k=50, now=NOW, **given)
            hits[f"{label}: {query}"] = recalled(found)
    ids = [p.id for p in mem]
    hits["scoped"] = recalled(mem.recall("port", now=NOW, scope={"env": "prod"}, include="retired"))
    hits["related"] = recalled(mem.related(ids[:3], k=50, now=NOW)) if ids else None
    kept = ("propositions", "evidence", "entities", "contexts", "links", "terms", "language")
    return {
        **tables,
        "values": list(mem),
        "hits": hits,
        "strength": mem.rescore(now=NOW).to_pylist(),
        "stats": {name: mem.stats()[name] for name in kept},
        "params": mem.params,
        "names": {name: mem.beliefs.resolve(name) for name in (*NAMES, *WORDS)},
    }


def recalled(hits: doxa.Hits) -> list[Any]:
    return [*[(h.id, h.score.hex(), h.terms, h.path, h.notes) for h in hits], hits.confidence]


def differences(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    return {key: (a[key], b[key]) for key in a if a[key] != b[key]}


def assert_same(world: World, truth: dict[str, Any], when: str) -> None:
    assert not differences(truth, view(world.mem)), when


@settings(
    max_examples=int(os.environ.get("DOXA_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(HISTORY)
def test_what_is_rebuilt_equals_what_was_in_memory(history: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder) / "store")
        for operation in history:
            world.run(operation)
        truth = view(world.mem)
        world.reopen()
        assert_same(world, truth, "reopened from the journal")
        steps: list[Callable[[], None]] = [world.mem.upkeep.checkpoint, world.reopen]
        for step in steps:
            step()
            assert_same(world, truth, "after a checkpoint")
        world.mem.upkeep.compact()
        assert_same(world, truth, "after compaction")
        world.reopen()
        assert_same(world, truth, "reopened after compaction")
        assert world.mem.upkeep.verify().ok
        world.mem.close()
