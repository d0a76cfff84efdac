"""`toolsearch explain`: a query and a tool in; where the tool stands, and the rule that put it there, out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

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
from semantic_toolsearch.cli.search import visible_names

__all__ = ["explain"]


def explain(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What was searched for.")],
    tool: Annotated[
        str, typer.Argument(metavar="TOOL", help="The tool's name: wire name, raw name or server.name.")
    ],
    files: Files = None,
    mcp: McpCommands = None,
    index: IndexFolder = None,
    ranker: RankerName = None,
    embedder: EmbedderName = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="As for search.", show_default=False)
    ] = None,
    visible: VisibleOnly = None,
    as_json: AsJson = False,
) -> None:
    """Say why a tool is, or is not, among the answers to a query: its rank, its score by part, the rule.

    Exit code: 0, or 2 on an error, such as a tool that does not exist.
    """
    searcher, _ = open_search(files, mcp, index, ranker, embedder)
    explanation = searcher.explain(query, tool, limit=limit, visible=visible_names(searcher, visible))
    if as_json:
        values = asdict(explanation)
        values["score"] = float(explanation.score)
        values["arms"] = {arm: float(score) for arm, score in explanation.arms.items()}
        print_json(values)
        return
    out = console()
    place = "unranked" if explanation.rank is None else f"rank {explanation.rank}"
    out.print(
        plain(f"{explanation.name}: {explanation.verdict}, {place}, score {explanation.score:.3f}"),
        style="bold",
    )
    out.print(plain(explanation.reason))
    for arm, score in explanation.arms.items():
        out.print(f"  {arm:<12} {score:.3f}", markup=False)
    for field, words in explanation.fields.items():
        out.print(plain(f"  words in {field}: {', '.join(words)}"))
    if explanation.degraded:
        out.print(plain(explanation.degraded))
