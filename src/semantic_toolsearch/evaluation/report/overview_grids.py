"""Results of all tasks in; tables with one row a task, and of which arm beats which on how many tasks, out."""

from __future__ import annotations

from collections.abc import Sequence

from semantic_toolsearch.evaluation.report.grids import Cell, Column, Grid, Legend, Row, best_of, count
from semantic_toolsearch.evaluation.report.task_grids import ABOUT, MAIN_MEASURE, figure_cell
from semantic_toolsearch.evaluation.results import MEASURES, ArmResult, Evaluation, TaskResult

__all__ = ["overviews", "ranked_arms", "wins", "wins_grid"]


def overviews(evaluation: Evaluation, shared: Legend) -> list[Grid]:
    """One row a task, one column an arm: the quality of the order, and of what is loaded, which all arms have."""
    return [
        _overview(evaluation, shared, MAIN_MEASURE, f"{MAIN_MEASURE}, in percent"),
        _overview(evaluation, shared, "complete", "Queries that load all their gold tools, in percent"),
    ]


def wins_grid(evaluation: Evaluation, shared: Legend) -> Grid | None:
    """On how many tasks each arm beats each other one beyond chance, by the main measure.

    Returns:
        One row and one column an arm; None for fewer than two tasks or ranked arms.
    """
    arms = [arm for arm in shared.letters if any(arm in ranked_arms(task) for task in evaluation.tasks)]
    if len(evaluation.tasks) < 2 or len(arms) < 2:
        return None
    rows = []
    for one in arms:
        cells = []
        for other in arms:
            won, _, both = wins(evaluation.tasks, one, other)
            cells.append(Cell() if one == other or not both else Cell(f"{won} of {both}", share=won / both))
        rows.append(Row((Cell(shared.labels[one], shared.letters[one]), *cells)))
    return Grid(
        title=f"Tasks on which the arm of a row beats the arm of a column beyond chance, by {MAIN_MEASURE}",
        columns=(Column("arm", numeric=False), *(shared.column(arm) for arm in arms)),
        rows=tuple(rows),
    )


def wins(tasks: Sequence[TaskResult], one: str, other: str) -> tuple[int, int, int]:
    """Count the tasks on which an arm beats another beyond chance by the main measure.

    Args:
        tasks: The results.
        one: Name of the arm.
        other: Name of the other.

    Returns:
        Numbers of tasks on which it wins, on which it is beaten beyond chance, and on which both have figures.
    """
    won = lost = both = 0
    for task in tasks:
        ranked = ranked_arms(task)
        if one in ranked and other in ranked:
            both += 1
            won += other in ranked[one].beats.get(MAIN_MEASURE, ())
            lost += one in ranked[other].beats.get(MAIN_MEASURE, ())
    return won, lost, both


def ranked_arms(task: TaskResult) -> dict[str, ArmResult]:
    """The arms that have figures of the main measure, by name."""
    return {
        result.arm: result
        for result in task.arms
        if result.failed is None and MAIN_MEASURE in result.measures
    }


def _overview(evaluation: Evaluation, shared: Legend, figure: str, title: str) -> Grid:
    rows = []
    for task in evaluation.tasks:
        arms = {result.arm: result for result in task.arms}
        values = {arm: _value(arms.get(arm), figure) for arm in shared.letters}
        searched = {arm for arm, result in arms.items() if result.returned.get("size", 0) < task.tools}
        best = best_of(value for arm, value in values.items() if arm in searched)
        cells = [figure_cell(values[arm], arms.get(arm), figure, shared, best) for arm in shared.letters]
        asked = task.asked - task.unanswerable
        rows.append(Row((Cell(task.name), Cell(count(task.tools)), Cell(count(asked)), *cells)))
    columns = (
        Column("task", numeric=False),
        Column("tools", "Usable tools of the catalog."),
        Column("queries", "Answerable queries; the others are no part of the means."),
        *(shared.column(arm, ABOUT[figure]) for arm in shared.letters),
    )
    silent = [shared.labels[arm] for arm in shared.letters if _shows_no_order(evaluation, arm)]
    notes = [f"Without an order of tools, and so without {figure}: {', '.join(silent)}."] if silent else []
    return Grid(title, columns, tuple(rows), tuple(notes) if figure in MEASURES else ())


def _shows_no_order(evaluation: Evaluation, arm: str) -> bool:
    results = [result for task in evaluation.tasks for result in task.arms if result.arm == arm]
    return bool(results) and not any(result.ranks for result in results)


def _value(result: ArmResult | None, figure: str) -> float | None:
    if result is None or result.failed is not None:
        return None
    return (result.measures if figure in MEASURES else result.returned).get(figure)
