"""The golden cases of the specification's formulas, through the public API."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

import doxa

CASES = json.loads((Path(__file__).parent / "vectors" / "golden.json").read_text(encoding="utf-8"))
DAY_ZERO = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
DAY = 86_400e6
TOLERANCE = 1e-5
NAMES = (
    "alpha",
    "beta",
    "rho",
    "w_title",
    "w_summary",
    "w_body",
    "base",
    "half_life",
    "w_t",
    "w_u",
    "hops",
    "lam",
    "theta",
    "max_seeds",
    "damp",
    "direction",
)


def at(days: float) -> dt.datetime:
    return DAY_ZERO + dt.timedelta(microseconds=round(days * DAY))


def params_of(given: dict) -> doxa.Params:
    constants = {name: given[name] for name in NAMES if name in given}
    conductance = {relation: float(relation == "relates") for relation in doxa.params.RELATIONS}
    return doxa.Params.published(**constants, conductance=conductance, lift_successor=False)


@pytest.mark.parametrize("case", CASES["hotness"], ids=range(len(CASES["hotness"])))
def test_strength(case) -> None:
    mem = doxa.memory(seed_norms=False, language="", params=params_of(CASES["defaults"]))
    p = mem.remember("zdc", importance=case["importance"], at=DAY_ZERO)
    for _ in range(case["use_count"]):
        mem.use([p.id], at=DAY_ZERO)
    strength = mem.rescore(now=at(case["days"]))["strength"][0].as_py()
    assert strength == pytest.approx(case["expect"], rel=TOLERANCE)


def build(case: dict) -> doxa.Memory:
    mem = doxa.memory(seed_norms=False, language="", params=params_of(case["params"]))
    text = " ".join
    with mem.transaction():
        for node in case["nodes"]:
            mem.remember(
                # A title is never empty; a lone mark has no term.
                text(node["title"]) or "·",
                text(node["summary"]),
                id=node["id"],
                body=text(node["body"]),
                importance=node["importance"],
                at=at(node["last_used"]),
                on_duplicate="allow",
            )
            for _ in range(node["use_count"]):
                mem.use([node["id"]], at=at(node["last_used"]))
        if any(node["status"] == "superseded" for node in case["nodes"]):
            outside = mem.remember("·", id="outside", at=at(0), on_duplicate="allow")
            for node in case["nodes"]:
                if node["status"] == "superseded":
                    mem.link(outside.id, node["id"], "supersedes")
        for a, b, conductance in case["edges"]:
            mem.link(a, b, weight=conductance)
        for node in case["nodes"]:
            if node["status"] == "retired":
                mem.upkeep.retire(node["id"], "scene_gone", reason="as the case says")
    return mem


@pytest.mark.parametrize("case", CASES["recall"], ids=range(len(CASES["recall"])))
def test_recall(case) -> None:
    hits = build(case).recall(
        " ".join(case["query"]), k=case["k"], now=at(case["now"]), lifecycle="off"
    )
    expected = case["expect"]
    assert len(hits) == len(expected)
    for hit, want in zip(hits, expected, strict=True):
        assert hit.score == pytest.approx(want["score"], rel=TOLERANCE)
        assert sum(hit.terms.values()) == pytest.approx(hit.score, rel=1e-6)
        combined = hit.terms["relevance"] + hit.terms["strength"]
        if hit.id == want["id"]:
            assert combined == pytest.approx(want["combined"], rel=TOLERANCE, abs=1e-9)
            assert hit.terms["activation"] == pytest.approx(
                want["activation"], rel=TOLERANCE, abs=1e-9
            )
        else:
            close = [w for w in expected if w["id"] == hit.id]
            assert close, f"{hit.id} is not among the expected"
            assert close[0]["score"] == pytest.approx(want["score"], rel=TOLERANCE)


@pytest.mark.parametrize("case", CASES["scope"], ids=range(len(CASES["scope"])))
def test_scope(case) -> None:
    a, b = doxa.Scope(case["a"]), doxa.Scope(case["b"])
    assert a.covers(b) == case["covers"]
    assert a.overlaps(b) == case["overlaps"]
    assert a.narrower(b) == case["narrower"]


@pytest.mark.parametrize("case", CASES["similarity"], ids=range(len(CASES["similarity"])))
def test_similarity(case) -> None:
    found = doxa.similarity(" ".join(case["a"]), " ".join(case["b"]))
    assert found == pytest.approx(case["expect"], rel=TOLERANCE)
