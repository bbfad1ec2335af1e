"""Each command: what it does, what it says, which code it ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import doxa
from tests.cli.support import Run, document, without_ids


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Path:
    """A store with two facts, one of them replaced."""
    assert run("init", "--no-seed-norms").exit_code == 0
    at = ("--at", "2026-01-01T00:00Z")
    run("remember", "The API listens on port 8080", "--id", "old", "--about", "api", *at)
    run("remember", "The API listens on port 9090", "--id", "new", "--about", "api", *at)
    run("link", "new", "old", "supersedes")
    return tmp_path / "store"


def test_init_makes_a_store_with_norms_and_says_what_comes_next(run: Run, tmp_path: Path) -> None:
    result = run("init")
    where = tmp_path / "store"
    assert result.stdout == (
        f"A store is ready in {where}, with 4 norms.\n"
        f'Next: doxa --store {where} remember "The API listens on port 8080"\n'
    )
    with doxa.open(where, create=False) as mem:
        assert len(mem) == 4


def test_init_refuses_a_store_that_is_there(run: Run) -> None:
    run("init")
    result = run("init")
    assert result.exit_code == 3
    assert "already; choose another directory, or use this one as it is" in result.stderr


def test_init_takes_parameters_of_the_store(run: Run, tmp_path: Path) -> None:
    assert run("init", "--published", "--param", "hops=1", "--language", "").exit_code == 0
    with doxa.open(tmp_path / "store") as mem:
        assert (mem.params.hops, mem.params.relevance) == (1, "count")
        assert mem.stats()["language"] == ""


def test_a_parameter_out_of_range_is_bad_input_and_no_store_is_made(
    run: Run, tmp_path: Path
) -> None:
    result = run("init", "--param", "hops=99")
    assert result.exit_code == 2
    assert result.stderr == "doxa: hops: 99 is not allowed: a whole number from 0 to 8\n"
    assert not (tmp_path / "store").exists()


def test_remember_says_the_id_and_what_may_say_the_same(run: Run) -> None:
    run("init", "--no-seed-norms")
    first = run("remember", "The API listens on port 8080")
    assert without_ids(first.stdout) == "remembered ID: The API listens on port 8080\n"
    second = run("remember", "The API listens on port 9090")
    assert without_ids(second.stdout) == (
        "remembered ID: The API listens on port 9090\n  may say the same as ID; linked for review\n"
    )


def test_remembering_the_same_again_is_refused_with_what_to_do(run: Run, store: Path) -> None:
    result = run("remember", "the API listens on port 9090.")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "there already as 'new' (equal, similarity 1.00)" in result.stderr
    merged = run("remember", "the API listens on port 9090.", "--on-duplicate", "merge")
    assert merged.exit_code == 0
    assert merged.stdout.startswith("already there as new: The API listens on port 9090\n")


def test_every_field_can_be_given_on_the_command_line(run: Run, tmp_path: Path) -> None:
    run("init", "--no-seed-norms")
    result = run(
        *("remember", "Rotate the keys", "All keys, every quarter.", "--id", "keys"),
        *("--kind", "task", "--importance", "high", "--scope", "env=prod", "--scope", "env=dev"),
        *("--exit-condition", "all keys are new", "--review-by", "2027-01-01T00:00Z"),
        *("--valid-from", "2026-01-01T00:00Z", "--valid-to", "2028-01-01T00:00+01:00"),
        *("--event-at", "2026-12-24T12:00Z", "--confidence", "0.5", "--source", "meeting"),
        *("--source-class", "third_party", "--evidence", "Ada said so", "--context", "ops"),
        *("--claim", "keys", "rotated", "quarterly", "--by", "ada", "--at", "2026-02-02T00:00Z"),
        *("--body", "-", "--category", "obligations"),
        input="from stdin\n",
    )
    assert result.exit_code == 0, result.stderr
    with doxa.open(tmp_path / "store") as mem:
        task = mem.get("keys")
        assert (task.kind, task.importance, task.category) == ("task", "high", "obligations")
        assert task.scope.to_dict() == {"env": ["dev", "prod"]}
        assert task.claim is not None
        assert (task.author, task.body) == ("ada", "from stdin")
        assert task.valid_to is not None
        assert task.valid_to.isoformat() == "2027-12-31T23:00:00+00:00"
        assert mem.to_arrow("evidence")["text"].to_pylist() == ["Ada said so"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("remember", "x", "--at", "2026-01-01"),
            "--at: '2026-01-01' is not allowed: names no moment without its zone; "
            "write 2026-01-01T00:00Z",
        ),
        (
            ("remember", "x", "--at", "yesterday"),
            "--at: 'yesterday' is not allowed: an ISO time with its zone: 2026-03-01T09:00Z",
        ),
        (
            ("remember", "x", "--scope", "prod"),
            "--scope: 'prod' is not allowed: dimension=value, such as env=prod",
        ),
        (
            ("remember", "x", "--kind", "opinion"),
            "kind: 'opinion' is not allowed: one of 'norm', 'knowledge', 'task', 'subject'",
        ),
        (
            ("remember", "clean up", "--kind", "task"),
            "exit_condition: '' is not allowed: a task says what counts as done, "
            "in at least one word",
        ),
        (("show", "nothere"), "there is no proposition 'nothere'"),
        (("append", "nothere", "note"), "there is no proposition 'nothere'"),
        (("recall", "x", "-k", "-1"), "k: -1 is not allowed: a whole number from 0 to 100,000"),
        (("import", "/nowhere"), "file: '/nowhere' is not allowed: a file or folder that exists"),
        (("bench", "-n", "1"), "-n: 1 is not allowed: from 10 to 1,000,000 propositions"),
    ],
)
def test_bad_input_is_one_line_that_says_what_value_rule(
    arguments: tuple[str, ...], line: str, run: Run
) -> None:
    run("init", "--no-seed-norms")
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == f"doxa: {line}\n"


def test_a_missing_store_is_store_trouble_and_no_store_named_is_bad_input(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = run("recall", "x")
    assert missing.exit_code == 3
    assert "there is no store at" in missing.stderr
    monkeypatch.delenv("DOXA_STORE")
    unnamed = run("recall", "x")
    assert unnamed.exit_code == 2
    assert unnamed.stderr == (
        "doxa: --store: no store was named; give --store DIR or set DOXA_STORE\n"
    )


def test_store_and_json_stand_before_or_after_the_command(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOXA_STORE", "/nowhere")
    path = str(store)
    before = run("--store", path, "--json", "stats")
    after = run("stats", "--store", path, "--json")
    assert document(before) == document(after)
    assert document(after)["propositions"] == 2
    nearer = run("--store", "/nowhere/else", "stats", "--store", path)
    assert nearer.exit_code == 0


def test_recall_shows_scores_with_their_terms_and_what_replaced_what(run: Run, store: Path) -> None:
    result = run("recall", "api port", "--now", "2026-02-01T00:00Z", "--explain")
    lines = result.stdout.splitlines()
    assert lines[0].endswith("new: The API listens on port 9090")
    assert lines[1].startswith("   = relevance ")
    assert " + strength " in lines[1]
    assert "   ! superseded by new (The API listens on port 9090)" in lines
    assert any(line.startswith(("   reached by ", "   matched by its words")) for line in lines)


def test_recall_as_json_carries_terms_that_add_up(run: Run, store: Path) -> None:
    found = document(run("--json", "recall", "api port", "--now", "2026-02-01T00:00Z"))
    assert [hit["id"] for hit in found["hits"]] == ["new", "old"]
    for hit in found["hits"]:
        assert sum(hit["terms"].values()) == pytest.approx(hit["score"], rel=1e-5)
    assert found["hits"][1]["notes"] == ["superseded by new (The API listens on port 9090)"]


def test_recall_of_nothing_says_so_and_is_no_error(run: Run, store: Path) -> None:
    result = run("recall", "zzzz")
    assert (result.exit_code, result.stdout) == (0, "nothing was found\n")


def test_show_gives_a_proposition_in_full_with_its_links(run: Run, store: Path) -> None:
    run("append", "old", "seen in nginx.conf", "--by", "ada", "--at", "2026-01-02T00:00Z")
    shown = without_ids(run("show", "old").stdout)
    assert shown == (
        "\n"
        "The API listens on port 8080\n"
        "id           old\n"
        "kind         knowledge, importance medium\n"
        "status       superseded\n"
        "replaced by  new\n"
        "category     knowledge\n"
        "confidence   0.60 (user_explicit)\n"
        "recorded     TIME by agent, revision 2\n"
        "notes        [TIME ada] seen in nginx.conf\n"
        "links        -about-> api\n"
        "             <-possible_duplicate- new\n"
        "             <-supersedes- new\n"
    )
    both = document(run("--json", "show", "old", "new"))
    assert [item["id"] for item in both] == ["old", "new"]
    assert {link["relation"] for link in both[0]["links"]} == {
        "about",
        "possible_duplicate",
        "supersedes",
    }


def test_show_without_ids_lists_the_latest(run: Run, store: Path) -> None:
    run("remember", "端口换成 7070", "--id", "最新")
    listed = document(run("--json", "show", "-n", "2"))
    assert [item["id"] for item in listed] == ["最新", "old"]
    assert run("show", "-n", "1").stdout.splitlines()[-1] == "1 of 3"


def test_link_and_unlink_say_what_they_did(run: Run, store: Path) -> None:
    assert run("link", "new", "old").stdout == "linked new -relates-> old\n"
    assert run("link", "new", "old").stdout == "already linked new -relates-> old\n"
    removed = run("link", "new", "old", "supersedes", "--remove")
    assert removed.stdout == "unlinked new -supersedes-> old\n"
    assert document(run("--json", "show", "old"))["status"] == "active"


def test_rescore_lists_the_strongest(run: Run, store: Path) -> None:
    scored = document(run("--json", "rescore", "--now", "2026-01-01T00:00Z", "-k", "1"))
    assert scored["count"] == 2
    assert scored["strongest"][0]["strength"] == pytest.approx(1.2)
    assert run("rescore").stdout.splitlines()[0].split() == [
        *("strength", "base", "recency", "frequency", "title", "id")
    ]


def test_import_names_refused_lines_and_ends_with_one(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"title":"a fact"}\nnonsense\n{"title":3}\n', encoding="utf-8")
    result = run("import", str(file))
    assert result.exit_code == 1
    assert result.stdout == (
        f"{file} (jsonl): added 1 propositions\n"
        "  refused: line 2: not JSON (Expecting value: line 1 column 1 (char 0)), "
        "'nonsense': skipped\n"
        "  refused: line 3: title: 3 is not allowed: a string: skipped\n"
    )
    again = document(run("--json", "import", str(file)))
    assert (again["propositions"], again["duplicates"]) == (0, 1)
    assert [problem["line"] for problem in again["refused"]] == [2, 3]


def test_a_strict_import_writes_nothing_and_a_dry_run_makes_no_store(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"title":"a fact"}\nnonsense\n', encoding="utf-8")
    dry = run("import", str(file), "--dry-run")
    assert dry.stdout.startswith(f"{file} (jsonl): would add 1 propositions\n")
    assert not (tmp_path / "store").exists()
    strict = run("import", str(file), "--strict")
    assert strict.exit_code == 1
    assert strict.stdout.startswith(f"{file} (jsonl): nothing was written, because of --strict\n")
    assert document(run("--json", "stats"))["propositions"] == 0


def test_export_and_import_through_files_and_stdout(run: Run, store: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "a.jsonl", tmp_path / "other"
    count = document(run("--json", "export", str(file)))["records"]
    assert run("export", "-").stdout_bytes == file.read_bytes()
    assert run("export", str(file)).exit_code == 2
    assert run("export", str(file), "--force").stdout == f"wrote {count} records to {file}\n"
    assert run("import", str(file), "--store", str(other)).exit_code == 0
    assert run("export", "-", "--store", str(other)).stdout_bytes == file.read_bytes()


def test_verify_reads_a_store_and_finds_nothing(run: Run, store: Path) -> None:
    result = run("verify")
    assert result.exit_code == 0
    assert "problems    none" in result.stdout


def test_damage_is_store_trouble_and_repair_saves_a_copy(
    run: Run, store: Path, tmp_path: Path
) -> None:
    journal = next((store / "journal").iterdir())
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 1
    journal.write_bytes(data)
    broken = run("verify")
    assert broken.exit_code == 3
    assert broken.stderr.startswith("doxa: ")
    saved = run("repair", str(tmp_path / "copy"))
    assert saved.exit_code == 1
    assert saved.stdout.startswith(f"what could be saved is in {tmp_path / 'copy'}")
    assert run("stats", "--store", str(tmp_path / "copy")).exit_code == 0


def test_an_error_as_json_is_one_document(run: Run, store: Path) -> None:
    result = run("--json", "show", "nothere")
    assert document(result) == {
        "error": {
            "type": "NotFound",
            "message": "there is no proposition 'nothere'",
            "id": "nothere",
        }
    }


def test_bench_quick_measures_and_prints_a_checksum_that_does_not_change(run: Run) -> None:
    first = document(run("--json", "bench", "-n", "60", "--queries", "20"))
    second = document(run("--json", "bench", "-n", "60", "--queries", "20"))
    assert first["checksum"] == second["checksum"]
    assert set(first["times"]) == {"mem.recall", "core", "yardstick"}
    assert all(row["p99_us"] >= row["p50_us"] > 0 for row in first["times"].values())
    shown = run("bench", "-n", "60", "--queries", "20").stdout.splitlines()
    assert shown[1].split() == ["p50", "µs", "p99", "µs", "×", "yardstick"]


def test_text_of_a_memory_cannot_command_the_terminal(run: Run, store: Path) -> None:
    title = "red \x1b[31m alert \u202e turned \x07"
    assert run("remember", title, "--id", "evil").exit_code == 0
    for command in (("recall", "alert"), ("show", "evil"), ("show",)):
        shown = run(*command).stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "red \\x1b[31m alert \\u202e turned \\x07" in shown
    assert json.loads(run("--json", "show", "evil").stdout)["title"] == title


def test_help_names_every_command_and_the_exit_codes(run: Run) -> None:
    shown = run("--help").stdout
    for name in (
        *("init", "remember", "append", "link", "recall", "show", "rescore", "stats"),
        *("import", "export", "verify", "repair", "bench", "demo"),
    ):
        assert f"\n  {name} " in shown
    assert "Exit codes: 0 ok, 1 findings or rows refused, 2 bad input, 3 store trouble." in shown


def test_an_unknown_command_is_bad_input(run: Run) -> None:
    result = run("recal", "x")
    assert result.exit_code == 2
    assert "Did you mean 'recall'?" in result.stderr
