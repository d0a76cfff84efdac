"""Tools and requests of both providers, for the tests of the loopback provider."""

from __future__ import annotations

from functools import cache
from typing import Any

import anthropic
import openai

from semantic_toolsearch.testing.loopback import LoopbackProvider

CLAUDE = "claude-sonnet-5"
GPT = "gpt-5.4"
BM25 = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
REGEX = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
USER = {"role": "user", "content": "Convert 20 USD to EUR"}
ARGUMENTS = {"base": "USD", "quote": "EUR"}


def schema(*names: str, **described: str) -> dict[str, Any]:
    """An object schema of text properties."""
    properties: dict[str, Any] = {name: {"type": "string"} for name in names}
    properties |= {name: {"type": "string", "description": text} for name, text in described.items()}
    return {"type": "object", "properties": properties, "required": list(properties)}


FX_SCHEMA = schema("base", "quote")
FX = "Current exchange rate for a currency pair."
STOCK = "Last traded price of a ticker."


def claude_tool(name: str, description: str, parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A tool of the Messages interface."""
    return {"name": name, "description": description, "input_schema": parameters, **more}


def function(name: str, description: str, parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A function of the Responses interface."""
    return {
        "type": "function", "name": name, "description": description, "parameters": parameters, "strict": False, **more,
    }  # fmt: skip


def chat_tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A function of the Chat Completions interface."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


CLAUDE_FX = claude_tool("fx_rate", FX, FX_SCHEMA, defer_loading=True)
CLAUDE_STOCK = claude_tool("stock_quote", STOCK, schema("ticker"), defer_loading=True)
CLAUDE_CLOCK = claude_tool("clock", "The time now.", schema())
CLAUDE_SEARCH = claude_tool("tool_search", "Search the tools.", schema("query"))
FX_FUNCTION = function("fx_rate", FX, FX_SCHEMA, defer_loading=True)
STOCK_FUNCTION = function("stock_quote", STOCK, schema("ticker"), defer_loading=True)
CLOCK_FUNCTION = function("clock", "The time now.", schema())
CRM = {
    "type": "namespace",
    "name": "crm",
    "description": "Customer records and orders.",
    "tools": [
        function("get_profile", "Profile of one customer.", schema("customer_id")),
        function("list_orders", "Open orders of one customer.", schema("customer_id"), defer_loading=True),
    ],
}
HOSTED = {"type": "tool_search"}
CLIENT = {
    "type": "tool_search", "execution": "client", "description": "Search the tools.", "parameters": schema("query"),
}  # fmt: skip


@cache
def _claude() -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="any", max_retries=0)


@cache
def _gpt() -> openai.OpenAI:
    return openai.OpenAI(api_key="any", max_retries=0)


def claude(server: LoopbackProvider, **settings: Any) -> anthropic.Anthropic:
    """The real SDK, at the server."""
    return _claude().with_options(base_url=server.url, **settings)


def gpt(server: LoopbackProvider, **settings: Any) -> openai.OpenAI:
    """The real SDK, at the server."""
    return _gpt().with_options(base_url=server.openai_url, **settings)


def replayed(message: Any) -> dict[str, Any]:
    """A Messages response as the next request repeats it."""
    return {"role": "assistant", "content": [block.to_dict() for block in message.content]}


def result(identity: str, content: Any = "0.92") -> dict[str, Any]:
    """A user message that answers one call."""
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": identity, "content": content}]}


def items_of(response: Any) -> list[dict[str, Any]]:
    """The output of a Responses response as the next request repeats it."""
    return [item.to_dict() for item in response.output]


def use(identity: str, name: str = "clock", arguments: Any = None) -> dict[str, Any]:
    """A ``tool_use`` block."""
    return {"type": "tool_use", "id": identity, "name": name, "input": arguments or {}}


def server_use(identity: str = "srvtoolu_1", name: str = "tool_search_tool_bm25") -> dict[str, Any]:
    """A ``server_tool_use`` block."""
    return {"type": "server_tool_use", "id": identity, "name": name, "input": {"query": "currency"}}


def found(*names: str, identity: str = "srvtoolu_1") -> dict[str, Any]:
    """A ``tool_search_tool_result`` block."""
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    content = {"type": "tool_search_tool_search_result", "tool_references": references}
    return {"type": "tool_search_tool_result", "tool_use_id": identity, "content": content}
