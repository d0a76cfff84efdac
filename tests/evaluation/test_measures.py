from __future__ import annotations

import builtins
import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_sets import judged, measured_plainly

from semantic_toolsearch.errors import MissingExtraError
from semantic_toolsearch.evaluation.answers import Answer
from semantic_toolsearch.evaluation.measuring import measures
from semantic_toolsearch.evaluation.measuring.measures import gold_found, means, per_query, recall_at
from semantic_toolsearch.evaluation.results import MEASURES


def test_s27_three_queries_computed_by_hand():
    dataset = judged({"q1": {"t0": 1}, "q2": {"t0": 2, "t1": 1}, "q3": {"t0": 1, "t1": 1}})
    answers = {
        "q1": Answer(ranked=(0, 5, 6)),  # right at once
        "q2": Answer(ranked=(5, 1, 6, 0)),  # gains 0, 1, 0, 2: (1/log2(3) + 2/log2(5)) / (2 + 1/log2(3))
        "q3": Answer(ranked=(5, 6, 7, 8, 0)),  # gain 1 at rank 5: (1/log2(6)) / (1 + 1/log2(3))
    }
    values = per_query(dataset, answers)
    expected = {
        "hit@1": (1.0, 0.0, 0.0),
        "recall@5": (1.0, 1.0, 0.5),
        "complete@5": (1.0, 1.0, 0.0),
        "nDCG@10": (1.0, 0.5672074169568709, 0.23719771276929622),
        "MRR": (1.0, 0.5, 0.2),
    }
    assert list(values) == list(MEASURES)
    for measure, row in expected.items():
        assert values[measure] == pytest.approx(row, abs=1e-9)
    averages = means(dataset, values)
    assert averages == pytest.approx(
        {
            "hit@1": 1 / 3,
            "recall@5": 2.5 / 3,
            "complete@5": 2 / 3,
            "nDCG@10": 0.6014683765753891,
            "MRR": 1.7 / 3,
        },
        abs=1e-9,
    )


def test_s27_a_query_that_is_missing_failed_or_empty_counts_0():
    dataset = judged({"q1": {"t0": 1}, "missing": {"t0": 1}, "failed": {"t0": 1}, "empty": {"t0": 1}})
    answers = {
        "q1": Answer(ranked=(0,)),
        "failed": Answer(ranked=(0,), failed="timed out"),
        "empty": Answer(),
    }
    values = per_query(dataset, answers)
    assert set(values.values()) == {(1.0, 0.0, 0.0, 0.0)}
    assert set(means(dataset, values).values()) == {0.25}
    assert recall_at(dataset, answers, depth=2) == (0.25, 0.25)
    assert set(per_query(dataset, {}).values()) == {(0.0,) * 4}


def test_unanswerable_queries_are_0_and_no_part_of_a_mean():
    dataset = judged({"none": {}, "q1": {"t0": 1}})
    values = per_query(dataset, {"none": Answer(ranked=(0,)), "q1": Answer(ranked=(0,))})
    assert set(values.values()) == {(0.0, 1.0)}
    assert set(means(dataset, values).values()) == {1.0}
    assert recall_at(dataset, {"q1": Answer(ranked=(0,))}, depth=1) == (1.0,)
    hopeless = judged({"none": {}})
    assert means(hopeless, per_query(hopeless, {"none": Answer(ranked=(0,))})) == {}
    assert recall_at(hopeless, {}) == ()


def test_to_find_a_copy_is_to_find_its_gold_tool():
    dataset = judged({"q1": {"t0": 2, "t1": 1}}, {"q1": {"t8": "t0"}})
    by_copy = per_query(dataset, {"q1": Answer(ranked=(8, 1))})
    by_gold = per_query(dataset, {"q1": Answer(ranked=(0, 1))})
    assert by_copy == by_gold
    assert by_copy["nDCG@10"] == (1.0,)


def test_only_the_first_of_a_gold_tool_and_its_copies_counts_and_the_others_keep_their_place():
    dataset = judged({"q1": {"t0": 1, "t1": 1}}, {"q1": {"t6": "t0", "t7": "t0", "t8": "t0", "t9": "t0"}})
    values = per_query(dataset, {"q1": Answer(ranked=(6, 7, 8, 9, 0, 1))})
    assert values["recall@5"] == (0.5,)
    assert values["complete@5"] == (0.0,)
    assert gold_found(dataset, "q1", (6, 7, 0, 1, 1)) == ("t0", None, None, "t1", None)
    assert recall_at(dataset, {"q1": Answer(ranked=(6, 7, 8, 9, 0, 1))}, depth=7) == (*[0.5] * 5, 1.0, 1.0)


