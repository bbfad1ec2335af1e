"""Any text comes back byte for byte and can be asked for; any query is words, never syntax."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doxa

TEXTS = {
    "one letter": "x",
    "one digit": "7",
    "one character": "京",
    "an emoji": "🚀",
    "a family": "👩‍👩‍👧‍👦 lives here",
    "a flag": "🇹🇷",
    "chinese": "数据库端口是 5432",
    "mixed": "用 Rust 写的 cache_key v2.1 在 acme/billing",
    "right to left": "مرحبا بالعالم",
    "combining": "e\u0301 a\u0308 z\u0308\u0301",
    "tabs": "a\tb  c\u00a0d\u200be",
    "controls": "bell \x07 escape \x1b[31m end",
    "astral": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠜎𠜱",
    "bom": "\ufefffirst",
    "not a character": "\uffff and \U0010ffff",
    "punctuation": "!!! --- ???",
}
QUERIES = (
    '"port" AND (api OR NOT cache)', "title:port^2 +api -cache", "port*", "po?t~2", "[1 TO 5]", "{a}",
    "\\", "\\\\port\\", "/etc/passwd/../x", "'; DROP TABLE propositions; --", "%s %d {0} ${HOME}",
    '"""', "''", "`port`", "((((", "))))", "&& || !", "\n\t port \r\n", "port\x00".replace("\x00", "\x01"),
    "<b>port</b>", "port" * 5000, "port " * 20_000, "\u202eport", "-", ".", "^port$", "a/b/c port",
)  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_comes_back_as_given_and_is_found(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        held = mem.remember(text, f"{text} in short", body=text, evidence=text, source=text, id="p")
        assert (held.title, held.summary, held.body, held.source) == (
            text,
            f"{text} in short",
            text,
            text,
        )
        mem.remember("quite another thing", id="other")
        if name not in ("punctuation",):
            assert mem.recall(text).ids[:1] == ["p"]
        mem.upkeep.compact()
        mem.append("p", text, by="ada")
    with doxa.open(tmp_path / "s") as mem:
        again = mem.get("p")
        assert (again.title, again.summary, again.source) == (text, held.summary, text)
        assert again.body.startswith(f"{text}\n\n[")
        assert again.body.endswith(f"] {text}")
        assert mem.to_arrow("evidence")["text"].to_pylist() == [text]
        with pytest.raises(doxa.DuplicateFound):
            mem.remember(text, f"{text} in short")


def test_one_character_finds_a_text_that_holds_it() -> None:
    mem = doxa.memory(seed_norms=False)
    for text in ("北京大学", "我们用 🚀 部署", "Answer 7 is right", "Grade A"):
        mem.remember(text, id=text)
    for query, text in (
        ("京", "北京大学"),
        ("🚀", "我们用 🚀 部署"),
        ("7", "Answer 7 is right"),
        ("a", "Grade A"),
    ):
        assert mem.recall(query, spread=False).ids == [text]


@pytest.mark.parametrize("text", ["word " * 40_000, "字" * 200_000, "x" * 200_000, "🚀" * 200_000])
def test_a_text_of_200_000_characters_is_a_text_like_others(text: str, tmp_path: Path) -> None:
    with doxa.open(tmp_path / "s", seed_norms=False) as mem:
        mem.remember("A long one", text, body=text, id="p")
        assert mem.recall("long").ids == ["p"]
        assert mem.recall(text).ids == ["p"]
        with pytest.raises(doxa.DuplicateFound):
            mem.remember("A long one", text)
    with doxa.open(tmp_path / "s") as mem:
        assert mem.get("p").summary == mem.get("p").body == text


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_a_query_of_operators_quotes_and_slashes_is_only_words(query: str) -> None:
    mem = doxa.memory(seed_norms=False)
    mem.remember("The API listens on port 8080", id="a")
    mem.remember("A cache of ports", id="b")
    for relevance in ("bm25", "count"):
        hits = mem.recall(query, relevance=relevance)
        assert set(hits.ids) <= {"a", "b"}
        assert all(math.isfinite(score) and score > 0 for score in hits.scores)
        if "port" in doxa.terms(query):
            assert "a" in hits.ids
    assert 0 <= hits.confidence <= 1
    assert mem.recall_many([query])[0].ids == mem.recall(query).ids


def test_nothing_asked_nothing_known_and_nothing_wanted_give_nothing() -> None:
    empty = doxa.memory(seed_norms=False)
    full = doxa.memory(seed_norms=False)
    full.remember("The API listens on port 8080", id="a")
    for mem, query, k in (
        (empty, "port", 10), (empty, "", 10), (full, "", 10), (full, "   ", 10), (full, "unheard", 10),
        (full, "port", 0), (full, "!?", 10),
    ):  # fmt: skip
        hits = mem.recall(query, k=k)
        assert (len(hits), hits.ids, list(hits), hits.to_text(), hits.confidence) == (
            0,
            [],
            [],
            "",
            0.0,
        )
        assert hits.to_arrow().num_rows == 0
        assert hits.explain() == "nothing was found"
    assert full.recall_many([]) == []
    assert empty.related([]).ids == []
    assert empty.rescore().num_rows == 0
    assert list(empty) == []


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), st.text(max_size=40), st.text(max_size=20))
def test_whatever_is_admitted_comes_back_whole(title: str, summary: str, query: str) -> None:
    mem = doxa.memory(seed_norms=False)
    try:
        held = mem.remember(title, summary)
    except doxa.InvalidValue:
        blank = not title.strip()
        lines = any(c in title for c in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        assert blank or lines or "\0" in title + summary
        return
    assert (held.title, held.summary) == (title, summary)
    if doxa.terms(title):
        assert mem.recall(title).ids == [held.id]
    if "\0" not in query:
        assert set(mem.recall(query).ids) <= {held.id}
    with pytest.raises(doxa.DuplicateFound):
        mem.remember(title, summary)
