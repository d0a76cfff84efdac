"""A dataset holds what it promises, or says which id is wrong."""

from __future__ import annotations

import pytest

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.dataset import Dataset, Query, told_apart

TOOLS = tuple(
    ToolDefinition(name=name, description=f"Does {name}") for name in ("one", "two", "three", "four")
)
IDS = ("t1", "t2", "t3", "t4")


def dataset(**changes):
    values = {
        "name": "numbers",
        "tools": TOOLS,
        "ids": IDS,
        "queries": (
            Query("q1", "first"),
            Query("q2", "second", split="dev"),
            Query("q3", "x", answerable=False),
        ),
        "gold": {"q1": {"t1": 1, "gone": 2}, "q2": {"t2": 1}},
        "copies": {"q1": {"t3": "t1"}},
        "unusable": {"gone": "its name is empty"},
    }
    return Dataset(**{**values, **changes})


def test_places_are_positions_in_the_catalog():
    data = dataset()
    assert [tool.name for tool in data.catalog] == ["one", "two", "three", "four"]
    assert data.gold_places("q1") == (0,)
    assert data.right_places("q1") == (0, 2)
    assert data.gold_places("q3") == ()
    assert data.standing("q1") == {"t1": (0, 2), "gone": ()}
    assert data.standing("q3") == {}
    assert dataset(copies={"q1": {"t4": "gone", "t3": "t1"}}).standing("q1") == {"t1": (0, 2), "gone": (3,)}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ids": ("t1", "t1", "t3", "t4")}, "the tool id 't1' occurs twice"),
        ({"ids": ("t1",)}, "4 tools have 1 ids"),
        ({"queries": (Query("q1", "a"), Query("q1", "b"))}, "the query id 'q1' occurs twice"),
        ({"gold": {"q1": {"t1": 1}}}, "the query 'q2' has no gold tools"),
        ({"gold": {"q1": {"t1": 1}, "q2": {"t2": 1}, "q3": {"t3": 1}}}, "'q3' is said to be unanswerable"),
        ({"gold": {"q1": {"t9": 1}, "q2": {"t2": 1}}, "copies": {}}, "'q1' names the unknown tool 't9'"),
        ({"copies": {"q1": {"t3": "t2"}}}, "'t2' has a copy but is not gold for 'q1'"),
    ],
)
def test_a_dataset_that_contradicts_itself_is_refused(changes, told):
    with pytest.raises(DatasetError, match=told):
        dataset(**changes)


def test_a_split_keeps_order_and_is_drawn_the_same_each_time():
    many = dataset(
        queries=tuple(Query(f"q{number}", "x", split="test") for number in range(50)),
        gold={f"q{number}": {"t1": 1} for number in range(50)},
        copies={},
    )
    drawn = [query.id for query in many.split("test", 10, seed=3).queries]
    assert drawn == [query.id for query in many.split("test", 10, seed=3).queries]
    assert len(drawn) == 10
    assert drawn == sorted(drawn, key=lambda each: int(each[1:]))
    assert drawn != [query.id for query in many.split("test", 10, seed=4).queries]
    assert set(many.split("test", 10).gold) == {query.id for query in many.split("test", 10).queries}


def test_a_split_without_queries_names_those_there_are():
    with pytest.raises(DatasetError, match="no query is of the split 'train'; there is: dev, test"):
        dataset().split("train")


def test_a_smaller_catalog_keeps_what_was_gold_as_never_to_be_found():
    smaller = dataset().with_tools([3, 1])
    assert [tool.name for tool in smaller.catalog] == ["four", "two"]
    assert smaller.gold_places("q1") == ()
    assert smaller.right_places("q2") == (1,)
    assert set(smaller.unusable) == {"gone", "t1", "t3"}
    assert set(dataset().with_tools([0, 1, 2]).unusable) == {"gone"}  # the other one answers nothing


def test_tools_of_one_name_are_told_apart_as_servers_would_tell_them():
    same = ToolDefinition(name="one", namespace="desk", description="Other")
    told = told_apart([*TOOLS, TOOLS[0], same, same])
    assert [(tool.namespace, tool.name) for tool in told[4:]] == [
        ("2", "one"),
        ("desk", "one"),
        ("desk 2", "one"),
    ]
