"""BM25 over the tools' tokens: what it finds, and that it compares across queries and survives a file."""

from __future__ import annotations

import numpy as np
import pytest

from library_tools import LIB, t
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.rankers.bm25 import Bm25Ranker, LexicalIndex


def found(tools, query):
    catalog = Catalog(tools, strict=True)
    return [catalog[int(place)].name for place in Bm25Ranker.of(catalog).rank(query, limit=99).positions]


@pytest.mark.parametrize(
    "query", ["loan", "extend", "card", "plastic", "extraDays", "extra days", "renew_loan"]
)
def test_c14_c16_names_descriptions_and_parameters_are_searched(query):
    assert found(LIB, query)[0] == "renewLoan"


@pytest.mark.parametrize("name", ["renewLoan", "renew_loan", "renew-loan", "RenewLoan"])
def test_c15_a_word_of_a_name_in_any_case_style(name):
    assert found([t(name), t("other")], "loan") == [name]


@pytest.mark.parametrize("others", [0, 1])
def test_s09_small_catalogs_find_their_word(others):
    tools = [t("forecast_get", "Weather forecast for a place"), t("mail_send", "Send a mail")][: 1 + others]
    for query in ("weather forecast", "forecast weather", "place"):
        assert found(tools, query) == ["forecast_get"]


def test_s09_a_word_that_every_tool_has_finds_them_all():
    assert len(found([t("forecast", "Weather ahead"), t("radar", "Weather now")], "weather")) == 2


def test_s09_word_forms_and_enum_values():
    tools = [t("cron", "Schedule a task"), t("drive", "Handling", mode={"type": "string", "enum": ["turbo"]})]
    assert found(tools, "scheduling") == ["cron"]
    assert found(tools, "turbo") == ["drive"]


def scores(tools, *queries):
    ranker = Bm25Ranker.of(Catalog(tools, strict=True))
    return [ranker.scores(query) for query in queries]


def test_scores_lie_between_0_and_1_and_unknown_words_lower_them():
    clean, noisy, nothing = scores(LIB, "extend loan", "extend loan quickly zebra", "zebra quagga")
    assert 0 < noisy[0] < clean[0] < 1
    assert not nothing.any()


def test_a_word_said_twice_counts_once():
    once, twice = scores(LIB, "loan title", "loan loan title")
    assert once.any()
    assert (twice == once).all()


def test_coverage_is_the_share_of_words_however_long_the_text():
    tools = [t("long", "refund an order " + "and many other words " * 50), t("short", "refund"), t("other")]
    coverage = Bm25Ranker.of(Catalog(tools)).coverage("refund the order")
    assert coverage[0] == pytest.approx(1.0)
    assert 0 < coverage[1] < 1
    assert coverage[2] == 0


def test_x18_scattered_ideographs_are_a_match_but_no_coverage():
    ranker = Bm25Ranker.of(Catalog([t("scattered", "猫 查 找"), t("phrase", "查找猫"), t("other", "天气")]))
    scattered, phrase, other = ranker.coverage("查找猫")
    assert (scattered, phrase, other) == (0, 1, 0)
    assert ranker.scores("查找猫")[1] > ranker.scores("查找猫")[0] > 0


@pytest.mark.parametrize("tools", [LIB, LIB[:1], [], [t("...")], [t("翻訳", "文章を翻訳")]], ids=len)
def test_an_index_survives_its_files(tools):
    built = Bm25Ranker.of(Catalog(tools))
    read = LexicalIndex.from_files(len(built.index.to_files()) and built.index.size, built.index.to_files())
    for query in ("loan of a book", "翻訳", "zebra", ""):
        assert np.array_equal(built.scores(query), Bm25Ranker(read).scores(query))
        assert np.array_equal(built.coverage(query), Bm25Ranker(read).coverage(query))


def test_invisible_tools_are_left_out_before_the_cut():
    tools = [t(f"report_{number}", "Monthly report") for number in range(9)]
    ranker = Bm25Ranker.of(Catalog(tools))
    visible = np.array([False] * 7 + [True] * 2)
    assert ranker.rank("report", limit=1, visible=visible).positions.tolist() == [7]


@pytest.mark.parametrize("seed", range(4))
def test_x11_what_is_invisible_changes_no_score(seed):
    """How rare a word is, and how long texts are, must not tell of tools that the caller may not see."""
    random = np.random.default_rng(seed)
    words = [f"word{number}" for number in range(40)]
    tools = [
        t(f"tool_{place}", " ".join(random.choice(words, random.integers(0, 60)))) for place in range(50)
    ] + [t("loud_tool", "word1 " * 400 + "word2"), t("nothing")]
    visible = random.random(len(tools)) < 0.3
    visible[-2] = seed % 2 == 0
    part = Bm25Ranker.of(Catalog([tool for tool, seen in zip(tools, visible, strict=True) if seen]))
    whole = Bm25Ranker.of(Catalog(tools))
    for query in ("word1", "word1 word2 word3", "tool 7 word9 unheard", "loud", "word39 word38 word37 word1"):
        assert np.array_equal(whole.scores(query, visible)[visible], part.scores(query))
        assert np.array_equal(whole.coverage(query, visible)[visible], part.coverage(query))
        assert not whole.scores(query, visible)[~visible].any()
        everything = np.ones(len(tools), dtype=bool)
        assert np.array_equal(whole.scores(query, everything), whole.scores(query))
