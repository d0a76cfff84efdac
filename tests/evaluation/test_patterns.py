"""The pattern that stands for what a model would write."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.evaluation.arms.patterns import written_pattern
from semantic_toolsearch.word_patterns import listed_words


@pytest.mark.parametrize(
    ("query", "pattern"),
    [
        ("What's the weather forecast for Oslo?", "forecast|weather"),
        ("Please send an e-mail to my boss", r"e\-mail|send"),
        ("send send SEND it", "send"),
        ("I don't know the user's id", "know|user"),
        ("load read_file or weather.get please", r"weather\.get|read_file"),
        ("convert 20 USD to EUR", "convert|USD"),
        ("Wie wird das Wetter in Köln", "Wetter|wird"),
        ("मौसम की जानकारी", "जानकारी|मौसम"),
        ("погода в Осло", "погода|Осло"),
        ("오슬로 날씨 좀", "오슬로|날씨"),
        ("查询天气", "查询|询天|天气"),
        ("请帮我查一下天气", "查一|一下|下天|天气"),
        ("天気を教えて", "天気|教"),
        ("翻訳", "翻訳"),
        ("猫", "猫"),
    ],
)
def test_telling_words_longest_first(query, pattern):
    assert written_pattern(query) == pattern


@pytest.mark.parametrize("form", ["{}", "`{}`", '"{}"', "{}()", " {}. "])
@pytest.mark.parametrize("name", ["read_file", "createInvoice", "weather", "カレンダー"])
def test_an_identifier_is_itself(name, form):
    assert written_pattern(form.format(name)) == name


def test_an_identifier_is_escaped():
    assert written_pattern("git-undo") == r"git\-undo"
    assert written_pattern("weather.forecast") == r"weather\.forecast"


@pytest.mark.parametrize(
    ("query", "pattern"),
    [("what is it", "what|is|it"), ("C++ ?", r"C\+\+|\?"), ("?!", r"\?!"), ("", ""), ("  \n ", "")],
)
def test_without_a_telling_word_it_is_what_was_said(query, pattern):
    assert written_pattern(query) == pattern


def test_what_does_not_fit_is_left_out_by_whole_words():
    many = "".join(chr(0x4E00 + number) for number in range(300))
    pattern = written_pattern(many)
    assert 150 < len(pattern) <= 200
    assert all(pair in many and len(pair) == 2 for pair in listed_words(pattern))
    assert written_pattern(f"{'m' * 300} short") == "short"
    assert written_pattern("m" * 300) == "m" * 100
    assert written_pattern("m-" * 300) == r"m\-" * 50
    assert len(written_pattern("+" * 300)) <= 200


@given(st.text(max_size=300) | st.text("ab-_.天気 'ｱ가\ud800\u200b|\\", max_size=300))
def test_it_is_a_pattern_for_any_text(query):
    pattern = written_pattern(query)
    assert len(pattern) <= 200
    assert written_pattern(query) == pattern
    assert bool(pattern) == bool(query.strip())
    words = listed_words(pattern)
    assert bool(words) == bool(pattern)
    if words:
        assert any(re.search(pattern, word) for word in words)
        assert all(word in query for word in words)
