"""The rules on top of any ranker: names, band, confidence, cap, browse, miss and explain."""

from __future__ import annotations

import pytest

from library_tools import LIB, RANKERS, hashed, lexical, names, shown, t
from made_up_rankers import FILES, MAILS, Scores
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.results import MOST_NAMESPACES
from semantic_toolsearch.testing import HashingEmbedder


def everruns(tools, **changes):
    return ToolSearch(tools, config=SearchConfig.preset("everruns", **changes), cache=False)


def points(search, query, tool):
    """The raw score as the keyword scheme counts it, bonus included."""
    return sum(search.explain(query, tool).arms.values())


# --- names, band, cap, order: the scheme of the preset "everruns" ---


@pytest.mark.parametrize("query", ["read_file", "READ_FILE"])
def test_e78_an_exact_name_gains_a_hundred_and_comes_alone(query):
    search = everruns(FILES)
    assert points(search, query, "read_file") == 103
    assert names(search.search(query)) == ["read_file"]


@pytest.mark.parametrize(
    "query", ["`read_file`", '"read_file".', "(read_file)", "**read_file**", "read_file()", "«read_file»!"]
)
def test_e79_punctuation_around_a_name_does_not_count(query):
    search = everruns(FILES)
    assert points(search, query, "read_file") == 103
    assert names(search.search(query)) == ["read_file"]


def test_e80_the_bonus_is_for_the_whole_query_only():
    search = everruns(FILES)
    assert points(search, "load read_file", "read_file") == 3
    assert names(search.search("load read_file"))[0] == "read_file"


def test_e82_results_reach_half_of_the_best_score():
    search = everruns(FILES)
    assert sorted(names(search.search("edit part file holds pattern"))) == [
        "edit_file",
        "grep_files",
        "write_file",
    ]
    for tool, score in (
        ("edit_file", 7),
        ("write_file", 4),
        ("grep_files", 4),
        ("read_file", 3),
        ("list_directory", 1),
    ):
        assert points(search, "edit part file holds pattern", tool) == score
    found = names(search.search("what holds file"))
    assert sorted(found) == ["edit_file", "grep_files", "read_file", "write_file"]
    assert points(search, "what holds file", "list_directory") == 2
    assert len(search.search("read file").tools) == 4


def test_e82_exactly_half_stays():
    search = ToolSearch(FILES[:3], ranker=Scores(0.8, 0.4, 0.39), cache=False)
    assert names(search.search("anything")) == ["read_file", "write_file"]


def test_e83_at_most_eight_come_back():
    assert names(everruns(MAILS).search("mail")) == [f"mail_{number:02}" for number in range(8)]


def test_e84_ties_keep_registration_order():
    search = everruns(FILES)
    assert (
        points(search, "find pattern lines read", "read_file")
        == points(search, "find pattern lines read", "grep_files")
        == 3
    )
    assert names(search.search("find pattern lines read")) == ["read_file", "grep_files"]
    assert names(everruns(FILES[::-1]).search("find pattern lines read")) == ["grep_files", "read_file"]


@pytest.mark.parametrize("query", ["tool_search", "search available tools"])
def test_e86_the_search_tool_is_never_a_result(query):
    result = everruns(FILES).search(query)
    assert "tool_search" not in [*shown(result), *result.names]


def test_e87_only_visible_tools_are_considered():
    result = everruns(FILES).search("bash", visible=[tool["name"] for tool in FILES[:-1]])
    assert result.outcome == "no_match"
    assert "bash" not in [*shown(result), *result.names]
    assert len(result.names) == result.total == 5


def test_e88_a_miss_lists_the_names():
    result = everruns(FILES).search("xyzzy")
    assert (result.outcome, result.tools) == ("no_match", ())
    assert result.names == tuple(sorted(tool["name"] for tool in FILES))


@pytest.mark.parametrize("preset", ["everruns", "cogitator", "openhands"])
@pytest.mark.parametrize("query", ["", "   ", "...", "*", None, "?!", "\u200b", "\ud800"])
def test_e89_d04_an_empty_query_lists_names_under_every_preset(preset, query):
    search = ToolSearch(FILES, config=SearchConfig.preset(preset), embedder=HashingEmbedder(), cache=False)
    result = search.search(query, limit=2)
    assert (result.outcome, result.tools, result.hints, result.notes) == ("browse", (), (), ())
    assert len(result.names) == result.total == 6


# --- names ---


def test_c17_an_exact_name_beats_any_score():
    search = lexical([t("read_file"), t("read_file_lines", "read_file " * 5)], config=SearchConfig(band=0))
    assert names(search.search("read_file"))[0] == "read_file"


