"""Where tools come from: files of every form, standard input, MCP servers; and what is wrong with them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

SERVERS = Path(__file__).parents[1] / "mcp" / "servers"
ALL_PAGES = ["echo", "environment", "exit", "fail", "picture", "sleep", "structured"]

ONE = {"name": "turn_on_light", "description": "Switch the light on", "parameters": {"type": "object"}}
TWO = {"name": "water_plants", "description": "Give the plants water", "inputSchema": {"type": "object"}}


def server(*words):
    return shlex.join([sys.executable, *(str(word) for word in words)])


def names(result):
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)["names"]


def listed(toolsearch, *sources, stdin=None):
    return names(toolsearch("search", "", *sources, "--json", stdin=stdin))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([ONE, TWO], ["turn_on_light", "water_plants"]),
        ({"tools": [ONE, TWO]}, ["turn_on_light", "water_plants"]),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TWO]}}, ["water_plants"]),
        ({"type": "namespace", "name": "home", "tools": [ONE]}, ["home__turn_on_light"]),
        ({"home": [ONE], "garden": {"tools": [TWO]}}, ["garden__water_plants", "home__turn_on_light"]),
        ([{"tools": [ONE]}, TWO], ["turn_on_light", "water_plants"]),
        (ONE, ["turn_on_light"]),
        ({"type": "function", "function": ONE}, ["turn_on_light"]),
    ],
    ids=["list", "tools", "json-rpc", "namespace", "servers", "mixed", "one", "one-chat"],
)
def test_every_form_of_file_is_read(toolsearch, write, content, expected):
    assert listed(toolsearch, write("home.json", content)) == expected


def test_json_lines_are_read(toolsearch, write):
    lines = f"{json.dumps(ONE)}\n\n{json.dumps(TWO)}\n"
    assert listed(toolsearch, write("tools.jsonl", lines)) == ["turn_on_light", "water_plants"]
    assert listed(toolsearch, "-", stdin=lines) == ["turn_on_light", "water_plants"]


def test_other_encodings_of_json_are_read(toolsearch, tmp_path):
    for number, encoding in enumerate(("utf-8-sig", "utf-16", "utf-32")):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps([ONE]), encoding=encoding)
        assert listed(toolsearch, path) == ["turn_on_light"]


def test_several_files_and_standard_input_make_one_catalog(toolsearch, write):
    found = listed(toolsearch, write("a.json", [ONE]), "-", stdin=json.dumps([TWO]))
    assert found == ["turn_on_light", "water_plants"]


def test_of_two_equal_names_in_two_files_the_first_is_kept_and_the_second_told(toolsearch, write):
    other = {**ONE, "description": "Something else"}
    files = write("a.json", [TWO, ONE]), write("b.json", [other])
    result = toolsearch("search", "switch the light on", *files, "--json")
    assert json.loads(result.stdout)["tools"][0]["description"] == "Switch the light on"
    assert "b.json [0] 'turn_on_light'" in result.stderr
    report = json.loads(toolsearch("lint", *files, "--json").stdout)
    assert (report["ok"], report["quarantined"]) == (2, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"tools": [\n  {"name": "a",}\n]}', "line 2, column"),
        ("", "line 1, column 1: not JSON"),
        ('{"name": "a"}\n{"name": \n', "line 2, column"),
        ("42", "Tools cannot be read from a value of type int"),
        ('"tools"', "Tools cannot be read from a value of type str"),
        ('{"mcpServers": {"git": {"command": "uvx"}}}', "--mcp"),
        ("[" * 100_000, "nests too deep"),
    ],
    ids=["syntax", "empty", "lines", "number", "text", "server-list", "deep"],
)
def test_a_bad_file_is_one_line_that_names_file_and_place(toolsearch, write, content, message):
    file = write("bad.json", content)
    result = toolsearch("search", "x", file)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"toolsearch: {file}")
    assert message in line


def test_a_file_that_is_no_text_is_told(toolsearch, tmp_path):
    path = tmp_path / "picture.json"
    path.write_bytes(b"\x89PNG\r\n\xff\xfe")
    result = toolsearch("search", "x", path)
    assert result.exit_code == 2
    assert "no text" in result.stderr


def test_a_missing_file_and_a_folder_are_told(toolsearch, tmp_path):
    missing = toolsearch("search", "x", "nowhere.json")
    assert (missing.exit_code, missing.stderr) == (
        2,
        "toolsearch: nowhere.json cannot be read: No such file or directory.\n",
    )
    assert "--index" in toolsearch("search", "x", tmp_path).stderr


def test_no_source_at_all_is_a_usage_error(toolsearch):
    for words in (["search", "x"], ["explain", "x", "y"], ["lint"], ["index", "--out", "folder"]):
        result = toolsearch(*words)
        assert result.exit_code == 2
        assert "--mcp COMMAND or --index FOLDER" in result.stderr


def test_an_empty_catalog_answers_everything_with_nothing(toolsearch, write):
    empty = write("empty.json", {"tools": []})
    result = toolsearch("search", "anything", empty)
    assert result.exit_code == 1
    assert "Nothing among 0 tools fits" in result.stdout
    assert json.loads(toolsearch("lint", empty, "--strict", "--json").stdout)["findings"] == []
    assert toolsearch("index", empty, "--out", "saved").exit_code == 0
    assert listed_nothing(toolsearch("search", "", "--index", "saved", "--json"))


def listed_nothing(result):
    return json.loads(result.stdout)["total"] == 0


def test_tools_of_a_real_mcp_server_are_searched(toolsearch):
    result = toolsearch("search", "echo", "--mcp", server(SERVERS / "paging.py"), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["tools"][0]["name"] == "paging-server__echo"


def test_a_server_that_fails_costs_its_own_tools_and_a_line(toolsearch, shop):
    commands = ["--mcp", server(SERVERS / "raw.py", "exit"), "--mcp", server(SERVERS / "paging.py")]
    result = toolsearch("search", "", shop, *commands, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["total"] == 4 + len(ALL_PAGES)
    assert "no config file" in result.stderr


def test_when_no_server_is_up_and_there_is_nothing_else_it_is_an_error(toolsearch):
    result = toolsearch("search", "x", "--mcp", server(SERVERS / "raw.py", "exit"))
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert "no config file" in line


def test_broken_tools_of_a_server_are_reported_and_the_others_used(toolsearch):
    command = server(SERVERS / "raw.py", "broken-schemas")
    content = json.loads(toolsearch("lint", "--mcp", command, "--json").stdout)
    assert content["quarantined"] > 0
    assert content["tools"] == content["ok"] + content["repaired"] > 0
