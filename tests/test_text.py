"""Terms, normal forms and similarity through the public functions."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doxa
from doxa import _core
from doxa.errors import InvalidValue

GOLDEN = json.loads((Path(__file__).parent / "vectors" / "golden.json").read_text("utf-8"))
WIDE = {ord(" "): 0x3000} | {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def test_similarity_agrees_with_the_golden_cases():
    assert len(GOLDEN["similarity"]) == 40
    for case in GOLDEN["similarity"]:
        a, b = " ".join(case["a"]), " ".join(case["b"])
        assert doxa.similarity(a, b) == pytest.approx(case["expect"], abs=1e-12)
        assert doxa.similarity(b, a) == doxa.similarity(a, b)


def test_made_up_words_are_single_terms_that_no_stemmer_changes():
    words = {word for case in GOLDEN["similarity"] for word in case["a"] + case["b"]}
    for word in words:
        assert doxa.terms(word) == [word]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("北京大学", ["北京", "京大", "大学"]),
        ("京", ["京"]),
        ("使用Python写", ["使用", "python", "写"]),
        ("snake_case CamelCase", ["snake_case", "snake", "case", "camelcase", "camel", "case"]),
        ("v2.1", ["v2.1", "v2", "2.1"]),
        ("src/lib.rs", ["src/lib.rs", "src", "lib.rs", "lib", "rs"]),
        ("C C++ C#", ["c", "c++", "c#"]),
        ("Anna's cat can't", ["anna", "cat", "can't"]),
        ("👍🏽 🇨🇳 1️⃣ ❤️", ["👍🏽", "🇨🇳", "1\u20e3", "❤"]),
        ("-5 and 50%", ["-5", "5", "and", "50%", "50"]),
        ("", []),
        (" \n\t\u200b\u202e", []),
    ],
)
def test_a_text_has_these_terms(text, terms):
    assert doxa.terms(text) == terms


def test_the_language_changes_stems_and_no_primary_term():
    assert doxa.terms("Running services", "") == doxa.terms("Running services", "en")
    assert "run" not in doxa.terms("running")


def test_punctuation_of_prose_folds_and_meaning_stays():
    assert doxa.normalize("Use  the API (v2.1), “now”!") == "use the api v2.1 now"
    assert doxa.normalize("使用 Python 开发。") == doxa.normalize("使用Python开发")
    for a, b in [("C", "C++"), ("-5", "5"), ("1.5", "15"), ("a != b", "a = b"), ("10⁵", "105")]:
        assert doxa.normalize(a) != doxa.normalize(b)


@settings(max_examples=300)
@given(st.text(max_size=60))
def test_any_text_can_be_read_and_its_normal_form_is_fixed(text):
    assert all(doxa.terms(text)), "no term is empty"
    once = doxa.normalize(text)
    assert doxa.normalize(once) == once
    assert doxa.similarity(text, text) == 1.0
    assert _core.compare(text, text)[0] == "equal"


@settings(max_examples=200)
@given(st.text(alphabet="aZ9é üÅñ가각がパ北京._/-", max_size=30))
def test_composition_and_width_make_no_difference(text):
    for other in (
        unicodedata.normalize("NFD", text),
        unicodedata.normalize("NFC", text),
        text.translate(WIDE),
    ):
        assert doxa.terms(other) == doxa.terms(text)
        assert doxa.normalize(other) == doxa.normalize(text)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["red", "green", "blue", "北京", "5"]), max_size=8), st.data())
def test_similarity_is_a_symmetric_share(words, data):
    other = data.draw(st.permutations(words))
    a, b = " ".join(words), " ".join(other)
    assert 0.0 <= doxa.similarity(a, b) == doxa.similarity(b, a) <= 1.0


@pytest.mark.parametrize("call", [doxa.terms, doxa.normalize])
def test_a_lone_surrogate_is_refused_by_name(call):
    with pytest.raises(InvalidValue, match="without lone surrogates") as caught:
        call("broken \ud800 text")
    assert caught.value.field == "text"


def test_an_unknown_language_is_refused_by_name():
    with pytest.raises(InvalidValue, match="language"):
        doxa.terms("text", "tlh")


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_its_range_is_refused_by_name(value):
    with pytest.raises(InvalidValue, match="abstain_threshold"):
        _core.compare("a", "b", 0.85, value)


def test_a_text_that_is_no_text_is_a_type_error():
    with pytest.raises(TypeError):
        doxa.terms(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", ["word ", "北京", "e\u0301", "aB_", "1,", "👩\u200d"])
def test_two_hundred_thousand_characters_are_read_quickly(seed):
    text = seed * (200_000 // len(seed))
    start = time.perf_counter()
    doxa.terms(text)
    doxa.normalize(text)
    assert _core.compare(text, text + " end")[0] in ("same", "abstain")
    assert time.perf_counter() - start < 20, "a quadratic step would take minutes"
