"""A catalog and a plain text file of what users say in; a dataset out.

The file has one phrasing a line, and behind an arrow the tool that should be found:

    # What our support desk hears
    my parcel has not come -> track_shipment
    where is my order, and can I get my money back? -> track_shipment, refund_payment
    sing me a song -> nothing

    [misspelt]
    were is my parsel -> track_shipment

``-> nothing`` (or ``-> -``) says that no tool fits. A heading in brackets names the kind of the lines below it.
Blank lines, and lines that start with ``#``, are left out. Tools are called by any name that
``Catalog.position`` knows. The last arrow of a line counts, so phrasings may hold arrows themselves; a phrasing
that starts with ``#`` or ``[`` gets a backslash before it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import DatasetError, UnknownToolError
from semantic_toolsearch.evaluation.data.lines import text_lines
from semantic_toolsearch.evaluation.dataset import Dataset, Query

__all__ = ["Phrasing", "dataset_from_phrasings", "read_phrasings"]

_EXPECTED: Final = "one phrasing a line: what a user says -> tool_name"
_ARROW = re.compile(r"\s*(?:->|→)\s*")
_HEADING = re.compile(r"\[\s*([^\[\]]+?)\s*\]")
_NOTHING: Final = frozenset({"nothing", "-"})


class Phrasing(NamedTuple):
    """What a user says.

    Attributes:
        line: Its line in the file, from 1.
        text: The words.
        tools: Names of the tools that should be found; () where nothing fits; None where the line does not say.
        kind: The heading above it, or None.
        path: The file.
    """

    line: int
    text: str
    tools: tuple[str, ...] | None
    kind: str | None = None
    path: Path | None = None


def read_phrasings(path: str | PathLike[str], hashes: dict[str, str] | None = None) -> list[Phrasing]:
    """Read a file of phrasings; a line without an arrow is one whose tools nobody has told.

    Args:
        path: The file, UTF-8.
        hashes: Gets the file's SHA-256 under its name.

    Raises:
        DatasetError: The file is missing, not UTF-8, or holds no phrasing; or a line has no words before the arrow
            or no tool behind it, or says what another line says. The message names file and line.
    """
    file = Path(path)
    found: dict[str, Phrasing] = {}
    kind = None
    for line, raw in text_lines(file, {} if hashes is None else hashes, _EXPECTED):
        text = raw.strip()
        if not text or text.startswith("#"):
            continue
        if heading := _HEADING.fullmatch(text):
            kind = heading[1]
            continue
        phrasing = _phrasing(
            text.removeprefix("\\") if text[:2] in ("\\#", "\\[") else text, line, kind, file
        )
        if (first := found.setdefault(phrasing.text, phrasing)) is not phrasing:
            raise DatasetError(f"{phrasing.text[:80]!r} is on line {first.line} already.", file, line)
    if not found:
        raise DatasetError(f"holds no phrasing. Expected is {_EXPECTED}.", file)
    return list(found.values())


def dataset_from_phrasings(catalog: Catalog, phrasings: Sequence[Phrasing], name: str) -> Dataset:
    """Make a dataset of a catalog and what its users say; every query is of the split ``test``.

    Queries are called by a hash of their text, so that they keep their ids when lines move. Tools are called by
    their wire names.

    Args:
        catalog: The tools.
        phrasings: As ``read_phrasings`` gives them, each with its tools.
        name: Name of the dataset.

    Raises:
        DatasetError: There is no tool or no phrasing; a tool's name is unknown, ambiguous or of a definition that
            cannot be used; or a line does not say which tool. The message names file and line.
    """
    if not len(catalog):
        raise DatasetError(f"{name}: the catalog holds no usable tool. {catalog.report}")
    if not phrasings:
        raise DatasetError(f"{name}: there is no phrasing. Expected is {_EXPECTED}.")
    queries = []
    gold = {}
    for phrasing in phrasings:
        if phrasing.tools is None:
            reason = "says no tool. Write: what a user says -> tool_name, or -> nothing where no tool fits."
            raise DatasetError(reason, phrasing.path, phrasing.line)
        query = hashlib.sha256(phrasing.text.encode()).hexdigest()[:12]
        queries.append(Query(query, phrasing.text, kind=phrasing.kind, answerable=bool(phrasing.tools)))
        if phrasing.tools:
            places = dict.fromkeys(_place(catalog, tool, phrasing) for tool in phrasing.tools)
            gold[query] = {catalog.wire_names[place]: 1 for place in places}
    return Dataset(
        name=name,
        tools=catalog.tools,
        ids=catalog.wire_names,
        queries=tuple(queries),
        gold=gold,
        description="A catalog and phrasings of a user's own.",
    )


def _phrasing(text: str, line: int, kind: str | None, path: Path) -> Phrasing:
    arrows = list(_ARROW.finditer(text))
    if not arrows:
        return Phrasing(line, text, None, kind, path)
    said, named = text[: arrows[-1].start()], text[arrows[-1].end() :]
    tools = tuple(filter(None, (tool.strip() for tool in named.split(","))))
    if not said:
        raise DatasetError(
            f"nothing stands before the arrow. Write: {_EXPECTED.partition(': ')[2]}.", path, line
        )
    if not tools:
        raise DatasetError(
            "no tool stands behind the arrow. Write -> nothing where no tool fits.", path, line
        )
    if _NOTHING & {tool.lower() for tool in tools}:
        if len(tools) > 1:
            raise DatasetError(f"{named!r} names tools and says that nothing fits.", path, line)
        tools = ()
    return Phrasing(line, said, tools, kind, path)


def _place(catalog: Catalog, tool: str, phrasing: Phrasing) -> int:
    try:
        return catalog.position(tool)
    except UnknownToolError as error:
        for entry in catalog.report.quarantined:
            if tool in (entry.name, entry.label):
                reason = f"the definition of {tool!r} cannot be used: {entry}."
                raise DatasetError(reason, phrasing.path, phrasing.line) from error
        raise DatasetError(str(error), phrasing.path, phrasing.line) from error
