"""One MCP server in front of others: real servers behind it, and the SDK's own client before it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.errors import ConfigError, McpServerError
from semantic_toolsearch.mcp import McpServer, SearchedTools, connect, make_server, read_servers
from semantic_toolsearch.mcp.content import CallResult

SERVERS = Path(__file__).parent / "servers"
HIDDEN = ["invoice_create", "refund_issue", "weather_now"]
TOOLS = [
    {
        "name": "invoice_create",
        "description": "Bill a customer.",
        "inputSchema": {
            "type": "object",
            "properties": {"customer": {"type": "string"}, "amount": {"type": "integer"}},
            "required": ["customer"],
        },
        "namespace": "shop",
    },
    {"name": "refund_issue", "description": "Give the money back.", "namespace": "shop", "defer": "never"},
    {"name": "weather_now", "description": "Weather of a place.", "namespace": "sky"},
]


def served(tools=TOOLS, answer=lambda call: CallResult(f"{call.name}({call.arguments})")):
    return SearchedTools(ToolSearch(tools, ranker="bm25", cache=False), answer)


def test_a_client_sees_two_tools_whatever_the_tools_say_themselves():
    listing = served().listing()
    assert [entry["name"] for entry in listing] == ["tool_search", "call_tool"]
    assert "shop (2), sky (1)" in listing[0]["description"]
    assert not any(name in json.dumps(listing) for name in HIDDEN)


def test_a_search_shows_the_schema_and_the_call_tool_runs_it():
    tools = served()
    found = json.loads(tools.answer("tool_search", {"query": "bill a customer"}).text)
    assert found["tools"][0]["name"] == "shop__invoice_create"
    assert found["tools"][0]["parameters"]["required"] == ["customer"]
    for arguments in ({"customer": "C7"}, '{"customer": "C7"}'):
        sent = {"name": "shop__invoice_create", "arguments": arguments}
        assert tools.answer("call_tool", sent) == CallResult("invoice_create({'customer': 'C7'})")
    assert (
        tools.answer("shop__invoice_create", {"customer": "C7"}).text == "invoice_create({'customer': 'C7'})"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("call_tool", {"name": "shop__invoice_create", "arguments": {"client": "C7"}}, "customer"),
        ("call_tool", {"name": "shop__invoice_creat", "arguments": {}}, "shop__invoice_create"),
        ("call_tool", {}, "no tool"),
        ("call_tool", None, "no tool"),
        ("paint_house", {"x": 1}, "no tool"),
    ],
)
def test_what_cannot_be_run_is_answered_with_what_to_do(name, arguments, said):
    def never(call):
        raise AssertionError(call)

    result = served(answer=never).answer(name, arguments)
    assert result.is_error
    assert said in result.text


def test_a_server_that_went_away_costs_its_call_only():
    def away(call):
        raise McpServerError("The MCP server 'sky' went away.")

    assert served(answer=away).answer("weather_now", {}) == CallResult(
        "The MCP server 'sky' went away.", is_error=True
    )


def test_replaced_tools_are_found_at_once():
    search = ToolSearch(TOOLS, ranker="bm25", cache=False)
    tools = SearchedTools(search, lambda call: CallResult(call.name))
    search.replace("sky", [{"name": "tide_table", "description": "High and low water."}])
    assert "weather_now" not in tools.answer("tool_search", {"query": "weather of a place"}).text
    assert tools.answer("sky__tide_table", {}).text == "tide_table"


def test_e64_a_client_of_the_sdk_talks_to_it_and_gets_pictures_as_they_are():
    async def talk(server):
        async with Client(server) as client:
            listed = await client.list_tools()
            found = await client.call_tool("tool_search", {"query": "the tool picture"})
            picture = await client.call_tool("call_tool", {"name": "desk__picture", "arguments": {}})
            failed = await client.call_tool("call_tool", {"name": "desk__fail", "arguments": {}})
            degrees = await client.call_tool("desk__structured", {})
            return listed, found, picture, failed, degrees

    paging = McpServer([sys.executable, str(SERVERS / "paging.py")], name="desk")
    with connect([paging]) as servers:
        search = ToolSearch(servers.tools(), ranker="bm25", cache=False)
        tools = SearchedTools(search, lambda call: servers.call(call.namespace, call.name, call.arguments))
        listed, found, picture, failed, degrees = anyio.run(talk, make_server(tools))
    assert [tool.name for tool in listed.tools] == ["tool_search", "call_tool"]
    search_tool, call_tool = (tool.annotations for tool in listed.tools)
    assert (search_tool.read_only_hint, search_tool.idempotent_hint, call_tool) == (True, True, None)
    assert json.loads(found.content[0].text)["tools"][0]["name"] == "desk__picture"
    assert [block.type for block in picture.content] == ["text", "image"]
    assert (failed.is_error, failed.content[0].text) == (True, "no such guest")
    assert degrees.structured_content == {"degrees": 21}


def test_the_command_serves_what_a_config_file_names(tmp_path):
    config = tmp_path / "mcp.json"
    entry = {"command": sys.executable, "args": [str(SERVERS / "paging.py")]}
    config.write_text(json.dumps({"mcpServers": {"desk": entry, "far": {"url": "https://mcp.example.test"}}}))

    async def talk():
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "semantic_toolsearch.cli", "serve", "--config", str(config), "--ranker", "bm25"],
            env={"TOOLSEARCH_CACHE_DIR": str(tmp_path)},
        )
        with (tmp_path / "stderr").open("w") as errors:
            async with Client(stdio_client(command, errlog=errors)) as client:
                sent = {"name": "desk__echo", "arguments": {"text": "hi"}}
                return await client.call_tool("call_tool", sent)

    assert anyio.run(talk).content[0].text == "you said hi"
    told = (tmp_path / "stderr").read_text()
    assert "far: only servers with a command can be started" in told
    assert "7 tools of 1 servers" in told


@pytest.mark.parametrize(("changed", "left_out"), [(False, False), (True, True)])
def test_a_tool_that_changed_since_the_first_start_is_left_out(tmp_path, changed, left_out):
    pins = tmp_path / "pins.json"
    command = f"{sys.executable} {SERVERS / 'paging.py'}"

    async def talk():
        started = StdioServerParameters(
            command=sys.executable,
            args=[
                "-m",
                "semantic_toolsearch.cli",
                "serve",
                "--mcp",
                command,
                "--pins",
                str(pins),
                "--ranker",
                "bm25",
            ],
            env={"TOOLSEARCH_CACHE_DIR": str(tmp_path)},
        )
        with (tmp_path / "stderr").open("w") as errors:
            async with Client(stdio_client(started, errlog=errors)) as client:
                found = await client.call_tool("tool_search", {"query": "echo", "names": ["echo"]})
                sent = {"name": "paging-server__echo", "arguments": {"text": "hi"}}
                return found.content[0].text, await client.call_tool("call_tool", sent)

    anyio.run(talk)
    accepted = json.loads(pins.read_text())
    assert "paging-server__echo" in accepted
    if changed:
        accepted["paging-server__echo"] = "1:" + "0" * 64
        pins.write_text(json.dumps(accepted))
    found, called = anyio.run(talk)
    assert called.is_error == left_out
    assert ("paging-server__echo" not in json.loads(found).get("loaded", ())) == left_out
    assert ("left out" in (tmp_path / "stderr").read_text()) == left_out
    assert json.loads(pins.read_text()) == accepted


# Config files


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_servers_are_read_as_clients_write_them(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "s3cret")
    entries = {
        "git": {"command": "uvx", "args": ["mcp-server-git"], "cwd": "/srv"},
        "mail": {
            "command": "mail-server",
            "env": {"KEY": "${A_SECRET}", "PLAIN": "x", "LOST": "${NOT_SET_1}"},
        },
    }
    for key in ("mcpServers", "servers"):
        servers, left_out = read_servers(write(tmp_path / "mcp.json", {key: entries}), timeout=7)
        assert left_out == []
        assert servers[0] == McpServer(("uvx", "mcp-server-git"), name="git", cwd="/srv", timeout=7)
        assert servers[1].env == {"KEY": "s3cret", "PLAIN": "x", "LOST": "${NOT_SET_1}"}


def test_an_entry_that_cannot_be_started_costs_itself_only(tmp_path):
    entries = {
        "good": {"command": "server"},
        "off": {"command": "server", "disabled": True},
        "far": {"type": "http", "url": "https://mcp.example.test"},
        "args": {"command": "server", "args": "one two"},
        "env": {"command": "server", "env": {"N": 1}},
        "text": "server",
        "empty": {"command": ""},
        " ": {"command": "server"},
    }
    servers, left_out = read_servers(write(tmp_path / "mcp.json", {"mcpServers": entries}))
    assert [server.name for server in servers] == ["good"]
    assert [line.split(":")[0] for line in left_out] == list(entries)[1:]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"mcpServers": []}', "[" * 100_000])
def test_a_file_without_servers_is_named(tmp_path, content):
    with pytest.raises(ConfigError, match=r"mcp\.json"):
        read_servers(write(tmp_path / "mcp.json", content))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.json cannot be read"):
        read_servers(tmp_path / "absent.json")
