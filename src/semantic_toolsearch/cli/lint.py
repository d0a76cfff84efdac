"""`toolsearch lint`: tool definitions in; what their owner should mend or look at out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from semantic_toolsearch.cli.inputs import open_search
from semantic_toolsearch.cli.options import AsJson, Files, IndexFolder, McpCommands
from semantic_toolsearch.cli.output import console, plain, print_json, warn

if TYPE_CHECKING:
    from rich.console import Console

    from semantic_toolsearch.lint import Finding
    from semantic_toolsearch.report import CatalogReport

__all__ = ["FOUND", "lint"]

FOUND = 1
"""Exit code of a strict check that found something."""

_TOOLS_SHOWN = 4


def lint(
    files: Files = None,
    mcp: McpCommands = None,
    index: IndexFolder = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="KIND",
            help="Leave a kind of finding out; may be repeated.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        int, typer.Option("--show", metavar="N", min=1, help="Findings shown of each kind.")
    ] = 10,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when anything is found.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check tool definitions: broken, indistinguishable, undescribed or suspicious ones, and what to do.

    Exit code: 0; with --strict 1 when anything is found; 2 on an error.
    """
    from semantic_toolsearch.errors import ConfigError, EmbedderError
    from semantic_toolsearch.lint import KINDS, lint_catalog, tool_vectors

    ignored = set(ignore or ())
    if unknown := sorted(ignored - set(KINDS)):
        raise ConfigError(f"There is no kind of finding {unknown[0]!r}; there are {', '.join(KINDS)}.")
    compare = "near-duplicate" not in ignored
    searcher, report = open_search(files, mcp, index, "semantic" if compare else "bm25", tell=False)
    vectors = None
    if compare and len(searcher.catalog):
        try:
            vectors = tool_vectors(searcher)
        except EmbedderError as error:
            warn(f"Near-duplicates were not looked for. {error}")
    findings = lint_catalog(searcher.catalog, vectors, report=report, ignore=ignored)
    if as_json:
        print_json(_as_dict(report, len(searcher.catalog), findings))
    else:
        _show(console(), report, len(searcher.catalog), findings, show)
    if strict and findings:
        raise typer.Exit(FOUND)


def _as_dict(report: CatalogReport, tools: int, findings: Sequence[Finding]) -> dict[str, object]:
    return {
        "tools": tools,
        "ok": len(report.ok),
        "repaired": len(report.repaired),
        "quarantined": len(report.quarantined),
        "findings": [finding.as_dict() for finding in findings],
    }


def _show(out: Console, report: CatalogReport, tools: int, findings: Sequence[Finding], show: int) -> None:
    counts = ", ".join(
        f"{len(entries)} {status}"
        for status, entries in (
            ("ok", report.ok),
            ("repaired", report.repaired),
            ("quarantined", report.quarantined),
        )
    )
    out.print(plain(f"{tools} tools of {len(report.entries)} definitions: {counts}"))
    for kind, group in groupby(findings, key=lambda finding: finding.kind):
        members = list(group)
        out.print()
        out.print(plain(f"{kind} ({len(members)}): {members[0].advice}"), style="bold")
        for finding in members[:show]:
            more = len(finding.tools) - _TOOLS_SHOWN
            names = ", ".join(finding.tools[:_TOOLS_SHOWN]) + (f" and {more} more" if more > 0 else "")
            out.print(plain(f"{names}: {finding.message}"), soft_wrap=True)
        if len(members) > show:
            out.print(f"... and {len(members) - show} more (--show {len(members)})", style="dim")
    out.print()
    out.print(plain(f"{len(findings)} findings" if findings else "Nothing found."))
