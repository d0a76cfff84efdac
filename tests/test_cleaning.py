"""Cleaning: what hides goes, what scripts and emoji need stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.cleaning import clean_prose, has_hidden, strip_hidden


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Tag a photo \ud83d now", "Tag a photo \ufffd now"),
        ("Clear\x00 the\x07 log\u202e", "Clear the log"),
        ("Send\u200b a mail", "Send a mail"),
        ("se\u00adnd\u2060 it\ufeff", "send it"),
        ("page\x0cbreak", "page break"),
        ("first\u2028second", "first\nsecond"),
        ("hidden\U000e0041\U000e0042 tags", "hidden tags"),
        ("a\u200db", "ab"),
        ("smuggled \U0001f600\ufe0f\ufe00\ufe01\ufe02", "smuggled \U0001f600\ufe0f"),
        ("x\ufe0f", "x"),
        ("over\rwritten", "over\nwritten"),
    ],
)
def test_x21_hidden_characters_are_removed_and_reported(text, cleaned):
    result, done = clean_prose(text)
    assert result == cleaned
    assert done


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "line\nline\twith tab\r\nand return",
        "می\u200cخواهم",  # Persian needs its non-joiner
        "\u0dc1\u0dca\u200d\u0dbb\u0dd3",  # Sinhala conjunct
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525",
        "press 1\ufe0f\u20e3",
        "葛\U000e0100城",  # a name written with its registered variant
        "naïve café – “quotes”",
    ],
)
def test_x21_what_scripts_and_emoji_need_is_kept(text):
    assert clean_prose(text) == (text, ())


@given(st.text())
def test_cleaning_twice_changes_nothing_more(text):
    cleaned, _ = clean_prose(text)
    assert clean_prose(cleaned)[0] == cleaned
    cleaned.encode()


@given(st.text())
def test_stripped_text_holds_nothing_hidden(text):
    assert not has_hidden(strip_hidden(text))
