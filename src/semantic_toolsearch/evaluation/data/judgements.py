"""A tab-separated file of judgements in; which tool answers which query, and how well, out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.data.lines import text_lines
from semantic_toolsearch.names import nearest

__all__ = ["HEADER", "MOST_GRADE", "Judgement", "read_judgements"]

HEADER: Final = ("query-id", "tool-id", "grade")
_COLUMNS: Final = (
    frozenset({"query-id"}),
    frozenset({"tool-id", "corpus-id"}),
    frozenset({"grade", "score"}),
)
MOST_GRADE: Final = 1_000
"""Measures keep a count for each grade up to the highest, so that one of millions would take minutes and gigabytes."""

_GRADE = re.compile(r"\+?[0-9]{1,9}")


class Judgement(NamedTuple):
    """One row.

    Attributes:
        line: Its line in the file, from 1.
        query: Id of the query.
        tool: Id of the tool.
        grade: How well the tool answers the query, from 1; 0 where it does not.
    """

    line: int
    query: str
    tool: str
    grade: int


def read_judgements(
    path: Path,
    queries: Collection[str],
    tools: Collection[str],
    hashes: dict[str, str],
    *,
    name: str | None = None,
) -> Iterator[Judgement]:
    """Yield the rows, checked.

    Args:
        path: The file: a header (``query-id``, ``tool-id`` or ``corpus-id``, ``grade`` or ``score``), then rows.
        queries: The known query ids.
        tools: The known tool ids.
        hashes: Gets the file's hash, see ``lines.text_lines``.
        name: See there.

    Raises:
        DatasetError: The file is missing or empty, or the header, the number of columns or a grade is wrong,
            or an id is unknown, or a pair is judged twice.
    """
    seen: dict[tuple[str, str], int] = {}
    header = False
    for line, text in text_lines(path, hashes, f"a tab-separated file with the header {_shown()}", name=name):
        if not text.strip():
            continue
        columns = text.split("\t")
        if not header:
            _check_header(columns, path, line)
            header = True
            continue
        if len(columns) != len(HEADER):
            raise DatasetError(f"{len(columns)} columns; {_shown()} are expected, tabs between.", path, line)
        query, tool, grade = columns
        for what, each, known in (("query", query, queries), ("tool", tool, tools)):
            if each not in known:
                similar = nearest(each, known)
                hint = f" Nearest: {', '.join(similar)}." if similar else ""
                raise DatasetError(f"the {what} {each!r} is unknown.{hint}", path, line)
        if (first := seen.setdefault((query, tool), line)) != line:
            raise DatasetError(f"{tool!r} is judged for {query!r} on line {first} already.", path, line)
        if not _GRADE.fullmatch(grade.strip()) or int(grade) > MOST_GRADE:
            raise DatasetError(
                f"the grade {grade!r} is no whole number from 0 to {MOST_GRADE:,} (0: does not answer).",
                path,
                line,
            )
        yield Judgement(line, query, tool, int(grade))
    if not header:
        raise DatasetError(f"is empty. Expected is the header {_shown()} and rows.", path)


def _check_header(columns: list[str], path: Path, line: int) -> None:
    fits = len(columns) == len(_COLUMNS) and all(
        column.strip().lower() in names for column, names in zip(columns, _COLUMNS, strict=True)
    )
    if not fits:
        raise DatasetError(f"the header is {columns!r}; {_shown()} are expected, tabs between.", path, line)


def _shown() -> str:
    return ", ".join(HEADER)
