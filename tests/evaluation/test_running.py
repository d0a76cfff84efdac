"""Every arm on every dataset: rows that fail alone, runs that go on, results that repeat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semantic_toolsearch import Ranking, ToolDefinition
from semantic_toolsearch.accounting import count_tokens
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation import running as module
from semantic_toolsearch.evaluation.answers import Answer, Build
from semantic_toolsearch.evaluation.arms.local import LocalArm
from semantic_toolsearch.evaluation.arms.parsing import parse_arm
from semantic_toolsearch.evaluation.data.sources import DatasetSource, find_datasets
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.files import without_times
from semantic_toolsearch.evaluation.measuring.significance import beats
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

    ranks, notes, build = True, (), Build()

    def __init__(self, name, interrupted=False, how="local", hides=False):
        self.name, self.interrupted, self.how, self.hides, self.count = name, interrupted, how, hides, 0

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


class Scripted(Asked):
    """Answers each query as it is told."""

    def __init__(self, name, found, **more):
        super().__init__(name, **more)
        self.found = found

    def answers(self, queries, hidden=None):
        self.count += len(queries)
        yield from ((query, self.found[query.id]) for query in queries)


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


def test_s27_s28_every_field_of_a_row_by_hand():
    answers = {
        "q0": Answer((1, 0, 2), (1, 0), 0.001, usage={"input_tokens": 10}),
        "q1": Answer((1,), (1,), 0.003, usage={"input_tokens": 5, "output_tokens": 1}),
        "q2": Answer(seconds=9.0, failed="answered 429"),
        "q3": Answer((0, 1, 2, 3), (), 0.002),
        "none": Answer((2,), (2,), 0.002),
    }
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What to take. " * 9}},
    }
    tools = tuple(tool.model_copy(update={"parameters": schema}) for tool in ONE.tools)
    full, scripted = (
        run(replace(ONE, tools=tools), arms=["full", Scripted("scripted", answers)]).tasks[0].arms
    )
    assert scripted.ranked == ((1, 0, 2), (1,), (), (0, 1, 2, 3), (2,))
    assert scripted.loaded == ((1, 0), (1,), (), (), (2,))
    assert full.loaded == ()  # every tool for every query
    assert scripted.values["MRR"] == (0.5, 1.0, 0.0, 0.25, 0.0)
    assert scripted.recall_at == (0.25, 0.5, 0.5, *[0.75] * 17)
    assert scripted.failures == {"q2": "answered 429"}
    assert scripted.usage == {"input_tokens": 15, "output_tokens": 1}
    assert (scripted.times["p50_ms"], scripted.times["p95_ms"]) == (2.0, 2.85)
    assert {key: scripted.returned[key] for key in ("size", "precision", "recall", "empty")} == {
        "size": 0.75,
        "precision": 0.375,
        "recall": 0.5,
        "empty": 0.5,
    }
    assert full.returned["tokens"] > 4 * count_tokens(schema).tokens
    assert scripted.returned["tokens"] == pytest.approx(full.returned["tokens"] * 3 / 4 / 4, rel=0.02)


def test_a_task_s_tokens_are_those_of_all_tools_in_full():
    (task,) = run(ONE, arms=["full"]).tasks
    assert task.full_tokens == task.arms[0].returned["tokens"]


def test_draws_and_probes_are_as_many_as_the_settings_say():
    def asked(**changes):
        arm = Asked("arm", hides=True)
        (task, _) = run(ONE, TWO, arms=[arm], settings=RunSettings(**changes)).tasks
        return arm.count, [row.id for row in task.queries]

    assert asked(probes=0, strangers=0)[0] == 5 + 4
    assert asked(probes=2, strangers=0)[0] == 5 + 4 + 2 * (2 + 2)
    assert asked(probes=0, strangers=1)[0] == 5 + 4 + 1 + 1
    drawn = {tuple(asked(most=2, probes=0, strangers=0, seed=seed)[1]) for seed in range(6)}
    assert len(drawn) > 1
    assert {len(each) for each in drawn} == {2}


def test_letters_are_drawn_with_the_seed(monkeypatch):
    seeds = []
    monkeypatch.setattr(module, "beats", lambda *given, seed: seeds.append(seed) or beats(*given, seed=seed))
    run(ONE, arms=["bm25"], settings=RunSettings(seed=11))
    assert seeds == [11]


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


def test_a_live_arm_is_another_and_its_failures_are_asked_again(tmp_path):
    parts = Parts(tmp_path / "parts")
    answers = {query.id: Answer((0,), (0,)) for query in ONE.queries}
    arms = [Scripted("arm", answers), Scripted("arm", answers, how="live")]
    for arm in arms:
        for _ in range(2):
            run(ONE, arms=[arm], parts=parts)
        assert arm.count == len(ONE.queries)
    failing = Scripted("failing", {**answers, "q0": Answer(failed="answered 429")}, how="live")
    for _ in range(2):
        run(ONE, arms=[failing], parts=parts)
    assert failing.count == 2 * len(ONE.queries)


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


def test_what_figures_depend_on_is_part_of_what_finished_pieces_are_kept_under():
    usual = RunSettings().of_one_arm()
    changes = (
        *({"split": "dev"}, {"most": 5}, {"seed": 8}, {"strict": True}, {"rules": False}, {"probes": 1}),
        *({"embedder": "other"}, {"strangers": 1}, {"config": SearchConfig(band=0.9)}),
    )
    assert all(RunSettings(**each).of_one_arm() != usual for each in changes)
    assert RunSettings(sizes=(50,), conversations=(1,)).of_one_arm() == usual
