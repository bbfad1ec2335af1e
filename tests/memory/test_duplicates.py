"""Is it already there? What is a duplicate, what never is, and what happens with either."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

import doxa


@pytest.fixture
def mem() -> doxa.Memory:
    return doxa.memory(seed_norms=False)


EQUAL = [
    ("The API listens on port 8080", "the api  listens on PORT 8080."),
    ("团队使用 PostgreSQL 15", "团队使用PostgreSQL 15。"),
    ("Deploys run at night", "“Deploys run at night”"),
    ("Ｔｈｅ cache is Redis", "The cache is Redis"),
    ("Café opens early", "Cafe\u0301 opens early!"),
]
DIFFERENT = [
    ("The API listens on port 8080", "The API listens on port 8081"),
    ("The release is on 2026-03-01", "The release is on 2026-03-02"),
    ("We run Python 3.11 in production", "We run Python 3.12 in production"),
    ("The limit is 5 MB per file", "The limit is 5 GB per file"),
    ("The limit is 5 seconds", "The limit is 5 minutes"),
    ("The job is allowed to retry", "The job is not allowed to retry"),
    ("The job may retry", "The job may never retry"),
    ("Ada Lovelace owns the billing service", "Grace Hopper owns the billing service"),
    ("The flag is enabled in staging", "The flag is disabled in staging"),
    ("会议在三月一日举行", "会议在三月二日举行"),
    ("他喜欢喝咖啡", "他不喜欢喝咖啡"),
    ("团队使用 PostgreSQL 15", "团队使用 PostgreSQL 16"),
    ("Alice manages Bob", "Bob manages Alice"),
    ("The backup starts before the deploy", "The deploy starts before the backup"),
    ("Meet on Monday", "Meet on Tuesday"),
    ("Revenue grew by 3.5%", "Revenue grew by 35%"),
    ("Temperature is -5 degrees", "Temperature is 5 degrees"),
    ("Version v2.1.0 is stable", "Version v2.1.1 is stable"),
]


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_what_is_equal_after_normalisation_is_refused_with_advice(
    mem: doxa.Memory, first: str, second: str
) -> None:
    there = mem.remember(first)
    with pytest.raises(doxa.DuplicateFound, match=r"append.*rewrite.*link.*allow") as found:
        mem.remember(second)
    assert [match.id for match in found.value.matches] == [there.id]
    assert found.value.matches[0].verdict == "equal"
    assert len(mem) == 1


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_a_changed_number_date_version_unit_name_or_negation_is_no_duplicate(
    mem: doxa.Memory, first: str, second: str
) -> None:
    for one, other in ((first, second), (second, first)):
        mem = doxa.memory(seed_norms=False)
        mem.remember(one)
        assert mem.remember(other).receipt.outcome == "added"
        assert [r.outcome for r in mem.remember_many([{"title": one}, {"title": other}])] == [
            "duplicate"
        ] * 2


def test_an_equal_statement_in_one_batch_is_one_row_with_two_sources(mem: doxa.Memory) -> None:
    rows = [
        {"title": "The cache is Redis", "source": "a.txt"},
        {"title": "the cache is redis.", "source": "b.txt"},
        {"title": "the cache is redis.", "source": "b.txt"},
    ]
    receipts = mem.remember_many(rows)
    assert [receipt.outcome for receipt in receipts] == ["added", "duplicate", "duplicate"]
    assert receipts[1].duplicate_of == receipts[0].ids[0]
    assert len(mem) == 1
    sources = {mem.get(receipts[0].ids[0]).source, *mem.to_arrow("evidence")["source"].to_pylist()}
    assert sources == {"a.txt", "b.txt"}
    assert mem.to_arrow("evidence").num_rows == 1
    assert len({receipt.commit for receipt in receipts}) == 1


def test_merging_adds_other_words_as_a_signed_note_and_equal_ones_not(mem: doxa.Memory) -> None:
    there = mem.remember("The deploy of the API is on the main branch")
    same = mem.remember(
        "the deploy of the API is on the main branch!", on_duplicate="merge", by="bob"
    )
    assert (same.id, same.body, same.rev) == (there.id, "", 1)
    assert same.receipt.outcome == "duplicate"
    more = mem.remember(
        "The deploy of an API is on the main branch", on_duplicate="merge", by="bob"
    )
    assert more.id == there.id
    assert "bob]" in more.body
    assert more.body.endswith("The deploy of an API is on the main branch")
    assert more.title == there.title


def test_allowing_stores_it_all_the_same_without_a_link(mem: doxa.Memory) -> None:
    there = mem.remember("The cache is Redis")
    again = mem.remember("The cache is Redis", on_duplicate="allow", reason="said by another team")
    assert again.id != there.id
    assert mem.stats()["links"] == 0
    assert "said by another team" in str(again.receipt.warnings)


def test_two_handles_that_allow_the_same_words_at_the_same_moment_draw_two_ids(
    tmp_path: Any,
) -> None:
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    with doxa.open(tmp_path / "s", seed_norms=False) as one, doxa.open(tmp_path / "s") as two:
        first = one.remember("The cache is Redis", at=at, on_duplicate="allow")
        second = two.remember("The cache is Redis", at=at, on_duplicate="allow")
        assert first.id != second.id
        assert len(list(one)) == len(list(two)) == 2


def test_what_is_like_but_not_the_same_is_stored_and_linked_for_review(mem: doxa.Memory) -> None:
    first = mem.remember("The billing service stores invoices in PostgreSQL")
    second = mem.remember("The billing service keeps its invoices in PostgreSQL tables")
    assert second.receipt.outcome == "added"
    assert second.receipt.possible_duplicates == (first.id,)
    links = mem.to_arrow("links").to_pylist()
    assert [(row["source"], row["target"], row["relation"]) for row in links] == [
        (second.id, first.id, "possible_duplicate")
    ]


def test_text_that_came_out_of_recall_is_recognised(mem: doxa.Memory) -> None:
    there = mem.remember("The API listens on port 8080", "Behind the proxy it is reached on 443.")
    hit = mem.recall("api port")[0]
    for words in ((hit.title, hit.summary), (f"{hit.title}: {hit.summary}",)):
        with pytest.raises(doxa.DuplicateFound) as found:
            mem.remember(*words)
        assert found.value.matches[0].id == there.id


def test_something_superseded_said_again_is_stored_and_linked_to_what_superseded_it(
    mem: doxa.Memory,
) -> None:
    old, new = mem.remember("The port is 8080"), mem.remember("The port is 9090")
    mem.link(new.id, old.id, "supersedes")
    again = mem.remember("The port is 8080")
    assert again.receipt.outcome == "added"
    assert again.id not in (old.id, new.id)
    assert new.id in again.receipt.possible_duplicates
    assert mem.get(old.id).status == "superseded"


def test_scopes_that_do_not_meet_and_what_is_retired_are_not_compared(mem: doxa.Memory) -> None:
    first = mem.remember("Use port 8080", scope={"env": "prod"})
    assert mem.remember("Use port 8080", scope={"env": "dev"}).receipt.possible_duplicates == ()
    with pytest.raises(doxa.DuplicateFound):
        mem.remember("Use port 8080", scope={"env": "prod", "repo": "acme"})
    mem.upkeep.retire(first.id, "scene_gone", reason="the server is gone")
    assert mem.remember("Use port 8080", scope={"env": "prod"}).status == "active"


def test_two_values_of_a_claim_are_two_statements(mem: doxa.Memory) -> None:
    claim = {"subject": "ada", "attribute": "speaks", "cardinality": "many"}
    mem.remember("Ada speaks a language", claim={**claim, "value": "French"})
    second = mem.remember("Ada speaks a language", claim={**claim, "value": "German"})
    assert second.receipt.outcome == "added"


def test_an_id_that_is_taken_is_refused_in_any_form_of_unicode(mem: doxa.Memory) -> None:
    mem.remember("first words", id="é")
    with pytest.raises(doxa.AlreadyExists, match="taken by a proposition"):
        mem.remember("quite another thing", id="e\u0301")
    assert "e\u0301" in mem
    assert mem.get("e\u0301").id == "é"
    mem.remember("long", id="x" * 256)
    mem.remember("as long in bytes", id="é" * 128)
    assert {"x" * 256, "é" * 128} <= {p.id for p in mem}


def test_many_at_once_equals_one_by_one() -> None:
    rows: list[dict[str, Any]] = [
        {"title": "The cache is Redis", "id": "a", "about": ["Redis"]},
        {"title": "the cache is redis", "id": "b"},
        {"title": "The cache is Redis 7", "id": "c", "links": ["a"]},
        {"title": "", "id": "d"},
        {"title": "The queue is NATS", "id": "e", "links": ["nowhere"]},
        {"title": "Finish it", "id": "f", "kind": "task"},
        {"title": "The queue is NATS", "id": "g", "evidence": ["read in the file"]},
        {"title": "taken", "id": "a"},
    ]
    many, single = (doxa.memory(seed_norms=False) for _ in range(2))
    together = many.remember_many(rows)
    for row, receipt in zip(rows, together, strict=True):
        try:
            alone = single.remember(**row, on_duplicate="merge").receipt
        except doxa.DoxaError as error:
            alone = doxa.Receipt(outcome="refused", error=str(error))
        assert (receipt.outcome, receipt.ids, receipt.warnings, receipt.error) == (
            alone.outcome,
            alone.ids,
            alone.warnings,
            alone.error,
        )
    ignored = ("recorded_at", "last_used", "commit_seq")
    assert many.to_arrow("propositions").drop_columns(ignored) == single.to_arrow(
        "propositions"
    ).drop_columns(ignored)
    links = ["target", "relation", "weight"]  # evidence has generated ids
    assert many.to_arrow("links").select(links) == single.to_arrow("links").select(links)


def test_rare_words_weigh_more_than_common_ones_before_something_is_left_to_a_judge(
    mem: doxa.Memory,
) -> None:
    common = "alpha beta gamma delta kappa lambda mu nu"
    mem.remember_many({"title": f"{common} item{n}"} for n in range(60))
    first = mem.remember("quokka wombat alpha beta gamma delta")
    rare = mem.remember("kappa lambda mu nu wombat quokka")
    assert first.id in rare.receipt.possible_duplicates
    assert doxa._core.compare(first.title, rare.title)[0] == "different"  # all words alike
