"""Tools of MCP servers: command lines in; tool definitions, the answers of called tools, and a server over all, out.

    from semantic_toolsearch.mcp import McpServer, connect, read_tools

    tools = read_tools(McpServer("uvx mcp-server-git", name="git"))
    with connect([McpServer("uvx mcp-server-time", name="time")]) as servers:
        servers.call("time", "get_current_time", {"timezone": "Asia/Tokyo"}).text

Needs the extra ``mcp``; the SDK is imported when a server is first started, not before.
"""

from __future__ import annotations

from semantic_toolsearch.mcp.client import ConnectedServers, ServerReport, connect, read_tools
from semantic_toolsearch.mcp.config_file import read_servers
from semantic_toolsearch.mcp.content import CallResult
from semantic_toolsearch.mcp.server import McpServer, parse_command
from semantic_toolsearch.mcp.serving import SearchedTools, make_server, serve

__all__ = [
    "CallResult",
    "ConnectedServers",
    "McpServer",
    "SearchedTools",
    "ServerReport",
    "connect",
    "make_server",
    "parse_command",
    "read_servers",
    "read_tools",
    "serve",
]
