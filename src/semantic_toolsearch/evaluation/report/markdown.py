"""An evaluation in; the whole report as GitHub Markdown, the same bytes for the same results, out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from semantic_toolsearch.cleaning import one_line
from semantic_toolsearch.evaluation.report.cost_grids import conversation_grids, size_grids
from semantic_toolsearch.evaluation.report.grids import Cell, Grid, Legend, Row, legend
from semantic_toolsearch.evaluation.report.overview_grids import overviews, wins_grid
from semantic_toolsearch.evaluation.report.task_grids import slice_grids, task_grid
from semantic_toolsearch.evaluation.report.wording import LETTERS, SIGNIFICANCE, findings, meanings, versions
from semantic_toolsearch.evaluation.results import Evaluation, TaskResult

__all__ = ["to_markdown"]

_SPECIAL: Final = re.compile(r"([\\`*\[\]<>|~])|(?<![^\W_])(_)|(_)(?![^\W_])")


def to_markdown(
    evaluation: Evaluation, *, title: str | None = None, times: bool = False, brief: bool = False
) -> str:
    """Write an evaluation as Markdown.

    Args:
        evaluation: The results.
        title: The heading; None for a plain one.
        times: Whether to show times, which differ from run to run.
        brief: Whether to leave out the slices of each task, its description, and what was asked for, so that the
            text fits into a page of other text.
    """
    shared = legend(evaluation)
    parts = [] if brief and title is None else [f"# {_safe(title or 'Evaluation of tool search')}"]
    if evaluation.tasks:
        parts += ["## Overview", *_bullets(findings(evaluation, shared)), LETTERS]
        for grid in filter(None, (*overviews(evaluation, shared), wins_grid(evaluation, shared))):
            parts += [_heading(grid, 3), _table(grid)]
        parts.append("## Tasks")
        parts += [part for task in evaluation.tasks for part in _task(task, shared, times, brief)]
    for heading, grids in (
        ("## Catalog size", size_grids(evaluation, shared, times=times)),
        ("## Conversations", conversation_grids(evaluation)),
    ):
        parts += [heading] if grids else []
        for grid in grids:
            parts += [_heading(grid, 3), _table(grid), *_bullets(grid.remarks)]
    if evaluation.tasks:
        told = (f"{head}: {about}" for head, about in meanings(evaluation, shared, times=times).items())
        parts += ["## What the figures mean", *_bullets(told), SIGNIFICANCE]
    if shared.notes:
        notes = "\n".join(f"{place}. {_safe(note)}" for place, note in enumerate(shared.notes, 1))
        parts += ["## Notes", notes]
    parts += [] if brief else ["## Settings", *_settings(evaluation, times)]
    return "\n\n".join(parts) + "\n"


def _task(task: TaskResult, shared: Legend, times: bool, brief: bool) -> Iterator[str]:
    grid = task_grid(task, shared, times=times)
    yield _heading(grid, 3)
    if task.description and not brief:
        yield _safe(task.description)
    yield _safe(grid.about)
    yield _table(grid)
    yield from _bullets(grid.remarks)
    slices = [] if brief else slice_grids(task, shared)
    if slices:
        yield f"<details><summary>{_safe(task.name)}: kinds of queries</summary>"
        for each in slices:
            yield f"**{_safe(each.title)}**"
            yield _table(each)
        yield "</details>"


def _table(grid: Grid) -> str:
    lines = [
        f"| {' | '.join(_safe(column.title) for column in grid.columns)} |",
        f"|{'|'.join('--:' if column.numeric else ':--' for column in grid.columns)}|",
    ]
    for row in grid.rows:
        texts = [_cell(row, place) for place in range(len(grid.columns))]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


def _cell(row: Row, place: int) -> str:
    cell = row.cells[place] if place < len(row.cells) else Cell()
    text = _safe(cell.title)
    if cell.best:
        text = f"**{text}**"
    if cell.beats:
        text += f"<sup>{cell.beats}</sup>"
    if place == 0 and row.marks:
        text += f" \\[{','.join(map(str, row.marks))}\\]"
    if row.failed is not None and place == 1:
        text += ", failed"
    return text


def _heading(grid: Grid, level: int) -> str:
    return f"{'#' * level} {_safe(grid.title)}"


def _bullets(sentences: Iterable[str]) -> list[str]:
    lines = [f"- {_safe(sentence)}" for sentence in sentences]
    return ["\n".join(lines)] if lines else []


def _settings(evaluation: Evaluation, times: bool) -> Iterator[str]:
    if evaluation.versions:
        yield f"Versions: {_safe(versions(evaluation))}."
    if times and evaluation.times:
        told = ", ".join(f"{name} {value:g}" for name, value in sorted(evaluation.times.items()))
        yield f"Times: {_safe(told)}."
    yield "<details><summary>What was asked for</summary>"
    yield f"```json\n{json.dumps(evaluation.config, indent=2, sort_keys=True)}\n```"
    yield "</details>"
    hashes = [
        (task.name, file, digest) for task in evaluation.tasks for file, digest in sorted(task.sha256.items())
    ]
    if hashes:
        rows = "\n".join(
            f"| {_safe(task)} | {_safe(file)} | `{_safe(digest)}` |" for task, file, digest in hashes
        )
        yield "<details><summary>Hashes of the data</summary>"
        yield f"| task | file | sha256 |\n|:--|:--|:--|\n{rows}"
        yield "</details>"


def _safe(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", one_line(text).replace("&", "&amp;"))
