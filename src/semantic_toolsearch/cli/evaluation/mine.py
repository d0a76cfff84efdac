"""`toolsearch eval mine`: an author's tools and what users say in; which descriptions to change out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semantic_toolsearch.cli.inputs import read_sources, tell_quarantined
from semantic_toolsearch.cli.options import AsJson, McpCommands
from semantic_toolsearch.cli.output import (
    console,
    embedding_progress,
    print_json,
    prints_aside,
    waiting,
    warn,
)
from semantic_toolsearch.errors import ConfigError, RankerError, ToolSearchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semantic_toolsearch.evaluation.data.phrasings import Phrasing
    from semantic_toolsearch.evaluation.mining.records import MineReport
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["NEVER_FOUND", "mine"]

NEVER_FOUND = 1
"""Exit code of a strict check where a tool is found by none of its phrasings."""


def mine(
    queries: Annotated[
        Path,
        typer.Option(
            "--queries",
            metavar="FILE",
            help="What users say, one a line: words -> tool, or -> nothing. Lines without an arrow serve to "
            "find magnets only.",
            show_default=False,
        ),
    ],
    catalog: Annotated[
        list[str] | None,
        typer.Option(
            "--catalog",
            metavar="FILE",
            help="JSON or JSON Lines file of tool definitions; - is standard input. May be repeated.",
            show_default=False,
        ),
    ] = None,
    mcp: McpCommands = None,
    ranker: Annotated[
        str | None,
        typer.Option(
            "--ranker",
            metavar="NAME",
            help="hybrid (default), semantic, bm25, keyword, regex, or module:Name for one of your own.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="The same tools as they were before; tells what was won and lost since. May be repeated.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[int, typer.Option("--show", metavar="N", min=1, help="Rows shown of each list.")] = 10,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when a tool is never found.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say which tools are never found, which attract everything, and which descriptions to change.

    Exit code: 0; with --strict 1 when a tool is never found; 2 on an error.
    """
    from semantic_toolsearch.cli.evaluation.mine_output import show_comparison, show_report
    from semantic_toolsearch.evaluation.data.phrasings import read_phrasings
    from semantic_toolsearch.evaluation.mining.comparison import compare_mined

    if not catalog and not mcp:
        raise ConfigError("No tools are given: use --catalog FILE or --mcp COMMAND.")
    spec = _ranker(ranker)
    phrasings = read_phrasings(queries)
    report = _mined(catalog or (), mcp or (), spec, phrasings, queries.name)
    content: dict[str, Any] = report.as_dict()
    comparison = None
    if against:
        before = _mined(against, (), spec, phrasings, queries.name)
        comparison = compare_mined(before, report)
        content |= {"before": before.as_dict(), "comparison": comparison.as_dict()}
    if as_json:
        print_json(content)
    else:
        out = console()
        if comparison is not None:
            show_comparison(out, comparison, show)
            out.print()
        show_report(out, report, show)
    if strict and report.never_found:
        raise typer.Exit(NEVER_FOUND)


def _ranker(name: str | None) -> Any:
    if name is None or ":" not in name:
        return name
    from semantic_toolsearch.evaluation.arms.import_paths import imported

    with prints_aside():
        return imported(name)


def _mined(
    files: Sequence[str], commands: Sequence[str], ranker: Any, phrasings: Sequence[Phrasing], name: str
) -> MineReport:
    from semantic_toolsearch.evaluation.measuring.collecting import FAULTS, reason_of
    from semantic_toolsearch.evaluation.mining.mine import mine as mine_phrasings
    from semantic_toolsearch.evaluation.mining.mine import phrasing_dataset
    from semantic_toolsearch.toolsearch import ToolSearch

    tools = read_sources(files, commands)
    tell_quarantined(tools.report)
    dataset, unlabelled = phrasing_dataset(tools.catalog, phrasings, name)
    search: ToolSearch = ToolSearch(tools.catalog, ranker=ranker)
    try:
        with prints_aside(), embedding_progress("Embedding tools") as progress:
            search.prepare(progress)
        with prints_aside(), waiting("Asking"):
            report = mine_phrasings(search, dataset, unlabelled=unlabelled)
    except FAULTS as fault:
        if isinstance(fault, ToolSearchError) or ranker is None or isinstance(ranker, str):
            raise
        raise RankerError(f"The ranker has failed: {reason_of(fault)}") from fault  # anybody's code
    for note in report.notes:
        warn(note)
    return report
