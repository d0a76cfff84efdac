"""The ``tools`` list of a Messages request in; a refusal in the provider's words, or nothing, out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .anthropic_fields import cache_control, fields_of, flag, list_of, text_matching, text_of
from .json_schema import UNIONS, structure_reason
from .refusal import Refusal
from .settings import Settings

__all__ = ["HOSTED", "check_tool_choice", "check_tools", "is_hosted_search", "tool_name", "toolset_servers"]

HOSTED: Final = {
    "tool_search_tool_bm25_20251119": "tool_search_tool_bm25",
    "tool_search_tool_bm25": "tool_search_tool_bm25",
    "tool_search_tool_regex_20251119": "tool_search_tool_regex",
    "tool_search_tool_regex": "tool_search_tool_regex",
}
"""Types of the hosted search entries and the only name that each may have."""

_PROVIDER_TOOLS: Final = {
    "bash": "bash",
    "code_execution": "code_execution",
    "memory": "memory",
    "web_search": "web_search",
    "web_fetch": "web_fetch",
    "computer": "computer",
    "advisor": "advisor",
}
_TEXT_EDITORS: Final = {
    "text_editor_20241022": "str_replace_editor",
    "text_editor_20250124": "str_replace_editor",
    "text_editor_20250429": "str_replace_based_edit_tool",
    "text_editor_20250728": "str_replace_based_edit_tool",
}
_TOOLSETS: Final = ("browser_toolset_20260801", "computer_toolset_20260801")
_DATED: Final = re.compile(r"([a-z_]+)_20\d{6}")
_CALLERS: Final = ("direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521")
_CLIENT_FIELDS: Final = (
    "type", "description", "cache_control", "defer_loading", "strict", "allowed_callers", "eager_input_streaming",
    "input_examples",
)  # fmt: skip
_HOSTED_FIELDS: Final = ("allowed_callers", "cache_control", "defer_loading", "strict")
_TOOLSET_FIELDS: Final = ("cache_control", "configs", "default_config", "tools")
_NAME: Final = "^[a-zA-Z0-9_-]{1,128}$"
_PROPERTY: Final = "^[a-zA-Z0-9_.-]{1,64}$"


def is_hosted_search(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is one of the hosted search tools."""
    return entry.get("type") in HOSTED


def tool_name(entry: Mapping[str, Any]) -> str | None:
    """An entry's name; None for toolsets, which have none."""
    name = entry.get("name")
    return name if isinstance(name, str) else None


def toolset_servers(tools: Sequence[Mapping[str, Any]]) -> set[str]:
    """Names of the MCP servers whose tools the request offers."""
    return {str(entry["mcp_server_name"]) for entry in tools if entry.get("type") == "mcp_toolset"}


def check_tools(body: Mapping[str, Any], betas: Sequence[str], settings: Settings) -> list[Mapping[str, Any]]:
    """Check every entry and the rules between them; return the entries.

    Raises:
        Refusal: A rule is broken.
    """
    tools = list_of(body.get("tools", []), "tools")
    for index, entry in enumerate(tools):
        _check_entry(entry, f"tools.{index}", body, betas)
    names = [name for name in map(tool_name, tools) if name is not None]
    if len(set(names)) != len(names):
        raise Refusal("tools: Tool names must be unique.")
    deferred = [entry for entry in tools if _deferred(entry)]
    for entry in deferred:
        if entry.get("cache_control") is not None:
            raise Refusal(
                f"Tool '{tool_name(entry) or entry['mcp_server_name']}' cannot have both defer_loading=true and "
                "cache_control set. Tools with defer_loading cannot use prompt caching."
            )
        if is_hosted_search(entry):
            raise Refusal(f"Tool '{entry['name']}' is a tool search tool and cannot have defer_loading=true.")
    if tools and len(deferred) == len(tools):
        raise Refusal("At least one tool must have defer_loading=false. All tools cannot be deferred.")
    if len(deferred) > settings.deferred_limit:
        raise Refusal(f"tools: At most {settings.deferred_limit} tools can have defer_loading=true.")
    _check_search(tools, str(body.get("model")), bool(deferred), settings)
    return tools


def _deferred(entry: Mapping[str, Any]) -> bool:
    """Whether nothing of an entry is in the prompt at first."""
    if entry.get("type") != "mcp_toolset":
        return bool(entry.get("defer_loading"))
    configs = (entry.get("configs") or {}).values()
    return bool((entry.get("default_config") or {}).get("defer_loading")) and not any(
        config.get("defer_loading") is False for config in configs
    )


def _check_entry(entry: Any, where: str, body: Mapping[str, Any], betas: Sequence[str]) -> None:
    if not isinstance(entry, Mapping):
        raise Refusal(f"{where}: Input should be a valid dictionary")
    kind = entry.get("type")
    if kind in (None, "custom"):
        check_client_tool(entry, f"{where}.custom")
    elif kind in HOSTED:
        here = f"{where}.{kind}"
        fields_of(entry, here, ("type", "name"), _HOSTED_FIELDS)
        if entry["name"] != HOSTED[kind]:
            raise Refusal(f"{here}.name: Input should be '{HOSTED[kind]}'")
        _check_common(entry, here)
    elif kind == "mcp_toolset":
        _check_toolset(entry, f"{where}.mcp_toolset", body, betas)
    else:
        _check_provider_tool(entry, where)


