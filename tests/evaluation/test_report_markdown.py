"""The report of an evaluation as Markdown."""

from __future__ import annotations

import pytest
from reported import made_up, measured, words

from semantic_toolsearch.evaluation.files import read_results, write_results
from semantic_toolsearch.evaluation.report.markdown import to_markdown
from semantic_toolsearch.evaluation.results import Evaluation, TaskResult


def cells(text, first):
    line = next(line for line in text.splitlines() if line.startswith(f"| {first} "))
    return [cell.strip() for cell in line.strip("|").split(" |")]


def after(text, heading):
    return text.split(f"\n{heading}\n", 1)[1]


def test_the_whole_report_has_its_parts_in_order():
    text = to_markdown(made_up(), title="Results")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Results",
        "## Overview",
        "### nDCG@10, in percent",
        "### Queries that load all their gold tools, in percent",
        "### Tasks on which the arm of a row beats the arm of a column beyond chance, by nDCG@10",
        "## Tasks",
        "### office",
        "### home",
        "## Catalog size",
        "### office, the same 4 queries over growing catalogs: recall@5, in percent",
        "### office, the same 4 queries over growing catalogs: nDCG@10, in percent",
        "### office: tokens of the tools in a first request, by mode",
        "## Conversations",
        "### office, 1,200 tools, anthropic: means over scripted conversations",
        "## What the figures mean",
        "## Notes",
        "## Settings",
    ]


def test_the_overview_marks_the_best_and_the_beaten():
    text = to_markdown(made_up())
    office = cells(after(text, "### nDCG@10, in percent"), "office")
    assert office == ["office", "1,200", "4", "43.2", "**80.0**<sup>ac</sup>", "43.2", ""]
    home = cells(after(text, "### nDCG@10, in percent"), "home")
    assert home == ["home", "1,200", "4", "failed", "**80.0**", "43.2", ""]


def test_an_arm_that_loads_every_tool_is_never_the_best_at_loading_all_gold():
    evaluation = made_up()
    everything = words(
        arm="full", ranks=False, measures={}, returned={**words().returned, "size": 1_200.0, "complete": 1.0}
    )
    tasks = tuple(each.model_copy(update={"arms": (*each.arms, everything)}) for each in evaluation.tasks)
    text = to_markdown(evaluation.model_copy(update={"tasks": tasks}))
    office = cells(after(text, "### Queries that load all their gold tools, in percent"), "office")
    assert office == ["office", "1,200", "4", "25.0", "**75.0**", "25.0", "60.0", "100.0"]


def test_findings_say_who_wins_and_against_whom():
    text = to_markdown(made_up())
    assert "- meaning has the highest nDCG@10 on all 2 tasks.\n" in text
    told = "- Beyond chance it beats words on the one task and anthropic-bm25 (emulated) on 1 of 2 tasks.\n"
    assert told in text
    assert "- None beats it beyond chance anywhere.\n" in text


def test_findings_tell_losses_and_other_winners():
    evaluation = made_up()
    office, home = evaluation.tasks
    better = words(beats={"nDCG@10": ("meaning",)}, measures={**words().measures, "nDCG@10": 0.99})
    home = home.model_copy(update={"arms": (better, *home.arms[1:])})
    third = office.model_copy(update={"name": "third"})
    text = to_markdown(evaluation.model_copy(update={"tasks": (office, home, third)}))
    assert "- meaning has the highest nDCG@10 on 2 of 3 tasks.\n" in text
    assert "- Elsewhere the highest is words on home.\n" in text
    assert "- It is beaten beyond chance by words on 1 of 3 tasks.\n" in text


def test_s24_s25_emulated_arms_and_arms_without_order_have_notes():
    text = to_markdown(made_up())
    office = after(text, "### office")
    assert cells(office, "c anthropic-bm25 \\[1,2\\]")[1] == "emulated"
    unranked = cells(office, "d openai-tool-search \\[3,4\\]")
    assert unranked[1:9] == ["replayed", "", "", "", "", "", "1.2", "90"]
    notes = after(text, "## Notes").strip().splitlines()
    assert notes[0].startswith("1. emulated: the provider's documented rules")
    assert notes[1] == "2. anthropic-bm25: Its tokenizer is not documented."
    assert notes[3].startswith("4. no order: the arm shows no order of tools, so its rank columns are empty")


def test_notes_that_name_their_arm_and_its_way_are_not_told_twice():
    told = "anthropic-bm25: emulated here, the provider was not asked."
    task = (
        made_up()
        .tasks[0]
        .model_copy(update={"arms": (words(arm="anthropic-bm25", how="emulated", notes=(told,)),)})
    )
    notes = after(to_markdown(Evaluation(tasks=(task,))), "## Notes").split("\n## ")[0]
    assert notes.strip() == f"1. {told}"


