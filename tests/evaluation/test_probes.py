"""What is asked beside a dataset's own queries, and how answers are gathered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import RankerError
from semantic_toolsearch.evaluation.answers import Answer, Build
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.measuring.collecting import all_failed, collected, latency, reason_of
from semantic_toolsearch.evaluation.measuring.probes import probe_figures, some_queries, strangers_to


class Scripted:
    """Loads, for each query text, the places that it is told, but for hidden ones; passes over others."""

    build = Build()

    def __init__(self, found):
        self.found = found

    def answers(self, queries, hidden=None):
        for query in queries:
            if query.text in self.found:
                left_out = (hidden or {}).get(query.id, ())
                places = tuple(place for place in self.found[query.text] if place not in left_out)
                yield query, Answer(ranked=places, returned=places)


def a_dataset(*names, name="shop"):
    return Dataset(
        name=name,
        tools=tuple(ToolDefinition(name=each) for each in names),
        ids=names,
        queries=(*(Query(each, f"use {each}") for each in names), Query("none", "sing", answerable=False)),
        gold={each: {each: 1} for each in names},
    )


def test_s28_one_answer_a_query_in_their_order_and_what_is_passed_over_has_failed():
    queries = a_dataset("pay", "ship").queries
    told = []
    answers = collected(Scripted({"use ship": [1], "sing": []}), queries, tell=told.append)
    assert list(answers) == ["pay", "ship", "none"]
    assert answers["pay"] == Answer(failed="the arm gave no answer")
    assert answers["ship"].returned == (1,)
    assert told == [1, 2]
    assert all_failed(answers) is None
    assert all_failed(collected(Scripted({}), queries)) == "the arm gave no answer"
    assert all_failed({}) is None


def test_s28_reasons_name_the_type_of_foreign_errors_only():
    assert reason_of(RankerError("It is broken.")) == "It is broken."
    assert reason_of(KeyError("tool")) == "KeyError: 'tool'"


def test_s28_latency_is_in_milliseconds():
    assert latency([0.001, 0.002, 0.003]) == {"p50_ms": 2.0, "p95_ms": pytest.approx(2.9)}


def test_s28_hidden_gold_strangers_and_bare_names_by_hand():
    dataset = a_dataset("pay", "ship")
    found = {
        "use pay": [0],  # loads nothing once it is hidden
        "use ship": [1, 0],  # loads the other tool then
        "use fly": [1],
        "use run": [],
        "`pay`": [0, 1],
        "`ship`": [0],
    }
    others = [some_queries(a_dataset("fly", "run", "pay", name="air"), 5, 7), some_queries(dataset, 5, 7)]
    strangers = strangers_to(dataset, others)
    assert [(query.id, query.text, query.answerable) for query in strangers] == [
        ("air/fly", "use fly", False),
        ("air/run", "use run", False),
    ]
    figures = probe_figures(Scripted(found), dataset, strangers, most=5, seed=7)
    assert figures == {"nothing_without_gold": 0.5, "nothing_for_strangers": 0.5, "named_first": 0.5}
    assert probe_figures(Scripted(found), dataset, [], most=0, seed=7) == {}


def test_s28_a_query_whose_copy_has_a_namesake_is_no_stranger():
    air = replace(a_dataset("fly", "soar", "run", name="air"), copies={"fly": {"soar": "fly"}})
    assert [query.id for query in strangers_to(a_dataset("soar"), [some_queries(air, 5, 7)])] == ["air/run"]


def test_s28_a_large_catalog_is_asked_no_strangers():
    large = a_dataset(*(f"tool{number}" for number in range(500)))
    assert strangers_to(large, [some_queries(a_dataset("fly", name="air"), 5, 7)]) == []


def test_s28_copies_are_hidden_with_the_gold_tools_they_stand_for():
    dataset = replace(a_dataset("pay", "refund"), copies={"pay": {"refund": "pay"}})
    found = {"use pay": [0, 1], "use refund": [0], "`pay`": [0], "`refund`": [1]}
    figures = probe_figures(Scripted(found), dataset, [], most=5, seed=7)
    assert figures["nothing_without_gold"] == 0.5  # the one without copies loads the other tool


def test_s28_a_dataset_s_own_queries_are_no_strangers_to_it():
    dataset = a_dataset("pay", "ship")
    lost = replace(dataset, gold={**dataset.gold, "pay": {"gone": 1}}, unusable={"gone": "broken"})
    assert strangers_to(lost, [some_queries(lost, 5, 7)]) == []


def test_s28_probes_are_drawn_with_the_seed():
    class Noting(Scripted):
        def answers(self, queries, hidden=None):
            self.asked = [*getattr(self, "asked", ()), *(query.text for query in queries)]
            return super().answers(queries, hidden)

    def asked(seed):
        prepared = Noting({})
        probe_figures(prepared, a_dataset(*(f"tool{number}" for number in range(40))), [], most=3, seed=seed)
        return prepared.asked

    assert [text[0] for text in asked(7)] == ["u"] * 3 + ["`"] * 3
    assert asked(7) == asked(7)
    assert set(asked(7)[:3]) != set(asked(8)[:3])
    assert set(asked(7)[3:]) != set(asked(8)[3:])
