"""The JSON file in which clients keep MCP servers in; those that can be started, and why others cannot, out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.mcp.server import McpServer

__all__ = ["read_servers"]

_KEYS = ("mcpServers", "servers")
"""Under which the servers stand, as most clients and as VS Code write it."""


def read_servers(path: str | Path, *, timeout: float = 30.0) -> tuple[list[McpServer], list[str]]:
    """Read the servers of a file such as ``{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}``.

    Args:
        path: The file.
        timeout: Seconds that each may take to start, and then for each call.

    Returns:
        The servers under their names, and a line for each entry that is left out because it is switched off, is
        reached by an address, or is malformed. A server gets the environment variables of its entry, and ``${NAME}``
        in a value is this process's variable of that name.

    Raises:
        ConfigError: The file cannot be read, or holds no servers.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {error}.") from error
    entries = (
        next((content[key] for key in _KEYS if key in content), None) if isinstance(content, dict) else None
    )
    if not isinstance(entries, dict):
        raise ConfigError(f"{path} names no servers: they stand under {' or '.join(map(repr, _KEYS))}.")
    servers, left_out = [], []
    for name, entry in entries.items():
        try:
            servers.append(_server(name, entry, timeout))
        except ConfigError as error:
            left_out.append(f"{name}: {error}")
    return servers, left_out


def _server(name: str, entry: Any, timeout: float) -> McpServer:
    if not isinstance(entry, Mapping):
        raise ConfigError(f"an entry is an object, not {type(entry).__name__}.")
    if entry.get("disabled") is True:
        raise ConfigError("it is switched off.")
    command, arguments, variables = entry.get("command"), entry.get("args") or [], entry.get("env") or {}
    if not isinstance(command, str):
        where = " (it is reached by an address)" if "url" in entry else ""
        raise ConfigError(f"only servers with a command can be started{where}.")
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        raise ConfigError("args is a list of texts.")
    if not isinstance(variables, Mapping) or not all(isinstance(each, str) for each in variables.values()):
        raise ConfigError("env is an object of texts.")
    folder = entry.get("cwd")
    return McpServer(
        (command, *arguments),
        name=name,
        env={key: _expanded(value) for key, value in variables.items()} or None,
        cwd=folder if isinstance(folder, str) else None,
        timeout=timeout,
    )


def _expanded(value: str) -> str:
    """The value with a whole ``${NAME}`` replaced by that variable; an unset one stays as it is written."""
    name = value[2:-1] if value.startswith("${") and value.endswith("}") else None
    return os.environ.get(name, value) if name else value
