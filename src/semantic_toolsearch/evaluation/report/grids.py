"""The parts of a report's tables: columns, cells with their marks, and the legend that all tables share."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from semantic_toolsearch.evaluation.results import ArmResult, Evaluation

__all__ = [
    "FAILED",
    "Cell",
    "Column",
    "Grid",
    "Legend",
    "Row",
    "best_of",
    "count",
    "duration",
    "legend",
    "mean",
    "percent",
]

FAILED: Final = "failed"
"""What stands for a figure that an arm failed to give."""

_LETTERS: Final = string.ascii_lowercase.replace("q", "")
"""Letters that have a raised form in Unicode, so that a terminal can show them small."""

_HOW: Final[Mapping[str, str]] = {
    "emulated": "emulated: the provider's documented rules, run here; nothing was asked of the provider, whose own "
    "search may answer differently.",
    "live": "live: answers of the provider's own service.",
    "replayed": "replayed: stored answers of the provider's own service, read again.",
}

_NO_ORDER: Final = (
    "no order: the arm shows no order of tools, so its rank columns are empty; compare what it loads and the tokens "
    "of that."
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        head: What stands above it, below the name of its group.
        about: What its figures mean, in a sentence; empty where the head says it all.
        group: What it belongs to together with its neighbours.
        alone: What stands above it where groups are not shown; empty for ``head``.
        letter: Letter of the arm that it is about.
        numeric: Whether its cells are figures, set flush right.
    """

    head: str
    about: str = ""
    group: str = ""
    alone: str = ""
    letter: str = ""
    numeric: bool = True

    @property
    def title(self) -> str:
        """Its head where groups and letters have no place of their own."""
        return f"{self.letter} {self.alone or self.head}".lstrip()


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        text: What it shows; empty where there is no such figure.
        letter: Letter of the arm that it names.
        beats: Letters of the arms that the figure is significantly better than.
        best: Whether it is the best of its kind in the table.
        share: The figure between 0 and 1, where it is one, for shading.
    """

    text: str = ""
    letter: str = ""
    beats: str = ""
    best: bool = False
    share: float | None = None

    @property
    def title(self) -> str:
        """Its text where letters have no place of their own."""
        return f"{self.letter} {self.text}".lstrip()


@dataclass(frozen=True, slots=True)
class Row:
    """One row, headed by its first cell.

    Attributes:
        cells: One cell a column; fewer where ``failed`` takes the place of the others.
        marks: Numbers of the notes that belong to it.
        failed: Why it has no figures, or None.
    """

    cells: tuple[Cell, ...]
    marks: tuple[int, ...] = ()
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """One table.

    Attributes:
        title: What it shows.
        about: More about that, in a sentence; may be empty.
        columns: Its columns.
        rows: Its rows.
        notes: Sentences that belong below it.
        keys: Number of columns in front that say what a row is about.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    keys: int = 1
    about: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Why rows failed, for tables without room for that, and the notes."""
        failed = (f"{row.cells[0].text} failed: {row.failed}" for row in self.rows if row.failed is not None)
        return (*failed, *self.notes)


@dataclass(frozen=True, slots=True)
class Legend:
    """What all tables of a report share.

    Attributes:
        letters: Letter of each arm, in the order of the run.
        labels: Name of each arm as heads and lines show it, with how it ran unless that was here.
        notes: What must be said about arms; numbered from 1.
    """

    letters: Mapping[str, str]
    labels: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def beaten(self, result: ArmResult, measure: str) -> str:
        """Letters of the arms that an arm is significantly better than by a measure, with commas if one has two."""
        found = [self.letters[arm] for arm in result.beats.get(measure, ()) if arm in self.letters]
        return ("," if any(len(letter) > 1 for letter in found) else "").join(sorted(found))

    def marks(self, result: ArmResult) -> tuple[int, ...]:
        """Numbers of the notes about an arm."""
        return tuple(sorted({self.notes.index(note) + 1 for note in _notes(result)}))

    def column(self, arm: str, about: str = "") -> Column:
        """The column of an arm."""
        return Column(self.labels[arm], about, letter=self.letters[arm])


def legend(evaluation: Evaluation) -> Legend:
    """Give each arm of an evaluation a letter and a label, and number what must be said about them."""
    results = [result for task in evaluation.tasks for result in task.arms]
    hows: dict[str, dict[str, None]] = {}
    for result in results:
        hows.setdefault(result.arm, {})[result.how] = None
    for sizes in evaluation.sizes:
        for arm in sorted(sizes.arms):
            hows.setdefault(arm, {})
    labels = {}
    for arm, ways in hows.items():
        foreign = [way for way in ways if way != "local"]
        labels[arm] = f"{arm} ({', '.join(foreign)})" if foreign else arm
    notes = tuple(dict.fromkeys(note for result in results for note in _notes(result)))
    return Legend(dict(zip(hows, _all_letters(len(hows)), strict=True)), labels, notes)


def percent(share: float | None) -> str:
    """A share as percent with one decimal; empty for None."""
    return "" if share is None else f"{100 * share:.1f}"


def count(value: float | None) -> str:
    """A count, or a mean of large counts, with thousands set apart; empty for None."""
    return "" if value is None else f"{value:,.0f}"


def mean(value: float | None) -> str:
    """A mean of small counts with one decimal; empty for None."""
    return "" if value is None else f"{value:,.1f}"


def duration(value: float | None) -> str:
    """Seconds or milliseconds with about two digits that count; empty for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def best_of(values: Iterable[float | None]) -> float | None:
    """The largest value, None where there are fewer than two to compare or all are the same."""
    known = [value for value in values if value is not None]
    return max(known) if len(set(known)) > 1 else None


def _notes(result: ArmResult) -> Sequence[str]:
    told = [note if note.startswith(f"{result.arm}:") else f"{result.arm}: {note}" for note in result.notes]
    spoken_of = any(result.how in note for note in told)
    how = [_HOW[result.how]] if result.how in _HOW and not spoken_of else []
    return [*how, *([] if result.ranks else [_NO_ORDER]), *told]


def _all_letters(number: int) -> list[str]:
    singles = list(_LETTERS)
    return [*singles, *(first + second for first in singles for second in singles)][:number]
