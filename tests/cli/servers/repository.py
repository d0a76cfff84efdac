"""A server made with the SDK for the documentation's example: three tools of a repository."""

from __future__ import annotations

import asyncio

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOLS = {
    "git_reset": "Undo the last commit, or unstage what is staged.",
    "git_log": "Show the history of commits.",
    "git_diff": "Show what changed between two branches.",
}


async def list_tools(ctx, params):
    tools = [
        types.Tool(name=name, description=text, input_schema={"type": "object"})
        for name, text in TOOLS.items()
    ]
    return types.ListToolsResult(tools=tools)


async def main():
    server = Server("git", version="1.0", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
