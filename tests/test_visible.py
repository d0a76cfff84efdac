"""Who may see what: hidden tools are in no part of any answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

from library_tools import RANKERS, TWO_SERVERS, hashed, lexical
from semantic_toolsearch.errors import ConfigError


@pytest.mark.parametrize("ranker", RANKERS)
def test_x11_hidden_tools_are_in_no_part_of_any_answer(ranker):
    search = hashed(TWO_SERVERS, ranker=ranker)
    for ask in (
        {"query": "find a ticket"},
        {"query": "desk__search"},
        {"query": "desk.search"},
        {"query": ""},
        {"query": "nothing like it"},
        {"names": ["desk__search", "search"]},
    ):
        result = search.search(**ask, visible={"wiki__search", "clock"})
        told = json.dumps({**result.as_dict(), "query": "", "unknown": [u.nearest for u in result.unknown]})
        assert "desk" not in told
        assert "edit" not in told
        assert result.total == 2
    why = search.explain("find a ticket", "desk__search", visible={"clock"})
    assert why.verdict == "not visible"
    assert why.score == 0


@pytest.mark.parametrize("nothing", [set(), [], (), {}, iter(()), {"no_such_tool"}, lambda tool: False])
@pytest.mark.parametrize("ranker", ["hybrid", "bm25"])
def test_x11_an_empty_set_means_nothing_at_all(ranker, nothing):
    if hasattr(nothing, "__next__"):
        nothing = iter(())
    result = hashed(TWO_SERVERS, ranker=ranker).search("find a page", visible=nothing)
    assert (result.outcome, result.tools, result.hints, result.names) == ("no_match", (), (), ())
    assert (result.total, result.namespaces) == (0, ())


def test_x11_visible_takes_wire_names_raw_names_and_qualified_names():
    search = lexical(TWO_SERVERS)
    for spelled in ("wiki__search", "wiki.search", "wiki/search"):
        assert search.search("", visible=[spelled]).names == ("wiki__search",)
    assert search.search("", visible=["edit", "clock"]).names == ("clock", "wiki__edit")


def test_x11_visible_takes_a_function_of_the_definition():
    result = lexical(TWO_SERVERS).search("", visible=lambda tool: tool.namespace == "wiki")
    assert result.names == ("wiki__edit", "wiki__search")
    assert result.namespaces == (("wiki", 2),)


def test_x11_a_name_of_several_tools_allows_none_and_says_so(caplog):
    result = lexical(TWO_SERVERS).search("", visible={"search"})
    assert result.names == ()
    assert [record.levelname for record in caplog.records if record.name == "semantic_toolsearch"] == [
        "WARNING"
    ]
    assert "wiki__search" in caplog.text
    assert "desk__search" in caplog.text


def test_x11_spellings_that_models_use_are_no_permission():
    """A permission is literal: what finds a tool for a model must not open it to a caller."""
    for spelling in ("Clock", "CLOCK", " clock", "wiki__Search"):
        assert lexical(TWO_SERVERS).search("", visible={spelling}).total == 0


@pytest.mark.parametrize(
    "wrong", ["clock", b"clock", 5, True, [5], [None], np.array([True, False, True, True])]
)
def test_x11_what_is_no_collection_of_names_is_refused(wrong):
    search = lexical(TWO_SERVERS)
    with pytest.raises(ConfigError, match="visible"):
        search.search("anything", visible=wrong)
    with pytest.raises(ConfigError, match="visible"):
        search.explain("anything", "clock", visible=wrong)
