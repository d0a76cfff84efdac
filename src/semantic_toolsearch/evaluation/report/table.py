"""An evaluation and a console in; its tables, drawn for a terminal or as plain text, out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.cleaning import one_line
from semantic_toolsearch.evaluation.report.cost_grids import conversation_grids, size_grids
from semantic_toolsearch.evaluation.report.grids import Grid, Row, legend
from semantic_toolsearch.evaluation.report.overview_grids import overviews
from semantic_toolsearch.evaluation.report.task_grids import task_grid
from semantic_toolsearch.evaluation.report.wording import LETTERS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from semantic_toolsearch.evaluation.results import Evaluation

__all__ = ["show"]

_RAISED: Final = str.maketrans(
    "abcdefghijklmnoprstuvwxyz",
    "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ",
)

_HEAD: Final = 9
"""Characters of a line of a head, where its words are not longer."""


def show(evaluation: Evaluation, console: Console) -> None:
    """Write all tables of an evaluation to a console.

    A table that is too wide for it is split into several, each with the names of the arms.

    Args:
        evaluation: The results.
        console: Where to write; colour and width are its own.
    """
    shared = legend(evaluation)
    lettered = any(beaten for task in evaluation.tasks for arm in task.arms for beaten in arm.beats.values())
    if len(evaluation.tasks) > 1:
        for grid in overviews(evaluation, shared):
            _draw(grid, console)
    for task in evaluation.tasks:
        _draw(task_grid(task, shared), console)
    for grid in (*size_grids(evaluation, shared), *conversation_grids(evaluation)):
        _draw(grid, console)
    if lettered:
        console.print(LETTERS, style="dim", markup=False)
    for number, note in enumerate(shared.notes, 1):
        console.print(_plain(f"[{number}] {note}"), style="dim")


def _draw(grid: Grid, console: Console) -> None:
    console.print(_plain(f"{grid.title}: {grid.about}" if grid.about else grid.title), style="bold")
    raised = console.encoding.lower().replace("-", "").startswith("utf")
    for place, columns in enumerate(_fitting(grid, console, raised)):
        if place:
            console.print()
        console.print(_table(grid, columns, raised))
    for note in grid.remarks:
        console.print(_plain(note), style="dim")
    console.print()


def _fitting(grid: Grid, console: Console, raised: bool) -> list[list[int]]:
    """Which columns stand together, so that each table fits; neighbours of a group part only where they must."""
    keys = list(range(grid.keys))
    parts: list[list[int]] = []

    def fits(places: list[int]) -> bool:
        return _width(grid, [*keys, *places], console, raised) <= console.width

    for _, group in groupby(range(grid.keys, len(grid.columns)), key=lambda place: grid.columns[place].group):
        places = list(group)
        if parts and fits([*parts[-1], *places]):
            parts[-1] += places
        elif fits(places):
            parts.append(places)
        else:
            parts.append([])
            for place in places:
                if parts[-1] and not fits([*parts[-1], place]):
                    parts.append([])
                parts[-1].append(place)
    return [[*keys, *places] for places in parts] or [keys]


def _width(grid: Grid, columns: Sequence[int], console: Console, raised: bool) -> int:
    from rich.measure import Measurement

    table = _table(grid, columns, raised)
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def _table(grid: Grid, columns: Sequence[int], raised: bool) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place in columns:
        column = grid.columns[place]
        head = Text(_broken(one_line(column.title)))
        table.add_column(head, justify="right" if column.numeric else "left", no_wrap=True)
    for row in grid.rows:
        table.add_row(*(_cell(row, place, raised) for place in columns))
    return table


def _cell(row: Row, place: int, raised: bool) -> Text:
    from rich.text import Text

    if row.failed is not None and place == 1:
        return Text("failed", style="red")
    if place >= len(row.cells):
        return Text("")
    cell = row.cells[place]
    text = Text().append(one_line(cell.title), style="bold" if cell.best else "")
    if cell.beats:
        text.append(cell.beats.translate(_RAISED) if raised else f" {cell.beats}")
    if place == 0 and row.marks:
        text.append(f" [{','.join(map(str, row.marks))}]", style="dim")
    return text


def _broken(head: str) -> str:
    """A head on several lines, so that its figures and not its words set the width."""
    words = [part for word in head.split() for part in _parted(word)]
    return "\n".join(textwrap.wrap(" ".join(words), _HEAD, break_long_words=False, break_on_hyphens=False))


def _parted(word: str) -> list[str]:
    name, at, depth = word.partition("@")
    return [name, at + depth] if at and len(word) > _HEAD else [word]


def _plain(text: str) -> Text:
    from rich.text import Text

    return Text(one_line(text))
