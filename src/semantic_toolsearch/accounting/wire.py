"""A request's ``tools`` list, of any provider, in; what of it the model reads, and its definitions by name, out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

__all__ = ["definitions", "read_by_model"]

_MARKS: Final = ("defer_loading", "cache_control")


def read_by_model(tools: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the list without what the provider holds back.

    Of deferred tools a model reads nothing at Anthropic. At OpenAI it reads name and description of a function
    outside of a namespace, of functions in a namespace only the namespace's own, and of an MCP server its label
    and description.
    """
    return [entry for tool in tools if (entry := _entry_as_read(tool))]


def _entry_as_read(tool: Mapping[str, Any]) -> dict[str, Any]:
    if tool.get("type") == "namespace":
        shown = [inner for inner in tool.get("tools", ()) if not inner.get("defer_loading")]
        return {**tool, "tools": shown}
    if not tool.get("defer_loading"):
        return dict(tool)
    shown_keys = {
        "function": ("type", "name", "description"),
        "custom": ("type", "name", "description") if "input_schema" not in tool else (),
        "mcp": ("type", "server_label", "server_description"),
    }.get(str(tool.get("type")), ())
    return {key: tool[key] for key in shown_keys if key in tool}


def definitions(tools: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return each definition of a list under its name, without the marks of deferral and caching."""
    found: dict[str, dict[str, Any]] = {}
    for tool in _flat(tools):
        inner = tool.get("function")
        name = inner.get("name") if isinstance(inner, Mapping) else tool.get("name")
        if isinstance(name, str):
            found[name] = {key: value for key, value in tool.items() if key not in _MARKS}
    return found


def _flat(tools: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for tool in tools:
        inner = tool.get("functionDeclarations") or tool.get("function_declarations")
        if tool.get("type") == "namespace":
            inner = tool.get("tools")
        if isinstance(inner, list):
            yield from inner
        else:
            yield tool
