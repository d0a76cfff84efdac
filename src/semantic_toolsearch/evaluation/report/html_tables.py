"""Tables of a report and texts of strangers in; HTML out."""

from __future__ import annotations

import html
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from semantic_toolsearch.cleaning import one_line
from semantic_toolsearch.evaluation.report.grids import FAILED, Cell, Column, Grid, Row

__all__ = ["bullets", "escaped", "table"]

_FOREIGN: Final = ("emulated", "live", "replayed")


def escaped(text: str) -> str:
    """Text on one line, as a page may hold it, in an attribute too."""
    return html.escape(one_line(text))


def bullets(sentences: Iterable[str], css: str) -> str:
    """A list of sentences; nothing where there are none."""
    items = "".join(f"<li>{escaped(sentence)}</li>" for sentence in sentences)
    return f'<ul class="{css}">{items}</ul>' if items else ""


def table(grid: Grid, *, caption: bool = True, shaded: bool = False) -> str:
    """One table that scrolls sideways by itself where it is too wide.

    Args:
        grid: The table.
        caption: Whether its title is seen; screen readers tell it in any case.
        shaded: Whether shares colour their cells.
    """
    letters = max((len(cell.beats) for row in grid.rows for cell in row.cells), default=0)
    title = escaped(grid.title)
    head = f"{_groups(grid)}<tr>{''.join(_heads(grid, letters))}</tr>"
    body = "\n".join(_row(row, grid, letters, shaded) for row in grid.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">\n'
        f'<table style="--letters: {letters}">\n'
        f"<caption{_classes('' if caption else 'hidden')}>{title}</caption>\n"
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>{bullets(grid.notes, 'notes')}"
    )


def _groups(grid: Grid) -> str:
    """The row above the heads that names the groups; nothing without groups."""
    if not any(column.group for column in grid.columns):
        return ""
    cells = []
    for name, members in groupby(grid.columns, key=lambda column: column.group):
        span = len(list(members))
        if name:
            cells.append(f'<th scope="colgroup" colspan="{span}" class="opens">{escaped(name)}</th>')
        else:
            cells.append(f'<td colspan="{span}"></td>')
    return f'<tr class="groups">{"".join(cells)}</tr>'


def _heads(grid: Grid, letters: int) -> Iterable[str]:
    for place, column in enumerate(grid.columns):
        lettered = letters and any(len(row.cells) > place and row.cells[place].beats for row in grid.rows)
        about = f' title="{escaped(column.about)}"' if column.about else ""
        named = {"number": column.numeric, "lettered": lettered, "opens": _opens(grid, place)}
        classes = _classes(*(name for name, applies in named.items() if applies))
        yield f'<th scope="col"{classes}{about}>{_letter(column)}{_head(column.head)}</th>'


def _head(text: str) -> str:
    """A head that breaks between words and before the depth of a measure, not at hyphens."""
    words = (f'<span class="word">{word}</span>' if "-" in word else word for word in escaped(text).split())
    return " ".join(words).replace("@", "<wbr>@")


def _row(row: Row, grid: Grid, letters: int, shaded: bool) -> str:
    first = row.cells[0]
    marks = ",".join(f'<a href="#note-{mark}">{mark}</a>' for mark in row.marks)
    marks = f'<span class="mark">[{marks}]</span>' if marks else ""
    number = _classes("number" if grid.columns[0].numeric else "")
    cells = [f'<th scope="row"{number}>{_letter(first)}{escaped(first.text)}{marks}</th>']
    for place, column in enumerate(grid.columns[1:], 1):
        if place >= len(row.cells):
            break
        cells.append(_cell(row.cells[place], column, _opens(grid, place), letters, shaded))
    if row.failed is not None:
        span = len(grid.columns) - len(row.cells)
        cells.append(f'<td class="failed" colspan="{span}">failed: {escaped(row.failed)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _cell(cell: Cell, column: Column, opens: bool, letters: int, shaded: bool) -> str:
    shown = escaped(cell.text)
    if not column.numeric:
        foreign = " foreign" if cell.text in _FOREIGN else ""
        return f'<td class="how{foreign}">{shown}</td>'
    share = cell.share if shaded else None
    named = {
        "number": True,
        "failed": cell.text == FAILED,
        "opens": opens,
        "best": cell.best,
        "shaded": share is not None,
    }
    classes = _classes(*(name for name, applies in named.items() if applies))
    style = f' style="--share: {share:.3f}"' if share is not None else ""
    if cell.best:
        shown = f"<b>{shown}</b>"
    if letters and cell.share is not None:
        shown += f'<sup class="beats">{escaped(cell.beats)}</sup>'
    return f"<td{classes}{style}>{shown}</td>"


def _letter(part: Cell | Column) -> str:
    return f'<span class="letter">{escaped(part.letter)}</span>' if part.letter else ""


def _opens(grid: Grid, place: int) -> bool:
    """Whether a group of columns begins here."""
    group = grid.columns[place].group
    return bool(group) and grid.columns[place - 1].group != group


def _classes(*names: str) -> str:
    chosen = " ".join(filter(None, names))
    return f' class="{chosen}"' if chosen else ""
