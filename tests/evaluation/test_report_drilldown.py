"""Which queries a report explains, and what it tells about them."""

from __future__ import annotations

from arm_sets import twelve_tools
from judged_sets import judged
from reported import measured

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import RankerError
from semantic_toolsearch.evaluation.answers import Build, Why
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.report.details import TaskDetails
from semantic_toolsearch.evaluation.report.drilldown import task_details
from semantic_toolsearch.evaluation.results import ArmResult, QueryRow, TaskResult


def row(name, completes, ranked, loaded, **changes):
    values = {
        "arm": name,
        "measures": {"nDCG@10": sum(completes) / len(completes)},
        "values": {"complete@5": completes, "nDCG@10": completes},
        "ranked": ranked,
        "loaded": loaded,
    }
    return ArmResult(**{**values, **changes})


def task_of(dataset, *arms):
    rows = (
        QueryRow(id=query.id, answerable=query.answerable, gold=dataset.gold_places(query.id))
        for query in dataset.queries
    )
    return TaskResult(name="t", split="test", tools=len(dataset.tools), queries=tuple(rows), arms=arms)


class Explains:
    """Says of each tool that it was asked."""

    build = Build()

    def __init__(self, fault=None):
        self.asked, self.fault = [], fault

    def explain(self, query, places):
        self.asked.append((query.id, list(places)))
        if self.fault:
            raise self.fault
        return [
            Why(place, 1, 1 / 3, "returned", f"why {place}", {"bm25": 2 / 3}, {"name": ("x",)})
            for place in places
        ]


def chosen(details):
    return [query.id for query in details.queries]


def test_queries_on_which_arms_differ_or_the_best_misses_come_first():
    gold = {f"q{place}": {"t0": 1} for place in range(6)}
    dataset = judged(gold)
    nothing = ((),) * 6
    best = row("best", (1.0, 1.0, 1.0, 1.0, 0.0, 1.0), nothing, nothing)
    other = row("other", (1.0, 1.0, 0.0, 1.0, 0.0, 1.0), nothing, nothing)
    details = task_details(dataset, task_of(dataset, best, other), {}, most=6)
    assert set(chosen(details)[:2]) == {"q2", "q4"}
    assert sorted(chosen(details)) == sorted(gold)
    assert {query.id: query.differs for query in details.queries}["q2"]
    assert not {query.id: query.differs for query in details.queries}["q4"]


def test_unanswerable_queries_differ_where_some_arm_loads_nothing():
    dataset = judged({"a": {}, "b": {}})
    one = row("one", (0.0, 0.0), ((), ()), ((1,), (2,)))
    two = row("two", (0.0, 0.0), ((), ()), ((), (3,)))
    details = task_details(dataset, task_of(dataset, one, two), {})
    assert {query.id: query.differs for query in details.queries} == {"a": True, "b": False}
    first = next(query for query in details.queries if query.id == "a")
    assert [(arm.arm, arm.complete, arm.values) for arm in first.arms] == [
        ("one", False, {}),
        ("two", True, {}),
    ]


def test_kinds_take_turns_and_the_seed_decides_within_them():
    queries = tuple(Query(f"{kind}{place}", "x", kind=kind) for kind in ("a", "b") for place in range(20))
    dataset = judged({query.id: {"t0": 1} for query in queries}, queries=queries)
    same = row("same", (1.0,) * 40, ((),) * 40, ((),) * 40)
    task = task_of(dataset, same)
    picked = [chosen(task_details(dataset, task, {}, most=10, seed=seed)) for seed in (1, 1, 2)]
    assert [each[0] for each in picked[0]] == ["a", "b"] * 5
    assert picked[0] == picked[1]
    assert picked[0] != picked[2]


def test_what_is_told_of_a_query():
    dataset = judged({"q": {"t0": 1, "t9": 2}}, {"q": {"t5": "t0"}}, unusable=("t99",))
    ranked = (tuple(range(1, 12)),)
    arm = row("arm", (0.0,), ranked, ((1, 2, 5, 9),))
    prepared = Explains()
    details = task_details(dataset, task_of(dataset, arm), {"arm": prepared})
    (query,) = details.queries
    assert (query.gold, query.copies, query.text) == ((0, 9), (5,), "query q")
    (told,) = query.arms
    assert told.ranked == tuple(range(1, 9))
    assert (told.loaded, told.returned) == ((1, 2, 5, 9), 4)
    assert told.complete  # the copy stands for its gold tool
    assert prepared.asked == [("q", [0, 9, 1, 2, 3, 5])]
    assert [(why.place, why.score, why.parts["bm25"]) for why in told.why][:2] == [
        (0, 0.3333, 0.6667),
        (9, 0.3333, 0.6667),
    ]
    assert set(details.tools) == {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
    assert details.tools[9].name == "t9"


def test_arms_that_load_everything_failed_or_have_no_answer():
    dataset = judged({"q": {"t0": 1}})
    everything = ArmResult(arm="full", ranks=False)
    silent = row("silent", (0.0,), ((),), ((),), failures={"q": "no answer"})
    broken = ArmResult(arm="broken", failed="no")
    (query,) = task_details(
        dataset, task_of(dataset, everything, silent, broken), {"silent": Explains()}
    ).queries
    full, failed = query.arms
    assert (full.returned, full.complete, full.values) == (None, True, {})
    assert (failed.failed, failed.complete, failed.why) == ("no answer", False, ())


def test_gold_that_cannot_be_used_is_named_and_nobody_has_it():
    dataset = judged({"q": {"t0": 1, "gone": 1}}, unusable=("gone",))
    (query,) = task_details(dataset, task_of(dataset, row("arm", (0.0,), ((0,),), ((0,),))), {}).queries
    assert (query.gold, query.lost) == ((0,), ("gone",))
    assert not query.arms[0].complete


def test_an_arm_that_cannot_explain_costs_its_reasons_alone():
    dataset = judged({"q": {"t0": 1}})
    prepared = {"arm": Explains(RankerError("no"))}
    (query,) = task_details(dataset, task_of(dataset, row("arm", (1.0,), ((0,),), ((0,),))), prepared).queries
    assert query.arms[0].why == ()
    assert query.arms[0].ranked == (0,)


def test_long_and_odd_texts_are_cut_and_cleaned():
    tool = ToolDefinition(name="t", description="word\x00 \u202e" + "y" * 900, namespace="n")
    dataset = Dataset("d", (tool,), ("t",), (Query("q", "z" * 5_000),), {"q": {"t": 1}})
    details = task_details(dataset, task_of(dataset, row("arm", (1.0,), ((0,),), ((0,),))), {})
    assert len(details.queries[0].text) == 2_000
    text = details.tools[0]
    assert (len(text.description), text.description[:6], text.description[-1]) == (300, "word y", "…")
    assert text.namespace == "n"


def test_details_survive_json():
    (details,) = measured().details
    assert TaskDetails.model_validate_json(details.model_dump_json()) == details


def test_a_real_run_is_explained_by_its_arms():
    (details,) = measured().details
    assert sorted(chosen(details)) == sorted(query.id for query in twelve_tools().queries)
    bill = next(query for query in details.queries if query.id == "bill")
    told = {arm.arm: arm for arm in bill.arms}
    assert details.tools[bill.gold[0]].name == "create_invoice"
    why = next(why for why in told["bm25"].why if why.place == bill.gold[0])
    assert (why.rank, why.verdict) == (1, "returned")
    assert "order" in why.words["description"]
    assert told["full"].returned is None