def test_a_gold_tool_stands_for_itself_even_where_it_is_called_a_copy():
    dataset = judged({"q1": {"t0": 1, "t1": 1}}, {"q1": {"t1": "t0"}})
    assert gold_found(dataset, "q1", (1, 0)) == ("t1", "t0")


def test_a_gold_tool_that_no_catalog_holds_stays_relevant():
    dataset = judged({"q1": {"t0": 1, "broken": 1}}, unusable=["broken"])
    values = per_query(dataset, {"q1": Answer(ranked=(0, 1))})
    assert values["recall@5"] == (0.5,)
    assert values["complete@5"] == (0.0,)
    assert values["nDCG@10"][0] == pytest.approx(1 / (1 + 0.6309297535714575), abs=1e-9)
    assert recall_at(dataset, {"q1": Answer(ranked=(0, 1))}, depth=2) == (0.5, 0.5)
    through_copy = judged({"q1": {"broken": 1}}, {"q1": {"t3": "broken"}}, unusable=["broken"])
    assert per_query(through_copy, {"q1": Answer(ranked=(3,))})["hit@1"] == (1.0,)


def test_more_than_five_gold_tools_are_never_complete_among_five():
    dataset = judged({"q1": {f"t{place}": 1 for place in range(6)}})
    values = per_query(dataset, {"q1": Answer(ranked=tuple(range(6)))})
    assert values["recall@5"] == pytest.approx((5 / 6,))
    assert values["complete@5"] == (0.0,)


def test_ids_may_hold_anything():
    dataset = judged({"a\x00b c\t": {"t0": 1}, "": {"t1": 1}})
    values = per_query(dataset, {"a\x00b c\t": Answer(ranked=(0,)), "": Answer(ranked=(1,))})
    assert set(values.values()) == {(1.0, 1.0)}


GRADED = st.dictionaries(st.integers(0, 11), st.integers(1, 4), min_size=1, max_size=7)
RANKED = st.lists(st.integers(0, 11), unique=True, max_size=12)
COPIED = st.dictionaries(st.integers(0, 11), st.integers(0, 6), max_size=5)


@given(st.lists(st.tuples(GRADED, COPIED, RANKED), min_size=1, max_size=5))
def test_s27_the_package_agrees_with_the_textbook(queries):
    gold, copies, answers = {}, {}, {}
    for number, (grades, copied, ranked) in enumerate(queries):
        query, golden = f"q{number}", [f"t{place}" for place in grades]
        gold[query] = {f"t{place}": grade for place, grade in grades.items()}
        copies[query] = {f"t{copy}": golden[which % len(golden)] for copy, which in copied.items()}
        answers[query] = Answer(ranked=tuple(ranked))
    dataset = judged(gold, copies)
    values = per_query(dataset, answers)
    plain = [
        measured_plainly(gold[query], copies[query], dataset.ids, answers[query].ranked) for query in gold
    ]
    for measure in MEASURES:
        assert values[measure] == pytest.approx([each[measure] for each in plain], abs=1e-9)
    curve = recall_at(dataset, answers, depth=12)
    assert curve[4] == pytest.approx(means(dataset, values)["recall@5"], abs=1e-9)
    assert list(curve) == sorted(curve)
    assert all(0 <= share <= 1 for share in curve)


def test_the_curve_of_recall_is_that_of_the_package():
    from ir_measures import R, calc_aggregate

    dataset = judged({"q1": {"t0": 1, "t1": 1, "t2": 1}, "q2": {"t3": 2}, "q3": {"t4": 1, "t5": 3}})
    answers = {
        "q1": Answer(ranked=(2, 6, 0, 7, 8, 1)),
        "q2": Answer(ranked=(4, 3)),
        "q3": Answer(ranked=(5,)),
    }
    run = {
        query: {dataset.ids[place]: float(-rank) for rank, place in enumerate(answer.ranked)}
        for query, answer in answers.items()
    }
    cuts = {R @ depth: depth for depth in range(1, 9)}
    theirs = calc_aggregate(cuts, dict(dataset.gold), run)
    ours = recall_at(dataset, answers, depth=8)
    assert ours == pytest.approx([theirs[cut] for cut in cuts], abs=1e-9)


def test_the_package_leaves_no_handler_behind_that_prints():
    per_query(judged({"q1": {"t0": 1}}), {"q1": Answer(ranked=(0,))})
    assert logging.getLogger("ir_measures").handlers == []


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "ir_measures":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.delitem(sys.modules, "ir_measures", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    measures._ir_measures.cache_clear()
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[eval\]"):
        per_query(judged({"q1": {"t0": 1}}), {})
