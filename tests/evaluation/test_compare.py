"""What became worse beyond chance is said, what is chance is not, and baselines hold."""

from __future__ import annotations

import pytest

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.baseline import check_baselines, write_baselines
from semantic_toolsearch.evaluation.compare import compare
from semantic_toolsearch.evaluation.files import read_results
from semantic_toolsearch.evaluation.results import ArmResult, Evaluation, QueryRow, TaskResult


def evaluation(hits, *, arm="bm25", task="numbers", loaded=(), sha256="a", ids=None):
    """One task whose queries hit or miss, and one query that nothing fits."""
    ids = ids or [f"q{place}" for place in range(len(hits))]
    rows = [QueryRow(id=each, gold=(0,)) for each in ids] + [QueryRow(id="none", answerable=False)]
    result = ArmResult(arm=arm, values={"hit@1": (*hits, 0.0)}, measures={"hit@1": 0.5}, loaded=loaded)
    return Evaluation(
        tasks=(
            TaskResult(
                name=task, split="test", tools=9, sha256={"x": sha256}, queries=tuple(rows), arms=(result,)
            ),
        )
    )


GOOD = evaluation([1.0] * 20 + [0.0] * 20)
WORSE = evaluation([1.0] * 8 + [0.0] * 32)
CHANCE = evaluation([1.0] * 19 + [0.0] * 21)


def verdicts(comparison):
    return {each.measure: each.verdict for each in comparison.differences}


def test_equal_results_are_the_same():
    comparison = compare(GOOD, GOOD)
    assert verdicts(comparison) == {"hit@1": "same"}
    assert (comparison.worse, comparison.better, comparison.notes) == ((), (), ())


def test_s30_a_drop_beyond_noise_is_worse_and_its_opposite_better():
    comparison = compare(GOOD, WORSE)
    (drop,) = comparison.worse
    assert (drop.task, drop.arm, drop.queries) == ("numbers", "bm25", 40)
    assert (drop.before, drop.after) == (0.5, 0.2)
    assert drop.low < drop.after - drop.before < drop.high < 0
    assert drop.p < 0.05
    (rise,) = compare(WORSE, GOOD).better
    assert (rise.low, rise.high) == pytest.approx((-drop.high, -drop.low), abs=0.03)


def test_a_drop_that_may_be_chance_is_none():
    (difference,) = compare(GOOD, CHANCE).differences
    assert difference.after < difference.before
    assert difference.verdict == "same"


def test_what_is_loaded_is_compared_too():
    kept = (*[(0,)] * 40, ())
    lost = (*[(0,)] * 20, *[()] * 20, (3,))
    comparison = compare(evaluation([1.0] * 40, loaded=kept), evaluation([1.0] * 40, loaded=lost))
    assert verdicts(comparison) == {"hit@1": "same", "loads gold": "worse", "loads nothing": "same"}
    (nothing,) = [each for each in comparison.differences if each.measure == "loads nothing"]
    assert (nothing.queries, nothing.before, nothing.after) == (1, 1.0, 0.0)


def test_to_load_a_copy_is_to_load_its_gold_tool():
    one, other = (evaluation([1.0] * 20, loaded=(*[(place,)] * 20, ())) for place in (0, 5))
    assert verdicts(compare(one, other))["loads gold"] == "worse"
    (task,) = other.tasks
    rows = tuple(row.model_copy(update={"copies": (5,)} if row.gold else {}) for row in task.queries)
    other = Evaluation(tasks=(task.model_copy(update={"queries": rows}),))
    assert verdicts(compare(one, other))["loads gold"] == "same"


def test_queries_are_matched_by_id_and_what_is_missing_is_told():
    other = evaluation([0.0, 1.0, 1.0], ids=["q39", "q0", "new"], sha256="b")
    comparison = compare(GOOD, other)
    (difference,) = comparison.differences
    assert (difference.queries, difference.before, difference.after) == (2, 0.5, 0.5)
    assert comparison.notes == (
        "The files of numbers differ between the two; queries of the same id are compared.",
        "numbers: 3 queries are in both, of 41 and 4.",
    )


