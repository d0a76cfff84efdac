"""The arguments that commands have in common: where tools come from, and how the answer is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["AsJson", "EmbedderName", "Files", "IndexFolder", "McpCommands", "RankerName", "VisibleOnly"]

Files: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="JSON or JSON Lines files of tool definitions (OpenAI, Anthropic, MCP); - is standard input.",
        show_default=False,
    ),
]

McpCommands: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--mcp",
        metavar="COMMAND",
        help="Start this MCP server and read its tools; may be repeated. Needs the extra mcp.",
        show_default=False,
    ),
]

IndexFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--index",
        metavar="FOLDER",
        help="A saved index: its tools, or, beside files and servers, its vectors for theirs.",
        show_default=False,
    ),
]

RankerName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ranker",
        metavar="NAME",
        help="hybrid (default), semantic, bm25, keyword or regex.",
        show_default=False,
    ),
]

EmbedderName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="Embedding model that comes along: small (default) or nano. A saved index is opened with its own.",
        show_default=False,
    ),
]

VisibleOnly: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--visible",
        metavar="NAME",
        help="Search only among these tools; may be repeated.",
        show_default=False,
    ),
]

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON and nothing else.")]
