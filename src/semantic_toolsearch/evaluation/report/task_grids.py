"""Results of one task in; a table of its arms, and one for each way to tell its queries apart, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from semantic_toolsearch.evaluation.measuring.slices import GOLD_TOOLS, NAMED, OVERLAPS, SCRIPTS
from semantic_toolsearch.evaluation.report.grids import (
    FAILED,
    Cell,
    Column,
    Grid,
    Legend,
    Row,
    best_of,
    count,
    duration,
    mean,
    percent,
)
from semantic_toolsearch.evaluation.results import MEASURES, ArmResult, TaskResult

__all__ = [
    "ABOUT",
    "HEADS",
    "MAIN_MEASURE",
    "figure_cell",
    "slice_grids",
    "task_grid",
]

MAIN_MEASURE: Final = "nDCG@10"
"""The measure that tables with one figure an arm show: it reads the order of the first ten tools and all gold."""

ABOUT: Final[Mapping[str, str]] = {
    "hit@1": "Share of the queries whose first tool is gold.",
    "recall@5": "Share of the gold tools that are among the first five.",
    "complete@5": "Share of the queries whose gold tools are all among the first five.",
    "nDCG@10": "How much of the gain of the best possible order the first ten tools have; early places weigh more.",
    "MRR": "Mean of one over the rank of the first gold tool.",
    "size": "Mean number of tools that a model would get for a query.",
    "tokens": "Mean tokens of the definitions of these tools.",
    "precision": "Mean share of these tools that are gold; 0 for a query that gets none.",
    "recall": "Share of the gold tools that are among those that a model would get.",
    "complete": "Share of the queries for which a model would get all gold tools.",
    "empty": "Share of the answerable queries for which a model would get no tool.",
    "nothing_loaded": "Share of the dataset's own unanswerable queries for which nothing is loaded.",
    "nothing_without_gold": "Share of the queries for which nothing is loaded once their gold tools are hidden.",
    "nothing_for_strangers": "Share of other tasks' queries for which nothing is loaded.",
    "named_first": "Share of bare tool names, in backticks, whose tool comes first; asked beside the queries.",
    "p50_ms": "Half of the queries took no longer, in milliseconds.",
    "p95_ms": "95 % of the queries took no longer, in milliseconds.",
    "build_s": "Seconds to build what answering needs; vectors kept from earlier cost nothing.",
}
"""What each figure means, by its key in the results."""

_AXES: Final[Mapping[str, str]] = {
    "kind": "By kind of query",
    "overlap": "By share of the query's words that its gold tools' texts hold",
    "name": "By whether the query names a gold tool",
    "gold tools": "By number of gold tools",
    "script": "By script",
    "language": "By language",
}
"""Titles of tables, by axis of slices."""

_VALUES: Final = (*OVERLAPS, *NAMED, *GOLD_TOOLS, *SCRIPTS)
"""Values of axes in their natural order; all others stand by the alphabet."""


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure beside the rank measures: its key in the results, its column, and how it is written."""

    key: str
    head: str
    alone: str
    group: str
    write: Callable[[float | None], str]

    def column(self) -> Column:
        return Column(self.head, ABOUT[self.key], self.group, self.alone)


_HOW: Final = (
    "Where the answers come from: found here (local), found here by the documented rules of a provider (emulated), "
    "given by the provider (live), or by it at an earlier time (replayed)."
)

_GOT, _UNFIT, _NAMES, _TIME = "what a model would get", "loads none if", "bare names", "time"

_FIGURES: Final = (
    _Figure("size", "tools", "tools loaded", _GOT, mean),
    _Figure("tokens", "tokens", "tokens loaded", _GOT, count),
    _Figure("precision", "precision", "precision", _GOT, percent),
    _Figure("recall", "recall", "recall", _GOT, percent),
    _Figure("complete", "all gold", "all gold", _GOT, percent),
    _Figure("empty", "none", "loads none", _GOT, percent),
    _Figure("nothing_loaded", "unanswerable", "none if unanswerable", _UNFIT, percent),
    _Figure("nothing_without_gold", "gold hidden", "none if gold hidden", _UNFIT, percent),
    _Figure("nothing_for_strangers", "other task's", "none if other task's", _UNFIT, percent),
    _Figure("named_first", "first", "names first", _NAMES, percent),
    _Figure("p50_ms", "p50 ms", "p50 ms", _TIME, duration),
    _Figure("p95_ms", "p95 ms", "p95 ms", _TIME, duration),
    _Figure("build_s", "build s", "build s", _TIME, duration),
)


HEADS: Final = ("how", *MEASURES, *(figure.alone for figure in _FIGURES))
"""Heads of all that is told of an arm, in the order of tables."""


