"""Every arm on every dataset: rows that fail alone, runs that go on, results that repeat."""

from __future__ import annotations

import pytest

from semantic_toolsearch import Ranking, ToolDefinition
from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation.answers import Answer, Build
from semantic_toolsearch.evaluation.arms.local import LocalArm
from semantic_toolsearch.evaluation.arms.parsing import parse_arm
from semantic_toolsearch.evaluation.data.sources import DatasetSource, find_datasets
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.files import without_times
from semantic_toolsearch.evaluation.parts import Parts
from semantic_toolsearch.evaluation.running import Step, run_tasks
from semantic_toolsearch.evaluation.settings import RunSettings

ARMS = ("full", "keyword", "bm25", "regex", "anthropic-bm25", "anthropic-regex")


def small(name, words, **changes):
    """A dataset in which each tool is asked for by its word, and one query that nothing fits."""
    tools = tuple(ToolDefinition(name=f"{word}_it", description=f"Can {word} things") for word in words)
    queries = tuple(Query(f"q{place}", f"please {word} this") for place, word in enumerate(words))
    values = {
        "name": name,
        "tools": tools,
        "ids": tuple(tool.name for tool in tools),
        "queries": (*queries, Query("none", "zzz", answerable=False)),
        "gold": {query.id: {tool.name: 1} for query, tool in zip(queries, tools, strict=True)},
    }
    return Dataset(**{**values, **changes})


ONE = small("one", ["paint", "wash", "iron", "fold"])
TWO = small("two", ["cook", "bake", "fry"])


def source(dataset):
    return DatasetSource(dataset.name, lambda: dataset)


def run(*datasets, arms, settings=None, parts=None, **more):
    return run_tasks(
        [source(dataset) for dataset in datasets],
        [parse_arm(arm) if isinstance(arm, str) else arm for arm in arms],
        settings or RunSettings(probes=5, strangers=5),
        parts=parts or Parts(None),
        **more,
    )


class Crashing:
    """Fails for one word, or for all."""

    def __init__(self, catalog, word=""):
        self.word = word

    def rank(self, query, *, limit, visible=None):
        if self.word in query:
            raise RuntimeError("no such luck")
        return Ranking([0], [1.0])


class Asked:
    """An arm that counts what it is asked, finds the first tool for everything, and may be interrupted."""

    how, ranks, hides, notes, build = "local", True, False, (), Build()

    def __init__(self, name, interrupted=False):
        self.name, self.interrupted, self.count = name, interrupted, 0

    def prepare(self, dataset):
        return self

    def answers(self, queries, hidden=None):
        for query in queries:
            if self.interrupted:
                raise KeyboardInterrupt
            self.count += 1
            yield query, Answer(ranked=(0,), returned=(0,))

    def explain(self, query, places):
        return []


def test_s23_one_run_over_the_twelve_tools_has_a_row_for_each_arm():
    evaluation = run_tasks(
        find_datasets(["library"]),
        [parse_arm(arm) for arm in (*ARMS, "semantic", "hybrid", "rrf")],
        RunSettings(),
        parts=Parts(None),
    )
    (task,) = evaluation.tasks
    assert (task.name, task.tools) == ("library", 12)
    assert [arm.arm for arm in task.arms] == [*ARMS, "semantic", "hybrid", "rrf"]
    assert all(arm.failed is None and not arm.failures for arm in task.arms)
    figures = {arm.arm: arm for arm in task.arms}
    assert figures["hybrid"].measures["nDCG@10"] > figures["keyword"].measures["nDCG@10"]
    assert figures["hybrid"].returned["size"] <= 5
    assert figures["full"].measures == {}
    assert figures["full"].returned["size"] == 12
    assert {arm.how for arm in task.arms if arm.arm.startswith("anthropic")} == {"emulated"}
    kinds = {row.slices["kind"] for row in task.queries}
    assert len(kinds) == 9
    assert set(figures["hybrid"].slices["kind"]) == kinds - {"nothing-fits"}


def test_figures_are_what_the_answers_say():
    (task,) = run(ONE, arms=[Asked("first")]).tasks
    (arm,) = task.arms
    assert arm.measures == {"hit@1": 0.25, "recall@5": 0.25, "complete@5": 0.25, "nDCG@10": 0.25, "MRR": 0.25}
    assert arm.values["hit@1"] == (1.0, 0.0, 0.0, 0.0, 0.0)
    assert arm.ranked == arm.loaded == ((0,),) * 5
    assert arm.returned["nothing_loaded"] == 0.0
    assert [row.answerable for row in task.queries] == [True] * 4 + [False]
    assert [row.gold for row in task.queries] == [(0,), (1,), (2,), (3,), ()]


