"""The MCP memory server's file, in every shape met in the wild."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import doxa
from doxa.io import ImportReport

Take = Callable[..., ImportReport]

ADA = {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Likes tea"]}
BABBAGE = {"type": "entity", "name": "Babbage", "entityType": "person", "observations": []}
KNOWS = {"type": "relation", "from": "Ada", "to": "Babbage", "relationType": "works with"}


def lines(*objects: object, end: str = "\n") -> str:
    return end.join(json.dumps(item, ensure_ascii=False) for item in objects) + end


def untyped(item: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in item.items() if key != "type"}


SHAPES = {
    "lines": lines(ADA, BABBAGE, KNOWS),
    "lines with relations first": lines(KNOWS, ADA, BABBAGE),
    "a byte order mark": "\ufeff" + lines(ADA, BABBAGE, KNOWS),
    "lines that end in CRLF": lines(ADA, BABBAGE, KNOWS, end="\r\n"),
    "blank lines between": lines(ADA, BABBAGE, KNOWS, end="\n\n \n"),
    "no line feed at the end": lines(ADA, BABBAGE, KNOWS).strip(),
    "an array on one line": json.dumps([ADA, BABBAGE, KNOWS]),
    "a pretty-printed array": json.dumps([ADA, BABBAGE, KNOWS], indent=2),
    "one object": json.dumps({"entities": [untyped(ADA), untyped(BABBAGE)], "relations": [KNOWS]}),
    "one pretty-printed object": json.dumps(
        {"entities": [untyped(ADA), untyped(BABBAGE)], "relations": [untyped(KNOWS)]}, indent=4
    ),
    "an object in a wrapper": json.dumps(
        {"graph": {"entities": [ADA, BABBAGE], "relations": [KNOWS]}}, indent=1
    ),
    "entities by name": json.dumps(
        {
            "entities": {
                "Ada": {"entityType": "person", "observations": ["Likes tea"]},
                "Babbage": {"entityType": "person"},
            },
            "relations": [untyped(KNOWS)],
        },
        indent=2,
    ),
    "relations nested in entities": json.dumps(
        {
            "entities": [
                {
                    **untyped(ADA),
                    "relations": [{"target": "Babbage", "relationType": "works with"}],
                },
                untyped(BABBAGE),
            ]
        },
        indent=2,
    ),
    "pretty-printed objects one after another": "\n".join(
        json.dumps(item, indent=2) for item in (ADA, BABBAGE, KNOWS)
    ),
    "nodes with labels and properties": json.dumps(
        {
            "nodes": [
                {
                    "id": 1,
                    "labels": ["person"],
                    "properties": {"name": "Ada", "observations": ["Likes tea"]},
                },
                {"id": 2, "labels": ["person"], "properties": {"name": "Babbage"}},
            ],
            "edges": [{"source": 1, "target": 2, "type": "works with"}],
        },
        indent=2,
    ),
    "a graph database's lines": lines(
        {
            "type": "node",
            "id": "7",
            "labels": ["person"],
            "properties": {"name": "Ada", "observations": ["Likes tea"]},
        },
        {"type": "node", "id": "8", "labels": ["person"], "properties": {"name": "Babbage"}},
        {
            "type": "relationship",
            "label": "works with",
            "start": {"id": "7"},
            "end": {"id": "8"},
        },
    ),
    "observations as objects": lines(
        {**ADA, "observations": [{"content": "Likes tea", "timestamp": "2025-01-01T00:00:00Z"}]},
        BABBAGE,
        KNOWS,
    ),
    "other names of the keys": lines(
        {"name": "Ada", "entity_type": "person", "observations": "Likes tea"},
        {"name": "Babbage", "entity_type": "person", "observations": []},
        {"source": "Ada", "target": "Babbage", "relation_type": "works with"},
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_graph(shape: str, mem: doxa.Memory, take: Take) -> None:
    report = take(SHAPES[shape], format="mcp")
    assert report.refused == ()
    assert {p.title for p in mem.propositions()} == {"Ada: Likes tea", "Ada works with Babbage"}
    entities = {e["name"]: e["type"] for e in mem.to_arrow("entities").to_pylist()}
    assert entities == {"Ada": "person", "Babbage": "person"}
    links = {
        (row["source"][:7], row["relation"], row["target"])
        for row in mem.to_arrow("links").to_pylist()
    }
    assert links == {
        ("mcp/obs", "about", "entity/ada"),
        ("mcp/rel", "about", "entity/ada"),
        ("mcp/rel", "value", "entity/babbage"),
    }


@pytest.mark.parametrize("shape", SHAPES)
def test_the_format_of_every_shape_is_told_from_its_content(shape: str, take: Take) -> None:
    assert take(SHAPES[shape], name="memory.txt").format == "mcp"


def test_ids_do_not_depend_on_the_shape_so_that_a_second_import_adds_nothing(
    mem: doxa.Memory, take: Take
) -> None:
    first = take(SHAPES["lines"])
    assert (first.propositions, first.entities, first.links) == (2, 2, 3)
    before = mem.to_arrow("propositions"), mem.to_arrow("links")
    for content in SHAPES.values():
        report = take(content, format="mcp")
        assert (report.added, report.refused) == (0, ())
    assert before == (mem.to_arrow("propositions"), mem.to_arrow("links"))


def test_a_relation_becomes_a_claim_of_its_subject(mem: doxa.Memory, take: Take) -> None:
    take(SHAPES["lines"])
    claim = next(p.claim for p in mem.propositions() if p.claim)
    assert (claim.subject, claim.attribute, claim.value) == (
        "entity/ada",
        "works with",
        "entity/babbage",
    )
    assert claim.cardinality == "many"


def test_a_status_kept_as_a_relation_to_a_bare_word_is_a_literal_of_one_value(
    mem: doxa.Memory, take: Take
) -> None:
    relation = {"type": "relation", "from": "Ada", "to": "done", "relationType": "has_status"}
    take(lines(ADA, relation))
    claim = next(p.claim for p in mem.propositions() if p.claim)
    assert (claim.attribute, claim.value, claim.cardinality) == ("has_status", "done", "single")
    assert {e["name"] for e in mem.to_arrow("entities").to_pylist()} == {"Ada"}


def test_a_plain_text_first_line_is_named_and_skipped(mem: doxa.Memory, take: Take) -> None:
    report = take("# my memory, do not edit\n" + lines(ADA, BABBAGE, KNOWS))
    assert report.propositions == 2
    assert [problem.line for problem in report.refused] == [1]
    assert "'# my memory, do not edit'" in str(report.refused[0])


def test_a_truncated_last_line_says_that_the_file_may_have_been_cut(take: Take) -> None:
    report = take(lines(ADA, BABBAGE) + '{"type":"relation","from":"Ada","to":"Bab')
    assert (report.propositions, report.entities) == (1, 2)
    assert report.refused[0].line == 3
    assert str(report.refused[0]).endswith("the file may have been cut short")


def test_a_document_that_breaks_off_gives_what_stands_before_the_break(take: Take) -> None:
    whole = json.dumps({"entities": [ADA, BABBAGE], "relations": [KNOWS]}, indent=2)
    report = take(whole[: whole.index('"works')], format="mcp")
    assert (report.propositions, report.entities) == (1, 2)
    assert "the document that begins on line 1 breaks here" in str(report.refused[0])
    assert report.refused[0].line == whole[: whole.index('"works')].count("\n") + 1


def test_lines_that_are_no_objects_and_unknown_types_are_named_by_line(take: Take) -> None:
    report = take(lines(ADA, 7, "text", None, {"type": "session", "id": 1}, [BABBAGE]))
    assert report.entities == 2
    assert [problem.line for problem in report.refused] == [2, 3, 4, 5]
    assert "unknown type 'session'; known are 'entity' and 'relation'" in str(report.refused[3])


def test_what_is_incomplete_is_refused_with_what_is_missing(take: Take) -> None:
    report = take(
        lines(
            {"type": "entity", "entityType": "person", "observations": ["x"]},
            {"type": "relation", "from": "Ada", "relationType": "knows"},
            {"type": "entity", "name": "Bo", "observations": ["fine", None, {"no": "text"}]},
        )
    )
    assert [str(problem).split(",")[0] for problem in report.refused] == [
        "line 1: an entity without a name",
        "line 2: a relation without to",
        "line 3: observation 2 of 'Bo' is no text",
        "line 3: observation 3 of 'Bo' is no text",
    ]
    assert (report.propositions, report.entities) == (1, 1)


def test_properties_of_a_node_become_claims_and_nested_ones_are_named(
    mem: doxa.Memory, take: Take
) -> None:
    node = {"id": 1, "labels": ["service"], "properties": {"name": "api", "port": 8080}}
    report = take(json.dumps({"nodes": [{**node, "embedding": [[0.1]]}]}), format="mcp")
    assert [p.title for p in mem.propositions()] == ["api: port: 8080"]
    assert "'embedding' of 'api' is nested" in str(report.refused[0])


def test_an_observation_of_many_lines_keeps_its_text(mem: doxa.Memory, take: Take) -> None:
    text = "First line.\nSecond line with 中文 and \u2028 a separator. " + "long " * 80
    take(lines({**ADA, "observations": [text]}))
    (found,) = mem.propositions()
    assert found.summary == text
    assert len(found.title) <= 300
    assert "\n" not in found.title


def test_times_are_kept_and_a_missing_zone_is_said(mem: doxa.Memory, take: Take) -> None:
    report = take(
        lines(
            {**ADA, "createdAt": "2025-03-24T14:38:53.603Z"},
            {**KNOWS, "createdAt": "2025-03-24T14:38:53"},
        )
    )
    assert {p.recorded_at.isoformat() for p in mem.propositions()} == {
        "2025-03-24T14:38:53.603000+00:00",
        "2025-03-24T14:38:53+00:00",
    }
    assert "1 times without a zone were taken as UTC" in [str(note) for note in report.notes]


def test_spellings_of_one_name_are_one_entity_and_that_is_said(
    mem: doxa.Memory, take: Take
) -> None:
    report = take(lines(ADA, {**ADA, "name": "ADA", "observations": ["Wrote notes"]}))
    assert report.entities == 1
    assert mem.beliefs.resolve("ADA").id == "entity/ada"
    assert [str(note) for note in report.notes] == [
        "line 2: 'ADA' is taken as another spelling of 'Ada'"
    ]


def test_an_entity_that_the_store_knows_under_another_id_is_not_doubled(
    mem: doxa.Memory, take: Take
) -> None:
    known = mem.beliefs.entity("Ada", id="people/ada")
    take(SHAPES["lines"])
    assert {row["id"] for row in mem.to_arrow("entities").to_pylist()} == {
        known.id,
        "entity/babbage",
    }
    claim = next(p.claim for p in mem.propositions() if p.claim)
    assert claim.subject == known.id


def test_strict_writes_nothing_if_one_line_is_refused(mem: doxa.Memory, take: Take) -> None:
    report = take(lines(ADA, BABBAGE) + "broken", strict=True)
    assert not report.written
    assert [problem.line for problem in report.refused] == [3]
    assert len(mem) == 0
    assert mem.to_arrow("entities").num_rows == 0


def test_a_dry_run_counts_and_writes_nothing(mem: doxa.Memory, take: Take) -> None:
    report = take(SHAPES["lines"], dry_run=True)
    assert (report.propositions, report.entities, report.written) == (2, 2, False)
    assert len(mem) == 0


def test_lone_surrogates_and_bytes_that_are_no_utf8_are_refused_by_line(take: Take) -> None:
    bad = rb'{"type":"entity","name":"Bo","observations":["\ud800 half"]}'
    worse = b'{"type":"entity","name":"Cy","observations":["\xff\xfe"]}'
    report = take(lines(ADA).encode() + bad + b"\n" + worse + b"\n")
    assert report.propositions == 1
    assert sorted(problem.line for problem in report.refused) == [2, 3]
    assert all("lone surrogates" in str(problem) for problem in report.refused)


def test_utf16_as_windows_writes_it_is_read(take: Take) -> None:
    assert take(lines(ADA, BABBAGE, KNOWS).encode("utf-16"), format="mcp").propositions == 2


def test_deep_nesting_is_refused_and_kills_nothing(take: Take) -> None:
    report = take(lines(ADA) + "[" * 100_000 + "\n" + lines(BABBAGE))
    assert report.entities == 2
    assert [problem.line for problem in report.refused] == [2]
