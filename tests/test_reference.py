"""The oracle against the golden cases and against cases small enough to do by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.reference import Filters, Graph, Link, Node, hotness, recall

GOLDEN = json.loads((Path(__file__).parent / "vectors" / "golden.json").read_text("utf-8"))
DEFAULTS: Mapping[str, Any] = {
    "seed_power": 0.0,
    "damp_allowance": 0.0,
    "relevance": "count",
    "lift_successor": False,
    "k1": 0.8,
    "b": 0.6,
    "conductance": {"relates": 1.0, "about": 1.0, "mentions": 0.4, "supersedes": 0.0},
}
RELATIVE = 1e-9


def params(**changes: Any) -> SimpleNamespace:
    """Constants of the golden file, with changes."""
    return SimpleNamespace(**{**GOLDEN["defaults"], **DEFAULTS, **changes})


def golden_graph(case: Mapping[str, Any]) -> Graph:
    """Return the nodes and links of one golden case of recall."""
    nodes = [
        Node(
            raw["id"],
            title=" ".join(raw["title"]),
            summary=" ".join(raw["summary"]),
            body=" ".join(raw["body"]),
            importance=raw["importance"],
            status=raw["status"],
            last_used=raw["last_used"],
            recorded_at=raw["last_used"],
            use_count=raw["use_count"],
        )
        for raw in case["nodes"]
    ]
    return Graph(nodes, [Link(a, b, weight=weight) for a, b, weight in case["edges"]])


@pytest.mark.parametrize("case", GOLDEN["hotness"], ids=lambda case: f"{case['days']}d")
def test_strength_agrees_with_the_golden_cases(case: Mapping[str, Any]) -> None:
    node = Node("a", importance=case["importance"], use_count=case["use_count"])
    assert hotness(node, case["days"], params()) == pytest.approx(case["expect"], rel=RELATIVE)


@pytest.mark.parametrize("case", GOLDEN["recall"], ids=range(len(GOLDEN["recall"])))
def test_recall_agrees_with_the_golden_cases(case: Mapping[str, Any]) -> None:
    hits = recall(
        golden_graph(case),
        " ".join(case["query"]),
        k=case["k"],
        now=case["now"],
        params=params(**case["params"]),
    )
    assert [hit.id for hit in hits] == [expected["id"] for expected in case["expect"]]
    for hit, expected in zip(hits, case["expect"], strict=True):
        assert hit.combined == pytest.approx(expected["combined"], rel=RELATIVE)
        assert hit.activation == pytest.approx(expected["activation"], rel=RELATIVE)


def test_what_is_about_a_named_entity_is_reached_through_it() -> None:
    graph = Graph(
        [
            Node("ann", type="entity", names=("Ann Lee",)),
            Node("a", title="zc"),
            Node("b", title="zd"),
        ],
        [Link("b", "ann", "about"), Link("a", "ann", "mentions")],
    )
    found = recall(graph, "zc", k=5, now=0, params=params(direction="out", damp="sender"))
    by_id = {hit.id: hit for hit in found}
    damp = 1 / (1 + 0.6931471805599453)
    relay = by_id["a"].combined * 0.4 * damp
    assert by_id["b"].activation == pytest.approx(relay * 0.5 / (1 + 1.0986122886681098))
    named = recall(graph, "zc Ann Lee", k=5, now=0, params=params(direction="out", damp="sender"))
    assert named[1].id == "b"
    assert named[1].activation > by_id["b"].activation


def test_a_successor_never_ranks_below_what_it_replaced() -> None:
    graph = Graph(
        [
            Node("old", title="zc zd", status="superseded"),
            Node("middle", title="zf", status="superseded"),
            Node("new", title="zg"),
        ],
        [Link("middle", "old", "supersedes"), Link("new", "middle", "supersedes")],
    )
    hits = recall(graph, "zc zd", k=5, now=0, params=params(lift_successor=True))
    assert [hit.id for hit in hits] == ["new", "old"]
    assert hits[0].succession == pytest.approx(hits[1].score / 0.3)
    plain = recall(graph, "zc zd", k=5, now=0, params=params(lift_successor=True), history=True)
    assert [hit.id for hit in plain] == ["old"]


def test_kinds_filter_results_but_scope_status_and_time_bar_energy() -> None:
    links = [Link("a", "b"), Link("b", "c")]
    nodes = [Node("a", title="zc"), Node("b", title="zd", kind="task"), Node("c", title="zf")]
    graph = Graph(nodes, links)
    found = recall(graph, "zc", k=5, now=0, params=params(), filters=Filters(kinds={"knowledge"}))
    assert [hit.id for hit in found] == ["a", "c"]
    for change in ({"status": "retired"}, {"scope": "no"}, {"valid_to": 5.0}):
        middle = Node("b", **{"title": "zd", **change})  # type: ignore[arg-type]
        barred = Graph([nodes[0], middle, nodes[2]], links)
        found = recall(barred, "zc", k=5, now=0, params=params(), filters=Filters(valid_at=9.0))
        assert [hit.id for hit in found] == ["a"]


def test_bm25_prefers_the_rare_word_and_halves_a_stem() -> None:
    nodes = [Node(f"n{row}", title="zc zd") for row in range(5)] + [Node("rare", title="zc zf")]
    found = recall(Graph(nodes, []), "zd zf", k=6, now=0, params=params(relevance="bm25"))
    assert found[0].id == "rare"
    stemmed = Graph(
        [Node("a", title="runs"), Node("b", title="zc")], [], stem=lambda w: w.rstrip("s")
    )
    whole = recall(stemmed, "runs", k=1, now=0, params=params(relevance="bm25"))[0]
    half = recall(stemmed, "run", k=1, now=0, params=params(relevance="bm25"))[0]
    assert whole.relevance == pytest.approx(3 * half.relevance)


@pytest.mark.parametrize("query", ["", "unknown"])
def test_nothing_known_gives_an_empty_answer(query: str) -> None:
    assert recall(Graph([Node("a", title="zc")], []), query, k=3, now=0, params=params()) == []
    assert recall(Graph([], []), "zc", k=3, now=0, params=params()) == []