def test_rows_hold_where_gold_tools_and_their_copies_lie():
    (task,) = run(
        small("one", ["paint", "wash"], copies={"q0": {"wash_it": "paint_it"}}), arms=["full"]
    ).tasks
    assert [(row.gold, row.copies) for row in task.queries] == [((0,), (1,)), ((1,), ()), ((), ())]


def test_a_ranker_that_crashes_costs_its_row_alone():
    (task,) = run(ONE, arms=[LocalArm("crash", lambda catalog: Crashing(catalog)), "bm25"]).tasks
    crashed, bm25 = task.arms
    assert "Crashing" in crashed.failed
    assert "no such luck" in crashed.failed
    assert crashed.measures == {}
    assert bm25.failed is None
    assert bm25.measures["hit@1"] == 1.0


def test_a_ranker_that_crashes_for_one_query_counts_0_for_it():
    (task,) = run(ONE, arms=[LocalArm("crash", lambda catalog: Crashing(catalog, "iron"))]).tasks
    (arm,) = task.arms
    assert arm.failed is None
    assert list(arm.failures) == ["q2"]
    assert arm.measures["hit@1"] == 0.25


def test_an_arm_that_cannot_be_prepared_is_a_row_with_the_reason():
    def broken(catalog):
        raise OSError("the index is gone")

    (task,) = run(ONE, arms=[LocalArm("broken", broken), "keyword"]).tasks
    assert "the index is gone" in task.arms[0].failed
    assert task.arms[1].measures["hit@1"] == 1.0


def test_nothing_fits_is_measured_by_hiding_gold_and_by_foreign_queries():
    one, two = run(ONE, TWO, arms=["bm25"]).tasks
    for task in (one, two):
        returned = task.arms[0].returned
        assert returned["nothing_loaded"] == 1.0
        assert returned["nothing_for_strangers"] == 1.0
        assert returned["nothing_without_gold"] == 1.0
        assert returned["named_first"] == 1.0


def test_two_equal_runs_differ_in_times_alone():
    first, second = (run(ONE, TWO, arms=ARMS) for _ in range(2))
    assert without_times(first) == without_times(second)
    assert set(first.tasks[0].arms[1].times) == {"build_s", "embedded", "from_cache", "p50_ms", "p95_ms"}


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    parts = Parts(tmp_path / "parts")
    done, stopped = Asked("done"), Asked("stopped", interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        run(ONE, arms=[done, stopped], parts=parts)
    assert done.count == len(ONE.queries)
    stopped.interrupted = False
    resumed = run(ONE, arms=[done, stopped], parts=parts)
    assert done.count == stopped.count == len(ONE.queries)
    assert without_times(resumed) == without_times(run(ONE, arms=[Asked("done"), Asked("stopped")]))


def test_another_seed_or_other_tools_are_another_run(tmp_path):
    parts, arm = Parts(tmp_path / "parts"), Asked("arm")
    run(ONE, arms=[arm], parts=parts)
    run(ONE, arms=[arm], parts=parts, settings=RunSettings(seed=8, probes=5, strangers=5))
    assert arm.count == 2 * len(ONE.queries)
    run(small("one", ["paint", "wash", "iron", "sew"]), arms=[arm], parts=parts)
    assert arm.count == 3 * len(ONE.queries)


def test_an_arm_that_failed_is_tried_again(tmp_path):
    parts = Parts(tmp_path / "parts")
    assert run(ONE, arms=[LocalArm("x", lambda c: Crashing(c))], parts=parts).tasks[0].arms[0].failed
    again = run(ONE, arms=[LocalArm("x", lambda c: Crashing(c, "nothing"))], parts=parts)
    assert again.tasks[0].arms[0].failed is None


def test_faults_of_any_dataset_show_before_the_first_arm_is_asked():
    def unreadable():
        raise DatasetError("is not JSON", "tools.jsonl", 3)

    arm = Asked("arm")
    with pytest.raises(DatasetError, match=r"tools\.jsonl, line 3"):
        run_tasks([source(ONE), DatasetSource("broken", unreadable)], [arm], RunSettings(), parts=Parts(None))
    assert arm.count == 0


def test_the_watcher_is_told_what_is_done():
    steps = []
    run(ONE, arms=[Asked("arm")], watch=steps.append)
    assert Step("one", "arm", 5, 5) in steps
    assert [step.done for step in steps if step.arm] == sorted(step.done for step in steps if step.arm)


@pytest.mark.parametrize("changes", [{"most": 0}, {"probes": -1}, {"sizes": (1,)}, {"conversations": (0,)}])
def test_numbers_out_of_range_are_refused(changes):
    with pytest.raises(ConfigError, match="must be at least"):
        RunSettings(**changes)