@pytest.mark.parametrize(
    ("query", "name"),
    [("keep a book longer", "renewLoan"), ("fees", "fee-report"), ("reserve_title", "reserve_title")],
)
def test_c18_s16_a_need_a_word_or_a_name(model, query, name):
    for search, first in ((ToolSearch(LIB, embedder=model), 2), (lexical(), 1)):
        result = search.search(query)
        assert result.outcome == "matched"
        assert name in names(result)[:first]


def test_d02_with_the_band_a_name_comes_alone_and_without_it_first_among_others():
    assert names(lexical(FILES).search("read_file")) == ["read_file"]
    others = names(ToolSearch(FILES, config=SearchConfig.preset("cogitator")).search("read_file"))
    assert others[0] == "read_file"
    assert len(others) > 1


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize(
    "query", ["load read_file please", "then call `bash`, not read", "use edit_file() now", "run writeFile?"]
)
def test_s05_a_name_inside_a_sentence_is_first_under_all_rankers(ranker, query):
    search = hashed(FILES, ranker=ranker)
    named = {
        "load read_file please": "read_file",
        "use edit_file() now": "edit_file",
        "run writeFile?": "write_file",
    }
    result = search.search(query)
    assert result.tools[0].name == named.get(query, "bash")
    assert result.tools[0].named == "mentioned"
    assert result.tools[0].score <= 1


def test_s05_the_other_hits_follow_a_name_in_a_sentence():
    found = names(lexical(FILES).search("read_file or something else that can change part of a file"))
    assert found[0] == "read_file"
    assert "edit_file" in found


def test_s06_rules_hold_over_a_ranker_that_returns_everything():
    tools = [t(f"tool_{letter}") for letter in "abcdefghij"]
    search = ToolSearch(tools, ranker=Scores(*[0.9] * 10), cache=False)
    visible = ["tool_b", "tool_c", "tool_d", "tool_e", "tool_f", "tool_g", "tool_j"]
    assert names(search.search("do it", visible=visible)) == visible[:5]
    assert names(search.search("tool_j", visible=visible)) == ["tool_j"]
    assert names(search.search("tool_a", visible=visible))[0] == "tool_b"


def test_s06_one_raw_name_on_several_servers():
    tools = [t("search", f"Search the {owner}", server=owner) for owner in ("wiki", "shop", None)]
    search = lexical([*tools, t("clock")])
    assert names(search.search("search")) == ["search", "shop__search", "wiki__search"]
    assert names(search.search(names=["search"])) == ["search"]
    assert names(search.search("shop__search")) == ["shop__search"]
    both = search.search(names=["search"], visible=["shop__search", "wiki__search"])
    assert names(both) == ["shop__search", "wiki__search"]
    assert "2 tools: shop__search, wiki__search" in both.notes[0]


def test_s06_a_wire_name_comes_before_other_bearers_of_the_name():
    tools = [
        t("search", "search, search: a search", server="search"),
        t("search"),
        t("Search", "search", server="a"),
    ]
    found = lexical(tools).search("search").tools
    assert [hit.tool.namespace for hit in found] == [None, "search"]
    assert found[0].score < found[1].score


# --- misses and hints ---


def test_d04_browsing_is_bounded_and_told_the_total():
    search = lexical([t(f"tool_{number:03}", server=f"s{number % 3}") for number in range(140)])
    result = search.search("", limit=3)
    assert (len(result.names), result.total, result.outcome) == (100, 140, "browse")
    assert dict(result.namespaces) == {"s0": 47, "s1": 47, "s2": 46}


def test_d18_a_miss_stays_small_in_a_huge_catalog():
    tools = [
        t(f"administer_resource_number_{number}", server=f"department-{number % 2_500}")
        for number in range(20_000)
    ]
    result = lexical(tools).search("xyzzy")
    assert (len(result.names), result.total) == (50, 20_000)
    assert len(result.namespaces) == MOST_NAMESPACES
    assert sum(count for _, count in result.namespaces) == MOST_NAMESPACES * 8
    assert len(str(result.as_dict())) / 4 < 1_500


def test_d18_the_largest_namespaces_are_told():
    tools = [t(f"a{number}", server="big") for number in range(3)]
    tools += [t("b", server=f"a{number:02}") for number in range(MOST_NAMESPACES)]
    told = lexical(tools).search("xyzzy").namespaces
    assert ("big", 3) in told
    assert (f"a{MOST_NAMESPACES - 1:02}", 1) not in told


