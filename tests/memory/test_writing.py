"""The rules of writing as stories: revisions, tasks, supersession, retirement, uses, parameters."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import doxa

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)


@pytest.fixture
def mem() -> doxa.Memory:
    return doxa.memory(seed_norms=False)


def test_a_stale_revision_carries_the_current_text_and_changes_nothing(mem: doxa.Memory) -> None:
    read = mem.remember("Always squash commits")
    mem.rewrite(
        read.id, title="Squash commits on release branches", expected_rev=read.rev, by="bob"
    )
    with pytest.raises(
        doxa.StaleRevision, match=r"expected_rev: 1 .* is 2: .*Read it again"
    ) as stale:
        mem.rewrite(read.id, title="Never squash", expected_rev=read.rev)
    current = stale.value.current
    assert (current.title, current.rev) == ("Squash commits on release branches", 2)
    assert mem.get(read.id).title == current.title
    assert mem.append(read.id, "seen again").rev == 3
    with pytest.raises(doxa.StaleRevision):
        mem.rewrite(read.id, body="gone", expected_rev=2)


def test_notes_are_signed_and_dated_and_nothing_is_overwritten(mem: doxa.Memory) -> None:
    p = mem.remember("Deploys go through the release branch", body="As agreed.")
    mem.append(p.id, "confirmed", by="ada", at=NOW)
    mem.append(p.id, "第二条", by="bob", at=NOW)
    body = mem.get(p.id).body
    assert (
        body
        == "As agreed.\n\n[2026-06-01T00:00:00Z ada] confirmed\n\n[2026-06-01T00:00:00Z bob] 第二条"
    )
    assert mem.recall("confirmed").ids == [p.id]


def test_rewriting_makes_the_new_words_found_and_the_old_ones_not(mem: doxa.Memory) -> None:
    p = mem.remember("The cache is Redis")
    mem.rewrite(p.id, title="The queue is NATS", expected_rev=1)
    assert mem.recall("nats").ids == [p.id]
    assert mem.recall("redis").ids == []
    mem.rewrite(p.id, title="The queue is NATS", expected_rev=2)
    assert mem.get(p.id).rev == 2


def test_a_task_says_what_counts_as_done(mem: doxa.Memory) -> None:
    with pytest.raises(doxa.InvalidValue, match=r"exit_condition.*what counts as done"):
        mem.remember("Move the database", kind="task")
    with pytest.raises(doxa.InvalidValue, match="exit_condition"):
        mem.remember("Move the database", kind="task", exit_condition="  ")
    task = mem.remember("Move the database", kind="task", exit_condition="it runs in b", at=NOW)
    assert task.review_by == NOW + dt.timedelta(days=30)
    with pytest.raises(doxa.InvalidValue, match="exit_condition"):
        mem.set(task.id, exit_condition="")


def test_what_is_written_can_not_be_changed_by_another_way(mem: doxa.Memory) -> None:
    p = mem.remember("The cache is Redis")
    with pytest.raises(doxa.InvalidValue, match=r"title.*rewrite and append"):
        mem.set(p.id, title="other")
    for call in (
        lambda: mem.append("nobody", "x"),
        lambda: mem.rewrite("nobody", title="x", expected_rev=1),
        lambda: mem.set("nobody", importance="low"),
        lambda: mem.get("nobody"),
        lambda: mem.use("nobody"),
        lambda: mem.link(p.id, "nobody"),
        lambda: mem.unlink(p.id, "nobody"),
        lambda: mem.related("nobody"),
        lambda: mem.upkeep.retire("nobody", "scene_gone", reason="x"),
    ):
        with pytest.raises(doxa.NotFound, match="nobody"):
            call()


def test_superseding_lowers_the_old_lifts_the_new_and_can_be_taken_back(mem: doxa.Memory) -> None:
    old = mem.remember("The API listens on port 8080")
    new = mem.remember("The service moved to socket nine")
    mem.remember("An API of another port")
    before = mem.recall("api port 8080", now=NOW)[0].score
    mem.link(new.id, old.id, "supersedes")
    assert (mem.get(old.id).status, mem.get(old.id).superseded_by) == ("superseded", (new.id,))
    hits = mem.recall("api port 8080", now=NOW)
    assert hits[0].id == new.id
    assert hits[0].score == pytest.approx(before, rel=1e-5)
    assert hits[0].terms["succession"] > 0
    [low] = [hit for hit in hits if hit.id == old.id]
    assert low.score == pytest.approx(0.3 * before, rel=1e-5)
    assert low.notes == (f"superseded by {new.id} ({new.title})",)
    assert new.id not in mem.recall("api port 8080", history=True).ids
    mem.unlink(new.id, old.id, "supersedes")
    assert mem.get(old.id).status == "active"
    assert mem.recall("api port 8080", now=NOW)[0].score == pytest.approx(before, rel=1e-9)


def test_supersession_has_no_cycles_and_ends_of_the_right_kind(mem: doxa.Memory) -> None:
    a, b, c = (mem.remember(word, id=word).id for word in ("alpha", "beta", "gamma"))
    mem.link(a, b, "supersedes")
    mem.link(b, c, "supersedes")
    for newer, older in ((b, a), (c, a), (c, b)):
        with pytest.raises(doxa.InvalidValue, match="no cycle"):
            mem.link(newer, older, "supersedes")
    with pytest.raises(doxa.InvalidValue, match="not linked to itself"):
        mem.link(a, a)
    mem.beliefs.entity("Ada")
    for link in (
        (a, "Ada", "supersedes"),
        ("Ada", a, "about"),
        (a, b, "about"),
        ("Ada", a, "supports"),
    ):
        with pytest.raises(doxa.InvalidValue, match=link[2]):
            mem.link(*link)
    assert mem.get(c).superseded_by == (b,)
    assert mem.recall("gamma").ids[0] == a
    mem.upkeep.retire(b, "scene_gone", reason="x")
    assert mem.get(c).status == "superseded"


def test_the_same_link_twice_is_one(mem: doxa.Memory) -> None:
    a, b = mem.remember("one").id, mem.remember("two").id
    assert mem.link(a, b, weight=0.3).outcome == "added"
    again = mem.link(a, b, weight=0.3)
    assert (again.outcome, again.commit) == ("unchanged", "")
    mem.link(a, b, weight=0.6)
    mem.link(b, a)
    mem.link(a, b, "depends_on")
    table = mem.to_arrow("links")
    assert sorted(table["weight"].to_pylist()) == [0.6, 1.0, 1.0]
    mem.unlink(a, b)
    with pytest.raises(doxa.NotFound, match="no link"):
        mem.unlink(a, b)


def test_the_smallest_weights_are_kept_or_refused_but_never_lost(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        mem.remember("one", id="a")
        mem.remember("two", id="b")
        with pytest.raises(doxa.InvalidValue, match="weight"):
            mem.link("a", "b", weight=1e-50)
        assert mem.stats()["links"] == mem.to_arrow("links").num_rows == 0
        mem.link("a", "b", weight=1e-30)
        mem.upkeep.compact()
    with doxa.open(tmp_path / "s") as mem:
        assert mem.stats()["links"] == mem.to_arrow("links").num_rows == 1
        mem.unlink("a", "b")
        assert mem.stats()["links"] == 0


def test_only_two_grounds_retire_and_what_is_retired_can_come_back(mem: doxa.Memory) -> None:
    p = mem.remember("The staging host is s1", id="p")
    q = mem.remember("Tests run on the staging host", id="q", links=["p"])
    truth = mem.recall("staging host", now=NOW).ids
    for ground, given in (
        ("unused", {}),
        ("falsified", {}),
        ("scene_gone", {}),
        ("scene_gone", {"reason": " "}),
    ):
        with pytest.raises(doxa.InvalidValue):
            mem.upkeep.retire(p.id, ground, **given)
    mem.upkeep.retire(p.id, "falsified", evidence="s1 does not answer")
    assert mem.recall("staging host").ids == [q.id]
    notes = {hit.id: hit.notes for hit in mem.recall("staging host", include="retired")}
    assert notes == {p.id: ("retired: falsified",), q.id: ()}
    assert p.id in mem
    with pytest.raises(doxa.InvalidValue, match="retired already"):
        mem.upkeep.retire(p.id, "scene_gone", reason="x")
    mem.upkeep.restore(p.id)
    assert mem.recall("staging host", now=NOW).ids == truth


def test_a_use_rides_and_is_no_commit_of_its_own(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        mem.remember("one", id="a", at=NOW)
        commits = mem.stats()["commits"]
        assert mem.use(["a", "a"], at=NOW + dt.timedelta(days=1)) == 2
        assert mem.use("a", at=NOW) == 1
        assert mem.use([]) == 0
        assert mem.stats()["commits"] == commits
        assert (mem.get("a").use_count, mem.get("a").last_used) == (3, NOW + dt.timedelta(days=1))
        assert mem.get("a").rev == 1
        with doxa.open(tmp_path / "s", read_only=True) as other:
            assert other.get("a").use_count == 0
            with pytest.raises(doxa.StoreReadOnly):
                other.use("a")
    with doxa.open(tmp_path / "s") as mem:
        assert mem.get("a").use_count == 3


def test_parameters_are_journalled_and_valid_after_reopening(tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem, doxa.open(tmp_path / "s") as other:
        mem.remember("alpha", id="a")
        mem.remember("beta", id="b")
        mem.link("a", "b")
        assert other.recall("alpha").ids == ["a", "b"]
        mem.set_params(doxa.Params(hops=0))
        assert other.params.hops == 0
        assert other.recall("alpha").ids == ["a"]
        assert other.recall("alpha", hops=1).ids == ["a", "b"]
    with doxa.open(tmp_path / "s", params=doxa.Params(hops=2)) as mem:
        assert mem.params.hops == 0
        assert mem.recall("alpha").ids == ["a", "b"], "given on opening: for this handle's reads"
    with doxa.open(tmp_path / "s") as mem:
        assert mem.recall("alpha").ids == ["a"]
        assert "params.set" in mem.to_arrow("journal")["op"].to_pylist()


def test_a_read_only_handle_reads_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(doxa.StoreNotFound):
        doxa.open(tmp_path / "s", read_only=True)
    with pytest.raises(doxa.StoreNotFound):
        doxa.open(tmp_path / "s", create=False)
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        mem.remember("alpha", id="a")
    files = {path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()}
    with doxa.open(tmp_path / "s", read_only=True) as mem:
        assert mem.recall("alpha").ids == ["a"]
        for write in (
            lambda: mem.remember("beta"),
            lambda: mem.remember_many([{"title": "beta"}]),
            lambda: mem.append("a", "x"),
            lambda: mem.set_params(doxa.Params(hops=1)),
            lambda: mem.upkeep.checkpoint(),
            lambda: mem.upkeep.compact(),
            lambda: mem.beliefs.entity("Ada"),
        ):
            with pytest.raises(doxa.StoreReadOnly):
                write()
        with pytest.raises(doxa.StoreReadOnly), mem.transaction():
            pass
    assert files == {
        path: path.read_bytes() for path in (tmp_path / "s").rglob("*") if path.is_file()
    }
    with pytest.raises(doxa.StoreClosed):
        mem.recall("alpha")


def test_a_confidence_is_met_by_its_own_value(mem: doxa.Memory) -> None:
    for number in range(11):
        value = number / 10
        mem.remember(f"norm{number}", kind="norm", confidence=value, id=f"n{number}")
        assert mem.recall(f"norm{number}", min_confidence=value, spread=False).ids == [
            f"n{number}"
        ], value


def test_a_name_that_another_node_has_as_its_id_makes_no_entity(mem: doxa.Memory) -> None:
    mem.remember("The cache is Redis", id="redis")
    for about in ("redis", ["redis", "Ada"]):
        with pytest.raises(doxa.DoxaError, match="redis"):
            mem.remember("It keeps sessions for an hour", about=about)
    with pytest.raises(doxa.DoxaError, match="self"):
        mem.remember("It keeps sessions for an hour", id="self", about="self")
    assert [p.id for p in mem] == ["redis"]
    assert mem.to_arrow("entities").num_rows == 0


def test_a_name_of_several_entities_is_not_taken_for_a_new_one(mem: doxa.Memory) -> None:
    mem.beliefs.entity("Ann", id="ann-1")
    mem.beliefs.entity("Ann", id="ann-2")
    with pytest.raises(doxa.DoxaError, match=r"ann-1.*ann-2"):
        mem.remember("Ann likes tea", about="Ann")
    assert mem.beliefs.resolve("ann").candidates == ("ann-1", "ann-2")


def test_two_pieces_of_evidence_do_not_share_an_id(mem: doxa.Memory) -> None:
    pieces = [{"id": "e", "text": "one"}, {"id": "e", "text": "two"}]
    with pytest.raises(doxa.DoxaError, match="evidence"):
        mem.remember("Both were said", evidence=pieces)
    assert len(mem) == 0
