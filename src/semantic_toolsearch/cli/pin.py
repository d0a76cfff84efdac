"""`toolsearch pin`: tool definitions in; a file of their pins, or what differs from such a file, out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from semantic_toolsearch.cli.inputs import open_search
from semantic_toolsearch.cli.options import AsJson, Files, IndexFolder, McpCommands
from semantic_toolsearch.cli.output import console, plain, print_json

__all__ = ["DIFFERENT", "pin"]

DIFFERENT = 1
"""Exit code of a check that found tools other than the pinned ones."""


def pin(
    files: Files = None,
    mcp: McpCommands = None,
    index: IndexFolder = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the pins of all tools.", show_default=False),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="Say which tools are not as this file has them.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Pin the content of tools you have reviewed, or check that it is still the same.

    Exit code: 0; with --check 1 when a tool has changed, is new or is gone; 2 on an error.
    """
    from semantic_toolsearch.errors import ConfigError
    from semantic_toolsearch.pins import read_pins, write_pins

    if (out is None) == (check is None):
        raise ConfigError(
            "Say either where to write the pins, --out FILE, or what to compare with, --check FILE."
        )
    pinned = None if check is None else read_pins(check)
    searcher, _ = open_search(files, mcp, index, "keyword")
    found = searcher.catalog.pins()
    if out is not None:
        write_pins(found, out)
        if as_json:
            print_json(found)
        else:
            console().print(plain(f"Pinned {len(found)} tools in {out}"), soft_wrap=True)
        return
    differences = _differences(pinned or {}, found)
    if as_json:
        print_json(differences)
    else:
        _show(differences, len(found))
    if any(differences.values()):
        raise typer.Exit(DIFFERENT)


def _differences(pinned: Mapping[str, str], found: Mapping[str, str]) -> dict[str, list[str]]:
    return {
        "changed": sorted(name for name in found if name in pinned and pinned[name] != found[name]),
        "new": sorted(found.keys() - pinned.keys()),
        "gone": sorted(pinned.keys() - found.keys()),
    }


def _show(differences: Mapping[str, list[str]], tools: int) -> None:
    shown = console()
    for kind, names in differences.items():
        for name in names:
            shown.print(plain(f"{kind}: {name}"), soft_wrap=True)
    count = sum(map(len, differences.values()))
    shown.print(plain(f"{count} differences" if count else f"All {tools} tools are as pinned."))
