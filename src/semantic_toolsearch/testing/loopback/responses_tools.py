"""The ``tools`` list of a Responses request in; a refusal in the provider's words, or nothing, out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from .openai_fields import check_function, check_name, fields_of, invalid_value, list_of, missing, text_of
from .refusal import Refusal
from .settings import Settings

__all__ = ["check_entries", "check_tool_choice", "check_tools", "deferred_entries"]

_FUNCTION_FIELDS: Final = ("description", "defer_loading", "output_schema", "allowed_callers", "async")
_CUSTOM_FIELDS: Final = ("description", "defer_loading", "format", "allowed_callers", "async")
_MCP_FIELDS: Final = (
    "server_url", "server_description", "defer_loading", "allowed_tools", "allowed_callers", "authorization",
    "connector_id", "headers", "require_approval", "tunnel_id",
)  # fmt: skip
_UNREAD: Final = (
    "file_search", "computer", "computer_use_preview", "web_search", "web_search_2025_08_26", "code_interpreter",
    "programmatic_tool_calling", "image_generation", "local_shell", "shell", "web_search_preview",
    "web_search_preview_2025_03_11", "apply_patch",
)  # fmt: skip
_TYPES: Final = ("function", "custom", "namespace", "mcp", "tool_search", *_UNREAD)
_CHOICE_TYPES: Final = (
    "allowed_tools", "function", "mcp", "custom", "apply_patch", "shell", "programmatic_tool_calling", "file_search",
    "web_search_preview", "computer", "computer_use_preview", "computer_use", "image_generation", "code_interpreter",
)  # fmt: skip
_TOO_OLD: Final = re.compile(r"gpt-(?:[1-4]|5(?:\.[0-3])?(?![.\d]))|o[134]\b|chatgpt-4")


def check_tools(body: Mapping[str, Any], settings: Settings) -> list[Mapping[str, Any]]:
    """Check every entry and the rules between them; return the entries.

    Raises:
        Refusal: A rule is broken.
    """
    tools = list_of(body.get("tools") or [], "tools")
    check_entries(tools, "tools", declared=True)
    _check_unique(tools, settings)
    searches = [entry for entry in tools if entry["type"] == "tool_search"]
    deferred = list(deferred_entries(tools))
    if len(searches) > 1:
        raise Refusal(
            "Invalid Value: 'tools.tool_search'. Only one tools.tool_search is allowed.",
            param="tools.tool_search",
            code="invalid_value",
        )
    if deferred and not searches:
        raise Refusal(
            "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.",
            param="tools.defer_loading",
            code="invalid_value",
        )
    if searches and searches[0].get("execution", "server") == "server" and not deferred:
        raise Refusal(
            "Invalid Value: 'tools.tool_search'. tools.tool_search requires at least one deferred tool.",
            param="tools.tool_search",
            code="invalid_value",
        )
    if searches and _TOO_OLD.match(str(body.get("model"))):
        raise Refusal(f"Tool search is not supported with the model '{body['model']}'.", param="tools")
    return tools


def deferred_entries(tools: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Entries, also inside namespaces, that are deferred."""
    for entry in tools:
        if entry.get("defer_loading"):
            yield entry
        for function in entry.get("tools") or () if entry.get("type") == "namespace" else ():
            if function.get("defer_loading"):
                yield function


def check_entries(tools: Sequence[Any], where: str, *, declared: bool) -> None:
    """Check each entry on its own; those that a search returned need fewer fields than declared ones.

    Raises:
        Refusal: A rule is broken.
    """
    for index, entry in enumerate(tools):
        here = f"{where}[{index}]"
        if not isinstance(entry, Mapping) or "type" not in entry:
            raise missing(f"{here}.type")
        kind = entry["type"]
        if kind == "function":
            required = ("type", "name", "parameters", "strict") if declared else ("type", "name")
            _check_function(entry, here, required)
        elif kind == "custom":
            _check_custom(entry, here)
        elif kind == "namespace":
            _check_namespace(entry, here)
        elif kind == "mcp":
            fields_of(entry, here, ("type", "server_label"), _MCP_FIELDS)
            check_name(entry["server_label"], f"{here}.server_label")
        elif kind == "tool_search":
            _check_search(entry, here)
        elif kind not in _UNREAD:
            raise invalid_value(kind, f"{here}.type", _TYPES)


