"""Every command has help with an example, a section in docs/cli.md, and documented examples that run."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from semantic_toolsearch import bench, throughput
from semantic_toolsearch.cli import app

TESTS = Path(__file__).parents[1]
DOCUMENT = (TESTS.parent / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = [command.callback.__name__ for command in app.registered_commands] + [
    f"{group.name} {command.callback.__name__}"
    for group in app.registered_groups
    for command in group.typer_instance.registered_commands
]
EXAMPLES = [
    example
    for example in re.findall(r"^\$ (.*toolsearch .*)$", DOCUMENT, re.MULTILINE)
    if not example.startswith("toolsearch serve")  # runs until its client is done: tests/mcp/test_serving.py
]

CONFIG = """
[environments.only]
folder = "environment"

[[servers]]
name = "desk"
environment = "only"
command = ["server"]
"""

REQUESTS = """
conversations = []

[[requests]]
text = "call the tool echo"
right = ["desk.echo"]
"""


@pytest.fixture
def surroundings(tmp_path, monkeypatch):
    """What the document takes for granted: its file of tools, `uvx`, and the demo's folder."""
    tools, _ = re.findall(r"^```json\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    (phrasings,) = re.findall(r"^```text\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    (tmp_path / "tools.json").write_text(tools, encoding="utf-8")
    (tmp_path / "phrasings.txt").write_text(phrasings, encoding="utf-8")
    for program, server in (
        (tmp_path / "bin" / "uvx", TESTS / "cli" / "servers" / "repository.py"),
        (tmp_path / "environment" / "bin" / "server", TESTS / "mcp" / "servers" / "paging.py"),
    ):
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{server}"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    demo = tmp_path / "demo"
    demo.mkdir()
    (demo / "servers.toml").write_text(CONFIG)
    (demo / "requests.toml").write_text(REQUESTS)
    for measuring in (bench, throughput):
        monkeypatch.setattr(measuring, "ROUNDS", 1)
    monkeypatch.setattr(throughput, "QUERIES", 8)


def test_s32_there_are_the_documented_commands():
    assert COMMANDS[:8] == ["search", "explain", "lint", "pin", "index", "serve", "bench", "demo"]
    assert COMMANDS[8:] == [f"eval {name}" for name in ("run", "report", "compare", "baseline", "mine")]
    assert [line for line in DOCUMENT.splitlines() if line.startswith("## ") and line[3:] in COMMANDS] == [
        f"## {name}" for name in COMMANDS
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_s32_every_command_has_help_and_an_example(command, toolsearch):
    result = toolsearch(*command.split(), "--help")
    assert result.exit_code == 0
    assert re.search(rf"Example: toolsearch {command}", result.stdout)
    assert "Exit code:" in result.stdout
    section = DOCUMENT.split(f"\n## {command}\n")[1].split("\n## ")[0]
    assert f"$ toolsearch {command}" in section
    assert "Exit code: 0" in section


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented(command, toolsearch):
    options = set(re.findall(r"(--[a-z-]+)", toolsearch(*command.split(), "--help").stdout)) - {"--help"}
    section = DOCUMENT.split(f"\n## {command}\n")[1].split("\n## ")[0]
    shared = DOCUMENT.split("\n## Where tools come from\n")[1].split("\n## ")[0]
    assert {option for option in options if option not in section + shared} == set()


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are written for a POSIX shell")
def test_s32_every_documented_example_runs(toolsearch, surroundings, tmp_path):
    assert len(EXAMPLES) == 27
    for example in EXAMPLES:
        line, _, remark = example.partition("  # exit code ")
        piped, _, command = line.rpartition(" | ")
        stdin = (tmp_path / piped.removeprefix("cat ")).read_text() if piped else None
        result = toolsearch(*shlex.split(command)[1:], stdin=stdin)
        assert result.exit_code == int(remark or 0), f"{example}\n{result.output}"
        assert result.stdout.strip(), example


def test_the_first_example_finds_what_the_document_is_about(toolsearch, surroundings):
    result = toolsearch(*shlex.split(EXAMPLES[0])[1:])
    assert re.search(r"^1 +create_refund ", result.stdout, re.MULTILINE)


def test_the_version_is_the_packages(toolsearch):
    from semantic_toolsearch import __version__

    assert toolsearch("--version").stdout == f"toolsearch {__version__}\n"
