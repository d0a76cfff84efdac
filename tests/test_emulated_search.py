"""The emulated hosted searches, built once for many queries, against the formula and the engine written out."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.emulated_search import (
    Bm25Documents,
    EmulatedSearch,
    SearchFailure,
    results_asked,
    searched_texts,
)
from semantic_toolsearch.joined_texts import JoinedTexts
from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.word_patterns import folded, listed_words

WORDS = ["mail", "send", "read", "inbox", "Hotel", "bookRoom", "air_quality", "straße", "Ünï", "天気", "x"]


def some_texts(count=60, seed=1):
    draw = random.Random(seed)
    return [
        searched_texts(
            "_".join(draw.choices(WORDS, k=2)),
            " ".join(draw.choices(WORDS, k=draw.randrange(12))),
            {"type": "object", "properties": {draw.choice(WORDS): {"description": draw.choice(WORDS)}}},
        )
        for _ in range(count)
    ]


def okapi(query, documents, k1=1.2, b=0.75):
    """The formula, tool by tool."""

    def words(text):
        return [word for run in re.findall(r"[^\W_]+", text) for word in split_identifier(run)]

    counts = [Counter(words(document)) for document in documents]
    average = sum(count.total() for count in counts) / len(counts) or 1.0
    scores = [0.0] * len(documents)
    for word in dict.fromkeys(words(query)):
        holders = sum(word in count for count in counts)
        weight = math.log(1 + (len(counts) - holders + 0.5) / (holders + 0.5))
        for place, count in enumerate(counts):
            norm = k1 * (1 - b + b * count.total() / average)
            scores[place] += weight * count[word] * (k1 + 1) / (count[word] + norm)
    return sorted((place for place, score in enumerate(scores) if score > 0), key=lambda p: -scores[p])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "query", ["send mail", "read the inbox", "BookRoom hotel", "天気 x", "air quality", "zz", ""]
)
def test_s24_bm25_is_the_formula_with_ties_in_the_order_of_the_tools(query, seed):
    tools = some_texts(seed=seed)
    documents = [" ".join(texts) for texts in tools]
    assert EmulatedSearch(tools).by_bm25(query) == okapi(query, documents)


def test_bm25_of_nothing():
    assert Bm25Documents([]).ranked("mail") == []
    assert Bm25Documents(["", "?!"]).ranked("mail") == []
    assert EmulatedSearch([]).by_bm25("mail") == []
    assert list(EmulatedSearch([]).by_regex("mail")) == []


@given(st.lists(st.text("abAZİıſKσςΣ-.天 \n", min_size=1, max_size=3), min_size=1, max_size=3), st.data())
def test_s24_a_list_of_words_matches_what_pythons_engine_matches(words, data):
    texts = data.draw(
        st.lists(st.lists(st.text("abAZzİıſsKkσςΣ-.天 \n", max_size=6), max_size=3), max_size=6)
    )
    pattern = "|".join(map(re.escape, words))
    expected = [
        place
        for place, fields in enumerate(texts)
        if any(re.search(pattern, field, re.IGNORECASE) for field in fields)
    ]
    if listed_words(pattern):  # other patterns run in an engine that differs from Python's in a few letters
        assert list(EmulatedSearch(texts).by_regex(pattern)) == expected
    assert bool(listed_words(pattern)) == all("\n" not in word for word in words)


def test_s24_letters_compare_as_pythons_engine_compares_them():
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    cased = [char for char in letters if {char.lower(), char.upper(), char.casefold()} != {char}]
    same = {}
    for char in cased:
        same.setdefault(folded(f"{char}é")[0], set()).add(char)
    everything = "".join(cased)
    for char in cased:
        found = set(re.findall(re.escape(char), everything, re.IGNORECASE))
        assert found == same[folded(f"{char}é")[0]], char
    assert folded("ABC xyz") == "abc xyz"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("mail", ["mail"]),
        (r"mail|e\-mail|read file", ["mail", "e-mail", "read file"]),
        (r"a\.b|\|", ["a.b", "|"]),
        ("天気|x", ["天気", "x"]),
        *(
            (other, [])
            for other in ["", "a|", "|a", "a||b", "ma.l", "^a", "a$", "a*", "a+", "a?", "(a)", "[a]"]
        ),
        *((other, []) for other in [r"\d", r"a\b", r"\1", "a{2}", "a\\", "a\nb", r"(?i)a", r"a\n"]),
    ],
)
def test_which_patterns_are_lists_of_words(pattern, words):
    assert listed_words(pattern) == words


@pytest.mark.parametrize(
    "pattern", ["mail$", "^send", "(read|book)", "[hH]otel", r"\bx\b", "(?i)MAIL", "r..d"]
)
def test_s24_any_other_pattern_is_run_text_by_text(pattern):
    tools = some_texts()
    expected = [
        place
        for place, texts in enumerate(tools)
        if any(re.search(pattern, text, re.IGNORECASE) for text in texts)
    ]
    assert expected
    assert list(EmulatedSearch(tools).by_regex(pattern)) == expected
    assert list(islice(EmulatedSearch(tools).by_regex(pattern), 3)) == expected[:3]


def test_s24_documented_limits_are_errors_of_the_search():
    search = EmulatedSearch(some_texts())
    assert search.by_bm25("m" * 500) == []
    assert list(search.by_regex("m" * 200)) == []
    for ask, code in (
        (lambda: search.by_bm25("m" * 501), "Query"),
        (lambda: search.by_regex("m" * 201), "Pattern"),
    ):
        with pytest.raises(SearchFailure, match=f"{code} exceeds") as caught:
            ask()
        assert caught.value.code == "invalid_tool_input"
    for broken in ("(", "a{99999999999}", "*a", "("):
        with pytest.raises(SearchFailure, match="Invalid regular expression pattern"):
            list(search.by_regex(broken))


def test_a_pattern_may_take_so_long_over_all_tools_together():
    slow = EmulatedSearch([("a" * 2_000 + "b",)] * 10)
    with pytest.raises(SearchFailure) as caught:
        list(slow.by_regex("(.*a){25}$"))
    assert caught.value.code == "execution_time_exceeded"


@pytest.mark.parametrize(
    ("limit", "count"), [(None, 5), (1, 1), (12, 12), (99, 20), (0, 1), ("4", 5), (True, 5)]
)
def test_results_asked(limit, count):
    assert results_asked(limit) == count


def test_joined_texts_find_groups_in_order_and_nothing_across_two_texts():
    texts = JoinedTexts([("read", "file"), (), ("adf", "read read"), ("", "天気é")])
    for word, places in (("ad", [0, 2]), ("adf", [2]), ("dfi", []), ("ead\0", []), ("天気", [3]), ("é", [3])):
        assert texts.having(word) == list(texts.holding([word])) == places
    assert list(texts.holding(["df", "file"])) == [0, 2]
    assert list(texts.holding(["é", "file"])) == [0, 3]
    assert list(texts.holding([])) == []
    assert JoinedTexts([]).having("x") == []
