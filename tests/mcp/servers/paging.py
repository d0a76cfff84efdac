"""A server made with the SDK: seven tools on three pages, and calls of every kind of answer."""

from __future__ import annotations

import asyncio
import os
import sys

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

OPEN = {"type": "object", "properties": {"text": {"type": "string", "description": "What to say"}}}
NAMES = ["echo", "fail", "picture", "structured", "sleep", "exit", "environment"]
PAGE = 3


async def list_tools(ctx, params):
    start = int(params.cursor) if params is not None and params.cursor else 0
    tools = [
        types.Tool(name=n, description=f"The tool {n}.", input_schema=OPEN)
        for n in NAMES[start : start + PAGE]
    ]
    following = str(start + PAGE) if start + PAGE < len(NAMES) else None
    return types.ListToolsResult(tools=tools, next_cursor=following)


async def call_tool(ctx, params):
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            return text(f"you said {arguments.get('text')}")
        case "fail":
            return types.CallToolResult(content=[types.TextContent(text="no such guest")], is_error=True)
        case "picture":
            return types.CallToolResult(
                content=[
                    types.TextContent(text="here:"),
                    types.ImageContent(data="AAAA", mime_type="image/png"),
                ]
            )
        case "structured":
            return types.CallToolResult(content=[], structured_content={"degrees": 21})
        case "sleep":
            await asyncio.sleep(600)
        case "exit":
            sys.stderr.write("out of memory, giving up\n")
            sys.stderr.flush()
            os._exit(3)
        case "environment":
            return text(f"{os.environ.get('FOR_THE_SERVER')} {os.environ.get('A_SECRET')} {os.getcwd()}")
    raise ValueError(f"unknown tool {params.name}")


def text(value):
    return types.CallToolResult(content=[types.TextContent(text=value)])


async def main():
    server = Server("paging-server", version="1.0", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
