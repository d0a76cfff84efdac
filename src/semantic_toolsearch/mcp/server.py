"""A command line in; how the MCP server is started (arguments, environment, label) out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from semantic_toolsearch.errors import ConfigError

__all__ = ["McpServer", "parse_command"]

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True)
class McpServer:
    """One MCP server that is started as a process and spoken to over its standard input and output.

    Attributes:
        command: The command line, as one string (split as a shell would) or as its words.
        name: Namespace of its tools; None takes the name that the server gives itself.
        env: Environment variables on top of the few that every server gets (PATH, HOME, ...). The rest of
            this process's environment, which may hold secrets, is not passed on.
        cwd: Working directory of the server; None means this process's.
        timeout: Seconds it may take to start and list its tools, and then for each call.

    Raises:
        ConfigError: The command is empty or has an unclosed quote, or the timeout is not positive.
    """

    command: str | Sequence[str]
    name: str | None = None
    env: Mapping[str, str] | None = None
    cwd: str | Path | None = None
    timeout: float = 30.0

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise ConfigError(f"An MCP server needs a command to start it, got {self.command!r}.")
        if self.name is not None and not self.name.strip():
            raise ConfigError(f"The name of the MCP server {self.command_line!r} is empty; leave it out.")
        if not self.timeout > 0:
            raise ConfigError(
                f"The timeout of the MCP server {self.command_line!r} must be above 0, got {self.timeout!r}."
            )

    @property
    def argv(self) -> tuple[str, ...]:
        """The command's words, program first."""
        if not isinstance(self.command, str):
            return tuple(self.command)
        return _split(self.command)

    @property
    def command_line(self) -> str:
        """The command as one line, for messages."""
        return self.command if isinstance(self.command, str) else shlex.join(self.command)

    @property
    def label(self) -> str:
        """Its name, or the program's file name while it has not told its own."""
        return self.name or PurePath(self.argv[0]).name.removesuffix(".exe")


def parse_command(text: str, *, name: str | None = None, timeout: float = 30.0) -> McpServer:
    """Read a server from one line as one would type it in a shell.

    Words such as ``REDIS_HOST=localhost`` in front of the program set its environment.

    Args:
        text: For example ``uvx mcp-server-git --repository .``.
        name: Namespace of its tools; None takes the name that the server gives itself.
        timeout: Seconds it may take to start and list its tools, and then for each call.

    Raises:
        ConfigError: No program is named, or a quote is not closed.
    """
    words = list(_split(text))
    env: dict[str, str] = {}
    while words and _ASSIGNMENT.match(words[0]):
        key, _, value = words.pop(0).partition("=")
        env[key] = value
    return McpServer(tuple(words), name=name, env=env or None, timeout=timeout)


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"Cannot split the command {text!r} into words: {error}.") from error
