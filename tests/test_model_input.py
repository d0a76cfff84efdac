"""What a model may send to a search: anything, and never is it an exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library_tools import LIB, RANKERS, TWO_SERVERS, hashed, lexical, names, t
from semantic_toolsearch.search_input import MAX_QUERIES
from semantic_toolsearch.testing import HashingEmbedder

ODD = [
    None, "", "   ", "*", "...", 5, 0, -1.5, True, {}, {"query": "reader"}, [], ["reader", "fees"], ["", None],
    [["reader"]], [{"a": 1}], "a" * 200_000, "\x00", "\ud83d", "😀", "(", "a{99999}", "SELECT * FROM tools",
    float("nan"), 10**5000, b"bytes", ("x",), {"reader", "fees"},
]  # fmt: skip


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("odd", [*ODD, deep(5_000)], ids=lambda odd: f"{type(odd).__name__}")
def test_x21_any_query_becomes_a_result(ranker, odd):
    search = hashed(ranker=ranker)
    for result in (
        search.search(odd),
        search.search("reader", queries=odd),
        search.search("reader", names=odd),
        search.search(names=odd, limit=odd),
        search.search("reader", limit=odd),
    ):
        assert result.outcome in ("matched", "no_match", "browse")
        json.dumps(result.as_dict())


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150)
@given(query=anything, queries=anything, wanted=anything, limit=anything)
def test_x21_any_json_in_any_argument_becomes_a_result(query, queries, wanted, limit):
    search = _SHARED
    result = search.search(query, queries=queries, names=wanted, limit=limit)
    assert result.outcome in ("matched", "no_match", "browse")
    assert len(result.tools) <= 20 + len(LIB)
    json.dumps(result.as_dict())


_SHARED = lexical()


def test_x12_queries_and_names_may_be_single_texts():
    search = lexical()
    assert names(search.search(queries="unpaid fees")) == ["fee-report"]
    assert names(search.search(names="find_reader")) == ["find_reader"]
    assert search.search(["unpaid fees", "look up"]).query == "unpaid fees | look up"


def test_x12_names_first_then_what_the_queries_find_besides():
    result = lexical().search(
        "unpaid fees", queries=["reader"], names=["reserve_title", "fee-report", "tool_zz"]
    )
    assert names(result)[:2] == ["reserve_title", "fee-report"]
    assert len(set(names(result))) == len(names(result))
    assert "find_reader" in names(result)
    assert [unknown.name for unknown in result.unknown] == ["tool_zz"]


def test_x12_an_unknown_name_and_a_query_without_answer_are_one_miss():
    result = lexical().search("quux", names=["tool_zz"])
    assert (result.outcome, result.tools) == ("no_match", ())
    assert len(result.names) == len(LIB)
    assert result.unknown[0].name == "tool_zz"


def test_x12_a_name_of_several_tools_gives_all_of_them_and_a_note():
    for extra in ({}, {"query": "tell the time"}):
        result = lexical(TWO_SERVERS).search(names=["search"], **extra)
        assert set(names(result)[:2]) == {"wiki__search", "desk__search"}
        assert any("2 tools" in note for note in result.notes)


def test_x12_repeated_queries_are_asked_once():
    embedder = HashingEmbedder()
    hashed(embedder=embedder).search("reader", queries=["reader"] * 10)
    assert embedder.queries == 1


def test_x12_too_many_queries_are_cut_and_the_model_is_told():
    tools = [t(f"task_{n}", f"Unique{n}word") for n in range(30)]
    result = lexical(tools).search(queries=[f"unique{n}word" for n in range(30)])
    assert len(result.tools) == MAX_QUERIES
    assert any(f"first {MAX_QUERIES} of 30" in note for note in result.notes)
