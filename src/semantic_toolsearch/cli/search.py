"""`toolsearch search`: a need in; the tools that fit it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from semantic_toolsearch.cli.inputs import open_search
from semantic_toolsearch.cli.options import (
    AsJson,
    EmbedderName,
    Files,
    IndexFolder,
    McpCommands,
    RankerName,
    VisibleOnly,
)
from semantic_toolsearch.cli.output import console, plain, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from semantic_toolsearch.results import Hit, SearchResult
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["MISSED", "search", "visible_names"]

MISSED = 1
"""Exit code of a search that nothing answers."""

_NARROWEST = 20
"""Columns that a description keeps, however long the names are."""


def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What the tool should do, or its name; '' lists the names.")
    ],
    files: Files = None,
    mcp: McpCommands = None,
    index: IndexFolder = None,
    ranker: RankerName = None,
    embedder: EmbedderName = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="The most tools to return.", show_default=False)
    ] = None,
    visible: VisibleOnly = None,
    as_json: AsJson = False,
) -> None:
    """Find the tools that fit a need, best first.

    Exit code: 0 when tools were found or names listed, 1 when nothing fits, 2 on an error.
    """
    searcher, _ = open_search(files, mcp, index, ranker, embedder)
    result = searcher.search(query, limit=limit, visible=visible_names(searcher, visible))
    if as_json:
        print_json(result.as_dict())
    else:
        _show(console(), result)
    if result.outcome == "no_match":
        raise typer.Exit(MISSED)


def visible_names(searcher: ToolSearch, names: Sequence[str] | None) -> list[str] | None:
    """Return wire names; a name that means no tool, or several, is an error here, not a silent nothing.

    Raises:
        UnknownToolError: No tool, or more than one, has one of the names.
    """
    if not names:
        return None
    catalog = searcher.catalog
    return [catalog.wire_names[catalog.position(name)] for name in names]


def _show(out: Console, result: SearchResult) -> None:
    if result.outcome == "matched":
        _show_hits(out, result.tools)
    elif result.outcome == "no_match":
        out.print(plain(f"Nothing among {result.total} tools fits {result.query!r}."))
    else:
        out.print(plain(f"{result.total} tools"))
    if result.hints:
        out.print(plain(f"Might fit: {', '.join(hit.name for hit in result.hints)}"))
    if result.names:
        more = result.total - len(result.names)
        out.print(plain(f"Names: {', '.join(result.names)}{f' and {more} more' if more else ''}"))
    if result.namespaces:
        out.print(plain(f"Servers: {', '.join(f'{name} ({count})' for name, count in result.namespaces)}"))
    for note in result.notes:
        out.print(plain(f"Note: {note}"))


def _show_hits(out: Console, hits: Sequence[Hit]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    columns = {
        "#": [plain(str(rank)) for rank in range(1, len(hits) + 1)],
        "tool": [plain(hit.name) for hit in hits],
        "score": [plain(f"{hit.score:.3f}") for hit in hits],
        "server": [plain(hit.tool.namespace or "") for hit in hits],
    }
    if not any(columns["server"]):
        del columns["server"]
    for title in columns:
        table.add_column(title, overflow="fold", style="bold" if title == "tool" else "")
    used = sum(max(len(title), *(text.cell_len for text in texts)) + 2 for title, texts in columns.items())
    table.add_column("description", no_wrap=True, overflow="ellipsis")
    for hit, *row in zip(hits, *columns.values(), strict=True):
        description = plain(hit.tool.description.strip().split("\n")[0])
        description.truncate(max(out.width - used - 2, _NARROWEST), overflow="ellipsis")
        table.add_row(*row, description)
    out.print(table)