def task_grid(task: TaskResult, shared: Legend, *, times: bool = True) -> Grid:
    """One row an arm: rank measures, what a model would get, what happens when nothing fits, times."""
    worked = [result for result in task.arms if result.failed is None]
    figures = [
        figure
        for figure in _FIGURES
        if (times or figure.group != _TIME)
        and any(_figure(result, figure.key) is not None for result in worked)
    ]
    columns = (
        Column("arm", numeric=False),
        Column("how", _HOW, numeric=False),
        *(Column(measure, ABOUT[measure], "ranking") for measure in MEASURES),
        *(figure.column() for figure in figures),
    )
    best = {measure: best_of(result.measures.get(measure) for result in worked) for measure in MEASURES}
    rows = []
    for result in task.arms:
        name, marks = Cell(result.arm, shared.letters[result.arm]), shared.marks(result)
        if result.failed is not None:
            rows.append(Row((name, Cell(result.how)), marks, result.failed))
            continue
        cells = [
            figure_cell(result.measures.get(measure), result, measure, shared, best[measure])
            for measure in MEASURES
        ]
        cells += [Cell(figure.write(_figure(result, figure.key))) for figure in figures]
        rows.append(Row((name, Cell(result.how), *cells), marks))
    return Grid(task.name, columns, tuple(rows), _task_notes(task), keys=2, about=_task_about(task))


def slice_grids(task: TaskResult, shared: Legend) -> list[Grid]:
    """One table for each axis that tells at least two kinds of queries apart: one row a value, one column an arm."""
    ranked = [result for result in task.arms if result.failed is None and result.slices]
    axes = {axis for result in ranked for axis in result.slices}
    grids = []
    for axis in [*(axis for axis in _AXES if axis in axes), *sorted(axes - set(_AXES))]:
        found = {value for result in ranked for value in result.slices.get(axis, {})}
        values = [*(value for value in _VALUES if value in found), *sorted(found - set(_VALUES))]
        if len(values) < 2:
            continue
        rows = []
        for value in values:
            figures = [result.slices.get(axis, {}).get(value, {}) for result in ranked]
            best = best_of(each.get(MAIN_MEASURE) for each in figures)
            counts = [each["queries"] for each in figures if "queries" in each]
            cells = [_slice_cell(each.get(MAIN_MEASURE), best) for each in figures]
            rows.append(Row((Cell(value), Cell(count(max(counts, default=0))), *cells)))
        heads = (shared.column(result.arm, ABOUT[MAIN_MEASURE]) for result in ranked)
        columns = (Column(axis, numeric=False), Column("queries"), *heads)
        title = f"{_AXES.get(axis, f'By {axis}')}: {MAIN_MEASURE}, in percent"
        grids.append(Grid(title, columns, tuple(rows)))
    return grids


def _task_about(task: TaskResult) -> str:
    asked = task.asked
    without = task.unanswerable
    queries = f"{count(asked)} queries of the split {task.split}"
    if without:
        queries += f", {count(without)} of them unanswerable"
    return f"{count(task.tools)} tools, {queries}; shares in percent."


def _task_notes(task: TaskResult) -> tuple[str, ...]:
    notes = []
    for result in task.arms:
        if result.failures and result.failed is None:
            reasons = _counted(list(result.failures.values()))
            share = f"{count(len(result.failures))} of {count(task.asked)} queries"
            notes.append(f"{result.arm}: {share} have no answer and count 0: {reasons}.")
        if result.usage:
            counts = ", ".join(f"{count(value)} {name}" for name, value in sorted(result.usage.items()))
            notes.append(f"{result.arm}: the provider counted {counts}.")
    if task.unusable:
        notes.append(f"{count(task.unusable)} definitions cannot be used and are never found.")
    if task.full_tokens:
        counted = f" ({task.counted})" if task.counted else ""
        notes.append(f"All definitions in full are {count(task.full_tokens)} tokens{counted}.")
    return tuple(notes)


def _counted(reasons: Sequence[str], most: int = 3) -> str:
    counts: dict[str, int] = {}
    for reason in reasons:
        counts[reason] = counts.get(reason, 0) + 1
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    shown = "; ".join(f"{reason} ({count})" for reason, count in ordered[:most])
    return shown + (f"; {len(ordered) - most} other reasons" if len(ordered) > most else "")


def figure_cell(
    value: float | None, result: ArmResult | None, measure: str, shared: Legend, best: float | None
) -> Cell:
    """A share with the letters of the arms that it is significantly better than.

    Args:
        value: The share, 0 to 1, or None where there is none: the cell is empty.
        result: The arm that it is of, or None where it was not run; ``failed`` stands for the figures of one that did.
        measure: What it is.
        shared: The legend.
        best: The best of its kind, which is set in bold.
    """
    if result is not None and result.failed is not None:
        return Cell(FAILED)
    if value is None or result is None:
        return Cell()
    return Cell(percent(value), beats=shared.beaten(result, measure), best=value == best, share=value)


def _slice_cell(value: float | None, best: float | None) -> Cell:
    return Cell() if value is None else Cell(percent(value), best=value == best, share=value)


def _figure(result: ArmResult, key: str) -> float | None:
    return result.returned.get(key, result.times.get(key))
