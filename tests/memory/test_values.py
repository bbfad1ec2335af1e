"""What may be given: every argument of the wrong type or out of range is refused by name."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest

import doxa

NAIVE = dt.datetime(2026, 1, 1)
FIRST = dt.datetime.min.replace(tzinfo=dt.UTC)
LAST = dt.datetime.max.replace(tzinfo=dt.UTC)
EAST = dt.timezone(dt.timedelta(hours=14))
NOT_A_TEXT = (7, None, b"bytes", ["list"], "lone \ud800 surrogate", "nul \0 inside")
NOT_A_TIME = (NAIVE, "2026-01-01", 0, dt.date(2026, 1, 1), FIRST.replace(tzinfo=EAST))
NOT_A_NUMBER = ("1", math.nan, math.inf, -math.inf, True, 10**400, [1], None)
NOT_AN_ID = (7, b"x", "", "  ", "new\nline", "\x7f", "x" * 257, "é" * 129, "\ud800", "nul\0")
NOT_A_NAME = (7, "nonsense", "", ["low"], None)

REMEMBER: dict[str, tuple[Any, ...]] = {
    "title": (*NOT_A_TEXT, "", "   ", "x" * 301, "two\nlines", "two\u2028lines"),
    "summary": NOT_A_TEXT,
    "body": NOT_A_TEXT,
    "id": tuple(value for value in NOT_AN_ID if value is not None),
    "kind": NOT_A_NAME,
    "importance": NOT_A_NAME,
    "category": (7, "nonsense", ["other"]),
    "scope": (7, "prod", ["env"], {"env": []}, {"": "x"}, {"env": 7}, {7: "x"}, {"env": "a//b"}),
    "claim": (7, "x", {}, {"subject": "a"}, {"subject": "a", "attribute": "b", "value": math.nan},
              {"subject": "a", "attribute": "b", "value": [1]}, {"subject": "a", "attribute": "b", "other": 1},
              {"subject": "a", "attribute": "b", "polarity": 1}, {"subject": "a", "attribute": "b", "value": 2**70},
              {"subject": "a", "attribute": "b", "qualifiers": {"x": math.inf}},
              {"subject": "a", "attribute": "b", "qualifiers": [1]}),
    "about": (7, [7], [""], b"x", ["x" * 257]),
    "context": (7, "", "x" * 257, ["c"]),
    "valid_from": NOT_A_TIME,
    "valid_to": NOT_A_TIME,
    "event_at": NOT_A_TIME,
    "review_by": NOT_A_TIME,
    "exit_condition": NOT_A_TEXT,
    "confidence": (*(v for v in NOT_A_NUMBER if v is not None), 1.01, -1.01),
    "source": NOT_A_TEXT,
    "source_class": NOT_A_NAME,
    "evidence": (7, [7], {}, {"id": ""}, {"text": ""}, {"text": "x", "other": 1}, [{"text": 7}],
                 {"text": "x", "at": NAIVE}, {"text": "x", "source_class": "gossip"}),
    "links": (7, [7], [("a",)], [("a", "b", 1, 1)],
              [{"relation": "relates"}]),
    "on_duplicate": NOT_A_NAME,
    "reason": NOT_A_TEXT,
    "at": NOT_A_TIME,
    "by": (7, "", "   ", "x" * 257, ["ada"]),
}  # fmt: skip
LINK: dict[str, tuple[Any, ...]] = {
    "a": (*NOT_AN_ID, None),
    "b": (*NOT_AN_ID, None),
    "relation": NOT_A_NAME,
    "weight": (*NOT_A_NUMBER, 0, 0.0, -0.5, 1.0001),
    "valid_from": NOT_A_TIME,
    "valid_to": NOT_A_TIME,
    "at": NOT_A_TIME,
    "by": (7, ""),
}
RECALL: dict[str, tuple[Any, ...]] = {
    "query": NOT_A_TEXT,
    "k": (-1, 1.0, "3", True, None, 10**9),
    "hops": (-1, 9, 1.0, 2.0, True, "1", [1]),
    "spread": (0, 1, "yes", None),
    "relevance": ("tfidf", 7, ["bm25"]),
    "scope": (7, "prod", {"env": []}),
    "kinds": (7, ["nonsense"], [7]),
    "categories": (7, ["nonsense"]),
    "statuses": (7, ["nonsense"]),
    "include": (7, ["active"], ["nonsense"]),
    "history": (0, 1, "yes", None),
    "valid_at": NOT_A_TIME,
    "now": NOT_A_TIME,
    "min_confidence": ("1", math.nan, 1.5, True),
    "min_confidence_of_hits": ("1", math.nan, -0.1, True),
    "params": (7, {}, "published"),
    "about": (7, [7], ""),
    "unknown": (1,),
}
PARAMS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("alpha", "beta", "w_title", "theta", "k1", "damp_allowance"), (*NOT_A_NUMBER, -1)
    ),
    **dict.fromkeys(("rho", "lam", "b", "duplicate_threshold"), (*NOT_A_NUMBER, -0.1, 1.1)),
    "hops": (-1, 9, 1.0, "1", True, None),
    "max_seeds": (-1, 1.5, True),
    "relevance": NOT_A_NAME,
    "damp": NOT_A_NAME,
    "direction": NOT_A_NAME,
    "conductance": (7, {"knows": 1}, {"relates": 1.5}, {"relates": math.nan}),
    "base": (7, {}, {"low": 0, "medium": 0.4, "high": 0.2, "resident": 0.6}),
    "half_life": ({"low": 0, "medium": 1, "high": 2, "resident": 3},),
    "lift_successor": (1, None),
    "authorities": ("ada", [7], [""]),
    "w_u": (0.5,),
    "w_t": (0.1,),
    "nonsense": (1,),
}


def cases(table: dict[str, tuple[Any, ...]]) -> list[Any]:
    return [
        pytest.param(name, value, id=f"{name}-{number}")
        for name, values in table.items()
        for number, value in enumerate(values)
    ]


@pytest.fixture(scope="module")
def mem() -> doxa.Memory:
    made = doxa.memory(seed_norms=False)
    made.remember("The API listens on port 8080", id="a")
    made.remember("The cache is Redis", id="b")
    return made


def refused(error: pytest.ExceptionInfo[doxa.InvalidValue], name: str) -> None:
    """Check that a message names the argument, is printable and not as long as the value."""
    message = str(error.value)
    assert name in message
    message.encode("utf-8")
    assert 20 < len(message) < 800


@pytest.mark.parametrize(("name", "value"), cases(REMEMBER))
def test_remember_refuses_a_wrong_argument_by_its_name(
    mem: doxa.Memory, name: str, value: Any
) -> None:
    with pytest.raises(doxa.InvalidValue) as error:
        mem.remember(**{"title": "Something new here", name: value})
    refused(error, name)
    assert len(mem) == 2


@pytest.mark.parametrize(("name", "value"), cases(LINK))
def test_link_refuses_a_wrong_argument_by_its_name(mem: doxa.Memory, name: str, value: Any) -> None:
    with pytest.raises(doxa.InvalidValue) as error:
        mem.link(**{"a": "a", "b": "b", name: value})
    refused(error, name)
    assert mem.stats()["links"] == 0


@pytest.mark.parametrize(("name", "value"), cases(RECALL))
def test_recall_refuses_a_wrong_argument_by_its_name(
    mem: doxa.Memory, name: str, value: Any
) -> None:
    mem.recall("port", hops=1)  # what was checked before shall not help what is wrong now
    mem.recall("port", hops=2)
    with pytest.raises(doxa.InvalidValue) as error:
        mem.recall(**{"query": "port", name: value})
    refused(error, name)


@pytest.mark.parametrize(("name", "value"), cases(PARAMS))
def test_params_refuse_a_wrong_constant_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(doxa.InvalidValue) as error:
        doxa.Params(**{name: value})
    refused(error, name)


@pytest.mark.parametrize("value", [NAIVE])
def test_a_naive_time_is_refused_with_how_to_mend_it(mem: doxa.Memory, value: dt.datetime) -> None:
    with pytest.raises(doxa.InvalidValue, match=r"at: .*replace\(tzinfo=timezone.utc\)"):
        mem.remember("A moment without a zone", at=value)


@pytest.mark.parametrize("moment", [FIRST, LAST, dt.datetime(1969, 12, 31, 23, 59, tzinfo=EAST)])
def test_the_first_and_the_last_year_are_times_like_others(
    tmp_path: Any, moment: dt.datetime
) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        mem.remember("long ago or far ahead", id="p", at=moment, event_at=moment, valid_from=moment)
        mem.remember("do it", id="t", kind="task", exit_condition="done", at=moment)
        mem.use("p", at=moment)
        for now in (FIRST, LAST):
            scores = mem.recall("long ago", now=now).scores
            assert all(math.isfinite(score) for score in scores)
            assert len(scores) == 1
        before = list(mem)
        mem.upkeep.compact()
    with doxa.open(tmp_path / "s") as mem:
        assert list(mem) == before
        held = mem.get("p")
        assert held.recorded_at == held.event_at == held.valid_from == held.last_used == moment


def test_an_end_is_after_its_beginning(mem: doxa.Memory) -> None:
    for write in (mem.link, lambda *_, **times: mem.remember("ends", **times)):
        with pytest.raises(doxa.InvalidValue, match="valid_to"):
            write("a", "b", valid_from=LAST, valid_to=FIRST)
    mem.set("a", valid_from=dt.datetime(2026, 5, 1, tzinfo=dt.UTC))
    with pytest.raises(doxa.InvalidValue, match="2026-05-01"):
        mem.set("a", valid_to=dt.datetime(2026, 4, 1, tzinfo=dt.UTC))
