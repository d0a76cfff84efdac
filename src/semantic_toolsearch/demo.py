"""The demo: a folder with a list of MCP servers and one of requests in; a tour of the whole job on a console out.

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
_ANSWER_LINES = 5

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
    """One ordinary request and the tools, as ``server.tool``, that would answer it; none for a request too far."""

    text: str
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Script:
    """A conversation with its model's part written down: what it searches, and what it calls when it finds it."""

    user: str
    query: str
    tool: str
    arguments: dict[str, Any]


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
    requests = [
        _Request(entry["text"], tuple(entry["right"])) for entry in _read(folder, "requests")["requests"]
    ]
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
                search = ToolSearch(tools)
                keyword = ToolSearch(tools, ranker="keyword")
            _show_catalog(console, search)

            _heading(console, f"2. {len(requests)} ordinary requests")
            results = [
                (request, keyword.search(request.text), search.search(request.text)) for request in requests
            ]
            _show_requests(console, results)

            _heading(console, "3. What the model has to read")
            _show_tokens(console, search, [ours for _, _, ours in results])

            _heading(console, "4. Search, load, call: the model's lines are scripted, all else is real")
            for script in _scripts(work):
                _play(console, script, search, servers)
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


def _show_catalog(console: Console, search: ToolSearch) -> None:
    report = search.report
    console.print(f"  {len(search.catalog)} tools are searchable: {report}", markup=False, highlight=False)


# 2. The requests


def _show_requests(console: Console, results: list[tuple[_Request, SearchResult, SearchResult]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("A user says", "Keyword scheme finds", "semantic_toolsearch finds"):
        table.add_column(title, header_style="dim")
    right = [0, 0]
    for request, *found in results:
        cells = [_cell(request, result) for result in found]
        right = [count + is_right for count, (is_right, _) in zip(right, cells, strict=True)]
        table.add_row(Text(request.text), *(text for _, text in cells))
    of = f"right at first place: {{}} of {len(results)}"
    table.add_row("", Text(of.format(right[0]), style="bold"), Text(of.format(right[1]), style="bold"))
    console.print(table)


def _cell(request: _Request, result: SearchResult) -> tuple[bool, Text]:
    """Whether the first tool is right, and what was loaded: its first tool, how many more, the right one's place."""
    names = [_full_name(hit.tool) for hit in result.tools]
    if not names:
        is_right = not request.right
        return is_right, _marked(is_right, "no tool fits" if is_right else "nothing found")
    is_right = names[0] in request.right
    more = f" (+{len(names) - 1})" if len(names) > 1 else ""
    text = _marked(is_right, names[0] + more)
    place = next((place for place, name in enumerate(names, start=1) if name in request.right), None)
    if place is not None and not is_right:
        text.append(f" right: no. {place}", style="yellow")
    return is_right, text


def _marked(is_right: bool, text: str) -> Text:
    return Text("✓ " if is_right else "✗ ", style="green" if is_right else "red").append(
        text, style="default"
    )


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


def _scripts(work: Path) -> list[_Script]:
    """Two conversations; the second is about a repository made for it, and left out where git is not installed."""
    scripts = [
        _Script(
            user="What time is it in Tokyo?",
            query="current time in a city",
            tool="time.get_current_time",
            arguments={"timezone": "Asia/Tokyo"},
        )
    ]
    if shutil.which("git"):
        repository = _repository(work / "repository")
        scripts.append(
            _Script(
                user="Which changes did we make last?",
                query="history of commits",
                tool="git.git_log",
                arguments={"repo_path": str(repository), "max_count": 2},
            )
        )
    return scripts


def _repository(path: Path) -> Path:
    """A repository with two commits that touches nobody's settings."""
    path.mkdir()
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    steps = [["init", "-q"]]
    for message in ("Add the guest list", "Seat the Lovelaces at table two"):
        steps.append([*author, "commit", "-q", "--no-verify", "--allow-empty", "-m", message])
    for step in steps:
        subprocess.run(["git", *step], cwd=path, check=True, capture_output=True)  # noqa: S603, S607  fixed words
    return path


def _play(console: Console, script: _Script, search: ToolSearch, servers: ConnectedServers) -> None:
    """One conversation: the model searches, is given the tools found, calls one, and its server answers."""
    _say(console, "user", script.user, "bold")
    _say(console, "model", f"tool_search({json.dumps({'query': script.query})})", "magenta")
    result = search.search(script.query)
    names = ", ".join(_full_name(hit.tool) for hit in result.tools) or "nothing"
    size = _tokens(_wire(hit.tool) for hit in result.tools)
    _say(console, "tool_search", f"loads {names} ({size:,} tokens)", "cyan")
    hit = next((hit for hit in result.tools if _full_name(hit.tool) == script.tool), None)
    if hit is None:
        _say(console, "model", f"does not see {script.tool}, and would have to search again", "red")
        return
    _say(console, "model", f"{hit.name}({json.dumps(script.arguments)})", "magenta")
    try:
        answer = servers.call(str(hit.tool.namespace), hit.tool.name, script.arguments)
    except McpServerError as error:
        _say(console, "server", str(error), "red")
        return
    lines = answer.text.strip().splitlines()
    shown = lines[:_ANSWER_LINES] + (["..."] if len(lines) > _ANSWER_LINES else [])
    _say(console, str(hit.tool.namespace), "\n".join(shown), "red" if answer.is_error else "green")


def _say(console: Console, who: str, what: str, style: str) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=14, justify="right", style="dim")
    table.add_column(style=style)
    table.add_row(who, Text(what))
    console.print(table)
