"""Recall through the public API beside the slow oracle, on random small graphs.

Scores agree to 1e-5 and the order is the same except between scores that close. Cases in
which a contribution lies that near to the threshold, or a seed to the cut, are rejected.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import os
import re
from functools import cached_property
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import doxa
from tests import reference
from tests.reference import Filters, Graph, Link, Node

NEAR = 1e-5
#: All days of writing lie in one March, whose name has no stem of its own.
START = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
STEMS = {"ports": "port", "rivers": "river", "running": "run", "billing": "bill"}
FUNCTION_WORDS = frozenset({"the", "of"})
WORDS = ("port", "ports", "river", "rivers", "running", "run", "the", "of", "zc", "zd", "数据库",
         "端口", "kotlin", "billing", "team", "snake_case", "v2.1")  # fmt: skip
ENTITIES = {"kotlin": ("kotlin",), "squad": ("billing team", "zd squad")}
SITUATION = {"env": "prod"}
VERDICTS = {"": "applies", "prod": "applies", "dev": "no", "narrow": "conditional"}
SCOPES = {
    "": None,
    "prod": {"env": "prod"},
    "dev": {"env": "dev"},
    "narrow": {"env": "prod", "repo": "a/b"},
}
RELATIONS = ("relates", "supports", "refutes", "depends_on", "part_of", "incompatible")
STATUS_SETS = (reference.RETURNED, {"active"}, {"active", "superseded"})

TEXT = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
DAY = st.integers(0, 30)
WEIGHT = st.sampled_from([1.0, 0.7, 0.35])
PROPOSITION = st.fixed_dictionaries(
    {
        "title": st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        "summary": TEXT,
        "body": TEXT,
        "evidence": st.lists(TEXT.filter(bool), max_size=1),
        "kind": st.sampled_from(["norm", "knowledge", "subject"]),
        "category": st.sampled_from(["health", "other"]),
        "importance": st.sampled_from(reference.IMPORTANCES),
        "confidence": st.integers(-10, 10).map(lambda n: n / 10),
        "scope": st.sampled_from(list(SCOPES)),
        "valid": st.one_of(st.none(), st.tuples(st.integers(0, 20), st.integers(30, 60))),
        "day": DAY,
        "uses": st.lists(DAY, max_size=2),
        "about": st.lists(st.sampled_from(list(ENTITIES)), max_size=2, unique=True),
        "mentions": st.lists(st.sampled_from(list(ENTITIES)), max_size=1),
        "context": st.sampled_from([None, None, "session"]),
        "retired": st.sampled_from([False] * 7 + [True]),
    }
)
PICK = st.integers(0, 7)
LINKS = st.lists(st.tuples(PICK, PICK, st.sampled_from(RELATIONS), WEIGHT), max_size=14)
SUPERSEDED = st.lists(st.tuples(PICK, PICK), max_size=2)
PARAMS = st.fixed_dictionaries(
    {
        "relevance": st.sampled_from(["bm25", "count"]),
        "damp": st.sampled_from(["sender", "receiver"]),
        "direction": st.sampled_from(["out", "both"]),
        "damp_allowance": st.sampled_from([0.0, 2.0, 8.0]),
        "hops": st.integers(0, 4),
        "lam": st.sampled_from([0.9, 0.5, 1.0]),
        "theta": st.sampled_from([0.02, 0.0, 0.2]),
        "max_seeds": st.sampled_from([8, 64, 2]),
        "seed_power": st.sampled_from([0.0, 1.0]),
        "w_body": st.sampled_from([0.75, 0.25]),
        "conductance": st.sampled_from(
            [{}, {"mentions": 1.0, "relates": 0.0}, {"supersedes": 0.3}]
        ),
        "lift_successor": st.booleans(),
    }
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.sampled_from([["norm"], ["knowledge", "subject"]]),
        "categories": st.just(["health"]),
        "scope": st.just(SITUATION),
        "statuses": st.sampled_from(STATUS_SETS),
        "valid_at": st.integers(0, 60),
        "min_confidence": st.sampled_from([-0.45, 0.05, 0.55]),
        "about": st.sampled_from(list(ENTITIES)),
        "spread": st.booleans(),
        "history": st.booleans(),
    },
)


#: A run of Chinese is bigrams, and each of its characters too, for queries of one character.
RUN = re.compile(r"[\u4e00-\u9fff]{2,}")
CONFIDENCE_HALF_LIFE = 90


class Indexed(Graph):
    """A graph whose documents hold the characters of Chinese runs beside their bigrams."""

    @cached_property
    def documents(self) -> dict[str, reference.Document]:
        found = dict(Graph.documents.func(self))  # type: ignore[attr-defined]
        for name, document in found.items():
            node = self.by_id[name]
            for field in ("title", "summary", "body", "evidence"):
                texts = getattr(node, field)
                for text in (texts,) if isinstance(texts, str) else texts:
                    for run in RUN.findall(text):
                        document.terms[field].update((character, False) for character in run)
        return found


def on(day: float) -> dt.datetime:
    return START + dt.timedelta(days=day)


class Case:
    """The same graph twice: in a memory and for the oracle."""

    def __init__(self, language: str, store: doxa.Params) -> None:
        self.mem = doxa.memory(seed_norms=False, language=language, params=store)
        self.language = language
        self.nodes: dict[str, Node] = {}
        self.links: dict[tuple[str, str, str], Link] = {}
        for entity, names in ENTITIES.items():
            self.mem.beliefs.entity(names[0], id=entity, aliases=names[1:])
            self.nodes[entity] = Node(entity, "entity", names=names)

    def add(self, number: int, given: dict[str, Any]) -> None:
        name, when = f"n{number}", on(given["day"])
        evidence = [{"id": f"e{number}", "text": text} for text in given["evidence"]]
        first, last = given["valid"] or (None, None)
        self.mem.remember(
            **{
                key: given[key]
                for key in ("title", "summary", "body", "kind", "category", "importance")
            },
            **{key: given[key] for key in ("confidence", "about", "context")},
            id=name,
            evidence=evidence,
            scope=SCOPES[given["scope"]],
            valid_from=None if first is None else on(first),
            valid_to=None if last is None else on(last),
            at=when,
            on_duplicate="allow",
        )
        for day in given["uses"]:
            self.mem.use(name, at=on(day))
        self.nodes[name] = Node(
            name,
            **{
                key: given[key]
                for key in ("title", "summary", "body", "kind", "category", "importance")
            },
            id_text=name,
            date=f"{when:%Y-%m-%d} {when.day} March 2026",
            evidence=tuple(given["evidence"]),
            scope=VERDICTS[given["scope"]],
            last_used=max(given["uses"], default=given["day"]),
            use_count=len(given["uses"]),
            recorded_at=given["day"],
            valid_from=first,
            valid_to=last,
            confidence=given["confidence"],
            status="retired" if given["retired"] else "active",
        )
        for item in evidence:
            self.nodes[item["id"]] = Node(item["id"], "evidence")
            self.linked(item["id"], name, "supports", 1.0)
        for entity in given["about"]:
            self.linked(name, entity, "about", 1.0)
        for entity in given["mentions"]:
            self.mem.link(name, entity, "mentions")
            self.linked(name, entity, "mentions", 1.0)
        if given["context"]:
            self.nodes.setdefault("session", Node("session", "context"))
            self.linked(name, "session", "in_context", 1.0)

    def linked(self, a: str, b: str, relation: str, weight: float) -> None:
        self.links[a, b, relation] = Link(a, b, relation, weight)

    def link(self, a: str, b: str, relation: str, weight: float) -> None:
        try:
            self.mem.link(a, b, relation, weight=weight)
        except doxa.InvalidValue:  # to itself, or a cycle
            return
        self.linked(a, b, relation, weight)
        if relation == "supersedes" and self.nodes[b].status == "active":
            self.nodes[b] = dataclasses.replace(self.nodes[b], status="superseded")

    def graph(self) -> Graph:
        stem = (lambda word: STEMS.get(word, word)) if self.language else None
        return Indexed(
            list(self.nodes.values()),
            list(self.links.values()),
            cut=lambda text: doxa.terms(text, self.language),
            stem=stem,
            function_words=FUNCTION_WORDS,
        )


def build(language: str, propositions: list[Any], links: list[Any], superseded: list[Any]) -> Case:
    case, count = Case(language, doxa.Params()), len(propositions)
    for number, item in enumerate(propositions):
        case.add(number, item)
    for a, b, relation, weight in links:
        case.link(f"n{a % count}", f"n{b % count}", relation, weight)
    for a, b in superseded:
        case.link(f"n{a % count}", f"n{b % count}", "supersedes", 1.0)
    for number, item in enumerate(propositions):
        if item["retired"]:
            case.mem.upkeep.retire(f"n{number}", "scene_gone", reason="as the case says")
    return case


def near(a: float, b: float) -> bool:
    return abs(a - b) <= NEAR * abs(b) + 1e-7


def close_calls(ask: Any, params: doxa.Params) -> bool:
    """Tell whether the answer hangs on a contribution at the threshold or a seed at the cut."""
    seen = [
        {h.id: h for h in ask(params.replace(theta=params.theta * (1 + s)))} for s in (-2e-5, 2e-5)
    ]
    if seen[0].keys() != seen[1].keys():
        return True
    if any(not near(h.activation, seen[1][name].activation) for name, h in seen[0].items()):
        return True
    flat = sorted(
        h.combined for h in ask(params.replace(hops=0, lift_successor=False)) if h.combined
    )
    ties = any(near(b, a) for a, b in itertools.pairwise(flat))
    return ties and params.max_seeds < len(flat)


def beyond_the_oracle(graph: Graph, query: str, params: doxa.Params) -> bool:
    """Tell whether the core decides here what the oracle's formulas leave open.

    An entity named where nothing seeds; one word asked both as itself and as a stem; what
    a superseded node would have received had no factor brought it under the threshold.
    """
    words = set(graph.cut(query))
    if graph.stem is not None and words & {graph.stem(word) for word in words if word in STEMS}:
        return True
    replaced = any(node.status == "superseded" for node in graph.nodes)
    if replaced and params.lift_successor and params.theta > 0:
        return True
    seeding = any(
        reference.seeds_from(graph, document, query, params)
        for name, document in graph.documents.items()
        if graph.by_id[name].status == "active" and graph.by_id[name].scope == "applies"
    )
    return bool(graph.named(query)) and not seeding


def agree(hits: doxa.Hits, wanted: list[reference.Hit], k: int) -> None:
    by_id = {hit.id: hit for hit in wanted}
    assert len(hits) == min(len(wanted), k), (hits.ids, wanted)
    for hit, there in zip(hits, wanted, strict=False):
        mine = by_id[hit.id]
        assert near(hit.score, there.score), (hit, there)
        assert near(hit.score, mine.score), (hit, mine)
        assert near(hit.terms["relevance"] + hit.terms["strength"], mine.combined), (hit, mine)
        assert near(hit.terms["activation"], mine.activation), (hit, mine)
        assert near(hit.terms.get("succession", 0.0), mine.succession), (hit, mine)
        assert hit.score == pytest.approx(sum(hit.terms.values()), rel=1e-9)


@settings(
    max_examples=int(os.environ.get("DOXA_EXAMPLES", "100")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    language=st.sampled_from(["", "en"]),
    propositions=st.lists(PROPOSITION, min_size=1, max_size=8),
    links=LINKS,
    superseded=SUPERSEDED,
    asks=st.lists(
        st.tuples(
            st.lists(st.sampled_from((*WORDS, "n1", "2026")), min_size=1, max_size=5),
            PARAMS,
            FILTERS,
        ),
        min_size=1,
        max_size=3,
    ),
    k=st.sampled_from([50, 50, 3]),
    day=st.integers(0, 300),
)
def test_recall_agrees_with_the_oracle(
    language: str, propositions: list[Any], links: list[Any], superseded: list[Any],
    asks: list[Any], k: int, day: int,
) -> None:  # fmt: skip
    case = build(language, propositions, links, superseded)
    graph = case.graph()
    for words, constants, chosen in asks:
        query, params = " ".join(words), doxa.Params(**constants)
        answer = oracle(graph, query, day, chosen)
        assume(not beyond_the_oracle(graph, query, params))
        assume(not close_calls(answer, params))
        given = dict(chosen)
        if "valid_at" in given:
            given["valid_at"] = on(given["valid_at"])
        hits = case.mem.recall(query, k=k, now=on(day), params=params, **given)
        agree(hits, answer(params), k)
        many = case.mem.recall_many([query, "", query], k=k, now=on(day), params=params, **given)
        assert [h.ids for h in many] == [hits.ids, [], hits.ids]
        assert many[0].scores.tobytes() == hits.scores.tobytes()


def faded(node: Node, day: int) -> float:
    """Return the confidence of a day; that of norms does not fade."""
    days = 0 if node.kind == "norm" else max(0.0, day - node.recorded_at)
    return node.confidence * 0.5 ** (days / CONFIDENCE_HALF_LIFE)


def oracle(graph: Graph, query: str, day: int, chosen: dict[str, Any]) -> Any:
    """Return the oracle's answer to a query as a function of the constants."""
    scoped = "scope" in chosen
    nodes = [
        dataclasses.replace(
            node, scope=node.scope if scoped else "applies", confidence=faded(node, day)
        )
        for node in graph.nodes
    ]
    asked = dataclasses.replace(graph, nodes=nodes)
    names = ("kinds", "categories", "statuses", "valid_at", "min_confidence", "about")
    filters = Filters(**{name: chosen[name] for name in names if name in chosen})

    def answer(params: doxa.Params) -> list[reference.Hit]:
        return reference.recall(
            asked,
            query,
            k=1000,
            now=float(day),
            params=params,
            filters=filters,
            use_spread=chosen.get("spread", True),
            history=chosen.get("history", False),
        )

    return answer
