"""What is committed holds: the own sets keep their baselines, and the page shows the figures of the results file."""

from __future__ import annotations

from pathlib import Path

from semantic_toolsearch.cli.evaluation.report import BEGIN, END
from semantic_toolsearch.evaluation import RunSettings, find_datasets, parse_arm, read_results, to_markdown
from semantic_toolsearch.evaluation.baseline import ARMS, check_baselines
from semantic_toolsearch.evaluation.parts import Parts
from semantic_toolsearch.evaluation.running import run_tasks

ROOT = Path(__file__).parents[2]


def test_s26_s30_the_own_sets_hold_their_baselines_without_a_network():
    evaluation = run_tasks(
        find_datasets(),
        [parse_arm(arm) for arm in ARMS],
        RunSettings(most=None, strangers=0),
        parts=Parts(None),
    )
    comparison = check_baselines(evaluation, ROOT / "eval" / "baselines")
    assert {(each.task, each.arm) for each in comparison.differences} == {
        (task, arm) for task in ("library", "workplace") for arm in ARMS
    }
    assert comparison.notes == ()
    assert [f"{each.task} {each.arm} {each.measure}" for each in comparison.worse] == []


def test_the_page_and_the_report_show_the_results_that_are_published():
    evaluation = read_results(ROOT / "eval" / "reports" / "results.json")
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    shown = page.partition(f"{BEGIN}\n")[2].partition(f"{END}\n")[0]
    assert shown == f"\n{to_markdown(evaluation, brief=True)}\n"
    report = (ROOT / "eval" / "reports" / "results.md").read_text(encoding="utf-8")
    assert report.startswith("# Every task, arm and slice\n")
    assert all(f"### {task.name}" in report for task in evaluation.tasks)
