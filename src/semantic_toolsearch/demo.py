"""The demo: a folder with lists of MCP servers and of requests in; a tour of the whole job on a console out.

Everything shown is real: the servers are processes started here, the searches run on the shipped model, and
the last part calls tools on their servers. Only the model's own lines there are written down, so that the
demo needs no key and no network.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from semantic_toolsearch.errors import ConfigError, McpServerError
from semantic_toolsearch.mcp import ConnectedServers, McpServer, ServerReport, connect
from semantic_toolsearch.toolsearch import ToolSearch

if TYPE_CHECKING:
    from rich.console import Console

    from semantic_toolsearch.definitions import ToolDefinition
    from semantic_toolsearch.results import SearchResult

__all__ = ["run"]

_CHARACTERS_PER_TOKEN = 4
_START_TIMEOUT = 60.0
_ANSWER_LINES = 6

_SEARCH_TOOL = {
    "name": "tool_search",
    "description": "Find tools by what they do. Returns the definitions of the tools that fit the query.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What the tool should be able to do"}},
        "required": ["query"],
    },
}


@dataclass(frozen=True, slots=True)
class _Request:
    """One ordinary request, and the tools as ``server.tool`` that would answer it (none: no server can)."""

    text: str
    right: tuple[str, ...]


def run(console: Console, *, folder: Path = Path("demo")) -> int:
    """Run the demo.

    Args:
        console: Where to show it.
        folder: Holds ``servers.toml`` and ``requests.toml``; its parent holds the servers' environments.

    Returns:
        0, or 1 where not one server came up.

    Raises:
        ConfigError: The folder does not hold the demo's files.
        MissingExtraError: The extra ``mcp`` is not installed.
    """
    started = time.perf_counter()
    read = _read(folder, "requests")
    requests = [_Request(entry["text"], tuple(entry["right"])) for entry in read["requests"]]
    with tempfile.TemporaryDirectory(prefix="toolsearch-demo-", ignore_cleanup_errors=True) as name:
        work = Path(name)
        wanted = _servers(folder, work)
        _heading(console, f"1. Starting {len(wanted)} MCP servers")
        with connect(wanted, on_report=lambda report: _show_server(console, report)) as servers:
            tools = servers.tools()
            if not tools:
                console.print(
                    Text("No server is up. Install them first: python demo/install_servers.py", style="red")
                )
                return 1
            with console.status("Building the index ..."):
                building = time.perf_counter()
                search = ToolSearch(tools, cache=False)
                search.prepare()
                seconds = time.perf_counter() - building
            keyword = ToolSearch(tools, ranker="keyword")
            _show_catalog(console, search, seconds)

            _heading(console, f"2. {len(requests)} ordinary requests")
            results = [
                (request, keyword.search(request.text), search.search(request.text)) for request in requests
            ]
            _show_requests(console, results)

            _heading(console, "3. What the model has to read")
            _show_tokens(console, search, [ours for _, _, ours in results])

            _heading(console, "4. Search, load, call: the model's lines are scripted, all else is real")
            for script in read["conversations"]:
                _play(console, script, search, servers, work / "repository")
    console.print(Text(f"\nThe whole demo took {time.perf_counter() - started:.0f} s.", style="dim"))
    return 0


def _read(folder: Path, name: str) -> dict[str, Any]:
    path = folder / f"{name}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"The demo's file {path} is not here: run the demo in a copy of the repository (make demo)."
        ) from error


def _servers(folder: Path, work: Path) -> list[McpServer]:
    """The servers as listed, their programs looked up in the environments that the set-up made."""
    config = _read(folder, "servers")
    root, programs = folder.resolve().parent, "Scripts" if sys.platform == "win32" else "bin"
    servers = []
    for entry in config["servers"]:
        program, *arguments = [word.replace("{work}", str(work)) for word in entry["command"]]
        path = root / config["environments"][entry["environment"]]["folder"] / programs / program
        servers.append(
            McpServer([str(path), *arguments], name=entry["name"], cwd=work, timeout=_START_TIMEOUT)
        )
    return servers


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold cyan"))


# 1. The servers


def _show_server(console: Console, report: ServerReport) -> None:
    if report.failure is not None:
        console.print(Text(f"  ✗ {report.namespace:<12} {report.failure}", style="red"))
        return
    line = Text("  ✓ ", style="green").append(f"{report.namespace:<12}", style="bold default")
    line.append(f"{report.tools:>4} tools {report.seconds:>6.1f} s", style="default")
    console.print(line.append(f"   {report.note}", style="yellow") if report.note else line)


def _show_catalog(console: Console, search: ToolSearch, seconds: float) -> None:
    report = search.report
    text = Text(f"  {len(search.catalog)} tools, indexed in {seconds:.1f} s: ", style="bold")
    text.append(
        f"{len(report.ok)} as given, {len(report.repaired)} repaired, {len(report.quarantined)} left out"
    )
    console.print(text)
    for entry in report.quarantined:
        console.print(Text(f"  {entry}", style="yellow"))


# 2. The requests


def _show_requests(console: Console, results: list[tuple[_Request, SearchResult, SearchResult]]) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for title in ("A user says", "", "The keyword scheme loads", "", "semantic_toolsearch loads"):
        table.add_column(title, overflow="fold")
    places = []
    for request, *found in results:
        places.append([_place(request, result) for result in found])
        cells = [_cells(request, result, place) for result, place in zip(found, places[-1], strict=True)]
        table.add_row(Text(request.text), *(text for pair in cells for text in pair))
    table.add_row()
    for title, last in (("right tool first", 1), ("right tool among those loaded", sys.maxsize)):
        counts = [
            sum(place is not None and place <= last for place in column)
            for column in zip(*places, strict=True)
        ]
        keyword, ours = (f"{count} of {len(results)}" for count in counts)
        table.add_row(title, "", keyword, "", ours, style="bold")
    console.print(table)


def _place(request: _Request, result: SearchResult) -> int | None:
    """Place of the right tool among those loaded, from 1; where no tool is right, 1 for loading none."""
    if not request.right:
        return None if result.tools else 1
    places = (place for place, hit in enumerate(result.tools, 1) if _full_name(hit.tool) in request.right)
    return next(places, None)


def _cells(request: _Request, result: SearchResult, place: int | None) -> tuple[Text, Text]:
    """A mark (right; right further down or only named; wrong), and the first tool loaded, how many more."""
    names = [_full_name(hit.tool) for hit in result.tools]
    text = names[0] if names else "nothing"
    text += f" (+{len(names) - 1})" if len(names) > 1 else ""
    hinted = next((name for hit in result.hints if (name := _full_name(hit.tool)) in request.right), None)
    if place == 1:
        mark, style = "✓", "green"
    elif place is not None:
        mark, style, text = "~", "yellow", f"{text}, right is no. {place}"
    elif hinted is not None:
        mark, style, text = "~", "yellow", f"{text}, but names {hinted}"
    else:
        mark, style = "✗", "red"
    return Text(mark, style=style), Text(text)


def _full_name(tool: ToolDefinition) -> str:
    return f"{tool.namespace}.{tool.name}"


# 3. The tokens


def _show_tokens(console: Console, search: ToolSearch, results: list[SearchResult]) -> None:
    everything = _tokens(_wire(tool) for tool in search.catalog)
    alone = _tokens([_SEARCH_TOOL])
    loaded = [_tokens(_wire(hit.tool) for hit in result.tools) for result in results]
    mean = alone + sum(loaded) / len(loaded)
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right", style="bold")
    table.add_row(f"all {len(search.catalog)} schemas, in every turn", f"{everything:,} tokens")
    table.add_row("tool_search, before anything is loaded", f"{alone:,} tokens")
    table.add_row(f"tool_search and what one request loaded (mean of {len(loaded)})", f"{mean:,.0f} tokens")
    table.add_row("saved in each turn", f"{1 - mean / everything:.1%}")
    console.print(table)
    console.print(Text("Tokens are estimated as characters / 4 of the definitions' JSON.", style="dim"))


def _wire(tool: ToolDefinition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _tokens(definitions: Iterable[dict[str, Any]]) -> int:
    characters = sum(len(json.dumps(definition, ensure_ascii=False)) for definition in definitions)
    return round(characters / _CHARACTERS_PER_TOKEN)


# 4. The loop


def _repository(path: Path) -> Path:
    """A repository with two commits that touches nobody's settings."""
    path.mkdir()
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    commit = [*author, "commit", "-q", "--no-verify", "--allow-empty", "-m"]
    for step in (
        ["init", "-q"],
        [*commit, "Add the guest list"],
        [*commit, "Seat the Lovelaces at table two"],
    ):
        subprocess.run(["git", *step], cwd=path, check=True, capture_output=True)  # noqa: S603, S607  fixed words
    return path


