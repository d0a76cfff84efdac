"""`toolsearch serve`: MCP servers in; one MCP server on standard input and output that searches their tools, out."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semantic_toolsearch.cli.options import EmbedderName, McpCommands, RankerName
from semantic_toolsearch.cli.output import warn
from semantic_toolsearch.errors import ConfigError, McpServerError

if TYPE_CHECKING:
    from semantic_toolsearch.mcp import McpServer

__all__ = ["serve"]


def serve(
    mcp: McpCommands = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help='JSON file of servers as clients keep it: {"mcpServers": {NAME: {"command": ..., "args": [...]}}}.',
            show_default=False,
        ),
    ] = None,
    ranker: RankerName = None,
    embedder: EmbedderName = None,
    pins: Annotated[
        Path | None,
        typer.Option(
            "--pins",
            metavar="FILE",
            help="Pins of the tools that may be used; written at the first start. Changed and new tools are left out.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", help="Most a server may take to start or to answer."),
    ] = 30.0,
) -> None:
    """Stand between a client and its MCP servers: it sees a search tool and a call tool instead of all their tools.

    Exit code: 0 when the client is done, 2 on an error, such as no server that is up.
    """
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.embedding import DEFAULT_MODEL
    from semantic_toolsearch.mcp import SearchedTools, connect
    from semantic_toolsearch.mcp import serve as serve_tools
    from semantic_toolsearch.pins import write_pins
    from semantic_toolsearch.toolsearch import ToolSearch

    servers = _servers(mcp, config, timeout)
    with connect(servers) as connected:
        failures = [report.failure for report in connected.reports if report.failure is not None]
        if not connected.namespaces:
            raise McpServerError("; ".join(failures))
        for line in failures:
            warn(line)
        catalog = Catalog(connected.tools())
        settings = SearchConfig()
        if pins is not None:
            settings = SearchConfig(changed_tools="hold", new_tools="hold")
            if not pins.exists():
                write_pins(catalog.pins(), pins)
        search = ToolSearch(
            catalog,
            ranker=ranker,
            embedder=DEFAULT_MODEL if embedder is None else embedder,
            config=settings,
            pins=pins,
        )
        for entry in search.report.held:
            warn(f"left out: {entry}")
        # The client may wait for few seconds only, so tools are embedded while it already talks to us.
        threading.Thread(target=search.prepare, daemon=True).start()
        warn(f"{len(search.catalog)} tools of {len(connected.namespaces)} servers")
        serve_tools(
            SearchedTools(
                search, lambda call: connected.call(call.namespace or "", call.name, call.arguments)
            )
        )


def _servers(commands: list[str] | None, config: Path | None, timeout: float) -> list[McpServer]:
    from semantic_toolsearch.mcp import parse_command, read_servers

    servers = [parse_command(command, timeout=timeout) for command in commands or ()]
    if config is not None:
        named, left_out = read_servers(config, timeout=timeout)
        servers += named
        for line in left_out:
            warn(f"{config}: {line}")
    if not servers:
        raise ConfigError("No servers are given: use --mcp COMMAND or --config FILE.")
    return servers
