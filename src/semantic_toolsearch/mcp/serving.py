"""Tools and a way to call them in; an MCP server that offers a search over them and one tool to call them, out.

For clients that cannot defer tools themselves: they see two tools instead of hundreds. A found tool's schema comes as
text, and a call is checked against it before it is run, as in the mode ``bridge``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from semantic_toolsearch._version import __version__
from semantic_toolsearch.errors import McpServerError
from semantic_toolsearch.mcp.client import require_sdk
from semantic_toolsearch.mcp.content import CallResult

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from semantic_toolsearch.exchange import ToolCall
    from semantic_toolsearch.toolsearch import ToolSearch
    from semantic_toolsearch.turn import Turn

__all__ = ["SearchedTools", "make_server", "serve"]


class SearchedTools:
    """The two tools that stand for all others, without any protocol.

    Args:
        search: The tools. A later ``replace`` counts from the next request on.
        call: Runs one checked call; what it raises as ``McpServerError`` becomes an answer that says so.
    """

    def __init__(self, search: ToolSearch, call: Callable[[ToolCall], CallResult]) -> None:
        self._search = search
        self._call = call

    @property
    def instructions(self) -> str:
        """How a model gets at a tool, in two sentences; empty where there are no tools."""
        return self._turn().instructions

    def listing(self) -> list[dict[str, Any]]:
        """The search tool and the call tool as ``name``, ``description`` and ``input_schema``."""
        return [dict(entry) for entry in self._turn().tools]

    def answer(self, name: str, arguments: Any) -> CallResult:
        """Answer one call: a search, a call through the call tool, or a tool called by its own name.

        Nothing that a model sends raises; what cannot be run is answered with what to do instead.

        Args:
            name: The tool as called.
            arguments: What it was called with.
        """
        turn = self._turn()
        block = {"type": "tool_use", "id": "call", "name": name, "input": arguments}
        response = {"type": "message", "role": "assistant", "content": [block], "stop_reason": "tool_use"}
        for call in turn.calls(response):
            try:
                return self._call(call)
            except McpServerError as error:
                return CallResult(str(error), is_error=True)
        (refused,) = turn.answer(response)
        return CallResult(refused["content"], is_error=refused.get("is_error", False))

    def _turn(self) -> Turn:
        names = self._search.catalog.wire_names
        # Every tool is deferred, whatever it says itself: nothing but the two tools can be listed here.
        return self._search.turn([], api="anthropic", mode="bridge", deferred_tools=names)


def make_server(tools: SearchedTools, *, name: str = "toolsearch") -> Server[Any]:
    """An MCP server over the SDK's low-level class, to be run on any transport.

    Args:
        tools: What it offers.
        name: What it calls itself.

    Raises:
        MissingExtraError: The extra ``mcp`` is not installed.
    """
    require_sdk()
    import anyio
    import mcp_types
    from mcp.server.lowlevel import Server

    from semantic_toolsearch.exchange import SEARCH_TOOL_NAME
    from semantic_toolsearch.providers.base import SEARCH_ANNOTATIONS

    hints = {SEARCH_TOOL_NAME: {"annotations": dict(SEARCH_ANNOTATIONS)}}

    async def list_tools(context: Any, params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(
            tools=[
                mcp_types.Tool.model_validate({**entry, **hints.get(entry["name"], {})}, by_name=True)
                for entry in tools.listing()
            ]
        )

    async def call_tool(context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        # On a thread: a search computes, and a call waits for another server.
        result = await anyio.to_thread.run_sync(tools.answer, params.name, params.arguments)
        content = list(result.blocks) or [mcp_types.TextContent(type="text", text=result.text)]
        return mcp_types.CallToolResult(
            content=content, structured_content=result.structured, is_error=result.is_error
        )

    return Server(
        name,
        version=__version__,
        instructions=tools.instructions or None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve(tools: SearchedTools, *, name: str = "toolsearch") -> None:
    """Serve over standard input and output until the client closes them.

    Args:
        tools: What is offered.
        name: What the server calls itself.

    Raises:
        MissingExtraError: The extra ``mcp`` is not installed.
    """
    server = make_server(tools, name=name)
    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
