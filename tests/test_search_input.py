"""Queries, names and limits as models send them: several, odd and huge ones."""

from __future__ import annotations

import numpy as np
import pytest

from library_tools import LIB, RANKERS, hashed, lexical, names, shown
from made_up_rankers import FILES, MAILS, RECORDS
from semantic_toolsearch import SearchConfig
from semantic_toolsearch.search_input import MAX_QUERIES, MAX_QUERY_CHARACTERS

# --- limits ---


@pytest.mark.parametrize(("limit", "count"), [(None, 5), (12, 12), (20, 20), (21, 20), (50, 20)])
def test_c11_c12_d01_five_by_default_and_at_most_twenty(limit, count):
    result = lexical(RECORDS).search("record", limit=limit)
    assert len(result.tools) == count
    assert (result.notes != ()) == (limit is not None and limit > 20)


@pytest.mark.parametrize(
    ("limit", "count", "noted"),
    [
        (-1, 1, True),
        (0, 1, True),
        ("3", 3, True),
        (None, 5, False),
        (True, 5, True),
        ("many", 5, True),
        (2.7, 2, True),
        (3, 3, False),
        (3.0, 3, False),
        (10**9, 20, True),
        pytest.param(10**5000, 20, True, id="huge"),
        pytest.param(-(10**5000), 1, True, id="minus huge"),
        ("1e3", 20, True),
        (float("inf"), 20, True),
        (float("nan"), 5, True),
        ([3], 5, True),
        ({"n": 1}, 5, True),
        (np.int64(7), 7, False),
        ("\ud800", 5, True),
    ],
)
def test_c13_odd_limits_are_clamped_or_defaulted_and_noted(limit, count, noted):
    result = lexical(RECORDS).search("record", limit=limit)
    assert names(result) == [f"record_{number:02}" for number in range(count)]
    assert len(result.notes) == noted
    assert all(len(note) < 120 and note.encode() for note in result.notes)


def test_d01_limits_are_settings():
    search = lexical(RECORDS, config=SearchConfig.preset("everruns", ranker="bm25"))
    assert [len(search.search("record", limit=limit).tools) for limit in (None, 20)] == [8, 8]
    search = lexical(RECORDS, config=SearchConfig(default_limit=3, max_limit=12))
    assert [len(search.search("record", limit=limit).tools) for limit in (None, 20)] == [3, 12]


# --- several queries and names ---


def test_x12_each_query_gives_its_best_and_no_tool_comes_twice():
    search = lexical(FILES)
    result = search.search(queries=["shell command", "folder", "run a shell"], limit=1)
    assert names(result) == ["bash", "list_directory"]
    assert result.query == "shell command | folder | run a shell"


def test_x12_more_queries_than_can_be_answered_are_cut_with_a_note():
    result = lexical(MAILS).search(
        queries=[f"mail_{number:02}" for number in range(12)] + [f"q{n}" for n in range(30)]
    )
    assert set(names(result)) == {f"mail_{number:02}" for number in range(12)}
    assert f"first {MAX_QUERIES} of 42" in result.notes[0]


def test_x12_names_are_never_cut_and_keep_the_order_asked():
    asked = [f"record_{number:02}" for number in (29, 3, 17, 0, 8, 21, 11, 5, 2, 28, 1)]
    result = lexical(RECORDS).search(names=[*asked, "record_zz", "", "`record_07`", asked[0]], limit=2)
    assert names(result) == [*asked, "record_07"]
    assert [unknown.name for unknown in result.unknown] == ["record_zz"]
    assert result.unknown[0].nearest
    assert set(result.unknown[0].nearest) <= {tool["name"] for tool in RECORDS}


def test_x12_blank_names_are_a_browse_and_unknown_ones_alone_a_miss():
    search = lexical(FILES)
    assert search.search(names=["", "  "]).outcome == "browse"
    miss = search.search(names=["reed_file"])
    assert (miss.outcome, miss.unknown[0].nearest[0]) == ("no_match", "read_file")


# --- sizes ---


def test_x21_a_query_of_a_megabyte_is_cut_not_refused():
    for ranker in RANKERS:
        query = "extend the loan of this book " + "and more " * 120_000
        result = hashed(LIB, ranker=ranker).search(query)
        assert len(result.query) <= MAX_QUERY_CHARACTERS
        assert any("cut to its first" in note for note in result.notes)
        if ranker == "bm25":
            assert shown(result)[0] == "renewLoan"


def test_x21_a_query_is_told_back_clean():
    result = lexical().search("renew\u202e the \ud83d loan\x00")
    assert result.query == "renew the \ufffd loan"
    result.query.encode()


@pytest.mark.parametrize("size", [10**6, MAX_QUERY_CHARACTERS + 1])
def test_x21_a_name_of_a_megabyte_is_unknown(size):
    result = lexical().search(names=["n" * size])
    assert result.outcome == "no_match"
    assert len(result.unknown[0].name) <= MAX_QUERY_CHARACTERS
