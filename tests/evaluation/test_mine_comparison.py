"""The same phrasings over descriptions before and after a change: what was won, what was lost."""

from __future__ import annotations

import json
from statistics import fmean

import pytest
from phrasing_sets import MAGNET, MENDED, MODEST, THIN, mined, sayings, tools

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.mining.comparison import compare_mined

PAIRS = [*sayings(), ("a cake for the guard", ()), ("translate this", ())]


def changes(listed):
    return {(change.text, change.before, change.after) for change in listed}


def test_mending_wins_what_the_thin_tool_and_the_magnet_cost():
    before, after = mined(tools(THIN, MAGNET), PAIRS), mined(tools(MENDED, MODEST), PAIRS)
    comparison = compare_mined(before, after)
    assert comparison.lost == ()
    assert {change.wanted for change in comparison.won} == {("archiveItem",)}
    assert changes(comparison.won) == {
        (text, "missed", "first") for text, tool in sayings() if tool == "archiveItem"
    }
    assert (comparison.found, comparison.missed) == (("archiveItem",), ())
    assert (comparison.freed, comparison.magnets) == (("ask_museum",), ())


def test_the_other_way_round_the_same_is_lost():
    before, after = mined(tools(THIN, MAGNET), PAIRS), mined(tools(MENDED, MODEST), PAIRS)
    there, back = compare_mined(before, after), compare_mined(after, before)
    assert changes(back.lost) == {(text, new, old) for text, old, new in changes(there.won)}
    assert (back.missed, back.magnets) == (there.found, there.freed)
    for forth, reverse in zip(there.figures, back.figures, strict=True):
        assert (forth.before, forth.after, forth.p) == (reverse.after, reverse.before, reverse.p)


def test_figures_are_those_of_the_reports_with_a_paired_test():
    before, after = mined(tools(THIN, MODEST), PAIRS), mined(tools(MENDED, MODEST), PAIRS)
    figures = {each.measure: each for each in compare_mined(before, after).figures}
    assert list(figures) == [
        "hit@1",
        "recall@5",
        "complete@5",
        "nDCG@10",
        "MRR",
        "all loaded",
        "nothing loaded",
    ]
    for measure in list(figures)[:5]:
        assert figures[measure].before == pytest.approx(before.figures[measure])
        assert figures[measure].after == pytest.approx(after.figures[measure])
    loaded = figures["all loaded"]
    assert loaded.after - loaded.before == pytest.approx(4 / len(sayings()))
    assert 0 <= loaded.low < loaded.after - loaded.before < loaded.high
    assert loaded.p == pytest.approx(2 / 2**4)  # four phrasings differ, all in one direction
    assert figures["nothing loaded"].p == 1
    assert figures["nothing loaded"].after == after.figures["nothing_loaded"]


def test_a_phrasing_that_nothing_fits_is_won_when_nothing_is_loaded_any_more():
    before = mined(tools(MENDED, MODEST), PAIRS)
    after = mined(tools(MENDED, MODEST, without=("order_cake", "hire_guard")), [
        pair for pair in PAIRS if pair[1] not in ("order_cake", "hire_guard")])  # fmt: skip
    with pytest.raises(DatasetError, match="different phrasings"):
        compare_mined(before, after)
    pairs = [pair for pair in PAIRS if pair[1] not in ("order_cake", "hire_guard")]
    comparison = compare_mined(mined(tools(MENDED, MODEST), pairs), after)
    assert ("a cake for the guard", "stray", "nothing") in changes(comparison.won)


def test_the_same_report_twice_differs_in_nothing():
    report = mined(tools(THIN, MAGNET), [*PAIRS, ("who knows", None)])
    comparison = compare_mined(report, report)
    assert (comparison.won, comparison.lost, comparison.found, comparison.freed) == ((), (), (), ())
    assert {each.p for each in comparison.figures} == {1}
    content = comparison.as_dict()
    assert json.loads(json.dumps(content)) == content
    assert fmean(each["after"] - each["before"] for each in content["figures"]) == 0


def test_another_label_makes_another_phrasing():
    pairs = sayings()
    relabelled = [*pairs[:-1], (pairs[-1][0], None)]
    with pytest.raises(DatasetError, match="different phrasings"):
        compare_mined(mined(tools(MENDED), pairs), mined(tools(MENDED), relabelled))
