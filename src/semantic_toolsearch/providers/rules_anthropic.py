"""The tools of an Anthropic request in, the rules that they break out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.json_values import json_path
from semantic_toolsearch.modes import MAX_DEFERRED
from semantic_toolsearch.providers.violations import Entry, Violation, entries_at, name_problems

__all__ = ["HOSTED", "RULES", "check", "tool_names"]

RULES: Final[Mapping[str, str]] = {
    "tool_shape": "A client tool has a name and an object schema without a union at its top.",
    "tool_name": "Names are 1 to 128 of letters, digits, _ and -.",
    "property_name": "Names of arguments are 1 to 64 of letters, digits, _ . and -.",
    "unique_names": "No two tools have the same name.",
    "all_deferred": "At least one entry is not deferred.",
    "deferred_limit": "At most 10,000 tools are deferred.",
    "search_deferred": "The search tool is never deferred.",
    "search_identity": "A hosted search has one of the published types and the name that belongs to it.",
    "one_search": "At most one hosted search.",
    "deferred_cache_control": "A deferred tool carries no cache_control.",
    "cache_breakpoints": "At most four cache markers in a request.",
    "transport_fields": "Converse and OpenRouter take no deferral, references or hosted search.",
    "bedrock_variant": "Bedrock InvokeModel has the regex search only.",
    "beta_header": "No beta value is needed first-party, and the old ones are refused.",
    "sampling_fields": "temperature, top_p and top_k are gone since API version 2026-10-21.",
    "choice_unknown": "tool_choice names a tool of the request.",
    "choice_deferred": "Forcing a deferred tool or the search is undocumented.",
}

HOSTED: Final[Mapping[str, str]] = {
    f"tool_search_tool_{kind}{date}": f"tool_search_tool_{kind}"
    for kind in ("bm25", "regex")
    for date in ("", "_20251119")
}
MAX_BREAKPOINTS: Final = 4
PLAIN_TRANSPORTS: Final = ("bedrock_converse", "openrouter")

_OLD_BETAS: Final = ("advanced-tool-use-2025-11-20", "tool-search-tool-2025-10-19")
_NEEDS_BETA: Final = ("bedrock_invoke", "vertex", "gateway")
_SAMPLING: Final = ("temperature", "top_p", "top_k")
_NAME: Final = "[a-zA-Z0-9_-]{1,128}"
_PROPERTY: Final = "[a-zA-Z0-9_.-]{1,64}"
_UNIONS: Final = ("anyOf", "oneOf", "allOf")


def check(
    tools: Any, messages: Any, tool_choice: Any, transport: str | None, settings: Mapping[str, Any]
) -> Iterator[Violation]:
    """Check a request's tools, choice and settings; messages are looked at for cache markers only."""
    entries = list(entries_at(tools, "$.tools"))
    named = [entry for entry in entries if entry[1].get("type") != "mcp_toolset"]
    yield from name_problems(((f"{path}.name", tool.get("name")) for path, tool in named), _NAME)
    for path, tool in entries:
        yield from _entry(path, tool)
        yield from _transport(path, tool, transport)
    yield from _deferral(entries)
    yield from _choice(entries, tool_choice)
    yield from _settings(settings, transport)
    markers = [path for part in (tools, messages, settings.get("system")) for path in _markers(part)]
    if len(markers) > MAX_BREAKPOINTS:
        yield Violation(
            "cache_breakpoints", "$", f"{len(markers)} cache markers, at most {MAX_BREAKPOINTS} are allowed."
        )


def tool_names(tools: Any) -> set[str]:
    """Return the names that a reference may use."""
    return {str(tool["name"]) for _, tool in entries_at(tools, "") if "name" in tool}


def deferred(tool: Mapping[str, Any]) -> bool:
    """Whether an entry, or by default every tool of a toolset, is deferred."""
    if tool.get("type") == "mcp_toolset":
        configs = tool.get("configs")
        shown = any(
            isinstance(config, Mapping) and config.get("defer_loading") is False
            for config in (configs.values() if isinstance(configs, Mapping) else ())
        )
        default = tool.get("default_config")
        return isinstance(default, Mapping) and default.get("defer_loading") is True and not shown
    return tool.get("defer_loading") is True


def is_search(tool: Mapping[str, Any]) -> bool:
    """Whether an entry asks for hosted search, in whatever spelling."""
    return str(tool.get("type") or "").startswith("tool_search_tool")


