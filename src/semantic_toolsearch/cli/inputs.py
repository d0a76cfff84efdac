"""File names, MCP commands and an index folder in; one `ToolSearch`, and how its tools were read, out."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from semantic_toolsearch.cli.output import embedding_progress, waiting, warn
from semantic_toolsearch.errors import CatalogError, ConfigError, McpServerError

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.report import CatalogReport, ReportEntry
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["Tools", "open_search", "read_file", "read_sources", "tell_quarantined"]

_STANDARD_INPUT = "-"


class Tools(NamedTuple):
    """Tools of one or several sources.

    Attributes:
        catalog: All of them, in the order of the sources.
        report: One entry per definition; `where` names the source too.
    """

    catalog: Catalog
    report: CatalogReport


def open_search(
    files: Sequence[str] | None,
    commands: Sequence[str] | None,
    folder: Path | None,
    ranker: str | None = None,
    embedder: str | None = None,
    *,
    tell: bool = True,
) -> tuple[ToolSearch, CatalogReport]:
    """Read all sources and build what searching them needs.

    Args:
        files: Names of JSON files, `-` for standard input.
        commands: Command lines that start MCP servers.
        folder: A saved index; with other sources it gives only the vectors.
        ranker: Name of a ranker, or None.
        embedder: Name of a shipped embedding model, or None for the default.
        tell: Whether to say on standard error which definitions were left out.

    Raises:
        ConfigError: No source is given, or there is no such ranker or model.
        ToolSearchError: A source cannot be read.
    """
    from semantic_toolsearch.embedding import DEFAULT_MODEL
    from semantic_toolsearch.toolsearch import ToolSearch

    model = DEFAULT_MODEL if embedder is None else embedder
    tools = read_sources(files or (), commands or ()) if files or commands else None
    if tools is not None and tell:
        tell_quarantined(tools.report)
    if folder is not None:
        search = ToolSearch.load(
            folder, None if tools is None else tools.catalog, ranker=ranker, embedder=model
        )
    elif tools is not None:
        search = ToolSearch(tools.catalog, ranker=ranker, embedder=model)
    else:
        raise ConfigError("No tools are given: name JSON files, or use --mcp COMMAND or --index FOLDER.")
    with embedding_progress("Embedding tools") as progress:
        search.prepare(progress)
    return search, search.report if tools is None else tools.report


def read_sources(files: Sequence[str], commands: Sequence[str]) -> Tools:
    """Read tool definitions from files and from MCP servers into one catalog.

    A server that fails costs its own tools and a line on standard error.

    Raises:
        CatalogError: A file is missing, is no JSON, or holds no tool definitions.
        McpServerError: Servers are all there is, and none is up.
        MissingExtraError: The extra `mcp` is not installed.
    """
    from semantic_toolsearch.tool_files import named_catalog

    sources = [read_file(name) for name in files]
    if commands:
        tools = _read_servers(commands, required=not files)
        sources.append(("", named_catalog(tools, "the MCP servers")))
    return _merged(sources)


def read_file(name: str) -> tuple[str, Catalog]:
    """Return a label and the catalog of one file.

    Raises:
        CatalogError: See `read_sources`; the message names the file, and the line where it is known.
    """
    from semantic_toolsearch.tool_files import catalog_of_json, read_tool_file

    if name == _STANDARD_INPUT:
        label = "standard input"
        try:
            return label, catalog_of_json(sys.stdin.buffer.read(), label)
        except OSError as error:
            raise CatalogError(f"{label} cannot be read: {error.strerror or error}.") from error
    if Path(name).is_dir():
        raise CatalogError(f"{name} is a folder. A saved index is opened with --index.")
    return name, read_tool_file(name)


def _read_servers(commands: Sequence[str], *, required: bool) -> list[Any]:
    from semantic_toolsearch.mcp import connect, parse_command

    servers = [parse_command(command) for command in commands]
    with waiting("Starting MCP servers"), connect(servers) as connected:
        failures = [report.failure for report in connected.reports if report.failure is not None]
        if failures and required and not connected.namespaces:
            raise McpServerError("; ".join(failures))
        for failure in failures:
            warn(failure)
        for report in connected.reports:
            if report.note is not None:
                warn(f"MCP server {report.namespace}: {report.note}")
        return connected.tools()


def _merged(sources: Sequence[tuple[str, Catalog]]) -> Tools:
    """One catalog of several; of two tools with the same namespace and name the first is kept."""
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.report import CatalogReport

    if len(sources) == 1:
        (label, catalog), = sources  # fmt: skip
        return Tools(catalog, CatalogReport(tuple(_placed(entry, label) for entry in catalog.report.entries)))
    merged = Catalog(tool for _, catalog in sources for tool in catalog)
    outcomes: Iterator[ReportEntry] = iter(merged.report.entries)
    entries = []
    for label, catalog in sources:
        for entry in catalog.report.entries:
            if entry.status != "quarantined":
                outcome = next(outcomes)
                if outcome.status == "quarantined":
                    entry = dataclasses.replace(entry, status="quarantined", problems=outcome.problems)
            entries.append(_placed(entry, label))
    return Tools(merged, CatalogReport(tuple(entries)))


def _placed(entry: ReportEntry, label: str) -> ReportEntry:
    return dataclasses.replace(entry, where=f"{label} {entry.where}".strip())


def tell_quarantined(report: CatalogReport) -> None:
    """Say on standard error how many definitions cannot be used, and why the first cannot."""
    quarantined = report.quarantined
    if quarantined:
        warn(
            f"{len(quarantined)} of {len(report.entries)} definitions cannot be used (toolsearch lint shows "
            f"all), the first: {quarantined[0]}"
        )