def test_x05_weak_hits_are_listed_and_not_loaded():
    ranker = Scores(0.9, 0.8, 0.7, 0.1, 0.0, strong=[True, False, False, False, False])
    for weak_hits, tools, hints in (
        ("hint", ["read_file"], ["write_file", "edit_file"]),
        ("drop", ["read_file"], []),
        ("load", ["read_file", "write_file", "edit_file"], []),
    ):
        result = ToolSearch(FILES[:5], ranker=ranker, config=SearchConfig(weak_hits=weak_hits)).search("x y")
        assert (names(result), [hit.name for hit in result.hints]) == (tools, hints)


def test_x05_a_miss_may_have_hints_and_has_names():
    ranker = Scores(0.9, 0.2, strong=[False, False])
    result = ToolSearch(FILES[:2], ranker=ranker).search("something")
    assert (result.outcome, result.tools) == ("no_match", ())
    assert [hit.name for hit in result.hints] == ["read_file"]
    assert result.names == ("read_file", "write_file")


def test_x05_hints_are_bounded_and_none_are_given_where_surer_tools_had_no_room():
    ranker = Scores(*[0.9] * 10, strong=[True] * 3 + [False] * 7)
    search = ToolSearch(MAILS[:10], ranker=ranker, config=SearchConfig(hints=2))
    assert len(search.search("x y", limit=3).hints) == 2
    assert search.search("x y", limit=2).hints == ()


def test_x05_a_ranker_s_notes_reach_the_model():
    result = ToolSearch(FILES[:1], ranker=Scores(0.0, note="Say more.")).search("hm")
    assert (result.outcome, result.notes) == ("no_match", ("Say more.",))


# --- explain ---


def test_x07_every_fate_has_its_verdict():
    ranker = Scores(1.0, 0.9, 0.8, 0.1, 0.0, 0.9, strong=[True, False, True, True, True, True])
    search = ToolSearch(FILES, ranker=ranker, config=SearchConfig(default_limit=2, max_limit=2))
    visible = [tool["name"] for tool in FILES]
    fates = {name: search.explain("x y", name, visible=visible[:-1]) for name in visible}
    assert {name: fate.verdict for name, fate in fates.items()} == {
        "read_file": "returned",
        "write_file": "weak",
        "edit_file": "returned",
        "list_directory": "banded",
        "grep_files": "unranked",
        "bash": "not visible",
    }
    assert [fates[name].rank for name in visible] == [1, 2, 3, 4, None, None]
    assert search.explain("x y", "edit_file").verdict == "capped"
    assert (fates["bash"].score, fates["bash"].arms, fates["bash"].fields) == (0.0, {}, {})
    assert len({fate.reason for fate in fates.values()}) == 6


def test_x07_a_named_tool_without_any_score_is_explained():
    search = ToolSearch(FILES, ranker=Scores(0.9), config=SearchConfig(band=0), cache=False)
    whole, mentioned = search.explain("bash", "bash"), search.explain("now run `bash` twice", "bash")
    assert (whole.verdict, whole.rank, whole.score, whole.arms) == (
        "returned",
        1,
        100.0,
        {"exact_name": 100.0},
    )
    assert (mentioned.verdict, mentioned.rank, mentioned.score) == ("returned", 1, 0.0)
    assert whole.reason != mentioned.reason


def test_x07_both_arms_and_the_fields_are_told(model):
    explained = ToolSearch(LIB, embedder=model).explain("extend the loan", "renewLoan")
    assert set(explained.arms) == {"bm25", "coverage", "cosine", "elsewhere"}
    assert all(0 < arm <= 1 for arm in explained.arms.values())
    assert explained.fields == {"name": ("loan",), "description": ("extend",)}
    assert explained.degraded is None


def test_x07_an_empty_query_ranks_nothing():
    explained = lexical().explain("...", "renewLoan")
    assert (explained.verdict, explained.rank) == ("unranked", None)
    assert "empty query" in explained.reason


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("limit", [1, 3, 20])
def test_x07_explain_and_search_agree(ranker, limit):
    tools = [
        t(f"{verb}_{thing}", f"{verb} every {thing}")
        for verb in ("copy", "move", "count")
        for thing in ("file", "mail", "page", "disk")
    ]
    search = hashed(tools, ranker=ranker)
    for query in ("copy a file", "mail", "move_page", "count disks and pages"):
        result = search.search(query, limit=limit)
        verdicts = {
            name: search.explain(query, name, limit=limit).verdict for name in search.catalog.wire_names
        }
        assert {name for name, verdict in verdicts.items() if verdict == "returned"} == set(names(result))
        assert {hit.name for hit in result.hints} <= {
            name for name, verdict in verdicts.items() if verdict == "weak"
        }
