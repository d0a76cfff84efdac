"""How a server is described: command lines and their words."""

from __future__ import annotations

import pytest

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.mcp import McpServer, parse_command


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("uvx mcp-server-git --repository .", ("uvx", "mcp-server-git", "--repository", ".")),
        ("python 'my server.py' \"a b\"", ("python", "my server.py", "a b")),
        (["python", "my server.py"], ("python", "my server.py")),
    ],
)
def test_command_is_split_as_a_shell_would(command, argv):
    assert McpServer(command).argv == argv


def test_assignments_in_front_of_the_program_become_its_environment():
    server = parse_command("REDIS_HOST=localhost EMPTY= redis-mcp-server --url a=b", name="redis")
    assert server.argv == ("redis-mcp-server", "--url", "a=b")
    assert server.env == {"REDIS_HOST": "localhost", "EMPTY": ""}
    assert server.name == "redis"


def test_no_assignments_leave_the_environment_alone():
    assert parse_command("server").env is None


@pytest.mark.parametrize("command", ["", "   ", [], ["", "x"]])
def test_an_empty_command_is_the_callers_error(command):
    with pytest.raises(ConfigError, match="needs a command"):
        McpServer(command)


@pytest.mark.parametrize("line", ["", "A=1", "A=1 B=2"])
def test_a_line_without_a_program_is_the_callers_error(line):
    with pytest.raises(ConfigError, match="needs a command"):
        parse_command(line)


def test_an_unclosed_quote_names_the_command():
    with pytest.raises(ConfigError, match="python 'x"):
        McpServer("python 'x")


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_the_timeout_must_be_positive(timeout):
    with pytest.raises(ConfigError, match="above 0"):
        McpServer("server", timeout=timeout)


def test_a_blank_name_is_refused():
    with pytest.raises(ConfigError, match="empty"):
        McpServer("server", name=" ")


def test_label_is_the_name_or_the_program():
    assert McpServer("/opt/bin/mcp-server-git --x", name="git").label == "git"
    assert McpServer("/opt/bin/mcp-server-git --x").label == "mcp-server-git"
    assert McpServer(["/opt/my server/run.py"]).command_line == "'/opt/my server/run.py'"
