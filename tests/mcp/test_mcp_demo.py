"""The demo's tour over small servers of the tests, and the demo's own data."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from semantic_toolsearch.demo import run
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.index import FaissIndex

DEMO = Path(__file__).parents[2] / "demo"
SERVERS = Path(__file__).parent / "servers"

CONFIG = """
[environments.only]
folder = "environment"

[[servers]]
name = "desk"
environment = "only"
command = ["server", "paging.py"]

[[servers]]
name = "gone"
environment = "only"
command = ["server", "raw.py", "exit"]
"""

REQUESTS = """
[[requests]]
text = "call the tool echo"
right = ["desk.echo"]

[[requests]]
text = "zzzz qqqq"
right = []

[[conversations]]
user = "Say hello."
query = "echo"
tool = "desk.echo"
arguments = { text = "hello" }

[[conversations]]
user = "Fail."
query = "fail"
tool = "desk.fail"
arguments = {}

[[conversations]]
user = "Fly."
query = "echo"
tool = "desk.fly"
arguments = {}
"""


def tour(folder):
    output = StringIO()
    code = run(Console(file=output, width=400), folder=folder)
    return code, output.getvalue()


@pytest.fixture
def folder(tmp_path):
    """A demo folder whose environment holds one program, which runs a server of the tests."""
    if sys.platform == "win32":
        pytest.skip("the program is a shell script")
    programs = tmp_path / "environment" / "bin"
    programs.mkdir(parents=True)
    program = programs / "server"
    program.write_text(f'#!/bin/sh\nname="$1"; shift\nexec "{sys.executable}" "{SERVERS}/$name" "$@"\n')
    program.chmod(0o755)
    demo = tmp_path / "demo"
    demo.mkdir()
    (demo / "servers.toml").write_text(CONFIG)
    (demo / "requests.toml").write_text(REQUESTS)
    return demo


def test_the_tour_searches_and_calls_real_servers(folder):
    code, output = tour(folder)
    assert code == 0
    assert re.search(r"✓ desk +7 tools", output)
    assert re.search(r"✗ gone +The MCP server 'gone' .* exited", output)
    assert "7 tools, indexed in" in output
    assert "7 as given, 0 repaired, 0 left out" in output
    assert re.search(r"call the tool echo +✓ desk\.echo.*✓ desk\.echo", output)
    assert re.search(r"zzzz qqqq +✓ nothing +✓ nothing", output)
    assert re.search(r"right tool first +2 of 2 +2 of 2", output)
    assert re.search(r"all 7 schemas, in every turn +\d+ tokens", output)
    assert re.search(r'model +desk__echo\({"text": "hello"}\)', output)
    assert "you said hello" in output
    assert "no such guest" in output
    assert "does not see desk.fly" in output


def test_bc54_the_tour_goes_on_by_words_while_the_index_fails(folder, monkeypatch, caplog):
    def fails(*args, **options):
        raise RuntimeError("Error in faiss")

    monkeypatch.setattr(FaissIndex, "search", fails)
    code, output = tour(folder)
    assert code == 0
    assert "you said hello" in output
    assert [record.levelname for record in caplog.records if "words alone decide" in record.message] == [
        "WARNING"
    ]


def test_no_server_up_says_how_to_install_them(folder):
    (folder.parent / "environment" / "bin" / "server").unlink()
    code, output = tour(folder)
    assert code == 1
    assert "python demo/install_servers.py" in output
    assert output.count("there is no program") == 2


def test_a_folder_without_the_demo_says_where_to_run_it(tmp_path):
    with pytest.raises(ConfigError, match="make demo"):
        tour(tmp_path)


def test_every_server_is_pinned_in_its_environment():
    config = tomllib.loads((DEMO / "servers.toml").read_text())
    assert len(config["servers"]) == 8
    for server in config["servers"]:
        pins = (DEMO / config["environments"][server["environment"]]["requirements"]).read_text()
        assert re.search(rf"^{re.escape(server['package'])}==\d", pins, re.MULTILINE), server["package"]


def test_every_requirement_is_an_exact_version():
    for name in ("mcp1", "mcp2"):
        lines = (DEMO / f"requirements-{name}.txt").read_text().splitlines()
        wrong = [
            line for line in lines if not line.startswith("#") and not re.fullmatch(r"[\w.-]+==[\w.]+", line)
        ]
        assert not wrong


def test_requests_name_servers_that_exist():
    servers = {server["name"] for server in tomllib.loads((DEMO / "servers.toml").read_text())["servers"]}
    data = tomllib.loads((DEMO / "requests.toml").read_text())
    named = [tool for request in data["requests"] for tool in request["right"]]
    named += [conversation["tool"] for conversation in data["conversations"]]
    assert {tool.partition(".")[0] for tool in named} <= servers


def test_the_tour_leaves_the_working_folder_alone(folder, monkeypatch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert tour(folder)[0] == 0
    assert os.listdir(elsewhere) == []
