"""Transactions: all or nothing, seen inside and not outside, refused where others came between."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import doxa


class Abort(Exception):
    """Ends a block on purpose."""


def elsewhere(ask: Callable[[], Any]) -> Any:
    """Return what another thread sees."""
    answer: list[Any] = []
    thread = threading.Thread(target=lambda: answer.append(ask()))
    thread.start()
    thread.join()
    return answer[0]


def shown(mem: doxa.Memory) -> tuple[Any, ...]:
    names = ("propositions", "links", "entities", "evidence", "contexts")
    tables = [mem.to_arrow(name).to_pylist() for name in names]
    return (*tables, mem.recall("cache", now=None).ids, mem.params, mem.stats()["terms"])


def test_own_writes_are_seen_inside_and_nowhere_else_before_the_end(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem, doxa.open(tmp_path / "s") as other:
        mem.remember("The port is 8080", id="old")
        before = mem.stats()["commits"]
        with mem.transaction("both") as transaction:
            mem.remember("The cache is Redis", id="new", about="Redis")
            mem.append("old", "noted", by="ada")
            mem.link("new", "old", "supersedes")
            mem.use("new")
            assert mem.get("new").use_count == 1
            assert mem.get("old").status == "superseded"
            assert mem.recall("cache").ids[0] == "new"
            assert mem.beliefs.resolve("redis").id == "Redis"
            assert elsewhere(
                lambda: ("new" in mem, mem.get("old").body, mem.recall("cache").ids)
            ) == (False, "", [])
            assert "new" not in other
            with pytest.raises(doxa.DuplicateFound):
                mem.remember("the cache is redis")
            assert transaction.commit == ""
        assert len(transaction.commit) == 64
        assert mem.stats()["commits"] == before + 1
        assert elsewhere(lambda: mem.get("old").status) == "superseded"
        assert other.get("new").use_count == 1
        assert set(mem.to_arrow("journal")["commit"].to_pylist()) >= {transaction.commit}


def test_an_aborted_transaction_leaves_nothing(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        mem.remember("The port is 8080", id="old", scope={"env": "prod"})
        before, size = shown(mem), mem.stats()["journal_bytes"]
        with pytest.raises(Abort), mem.transaction():
            mem.remember(
                "The cache is Redis", id="new", scope={"env": "dev"}, about="Redis", evidence="seen"
            )
            mem.rewrite("old", title="gone", expected_rev=1)
            mem.link("new", "old", "supersedes")
            mem.set_params(doxa.Params(hops=1))
            raise Abort
        assert shown(mem) == before
        assert mem.stats()["journal_bytes"] == size
        assert "new" not in mem
        mem.remember("The cache is Redis", id="new", scope={"env": "test"})
        after = shown(mem)
        mem.upkeep.compact()
        assert shown(mem) == after
    with doxa.open(tmp_path / "s") as mem:
        assert shown(mem) == after
        assert mem.recall("cache", scope={"env": "test"}).ids == ["new"]
        assert mem.recall("cache", scope={"env": "dev"}).ids == []


def test_a_step_that_fails_leaves_the_rest_of_its_transaction(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        with mem.transaction():
            mem.remember("alpha", id="a")
            with pytest.raises(doxa.NotFound):
                mem.remember("beta", id="b", about="Ada", context="here", links=["nowhere"])
            with pytest.raises(doxa.InvalidValue):
                mem.remember(
                    "gamma", id="c", context="session", evidence="said", links=[("a", "about")]
                )
            mem.remember("delta", id="d", links=["a"])
        truth = shown(mem)
        assert [p.id for p in mem] == ["a", "d"]
        assert mem.to_arrow("contexts").num_rows == mem.to_arrow("evidence").num_rows == 0
    with doxa.open(tmp_path / "s") as mem:
        assert shown(mem) == truth


Change = Callable[[doxa.Memory], Any]
CONFLICTS: dict[str, tuple[Change, Change]] = {
    "a revision": (
        lambda mem: mem.rewrite("p", title="mine", expected_rev=1),
        lambda mem: mem.append("p", "theirs"),
    ),
    "an id": (
        lambda mem: mem.remember("my words", id="same"),
        lambda mem: mem.remember("other letters", id="same"),
    ),
    "a statement that was not there": (
        lambda mem: mem.remember("The cache is Redis"),
        lambda mem: mem.remember("the cache is redis."),
    ),
    "a link": (
        lambda mem: mem.unlink("p", "q"),
        lambda mem: mem.unlink("p", "q"),
    ),
    "the order of supersession": (
        lambda mem: mem.link("p", "q", "supersedes"),
        lambda mem: mem.link("q", "p", "supersedes"),
    ),
    "what is not retired": (
        lambda mem: mem.upkeep.retire("p", "scene_gone", reason="mine"),
        lambda mem: mem.upkeep.retire("p", "scene_gone", reason="theirs"),
    ),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_transaction_is_refused_where_another_handle_changed_what_it_relied_on(
    name: str, tmp_path: Path
) -> None:
    mine, theirs = CONFLICTS[name]
    with doxa.open(tmp_path / "s", seed_norms=False) as mem, doxa.open(tmp_path / "s") as other:
        mem.remember("first of all", id="p")
        mem.remember("second to none", id="q", links=[])
        mem.link("p", "q")
        with (
            pytest.raises(doxa.TransactionConflict, match="Nothing was written"),
            mem.transaction(),
        ):
            mem.remember("written beside it", id="beside")
            mine(mem)
            theirs(other)
            state = shown(other)
        assert "beside" not in mem
        assert shown(mem) == shown(other) == state
        assert mem.remember("and it goes on", id="next").status == "active"


def test_changes_that_do_not_meet_are_both_kept(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem, doxa.open(tmp_path / "s") as other:
        mem.remember("alpha", id="p")
        with mem.transaction():
            mem.append("p", "mine", by="ada")
            mem.remember("bob 0 one", id="b")
            other.append("p", "theirs", by="bob")
            other.remember("ada 0 one", id="a")
            other.upkeep.compact()
        body = mem.get("p").body
        assert body.index("theirs") < body.index("mine")
        assert mem.get("p").rev == 3
        assert list(mem) == list(other)
        assert [p.id for p in mem] == ["p", "a", "b"]


def test_what_other_threads_commit_meanwhile_is_not_seen_inside(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        mem.remember("alpha", id="p")
        with mem.transaction():
            mem.remember("beta", id="b")
            elsewhere(lambda: mem.remember("gamma", id="c", about="Redis"))
            elsewhere(lambda: mem.append("p", "theirs"))
            elsewhere(lambda: mem.rewrite("p", title="omega", expected_rev=2))
            assert (mem.get("p").title, mem.get("p").rev) == ("alpha", 1)
            assert [p.id for p in mem] == ["p", "b"]
            assert "c" not in mem
            assert mem.beliefs.resolve("redis").id is None
            mem.remember("delta", id="d", about="Redis")
            assert [p.id for p in mem] == ["p", "b", "d"]
        assert [p.id for p in mem] == ["p", "c", "b", "d"]
        assert mem.to_arrow("entities").num_rows == 1
        assert mem.recall("delta", about="Redis").ids == ["d"]
        truth = list(mem)
    with doxa.open(tmp_path / "s") as mem:
        assert list(mem) == truth


def test_transactions_do_not_nest_and_an_empty_one_writes_nothing(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        size = mem.stats()["journal_bytes"]
        with mem.transaction() as transaction:
            with pytest.raises(doxa.InvalidValue, match="do not nest"), mem.transaction():
                pass
            for upkeep in (mem.upkeep.checkpoint, mem.upkeep.compact):
                with pytest.raises(doxa.InvalidValue, match="inside a transaction"):
                    upkeep()
        assert transaction.commit == ""
        assert mem.stats()["journal_bytes"] == size
