"""What reports say about their figures: how to read them, how they were tested, and who wins, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from semantic_toolsearch.evaluation.measuring.significance import RESAMPLES
from semantic_toolsearch.evaluation.report.cost_grids import conversation_grids
from semantic_toolsearch.evaluation.report.grids import Legend
from semantic_toolsearch.evaluation.report.overview_grids import ranked_arms, wins
from semantic_toolsearch.evaluation.report.task_grids import HEADS, MAIN_MEASURE, task_grid
from semantic_toolsearch.evaluation.results import ArmResult, Evaluation

__all__ = ["LETTERS", "SIGNIFICANCE", "findings", "listed", "meanings", "versions"]

LETTERS: Final = (
    "A small letter beside a figure names an arm that it beats beyond chance. The best figure of a column, or of a row "
    "in tables with one column an arm, is bold. An empty cell is a figure that does not exist."
)

SIGNIFICANCE: Final = (
    "Two arms are compared over the same answerable queries of a task by the paired randomisation test (two-sided, "
    f"{RESAMPLES:,} random choices of signs, seeded). For each task and measure the p-values of all pairs of arms are "
    "corrected together by Holm's method; a letter stands where the corrected p is under 0.05. No letter means that "
    "the queries do not tell the two apart, not that they are equal. Figures of different tasks are never pooled."
)


def findings(evaluation: Evaluation, shared: Legend) -> list[str]:
    """Sentences about which arm wins where by the main measure, most important first; none without two arms."""
    best = {task.name: _best(ranked) for task in evaluation.tasks if len(ranked := ranked_arms(task)) > 1}
    if not best:
        return []
    tasks = [task for task in evaluation.tasks if task.name in best]
    arms = [arm for arm in shared.letters if any(arm in ranked_arms(task) for task in tasks)]
    top = max(arms, key=lambda arm: sum(arm in highest for highest in best.values()))
    won = sum(top in highest for highest in best.values())
    sentences = [f"{shared.labels[top]} has the highest {MAIN_MEASURE} on {_of(won, len(tasks))}."]
    if won < len(tasks):
        others = {
            name: [shared.labels[arm] for arm in arms] for name, arms in best.items() if top not in arms
        }
        told = listed([f"{listed(names)} on {name}" for name, names in others.items()])
        sentences.append(f"Elsewhere the highest is {told}.")
    beaten: dict[str, list[str]] = {}
    beating: dict[str, list[str]] = {}
    for other in arms:
        better, worse, both = wins(tasks, top, other)
        if other != top and both:
            beaten.setdefault(_of(better, both), []).append(shared.labels[other])
            if worse:
                beating.setdefault(_of(worse, both), []).append(shared.labels[other])
    if beaten:
        sentences.append(f"Beyond chance it beats {_told(beaten)}.")
        sentences.append(
            f"It is beaten beyond chance by {_told(beating)}."
            if beating
            else "None beats it beyond chance anywhere."
        )
    return sentences


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def versions(evaluation: Evaluation) -> str:
    """What the figures depend on, the library first."""
    own = "semantic_toolsearch"
    ordered = sorted(evaluation.versions.items(), key=lambda version: (version[0] != own, version[0]))
    return ", ".join(f"{name} {number}" for name, number in ordered)


def meanings(evaluation: Evaluation, shared: Legend, *, times: bool = True) -> dict[str, str]:
    """What the columns of the tables of tasks and conversations mean, by their heads."""
    tables = [task_grid(task, shared, times=times) for task in evaluation.tasks]
    found = {
        column.alone or column.head: column.about
        for grid in (*tables, *conversation_grids(evaluation))
        for column in grid.columns
        if column.about and not column.letter
    }
    order = {head: place for place, head in enumerate(HEADS)}
    others = [head for head in found if head not in order]
    return {head: found[head] for head in (*sorted(found.keys() & order, key=order.__getitem__), *others)}


def _best(ranked: Mapping[str, ArmResult]) -> list[str]:
    highest = max(result.measures[MAIN_MEASURE] for result in ranked.values())
    return [arm for arm, result in ranked.items() if result.measures[MAIN_MEASURE] == highest]


def _told(names: Mapping[str, Sequence[str]]) -> str:
    return listed([f"{listed(arms)} on {tasks}" for tasks, arms in names.items()])


def _of(some: int, all_of_them: int) -> str:
    if all_of_them == 1:
        return "the one task" if some else "no task"
    return f"all {all_of_them} tasks" if some == all_of_them else f"{some} of {all_of_them} tasks"
