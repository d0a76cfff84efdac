"""What is mined from an author's phrasings: planted faults are named, and nothing else is."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phrasing_sets import GOOD, MAGNET, MENDED, MODEST, SAYINGS, THIN, mined, phrasings, sayings, tools

from library_tools import t
from made_up_rankers import Scores
from semantic_toolsearch import Catalog, Ranking, ToolSearch
from semantic_toolsearch.errors import DatasetError, EmbedderError, MissingExtraError
from semantic_toolsearch.evaluation.data.phrasings import read_phrasings
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.measuring import measures
from semantic_toolsearch.evaluation.mining.mine import mine, phrasing_dataset
from semantic_toolsearch.testing import HashingEmbedder

EXAMPLE = Path(__file__).parents[2] / "examples" / "mine"


def changed(report):
    return [change.tool for change in report.changes]


def magnets(report):
    return [magnet.tool for magnet in report.magnets]


def kinds(report, tool):
    (change,) = (change for change in report.changes if change.tool == tool)
    return [reason.kind for reason in change.reasons]


def figures(report, tool):
    (each,) = (each for each in report.tools if each.tool == tool)
    return each


def test_s31_the_planted_thin_tool_and_magnet_are_named_and_only_those():
    report = mined(tools(THIN, MAGNET), sayings())
    assert report.never_found == ("archiveItem",)
    assert magnets(report) == ["ask_museum"]
    assert changed(report) == ["archiveItem", "ask_museum"]


@pytest.mark.parametrize(
    ("thin", "magnet", "left"),
    [
        (MENDED, MAGNET, ["ask_museum"]),
        (THIN, MODEST, ["archiveItem"]),
        (MENDED, MODEST, []),
    ],
)
def test_s31_a_mended_description_is_a_finding_no_more(thin, magnet, left):
    report = mined(tools(thin, magnet), sayings())
    assert changed(report) == left
    assert report.never_found == (("archiveItem",) if thin is THIN else ())
    assert magnets(report) == (["ask_museum"] if magnet is MAGNET else [])


def test_s31_words_find_what_the_example_shows_until_it_is_mended():
    def report(name):
        catalog = Catalog(json.loads((EXAMPLE / name).read_text(encoding="utf-8")))
        dataset, unlabelled = phrasing_dataset(catalog, read_phrasings(EXAMPLE / "phrasings.txt"), "shop")
        return mine(ToolSearch(catalog, ranker="bm25", cache=False), dataset, unlabelled=unlabelled)

    before = report("tools.json")
    assert (before.never_found, magnets(before)) == (("cancelOrder",), ["ask_help_desk"])
    assert changed(before) == ["cancelOrder", "ask_help_desk"]
    after = report("tools_after.json")
    assert (after.never_found, magnets(after), changed(after)) == ((), [], [])


def test_a_thin_tool_is_told_what_users_say_that_stands_nowhere_in_it():
    report = mined(tools(THIN, MODEST), sayings())
    assert kinds(report, "archiveItem") == ["thin", "words"]
    thin, words = report.changes[0].reasons
    assert thin.message == "It has no description."
    assert {word.word: word.count for word in words.words} == {"cellar": 2, "storage": 2}
    assert "in 4 of 4 phrasings" in words.message


def test_a_magnet_is_told_how_much_it_takes_from_how_many_and_by_which_words():
    report = mined(tools(MENDED, MAGNET), sayings())
    (magnet,) = report.magnets
    assert (magnet.by, magnet.sure) == ("loaded", True)
    assert magnet.of == sum(len(said) for said in SAYINGS.values())
    assert magnet.count == len(magnet.texts) == figures(report, "ask_museum").taken
    assert magnet.needs == len(
        {next(tool for text, tool in sayings() if text == taken) for taken in magnet.texts}
    )
    assert magnet.low > 2 * magnet.typical
    assert magnet.words
    for word in magnet.words:
        assert word.count == sum(word.word in text for text in magnet.texts)
        assert "description" in word.fields
    assert f"{magnet.count} of {magnet.of} phrasings" in report.changes[0].reasons[0].message


def test_two_look_alikes_take_each_others_phrasings_and_are_no_magnets():
    twin = t("find_guide", "Book a guide for a tour through the rooms, or find one.")
    report = mined(tools(MENDED, twin), sayings(find_guide=["find a guide", "find me someone for a tour"]))
    assert figures(report, "find_guide").taken >= 3
    assert magnets(report) == []


def test_a_tool_that_no_phrasing_wants_is_untested():
    report = mined(tools(MENDED, MODEST), sayings(without=("order_cake",)))
    assert report.untested == ("order_cake", "ask_museum")
    assert figures(report, "order_cake").state == "untested"
    assert report.never_found == ()


def test_a_tool_that_comes_first_but_is_never_sure_enough_is_told_apart_from_one_that_is_never_found():
    catalog = Catalog([t("sure"), t("unsure"), t("far")])
    pairs = [("one", "sure"), ("two", "unsure"), ("three", "far")]
    strong = {"one": [True, False, False], "two": [False, False, False], "three": [True, False, False]}
    best = {"one": [0.9, 0.1, 0.1], "two": [0.1, 0.9, 0.1], "three": [0.9, 0.1, 0.1]}

    class Doubtful:
        def rank(self, query, *, limit, visible=None):
            return Ranking(np.arange(3), np.array(best[query], np.float32), np.array(strong[query]))

    report = mined(catalog, pairs, Doubtful())
    assert [each.state for each in report.tools] == ["found", "never loaded", "never found"]
    assert (report.never_loaded, report.never_found) == (("unsure",), ("far",))
    assert [phrasing.fates for phrasing in report.phrasings] == [("returned",), ("weak",), ("banded",)]


def test_a_tool_that_loses_to_a_magnet_alone_need_not_change():
    class Magnetic:
        """The last tool comes first for everything, the right one is next and is loaded."""

        def rank(self, query, *, limit, visible=None):
            scores = np.full(13, 0.01, np.float32)
            scores[12], scores[int(query.split()[0])] = 0.9, 0.8
            return Ranking(np.arange(13), scores)

    catalog = Catalog([t(f"tool_number{'abcdefghijklm'[place]}") for place in range(13)])
    pairs = [(f"{place} {time}", catalog.wire_names[place]) for place in range(12) for time in range(3)]
    report = mined(catalog, pairs, Magnetic())
    assert magnets(report) == changed(report) == ["tool_numberm"]
    assert all(each.first == 0 and each.loaded == 3 for each in report.tools[:12])


def test_what_users_want_most_is_no_sure_magnet_while_nobody_has_said_what_they_want():
    unlabelled = [(f"a guide for {day}", None) for day in ("May", "June", "July", "today", "me", "two")]
    report = mined(tools(MENDED, MODEST), sayings() + unlabelled)
    assert [(each.tool, each.sure, each.count, each.of) for each in report.magnets] == [
        ("book_guide", False, 6, 6)
    ]
    assert changed(report) == []
    assert figures(report, "book_guide").taken == 0


def test_phrasings_without_a_label_count_in_no_figure_and_are_no_strays():
    with_them = mined(tools(THIN, MODEST), [*sayings(), ("a guide for me", None)])
    without = mined(tools(THIN, MODEST), sayings())
    assert with_them.figures == without.figures
    assert with_them.tools == without.tools
    assert with_them.phrasings[-1].state == "unlabelled"
    assert with_them.phrasings[-1].loaded
    assert with_them.strays == ()


def test_phrasings_that_nothing_fits_and_that_load_something_are_listed():
    pairs = [*sayings(), ("a guide to good wine", ()), ("translate this", ())]
    report = mined(tools(MENDED, MODEST), pairs)
    (stray,) = report.strays
    assert (stray.text, stray.loaded) == ("a guide to good wine", ("book_guide",))
    assert [phrasing.state for phrasing in report.phrasings[-2:]] == ["stray", "nothing"]
    assert report.figures["nothing_loaded"] == 0.5


def test_confusions_say_which_words_made_the_wrong_tool_win():
    right = t("swap_reel", "Exchange a film.")
    wrong = t("bring_projector", "Carry the cinema projector to a room.")
    pairs = sayings(
        swap_reel=["cinema projector film", "projector is stuck", "the cinema is dark", "swap the reel"]
    )
    report = mined(tools(MENDED, right, wrong), pairs)
    pair = next(pair for pair in report.confusions if pair.wanted == "swap_reel")
    assert (pair.instead, pair.count, pair.of) == ("bring_projector", 3, 4)
    assert {word.word: (word.count, word.fields) for word in pair.words} == {
        "projector": (2, ("name", "description")),
        "cinema": (2, ("description",)),
    }
    gold, other = pair.parts["bm25"]
    assert other > gold
    assert kinds(report, "swap_reel") == ["words", "beaten"]
    assert "bring_projector, which holds 'cinema' (2), 'projector' (2) where it does not" in (
        report.changes[0].reasons[1].message
    )


def test_a_text_that_is_nearly_the_winners_is_called_a_copy():
    text = "the lamps of every hall, stairway, office, cellar and courtyard, and of the garden behind the old mill."
    twins = [t("dim_lamps", f"Dim {text}"), t("dim_lights", f"Dim at once {text}")]
    pairs = sayings(dim_lights=["dim the lamps of the hall", "dim the lamps of the cellar", "garden lamps"])
    report = mined(tools(MENDED, *twins), pairs)
    assert changed(report) == ["dim_lights"]
    (copy,) = (reason for reason in report.changes[0].reasons if reason.kind == "copy")
    assert "nearly that of dim_lamps, which is above it in 3 of 3 phrasings" in copy.message


def test_a_name_that_says_nothing_is_told_where_the_tool_is_not_found():
    report = mined(tools(t("run_task2", "See the handbook."), MODEST), sayings(
        without=("archiveItem",), run_task2=["to the cellar with it", "into the cellar"]))  # fmt: skip
    assert kinds(report, "run_task2") == ["name", "words"]


def test_each_gold_tool_is_followed_through_phrasings_that_want_several():
    pairs = [
        ("guide and cake", ("book_guide", "order_cake")),
        ("cake with humidity", ("order_cake", "hire_guard")),
    ]
    report = mined(tools(), pairs)
    both, one = report.phrasings
    assert (both.ranks, both.state) == ((1, 1), "first")
    assert both.fates == ("returned", "returned")
    assert (one.wanted, one.state) == (("order_cake", "hire_guard"), "partly loaded")
    assert one.ranks[1] is None
    assert figures(report, "order_cake").wanted == 2
    assert figures(report, "hire_guard").nowhere == 1


def test_a_copy_of_a_gold_tool_is_as_good_as_the_tool():
    catalog = Catalog([t("one"), t("two"), t("three")])
    dataset = Dataset(
        "copies",
        catalog.tools,
        catalog.wire_names,
        (Query("q", "x"),),
        {"q": {"two": 1}},
        {"q": {"one": "two"}},
    )
    search = ToolSearch(catalog, ranker=Scores(0.9, 0.2, 0.8), cache=False)
    report = mine(search, dataset)
    assert figures(report, "two").first == figures(report, "two").loaded == 1
    assert figures(report, "one").taken == 0
    assert report.confusions == ()
    assert report.figures["hit@1"] == 1


def test_a_gold_tool_that_cannot_be_used_is_never_found_and_says_why():
    catalog = Catalog([t("one"), t("two")])
    dataset = Dataset(
        "broken",
        catalog.tools,
        catalog.wire_names,
        (Query("q", "x"),),
        {"q": {"ghost": 1, "one": 1}},
        unusable={"ghost": "it has no schema", "unwanted": "nor has it"},
    )
    report = mine(ToolSearch(catalog, ranker=Scores(0.9, 0.1), cache=False), dataset)
    ghost = report.tools[-1]
    assert (ghost.tool, ghost.state, ghost.nowhere, ghost.unusable) == (
        "ghost",
        "unusable",
        1,
        "it has no schema",
    )
    assert report.never_found == ("ghost",)
    assert len(report.tools) == 3
    assert report.phrasings[0].fates == ("unusable", "returned")


def test_an_unknown_tool_in_the_phrasings_is_an_error_with_file_line_and_the_nearest_name(tmp_path):
    file = tmp_path / "said.txt"
    file.write_text("sell two tickets -> sell_ticket\na guide -> book_gide\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"said\.txt, line 2: .*book_gide.*book_guide"):
        phrasing_dataset(Catalog(tools()), read_phrasings(file), "museum")


def test_the_search_must_hold_the_datasets_tools():
    dataset, _ = phrasing_dataset(Catalog(tools()), phrasings(sayings(without=("archiveItem",))), "museum")
    with pytest.raises(DatasetError, match="museum: its 10 tools are not the 11 tools of the search"):
        mine(ToolSearch(tools(MODEST), ranker="bm25", cache=False), dataset)


def test_a_phrasing_with_gold_tools_is_not_unlabelled():
    dataset, _ = phrasing_dataset(Catalog(tools()), phrasings([("cake", "order_cake")]), "museum")
    search = ToolSearch(dataset.catalog, ranker="bm25", cache=False)
    with pytest.raises(DatasetError, match="has gold tools"):
        mine(search, dataset, unlabelled={dataset.queries[0].id})


def test_without_the_measuring_package_all_else_is_mined(monkeypatch):
    def missing():
        raise MissingExtraError("Measuring rankings", "eval")

    whole = mined(tools(THIN, MAGNET), sayings())
    monkeypatch.setattr(measures, "_ir_measures", missing)
    report = mined(tools(THIN, MAGNET), sayings())
    assert replace(report, figures=whole.figures, values=whole.values, notes=()) == whole
    assert "hit@1" not in report.figures
    assert report.figures["complete"] == whole.figures["complete"]
    assert any("Rank measures are left out" in note for note in report.notes)


def test_a_ranker_of_patterns_is_remarked_on():
    assert any("pattern" in note for note in mined(tools(MODEST), [("cake", "order_cake")], "regex").notes)


def test_the_same_tools_and_phrasings_give_the_same_report_as_plain_json():
    first, second = (mined(tools(THIN, MAGNET), sayings()).as_dict() for _ in range(2))
    assert first == second == json.loads(json.dumps(first))
    assert first["never_found"] == ["archiveItem"]
    assert [tool["tool"] for tool in first["tools"] if tool["state"] == "untested"] == ["ask_museum"]
    assert "values" not in first


NAMES = list(GOOD)


@settings(max_examples=60, deadline=None)
@given(
    wanted=st.lists(
        st.one_of(st.none(), st.sets(st.sampled_from([*NAMES, "ghost"]), max_size=4)), min_size=1, max_size=12
    ),
    scores=st.lists(st.floats(0, 1, width=32), min_size=len(NAMES), max_size=len(NAMES)),
    strong=st.lists(st.booleans(), min_size=len(NAMES), max_size=len(NAMES)),
)
def test_every_gold_tool_of_every_phrasing_is_accounted_for_exactly_once(wanted, scores, strong):
    catalog = Catalog(tools())
    gold = {f"q{number}": dict.fromkeys(sorted(each or ()), 1) for number, each in enumerate(wanted)}
    dataset = Dataset(
        "any",
        catalog.tools,
        catalog.wire_names,
        tuple(Query(query, f"words {query}", answerable=bool(tools)) for query, tools in gold.items()),
        {query: tools for query, tools in gold.items() if tools},
        unusable={"ghost": "broken"},
    )
    unlabelled = {f"q{number}" for number, each in enumerate(wanted) if each is None}
    search = ToolSearch(catalog, ranker=Scores(*scores, strong=strong), cache=False)
    report = mine(search, dataset, unlabelled=unlabelled)
    counted = Counter(tool for judged in gold.values() for tool in judged)
    assert {each.tool: each.wanted for each in report.tools if each.wanted} == counted
    assert [each.tool for each in report.tools[: len(NAMES)]] == NAMES
    for each in report.tools:
        assert each.first + each.in_five + each.later + each.nowhere == each.wanted
        assert each.loaded <= each.wanted
        missed = sum(
            fate != "returned"
            for phrasing in report.phrasings
            for tool, fate in zip(phrasing.wanted, phrasing.fates, strict=True)
            if tool == each.tool
        )
        assert missed == each.wanted - each.loaded
    labelled = [phrasing for phrasing in report.phrasings if phrasing.state != "unlabelled"]
    assert sum(each.taken for each in report.tools) == sum(
        tool not in phrasing.wanted for phrasing in labelled for tool in phrasing.loaded
    )
    assert len(report.phrasings) == len(wanted)
    assert set(report.never_found).isdisjoint(report.untested)


def test_near_duplicates_by_the_model_are_named_where_one_of_them_is_not_found():
    text = (
        "Make the lamps of every hall, stairway, office, cellar and courtyard darker, those of the garden behind the "
        "old mill included, at once or at an hour that was set before, and tell which of them did not answer."
    )
    twins = [t("dim_lamps", text), t("dim_lights", text)]
    pairs = [
        ("make the lamps darker", "dim_lights"),
        ("lamps of the hall", "dim_lights"),
        ("cake", "order_cake"),
    ]
    report = mined(tools(*twins), pairs, "semantic", embedder=HashingEmbedder())
    assert changed(report) == ["dim_lights"]
    assert any("can hardly tell it from dim_lamps" in reason.message for reason in report.changes[0].reasons)


def test_a_failing_model_is_told_and_words_alone_are_mined():
    class Broken:
        id, dimension = "broken", 8

        def encode_document(self, texts):
            raise EmbedderError("the disk is on fire")

        encode_query = encode_document

    report = mined(tools(THIN, MODEST), sayings(), "hybrid", embedder=Broken())
    by_words = mined(tools(THIN, MODEST), sayings(), "bm25")
    assert report.never_found == by_words.never_found == ("archiveItem",)
    assert sum("the disk is on fire" in note for note in report.notes) == 2
