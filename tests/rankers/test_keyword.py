"""The keyword scheme, to the number."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from library_tools import t
from made_up_rankers import FILES
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.rankers.keyword import KeywordRanker
from semantic_toolsearch.tokens import WRAPPING


def points(query, tools=FILES):
    """Raw points by tool, without those that have none; they must agree with the ranking."""
    catalog = Catalog(tools, strict=True)
    ranker = KeywordRanker(catalog)
    raw = {tool.name: ranker.explain(query, place)["keyword"] for place, tool in enumerate(catalog)}
    ranking = ranker.rank(query, limit=len(catalog))
    most = 3 * max(1, len(query.split()))
    ranked = {
        catalog[int(p)].name: float(s) * most for p, s in zip(ranking.positions, ranking.scores, strict=True)
    }
    raw = {name: score for name, score in raw.items() if score}
    assert set(raw) == set(ranked)
    assert all(abs(ranked[name] - raw[name]) < 1e-4 for name in raw)
    assert list(ranked.values()) == sorted(ranked.values(), reverse=True)
    return raw


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("read file", {"read_file": 6, "write_file": 3, "edit_file": 3, "grep_files": 3}),
        ("the file", {"read_file": 4, "write_file": 3, "edit_file": 3, "grep_files": 3}),
    ],
)
def test_e76_three_in_the_name_else_one_in_the_description(query, expected):
    assert points(query) == expected


def test_e77_terms_are_substrings_in_any_case_and_repeats_count():
    assert points("fil") == {"read_file": 3, "write_file": 3, "edit_file": 3, "grep_files": 3}
    assert points("FIL") == points("fil")
    assert points("read read") == {"read_file": 6}
    assert points("q z read q") == {"read_file": 3}


def test_e77_parameters_are_not_searched():
    tools = [t("go", "Move", speed={"type": "string", "description": "metres a second", "enum": ["slow"]})]
    assert points("speed metres slow", tools) == {}


@pytest.mark.parametrize(
    "query", ["`read_file`", '"read_file".', "(read_file)", "read_file():", "[read_file]!?", "“read_file”…"]
)
def test_e79_punctuation_around_terms_is_stripped(query):
    assert points(query) == {"read_file": 3}
    assert points(f"now {query} now") == {"read_file": 3}


def test_e79_signs_inside_and_underscores_are_part_of_a_term():
    tools = [t("_private_key", "Uses C++"), t("key", "Uses C")]
    assert points("_private", tools) == {"_private_key": 3}
    assert points("_key", tools) == {"_private_key": 3}
    assert points("C++", tools) == {"_private_key": 1}


@pytest.mark.parametrize("query", ["...", "* - +", "", "'' ()"])
def test_e79_punctuation_alone_matches_nothing(query):
    assert points(query) == {}


def test_e81_score_0_is_dropped():
    assert points("pattern") == {"grep_files": 1}
    assert points("pattern xyzzy") == {"grep_files": 1}


PIECES = st.text("abAß\u0130天é😀\ud83d_.\n ", max_size=8)


@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=8), st.lists(PIECES, max_size=6))
def test_e76_every_tool_gets_the_points_that_a_loop_over_the_tools_would_give(texts, words):
    """Terms are looked for in all texts at once, and remembered; neither may show."""
    tools = [SimpleNamespace(name=name, description=description) for name, description in texts]
    ranker = KeywordRanker(tools)
    query = " ".join([*words, *words[:2]])
    terms = [piece.strip(WRAPPING).casefold() for piece in query.split()]
    terms = [term for term in terms if any(map(str.isalnum, term))]
    expected = {}
    for place, (name, description) in enumerate(texts):
        points = sum(3 if term in name.casefold() else int(term in description.casefold()) for term in terms)
        if points:
            expected[place] = points / (3 * len(terms))
    for _ in range(2):
        ranking = ranker.rank(query, limit=len(texts))
        found = dict(zip(ranking.positions.tolist(), ranking.scores.tolist(), strict=True))
        assert found == pytest.approx(expected)


def test_e77_a_term_said_a_thousand_times_counts_a_thousand_times():
    ranker = KeywordRanker(Catalog([t("read_file", "Return it")]))
    assert ranker.explain("read " * 1_000, 0) == {"keyword": 3_000.0}
    assert ranker.rank("read " * 1_000, limit=1).scores.tolist() == [1.0]
