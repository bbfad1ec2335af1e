"""The duplicate gate on labelled pairs, and the command that measures it."""

from __future__ import annotations

import json

import pytest
from bench.quality import duplicates

from doxa import _core
from doxa.errors import InvalidValue
from doxa.params import Params
from doxa.write.measure import Pair, measure_gate, read_pairs, shipped_pairs

SURE = ("equal", "same")


def verdict(a: str, b: str) -> str:
    return _core.compare(a, b)[0]


def test_the_shipped_pairs_are_many_and_in_two_languages():
    pairs = shipped_pairs()
    assert len(pairs) == 120
    assert {pair.id[:2] for pair in pairs} == {"en", "zh"}
    assert {pair.duplicate for pair in pairs} == {True, False}
    assert len({(pair.a, pair.b) for pair in pairs}) == 120


def test_nothing_that_changes_the_meaning_is_a_duplicate():
    report = measure_gate(shipped_pairs())
    assert report.precision == 1.0
    assert report.mistakes == ()
    changed = [row for row in report.reasons if row.duplicate is False]
    assert {"number", "date", "version", "unit", "name", "negation"} <= {r.reason for r in changed}
    assert sum(row.equal + row.same for row in changed) == 0


def test_what_only_dresses_a_statement_is_always_caught():
    report = measure_gate(shipped_pairs())
    for row in report.reasons:
        if row.reason in ("dress", "function words", "number spelling", "contraction"):
            assert row.equal + row.same == row.pairs, row
    assert report.reach is not None
    assert report.reach > 0.9, "paraphrases are linked for a judge"


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("The port is 8080", "The port is 8081", "a number differs"),
        ("The cache is on", "The cache is not on", "a negation differs"),
        ("Anna owns the parser", "Ben owns the parser", "a name differs"),
        ("You may restart it", "You must restart it", "a quantifier or modal differs"),
        ("Written in C", "Written in C++", "an identifier, version or operator differs"),
        ("The dog bites the man", "The man bites the dog", "the order differs"),
        ("每天备份三次", "每天备份五次", "a number differs"),
        ("The port is 8080", "the port is 8080.", "equal after normalisation"),
        (
            "The cache lies on disk in /var",
            "Cache lies on disk in /var",
            "only function words differ",
        ),
        ("The port is 8080", "Ada likes green tea", "little in common"),
    ],
)
def test_the_reason_names_what_differs(a, b, reason):
    assert _core.compare(a, b)[2] == reason


@pytest.mark.parametrize(
    "wrapper", ["{}.", "  {} ", "“{}”", "**{}**", "- {}", "{}!!!", "({})", "{}。"]
)
def test_an_exact_duplicate_in_another_dress_is_equal(wrapper):
    for statement in ("The API listens on port 8443", "网关监听8443端口", "Uses C++ and .NET"):
        assert verdict(statement, wrapper.format(statement).upper()) == "equal"


def test_thresholds_decide_about_abstaining():
    a, b = "The nightly job copies logs", "The nightly report lists errors"
    low, high = Params(abstain_threshold=0.1), Params(abstain_threshold=0.9)
    assert measure_gate([Pair(a, b, False)], low).linked == 1
    assert measure_gate([Pair(a, b, False)], high).linked == 0


def test_every_form_of_labelled_pair_is_read(tmp_path):
    rows = [
        {"a": "x", "b": "y", "label": "duplicate", "id": "1"},
        {"a": "x", "b": "y", "label": "entailment", "duplicate": True},
        {"a": "x", "b": "y", "label": "entailment"},
        {"a": "x", "b": "y", "label": "contradiction", "category": "colors"},
        {"label": "superseded_by", "old": {"observation": "o"}, "new": {"observation": "n"}},
        {"label": "duplicate_group", "members": [{"observation": w} for w in "pqr"]},
        {"text": "Same rule."},
        {"text": "same rule"},
        {"text": "Another rule"},
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n", "utf-8")
    pairs = read_pairs(file)
    assert [pair.duplicate for pair in pairs] == [True, True, None, False, False, True, True, True]
    assert [(pair.a, pair.b) for pair in pairs[4:]] == [
        ("o", "n"),
        ("p", "q"),
        ("p", "r"),
        ("Same rule.", "same rule"),
    ]
    assert pairs[3].reason == "colors"


@pytest.mark.parametrize("line", ["no json", "[1, 2]", '{"a": "x"}', '{"a": 1, "b": "y"}'])
def test_a_line_that_is_no_pair_is_refused_with_its_number(tmp_path, line):
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"a": "x", "b": "y", "label": "duplicate"}\n' + line, "utf-8")
    with pytest.raises(InvalidValue, match="line 2"):
        read_pairs(file)


def test_the_command_prints_one_json_document_with_the_figures(capsys):
    assert duplicates.main(["--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["shipped"]
    assert figures["precision"] == 1.0
    assert figures["same_wrong"] == 0
    assert figures["reasons"][0]["pairs"] > 0


def test_the_command_prints_a_table_and_fails_under_the_bar(tmp_path, capsys):
    row = {"a": "The port stays open to guests", "b": "Port stays open to guests"}
    line = json.dumps({**row, "label": "not_duplicate"})
    (tmp_path / "wrong.jsonl").write_text(line, "utf-8")
    assert duplicates.main([str(tmp_path), "--reasons"]) == 1
    shown = capsys.readouterr().out
    assert "merged wrongly" in shown
    assert "wrong" in shown


def test_identical_texts_labelled_as_different_count_as_noise():
    report = measure_gate([Pair("x y", "x y", False), Pair("x y", "X y.", True)])
    assert (report.identical_wrong, report.precision, report.precision_without_noise) == (
        1,
        0.5,
        1.0,
    )
