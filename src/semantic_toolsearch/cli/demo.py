"""`toolsearch demo`: the demo's folder in; a tour of the whole job on the terminal out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semantic_toolsearch.cli.output import console

__all__ = ["demo"]


def demo(
    folder: Annotated[
        Path, typer.Option("--folder", metavar="FOLDER", help="Holds servers.toml and requests.toml.")
    ] = Path("demo"),
) -> None:
    """Search and call the tools of real MCP servers (make demo installs them first).

    Exit code: 0, 1 when no server came up, 2 on an error.
    """
    from semantic_toolsearch.demo import run

    code = run(console(), folder=folder)
    if code:
        raise typer.Exit(code)