def _play(
    console: Console, script: dict[str, Any], search: ToolSearch, servers: ConnectedServers, repository: Path
) -> None:
    """One conversation: the model searches, is given the tools found, calls one, and its server answers."""
    arguments = dict(script["arguments"])
    for key, value in arguments.items():
        if value == "{repository}":
            if not shutil.which("git"):
                return
            arguments[key] = str(_repository(repository))
    _say(console, "user", script["user"], "bold")
    _say(console, "model", f"tool_search({json.dumps({'query': script['query']})})", "magenta")
    result = search.search(script["query"])
    names = ", ".join(_full_name(hit.tool) for hit in result.tools) or "nothing"
    size = _tokens(_wire(hit.tool) for hit in result.tools)
    _say(console, "tool_search", f"loads {names} ({size:,} tokens)", "cyan")
    hit = next((hit for hit in result.tools if _full_name(hit.tool) == script["tool"]), None)
    if hit is None:
        _say(console, "model", f"does not see {script['tool']}, and would have to search again", "red")
        return
    _say(console, "model", f"{hit.name}({json.dumps(arguments)})", "magenta")
    try:
        answer = servers.call(str(hit.tool.namespace), hit.tool.name, arguments)
    except McpServerError as error:
        _say(console, "server", str(error), "red")
        return
    lines = [line for line in answer.text.splitlines() if line.strip()]
    shown = lines[:_ANSWER_LINES] + (["..."] if len(lines) > _ANSWER_LINES else [])
    _say(console, str(hit.tool.namespace), "\n".join(shown), "red" if answer.is_error else "green")


def _say(console: Console, who: str, what: str, style: str) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=14, justify="right", style="dim")
    table.add_column(style=style)
    table.add_row(who, Text(what))
    console.print(table)
