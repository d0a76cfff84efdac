"""A tool's definition in, its entry in the tools list of OpenAI's Responses API out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.providers.base import copied, cut_description, openai_stub_schema, own_schema
from semantic_toolsearch.providers.openai_schemas import parameters_of

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition
    from semantic_toolsearch.exchange import OwnTool

__all__ = ["client_search", "entry_of", "own_function", "stub_of"]

_CALLERS: Final = ("direct", "programmatic")


def entry_of(name: str, tool: ToolDefinition, *, deferred: bool = False) -> dict[str, Any]:
    """Return a tool in full: a function, or a custom tool where its definition is one.

    ``strict`` is always written, false unless the definition says true and its schema allows that: where it
    is absent the provider may turn it on and so change what the schema means.
    """
    entry = _described(name, tool, tool.description)
    fields = tool.provider_fields
    if entry["type"] == "custom":
        if isinstance(fields.get("format"), dict):
            entry["format"] = copied(fields["format"])
    else:
        entry["parameters"], entry["strict"] = parameters_of(tool)
        if isinstance(fields.get("output_schema"), dict):
            entry["output_schema"] = copied(fields["output_schema"])
    callers = fields.get("allowed_callers")
    if isinstance(callers, list) and (known := [caller for caller in callers if caller in _CALLERS]):
        entry["allowed_callers"] = known
    if isinstance(fields.get("async"), bool):
        entry["async"] = fields["async"]
    if deferred:
        entry["defer_loading"] = True
    return entry


def stub_of(name: str, tool: ToolDefinition) -> dict[str, Any]:
    """Return a tool without what it takes: any object for a function, any text for a custom tool."""
    entry = _described(name, tool, cut_description(tool.description))
    return (
        entry if entry["type"] == "custom" else {**entry, "parameters": openai_stub_schema(), "strict": False}
    )


def _described(name: str, tool: ToolDefinition, description: str) -> dict[str, Any]:
    kind = "custom" if tool.provider_fields.get("type") == "custom" else "function"
    return {"type": kind, "name": name, "description": description}


def own_function(tool: OwnTool) -> dict[str, Any]:
    """Return a tool of our own as an ordinary function."""
    entry = {"type": "function", "name": tool.name, "description": tool.description}
    return {**entry, "parameters": own_schema(tool), "strict": False}


def client_search(tool: OwnTool) -> dict[str, Any]:
    """Return our search as the provider's client-executed one."""
    entry = {"type": "tool_search", "execution": "client", "description": tool.description}
    return {**entry, "parameters": own_schema(tool)}