def _check_function(entry: Mapping[str, Any], where: str, required: tuple[str, ...]) -> None:
    fields_of(entry, where, required, ("parameters", "strict", *_FUNCTION_FIELDS))
    check_function(entry, where)


def _check_custom(entry: Mapping[str, Any], where: str) -> None:
    fields_of(entry, where, ("type", "name"), _CUSTOM_FIELDS)
    check_name(entry["name"], f"{where}.name")


def _check_namespace(entry: Mapping[str, Any], where: str) -> None:
    fields_of(entry, where, ("type", "name", "description", "tools"), ())
    check_name(entry["name"], f"{where}.name")
    if not text_of(entry["description"], f"{where}.description").strip():
        raise Refusal(
            f"Invalid '{where}.description': empty string. Expected a string with minimum length 1, but got an empty "
            "string instead.",
            param=f"{where}.description",
            code="empty_string",
        )
    tools = list_of(entry["tools"], f"{where}.tools")
    if not tools:
        raise Refusal(
            f"Invalid '{where}.tools': empty array. Expected an array with minimum length 1, but got an empty array "
            "instead.",
            param=f"{where}.tools",
            code="empty_array",
        )
    for index, inner in enumerate(tools):
        here = f"{where}.tools[{index}]"
        kind = inner.get("type") if isinstance(inner, Mapping) else None
        if kind == "function":
            _check_function(inner, here, ("type", "name"))
        elif kind == "custom":
            _check_custom(inner, here)
        else:
            raise invalid_value(kind, f"{here}.type", ("function", "custom"))
    _require_unique([inner["name"] for inner in tools], f"{where}.tools")


def _check_search(entry: Mapping[str, Any], where: str) -> None:
    fields_of(entry, where, ("type",), ("execution", "description", "parameters"))
    execution = entry.get("execution", "server")
    if execution not in ("server", "client"):
        raise invalid_value(execution, f"{where}.execution", ("server", "client"))
    if execution == "client" and not entry.get("description"):
        raise missing(f"{where}.description")
    if entry.get("parameters") is not None:
        check_function({"name": "tool_search", "parameters": entry["parameters"]}, where)


def _check_unique(tools: Sequence[Mapping[str, Any]], settings: Settings) -> None:
    flat = [entry["name"] for entry in tools if entry["type"] in ("function", "custom")]
    spaces = [entry["name"] for entry in tools if entry["type"] == "namespace"]
    labels = [entry["server_label"] for entry in tools if entry["type"] == "mcp"]
    for names in (flat, spaces, labels):
        _require_unique(names, "tools")
    both = set(flat) & set(spaces)
    if both and not settings.allow_undocumented:
        name = min(both)
        raise Refusal(
            f"loopback: '{name}' is a function and a namespace, which is not documented", param="tools"
        )


def _require_unique(names: Sequence[str], where: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise Refusal(
            f"Invalid '{where}': duplicate tool name '{twice[0]}'.", param=where, code="invalid_value"
        )


def check_tool_choice(
    body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], settings: Settings
) -> None:
    """Check ``tool_choice``.

    Raises:
        Refusal: Its form is wrong, or it names what cannot be chosen.
    """
    choice = body.get("tool_choice")
    if choice is None or choice in ("none", "auto"):
        return
    if choice == "required":
        if not tools:
            raise Refusal(
                "Tool choice 'required' must be specified with 'tools' parameter.", param="tool_choice"
            )
        return
    if not isinstance(choice, Mapping):
        raise invalid_value(choice, "tool_choice", ("none", "auto", "required"))
    kind = choice.get("type")
    if kind not in _CHOICE_TYPES:
        raise invalid_value(kind, "tool_choice.type", _CHOICE_TYPES)
    if kind not in ("function", "custom"):
        return
    fields_of(choice, "tool_choice", ("type", "name"), ())
    named = [entry for entry in tools if entry["type"] == kind and entry["name"] == choice["name"]]
    if not named:
        raise Refusal(f"Tool choice '{choice['name']}' not found in 'tools' parameter.", param="tool_choice")
    if named[0].get("defer_loading") and not settings.allow_undocumented:
        raise Refusal(
            f"loopback: forcing the deferred tool '{choice['name']}' is not documented", param="tool_choice"
        )