def _entry(path: str, tool: dict[str, Any]) -> Iterator[Violation]:
    if is_search(tool):
        name = HOSTED.get(tool["type"])
        if name is None:
            yield Violation(
                "search_identity", f"{path}.type", f"{tool['type']!r} is none of {', '.join(HOSTED)}."
            )
        elif tool.get("name") != name:
            yield Violation("search_identity", f"{path}.name", f"{tool.get('name')!r} must be {name!r}.")
        if deferred(tool):
            yield Violation("search_deferred", f"{path}.defer_loading", "the search itself must be at hand.")
    elif tool.get("type") in (None, "custom"):
        yield from _client_tool(path, tool)
    if deferred(tool) and tool.get("cache_control") is not None:
        reason = "a deferred tool is outside of the cached prefix; mark the last tool that is not deferred."
        yield Violation("deferred_cache_control", f"{path}.cache_control", reason)


def _client_tool(path: str, tool: dict[str, Any]) -> Iterator[Violation]:
    schema = tool.get("input_schema")
    if not isinstance(schema, Mapping):
        yield Violation("tool_shape", path, "a client tool needs input_schema, a JSON Schema object.")
        return
    if schema.get("type") != "object":
        yield Violation(
            "tool_shape", f"{path}.input_schema.type", f"{schema.get('type')!r} must be 'object'."
        )
    for union in (key for key in _UNIONS if key in schema):
        yield Violation("tool_shape", f"{path}.input_schema.{union}", "no union at the top of a schema.")
    properties = schema.get("properties")
    for name in properties if isinstance(properties, Mapping) else ():
        if not re.fullmatch(_PROPERTY, str(name)):
            where = json_path(f"{path}.input_schema.properties", str(name)[:80])
            yield Violation("property_name", where, f"the name of an argument must match ^{_PROPERTY}$.")


def _transport(path: str, tool: dict[str, Any], transport: str | None) -> Iterator[Violation]:
    if transport in PLAIN_TRANSPORTS and (is_search(tool) or tool.get("defer_loading") is not None):
        yield Violation("transport_fields", path, f"{transport} takes neither deferral nor hosted search.")
    if transport == "bedrock_invoke" and HOSTED.get(str(tool.get("type"))) == "tool_search_tool_bm25":
        yield Violation("bedrock_variant", path, "use tool_search_tool_regex_20251119 on Bedrock.")


def _deferral(entries: list[Entry]) -> Iterator[Violation]:
    hidden = [path for path, tool in entries if deferred(tool)]
    if entries and len(hidden) == len(entries):
        yield Violation("all_deferred", "$.tools", "every tool is deferred; one entry must not be.")
    if len(hidden) > MAX_DEFERRED:
        yield Violation(
            "deferred_limit",
            "$.tools",
            f"{len(hidden):,} tools are deferred, at most {MAX_DEFERRED:,} can be.",
        )
    searches = [path for path, tool in entries if is_search(tool)]
    for path in searches[1:]:
        yield Violation("one_search", path, f"there is a hosted search at {searches[0]} already.")


def _choice(entries: list[Entry], choice: Any) -> Iterator[Violation]:
    if not isinstance(choice, Mapping) or choice.get("type") != "tool":
        return
    named = [tool for _, tool in entries if tool.get("name") == choice.get("name")]
    if not named:
        yield Violation("choice_unknown", "$.tool_choice.name", f"no tool is called {choice.get('name')!r}.")
    elif deferred(named[0]) or is_search(named[0]):
        reason = f"{choice.get('name')!r} is deferred or the search; send a tool that is forced in full."
        yield Violation("choice_deferred", "$.tool_choice.name", reason, "warning")


def _settings(settings: Mapping[str, Any], transport: str | None) -> Iterator[Violation]:
    for key in _SAMPLING:
        if settings.get(key) is not None:
            yield Violation("sampling_fields", f"$.{key}", "the API refuses it; leave it out.")
    if transport in _NEEDS_BETA:
        return
    for index, beta in enumerate(settings.get("betas") or ()):
        if beta in _OLD_BETAS:
            yield Violation(
                "beta_header", f"$.betas[{index}]", f"leave {beta!r} out: tool search needs none."
            )


def _markers(value: Any) -> Iterator[str]:
    """Give one item for each cache marker, in whatever block of a message or entry of the tools."""
    if isinstance(value, Mapping):
        if value.get("cache_control") is not None:
            yield "cache_control"
        yield from _markers(value.get("content"))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _markers(part)
