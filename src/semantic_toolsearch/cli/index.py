"""`toolsearch index`: tool definitions in; a saved index, which starts without embedding anything, out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from semantic_toolsearch.cli.inputs import open_search
from semantic_toolsearch.cli.options import EmbedderName, Files, IndexFolder, McpCommands
from semantic_toolsearch.cli.output import console, plain

__all__ = ["index"]


def index(
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to write the index.", show_default=False)
    ],
    files: Files = None,
    mcp: McpCommands = None,
    index: IndexFolder = None,
    embedder: EmbedderName = None,
) -> None:
    """Build an index and save it: search --index FOLDER then answers without embedding a tool.

    Exit code: 0, or 2 on an error.
    """
    started = time.perf_counter()
    searcher, _ = open_search(files, mcp, index, embedder=embedder)
    searcher.save(out)
    seconds = time.perf_counter() - started
    stats = searcher.stats()
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    shown = console()
    for what, value in (
        ("tools", f"{stats.registered:,}"),
        ("quarantined", f"{stats.quarantined:,}"),
        ("embedded", f"{stats.embedded:,}"),
        ("from cache", f"{stats.from_cache:,}"),
        ("seconds", f"{seconds:.1f}"),
        ("bytes on disk", f"{size:,}"),
    ):
        shown.print(f"{what:<14}{value:>14}", markup=False)
    shown.print(plain(f"Saved to {out}"), soft_wrap=True)