def test_a_failed_arm_says_why():
    home = after(to_markdown(made_up()), "### home")
    assert cells(home, "a words")[:3] == ["a words", "local, failed", ""]
    assert "- words failed: RankerError: position 12 of 12 tools.\n" in home


def test_slices_are_told_where_there_are_several_values():
    office = after(to_markdown(made_up()), "### office").split("### home")[0]
    assert "**By kind of query: nDCG@10, in percent**" in office
    assert "By share of the query" not in office  # all queries of one value
    assert cells(office, "paraphrase") == ["paraphrase", "2", "10.0", "**70.0**", "10.0"]
    assert cells(office, "exact-name") == ["exact-name", "2", "90.0", "90.0", "90.0"]


def test_slices_stand_in_their_natural_order_even_when_read_back(tmp_path):
    slices = {
        "overlap": {
            name: {"queries": 1, "nDCG@10": share}
            for name, share in {">=60 %": 0.9, "15-35 %": 0.3, "<15 %": 0.1, "35-60 %": 0.5}.items()
        }
    }
    task = made_up().tasks[0].model_copy(update={"arms": (words(slices=slices),)})
    write_results(Evaluation(tasks=(task,)), tmp_path / "r.json")
    text = to_markdown(read_results(tmp_path / "r.json"))
    rows = [line.split(" | ")[0] for line in text.splitlines() if " % | 1 | " in line]
    assert rows == ["| \\<15 %", "| 15-35 %", "| 35-60 %", "| \\>=60 %"]


def test_what_figures_mean_is_told_for_the_columns_that_stand_there():
    text = after(to_markdown(made_up()), "## What the figures mean")
    assert "- hit@1: Share of the queries whose first tool is gold.\n" in text
    assert "- none if unanswerable: " in text
    assert "- none if other task's: " not in text
    assert "paired randomisation test" in text
    assert "10,000 random choices of signs" in text
    assert "p95 ms" not in text
    heads = [line[2:].split(":")[0] for line in text.splitlines() if line.startswith("- ")]
    assert heads[:8] == [
        "how",
        "hit@1",
        "recall@5",
        "complete@5",
        "nDCG@10",
        "MRR",
        "tools loaded",
        "tokens loaded",
    ]


def test_settings_versions_and_hashes_are_complete():
    text = after(to_markdown(made_up()), "## Settings")
    assert "Versions: semantic_toolsearch 9.9, python 3.11." in text
    assert '"band": 0.5' in text
    assert f"| office | tools.jsonl | `{'0123abcd' * 8}` |" in text


def test_times_are_told_only_when_asked_for():
    evaluation = made_up()
    without, with_them = to_markdown(evaluation), to_markdown(evaluation, times=True)
    for told in ("| p95 ms |", "| 140 |", "0.10 / 0.40", "seconds 12"):
        assert told not in without
        assert told in with_them


def test_the_same_results_give_the_same_bytes_but_for_nothing(tmp_path):
    slower = made_up().model_copy(update={"times": {"seconds": 99.0}})
    tasks = [
        task.model_copy(
            update={"arms": tuple(arm.model_copy(update={"times": {"p50_ms": 7.0}}) for arm in task.arms)}
        )
        for task in slower.tasks
    ]
    assert to_markdown(slower.model_copy(update={"tasks": tuple(tasks)})) == to_markdown(made_up())
    write_results(made_up(), tmp_path / "r.json")
    assert to_markdown(read_results(tmp_path / "r.json")) == to_markdown(made_up())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", "a\\|b"),
        ("<b>x</b>", "\\<b\\>x\\</b\\>"),
        ("made_up:Ranker", "made_up:Ranker"),
        ("_loud_ *very*", "\\_loud\\_ \\*very\\*"),
        ("[x](y)", "\\[x\\](y)"),
        ("AT&amp;T", "AT&amp;amp;T"),
        ("two\nlines\x1b", "two lines"),
    ],
)
def test_names_stand_as_they_are(name, shown):
    task = TaskResult(name="t", split="test", tools=1, arms=(words(arm=name),))
    text = to_markdown(Evaluation(tasks=(task,)))
    assert f"\n| a {shown} | local | 25.0 |" in text
    width = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("| a ")}
    assert width == {16}


def test_an_empty_evaluation_is_a_report_without_figures():
    assert to_markdown(Evaluation()).splitlines()[0] == "# Evaluation of tool search"
    assert "|" not in to_markdown(Evaluation())


def test_a_real_run_is_reported_the_same_twice():
    first, second = measured(details=0).evaluation, measured(details=0).evaluation
    assert to_markdown(first) == to_markdown(second)
    assert "| c bm25 | local |" in to_markdown(first)