def check_client_tool(entry: Mapping[str, Any], where: str) -> None:
    """Check a tool that the caller runs."""
    fields_of(entry, where, ("name", "input_schema"), _CLIENT_FIELDS)
    text_matching(entry["name"], f"{where}.name", _NAME)
    if "description" in entry:
        text_of(entry["description"], f"{where}.description")
    for example in list_of(entry.get("input_examples", []), f"{where}.input_examples"):
        if not isinstance(example, Mapping):
            raise Refusal(f"{where}.input_examples: Input should be a valid dictionary")
    _check_common(entry, where)
    if "eager_input_streaming" in entry:
        flag(entry["eager_input_streaming"], f"{where}.eager_input_streaming", nullable=True)
    _check_schema(entry["input_schema"], f"{where}.input_schema")
    if entry.get("strict") and entry["input_schema"].get("additionalProperties") is not False:
        raise Refusal(f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false")


def _check_common(entry: Mapping[str, Any], where: str) -> None:
    cache_control(entry, where)
    for name in ("defer_loading", "strict"):
        if name in entry:
            flag(entry[name], f"{where}.{name}")
    for caller in list_of(entry.get("allowed_callers", []), f"{where}.allowed_callers"):
        if caller not in _CALLERS:
            raise Refusal(f"{where}.allowed_callers: Input should be {', '.join(map(repr, _CALLERS))}")


def _check_schema(schema: Any, where: str) -> None:
    if not isinstance(schema, Mapping):
        raise Refusal(f"{where}: Input should be a valid dictionary")
    if "type" not in schema:
        raise Refusal(f"{where}.type: Field required")
    if schema["type"] != "object":
        raise Refusal(f"{where}.type: Input should be 'object'")
    if any(keyword in schema for keyword in UNIONS):
        raise Refusal(f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level")
    reason = structure_reason({**schema, "properties": schema.get("properties") or {}})
    if reason:
        raise Refusal(f"{where}: JSON schema is invalid. It must match JSON Schema draft 2020-12: {reason}")
    for name in schema.get("properties") or {}:
        if not re.fullmatch(_PROPERTY.strip("^$"), name):
            raise Refusal(f"{where}.properties: Property keys should match pattern '{_PROPERTY}'")


def _check_toolset(
    entry: Mapping[str, Any], where: str, body: Mapping[str, Any], betas: Sequence[str]
) -> None:
    if not any(beta.startswith("mcp-client-") for beta in betas):
        raise Refusal(f"{where}: MCP toolsets require an mcp-client beta header")
    fields_of(entry, where, ("type", "mcp_server_name"), _TOOLSET_FIELDS)
    cache_control(entry, where)
    servers = [server.get("name") for server in list_of(body.get("mcp_servers", []), "mcp_servers")]
    if entry["mcp_server_name"] not in servers:
        raise Refusal(
            f"{where}.mcp_server_name: MCP server '{entry['mcp_server_name']}' not found in mcp_servers"
        )
    configs = {"default_config": entry.get("default_config") or {}, **(entry.get("configs") or {})}
    for name, config in configs.items():
        fields_of(config, f"{where}.{name}", (), ("enabled", "defer_loading"))


def _check_provider_tool(entry: Mapping[str, Any], where: str) -> None:
    kind = str(entry["type"])
    if kind in _TOOLSETS:
        return
    dated = _DATED.fullmatch(kind)
    name = _TEXT_EDITORS.get(kind) or (_PROVIDER_TOOLS.get(dated[1]) if dated else None)
    if name is None:
        raise Refusal(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: "
            f"'custom', {', '.join(map(repr, (*HOSTED, *_TEXT_EDITORS, *_TOOLSETS)))}"
        )
    if entry.get("name") != name:
        raise Refusal(f"{where}.{kind}.name: Input should be '{name}'")
    _check_common(entry, f"{where}.{kind}")


_TOO_OLD: Final = re.compile(
    r"claude-(?:[12]\b|instant|3|(?:opus|sonnet|haiku)-3|(?:opus|sonnet)-4-20|(?:opus|sonnet)-4-?[01]?(?:-20\d+)?$)"
)


def _check_search(tools: Sequence[Mapping[str, Any]], model: str, deferred: bool, settings: Settings) -> None:
    hosted = [entry for entry in tools if is_hosted_search(entry)]
    if (hosted or deferred) and _TOO_OLD.search(model):
        raise Refusal(f"model: '{model}' does not support tool search")
    if settings.bedrock and any("bm25" in entry["name"] for entry in hosted):
        raise Refusal("BM25 tool search is not supported on Bedrock. Use tool_search_tool_regex instead.")
    if len(hosted) > 1 and not settings.allow_undocumented:
        raise Refusal("loopback: two hosted search tools in one request are not documented")


def check_tool_choice(
    body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], settings: Settings
) -> None:
    """Check ``tool_choice``.

    Raises:
        Refusal: Its form is wrong, or it names what cannot be chosen.
    """
    choice = body.get("tool_choice")
    if choice is None:
        return
    kinds = ("auto", "any", "tool", "none")
    if not isinstance(choice, Mapping) or choice.get("type") not in kinds:
        raise Refusal(
            f"tool_choice: Input tag does not match any of the expected tags: {', '.join(map(repr, kinds))}"
        )
    kind = choice["type"]
    here = f"tool_choice.{kind}"
    fields_of(choice, here, ("type", "name") if kind == "tool" else ("type",), () if kind == "none" else (
        "disable_parallel_tool_use",
    ))  # fmt: skip
    if not tools:
        raise Refusal("tool_choice: may only be specified while providing tools")
    if kind != "tool":
        return
    chosen = next((entry for entry in tools if tool_name(entry) == choice["name"]), None)
    if chosen is None:
        raise Refusal(f"Tool '{choice['name']}' not found in provided tools")
    if (chosen.get("defer_loading") or is_hosted_search(chosen)) and not settings.allow_undocumented:
        raise Refusal(f"loopback: forcing '{choice['name']}', a deferred or search tool, is not documented")