def test_two_arms_of_one_file_can_be_compared():
    both = GOOD.tasks[0].model_copy(
        update={"arms": (*GOOD.tasks[0].arms, WORSE.tasks[0].arms[0].model_copy(update={"arm": "other"}))}
    )
    together = Evaluation(tasks=(both,))
    (difference,) = compare(together, together, arms=[("bm25", "other")]).differences
    assert (difference.arm, difference.verdict) == ("bm25 -> other", "worse")


def test_failed_arms_and_tasks_of_one_side_are_told():
    failed = GOOD.tasks[0].model_copy(update={"arms": (ArmResult(arm="bm25", failed="no key"),)})
    with pytest.raises(DatasetError, match=r"nothing to compare.*an arm failed: no key"):
        compare(GOOD, Evaluation(tasks=(failed,)))
    with pytest.raises(
        DatasetError, match=r"numbers is in the first evaluation only\. words is in the second"
    ):
        compare(GOOD, evaluation([1.0], task="words"))
    with pytest.raises(DatasetError, match="has no arm 'hybrid'"):
        compare(GOOD, GOOD, arms=[("hybrid", "hybrid")])


def test_a_baseline_is_written_without_times_and_holds(tmp_path):
    (task,) = GOOD.tasks
    arms = (task.arms[0].model_copy(update={"times": {"p50_ms": 3.0}}),)
    timed = GOOD.model_copy(
        update={"times": {"seconds": 3.0}, "tasks": (task.model_copy(update={"arms": arms}),)}
    )
    (path,) = write_baselines(timed, tmp_path)
    assert path.name == "numbers.json"
    assert read_results(path).times == {}
    assert read_results(path).tasks[0].arms[0].times == {}
    assert check_baselines(GOOD, tmp_path).worse == ()
    assert check_baselines(WORSE, tmp_path).worse


def test_a_task_without_baseline_is_an_error_that_says_how_to_write_one(tmp_path):
    with pytest.raises(DatasetError, match=r"numbers\.json.*eval baseline --write"):
        check_baselines(GOOD, tmp_path)


def test_measures_are_corrected_for_being_several_and_alpha_is_the_limit():
    def after(measures, **options):
        before, later = (
            Evaluation(
                tasks=(
                    GOOD.tasks[0].model_copy(
                        update={
                            "arms": (ArmResult(arm="bm25", values=dict.fromkeys(measures, (*hits, 0.0))),),
                        }
                    ),
                )
            )
            for hits in ([1.0] * 40, [0.0] * 6 + [1.0] * 34)
        )
        differences = compare(before, later, **options).differences
        return [(each.p, each.verdict) for each in differences]

    assert after(["MRR"]) == [(0.03125, "worse")]  # 2 of the 64 choices of six signs
    assert after(["MRR", "hit@1"]) == [(0.0625, "same")] * 2
    assert after(["MRR"], alpha=0.03) == [(0.03125, "same")]
    assert after(["MRR", "hit@1"], alpha=0.07) == [(0.0625, "worse")] * 2


def test_the_seed_is_that_of_the_resampling(tmp_path):
    mixed = evaluation([0.01 * (place * 37 % 97) for place in range(40)])
    one, other = (compare(GOOD, mixed, seed=seed).differences[0] for seed in (1, 2))
    assert one == compare(GOOD, mixed, seed=1).differences[0]
    assert (one.p, one.low) != (other.p, other.low)
    write_baselines(GOOD, tmp_path)
    assert check_baselines(mixed, tmp_path, seed=2).differences == (other,)


def test_queries_that_only_the_second_has_are_told():
    (note,) = compare(evaluation([1.0, 0.0]), evaluation([1.0, 0.0, 1.0])).notes
    assert note == "numbers: 3 queries are in both, of 3 and 4."
