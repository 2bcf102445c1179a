"""Sentences with values: rendered always, stored and read back the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.text import LANGUAGES, Text, catalog, from_json, render, say, to_json, verbatim

NAMES = st.text("abcdefgh_", min_size=1, max_size=5)
VALUES = st.one_of(st.text(), st.integers(), st.floats(allow_nan=False), st.none())
TEXTS = st.recursive(
    st.builds(Text, st.text(), st.dictionaries(NAMES, VALUES, max_size=3)),
    lambda inner: st.builds(Text, st.text(), st.dictionaries(NAMES, VALUES | inner, max_size=3)),
    max_leaves=5,
)


@given(TEXTS)
def test_what_is_stored_is_read_back(text: Text) -> None:
    assert from_json(to_json(text)) == text
    assert json.loads(to_json(text))


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_anything_can_be_shown(text: Text, language: str) -> None:
    assert isinstance(render(text, language), str)


@pytest.mark.parametrize(
    "sentence",
    [
        "{missing} there",
        "{} {}",
        "{0}",
        "{given",
        "given}",
        "{given.attribute}",
        "{given[x]}",
        "{given!x}",
        "{given:%%}",
    ],
)
def test_a_sentence_whose_places_do_not_fit_shows_its_values(sentence: str) -> None:
    assert "seven" in render(Text(sentence, {"given": "seven"}), "en")


def test_braces_without_values_stay() -> None:
    assert render(say("{name}"), "en") == "{name}"
    assert render(verbatim("{name} 100%"), "zh") == "{name} 100%"


def test_values_fill_their_places_in_either_language() -> None:
    sentence = next(one for one, chinese in catalog("zh").items() if "{count}" in one and "{count}" in chinese)
    text = Text(sentence, dict.fromkeys(("count", "span", "names", "limit", "path", "code"), "seven"))
    assert "seven" in render(text, "en")
    assert "seven" in render(text, "zh")
    assert render(text, "en") != render(text, "zh")


def test_a_text_within_a_text_is_translated_too() -> None:
    outer = say("{name}: {why}", name="it", why=say("stopped"))
    assert render(outer, "en") == "it: stopped"
    assert render(say("stopped"), "zh") != "stopped"
    assert render(say("stopped"), "zh") in render(outer, "zh")


def test_values_are_never_taken_for_places() -> None:
    assert render(say("{a}", a="{b}", b="secret"), "en") == "{b}"


@pytest.mark.parametrize(
    "stored",
    ["", "plain words", "[]", "null", "7", '"x"', "{}", '{"s": "x"}', '{"s": "x", "v": []}', '{"s": "x", "v": 1}', "{"],
)
def test_what_is_no_stored_text_is_taken_as_it_is(stored: str) -> None:
    assert render(from_json(stored), "zh") == stored


def test_a_language_there_is_not_stays_english() -> None:
    assert render(say("stopped"), "en") == "stopped"
    assert catalog("en") == {}
