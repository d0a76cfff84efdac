from __future__ import annotations

import pytest
from judged_sets import judged

from semantic_toolsearch.evaluation.answers import Answer
from semantic_toolsearch.evaluation.measuring.returned import nothing_loaded, returned_figures

TOKENS = [10 * (place + 1) for place in range(12)]


def test_s28_two_unanswerable_queries_of_which_one_loads_a_tool_are_half():
    dataset = judged({"n1": {}, "n2": {}})
    figures = returned_figures(dataset, {"n1": Answer(), "n2": Answer(returned=(3,))}, TOKENS)
    assert figures == {"nothing_loaded": 0.5}


def test_s28_what_the_model_gets_is_measured_by_hand():
    dataset = judged(
        {"q1": {"t0": 1, "t1": 1}, "q2": {"t2": 1}, "q3": {"t3": 2}, "q4": {"t4": 1}},
        {"q1": {"t8": "t0", "t9": "t0"}},
    )
    answers = {
        "q1": Answer(returned=(8, 9, 5)),  # a copy twice and a wrong tool: 90 + 100 + 60 tokens
        "q2": Answer(returned=(2,)),  # 30 tokens
        "q3": Answer(),
        "q4": Answer(returned=(4,), failed="answered 500"),
    }
    assert returned_figures(dataset, answers, TOKENS) == pytest.approx(
        {
            "size": 4 / 4,
            "tokens": 280 / 4,
            "precision": (2 / 3 + 1) / 4,
            "recall": (1 / 2 + 1) / 4,
            "complete": 1 / 4,
            "empty": 2 / 4,
        }
    )


def test_a_missing_answer_returns_nothing():
    dataset = judged({"q1": {"t0": 1}})
    assert returned_figures(dataset, {}, TOKENS) == {
        "size": 0,
        "tokens": 0,
        "precision": 0,
        "recall": 0,
        "complete": 0,
        "empty": 1,
    }


def test_the_ranking_does_not_count_here():
    dataset = judged({"q1": {"t0": 1}, "n1": {}})
    figures = returned_figures(dataset, {"q1": Answer(ranked=(0,)), "n1": Answer(ranked=(0,))}, TOKENS)
    assert figures["recall"] == 0
    assert figures["nothing_loaded"] == 1


def test_a_gold_tool_that_no_catalog_holds_lowers_recall():
    dataset = judged({"q1": {"t0": 1, "broken": 1}}, unusable=["broken"])
    figures = returned_figures(dataset, {"q1": Answer(returned=(0,))}, TOKENS)
    assert (figures["precision"], figures["recall"], figures["complete"]) == (1, 0.5, 0)


def test_a_fault_is_no_decision_to_load_nothing():
    assert nothing_loaded([Answer(), Answer(failed="answered 429"), None, Answer(returned=(1,))]) == 0.25


def test_no_answers_have_no_share():
    with pytest.raises(ValueError, match="at least one"):
        nothing_loaded([])


def test_unanswerable_queries_are_no_part_of_the_other_figures():
    dataset = judged({"q1": {"t0": 1}, "n1": {}, "q2": {"t1": 1}, "n2": {}})
    answers = {"q1": Answer(returned=(0, 5)), "n1": Answer(returned=(0, 1, 2)), "q2": Answer()}
    assert returned_figures(dataset, answers, TOKENS) == {
        "size": 1,
        "tokens": (10 + 60) / 2,
        "precision": 0.25,
        "recall": 0.5,
        "complete": 0.5,
        "empty": 0.5,
        "nothing_loaded": 0.0,  # the one that is missing is a fault
    }
