"""The input items of a Responses request in; a refusal in the provider's words, or nothing, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .openai_fields import fields_of, invalid_value, list_of, missing, text_of, too_long
from .refusal import Refusal
from .responses_tools import check_entries

__all__ = ["check_items", "check_namespaces", "check_pairs", "item_type"]

_CALL: Final = ("caller", "id", "status", "namespace", "async")
_FIELDS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "function_call": (("call_id", "name", "arguments"), _CALL),
    "function_call_output": (("call_id", "output"), ("id", "caller", "name", "namespace", "status")),
    "custom_tool_call": (("call_id", "name", "input"), _CALL),
    "custom_tool_call_output": (("call_id", "output"), ("id", "caller", "name", "namespace", "status")),
    "tool_search_call": (("arguments",), ("id", "call_id", "execution", "status", "created_by")),
    "tool_search_output": (("tools",), ("id", "call_id", "execution", "status", "created_by")),
    "additional_tools": (("role", "tools"), ("id",)),
    "item_reference": (("id",), ()),
    "reasoning": (("summary",), ("id", "content", "encrypted_content", "status", "format")),
}
"""Required and optional fields of each item that is checked."""

_PREFIXES: Final = {
    "message": "msg", "function_call": "fc", "tool_search_call": "tsc", "tool_search_output": "tso", "reasoning": "rs",
    "custom_tool_call": "ctc",
}  # fmt: skip
_UNREAD: Final = (
    "file_search_call", "computer_call", "computer_call_output", "web_search_call", "configuration_update",
    "compaction", "compaction_trigger", "image_generation_call", "code_interpreter_call", "local_shell_call",
    "local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call", "apply_patch_call_output",
    "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "mcp_call", "program", "program_output",
)  # fmt: skip
_ROLES: Final = ("assistant", "system", "developer", "user")
_MESSAGE_FIELDS: Final = ("type", "id", "status", "phase")
_LONGEST_ID: Final = 64
_PAIRS: Final = {
    "function_call": ("function_call_output", "function call"),
    "custom_tool_call": ("custom_tool_call_output", "custom tool call"),
    "tool_search_call": ("tool_search_output", "tool search call"),
}


def item_type(item: Mapping[str, Any]) -> str:
    """An item's type; an easy message has none."""
    return str(item.get("type") or ("message" if "role" in item else ""))


def check_items(items: Sequence[Any]) -> None:
    """Check each item on its own.

    Raises:
        Refusal: A rule is broken.
    """
    seen: set[str] = set()
    for index, item in enumerate(items):
        where = f"input[{index}]"
        if not isinstance(item, Mapping):
            raise Refusal(
                f"Invalid type for '{where}': expected an input item.", param=where, code="invalid_type"
            )
        kind = item_type(item)
        if kind == "message":
            _check_message(item, where)
        elif kind in _FIELDS:
            required, optional = _FIELDS[kind]
            fields_of(item, where, ("type", *required), optional)
            _check_item(kind, item, where)
        elif kind not in _UNREAD:
            raise invalid_value(kind, where, (*_FIELDS, "message", *_UNREAD))
        _check_ids(kind, item, where, seen)


def _check_message(item: Mapping[str, Any], where: str) -> None:
    fields_of(item, where, ("role", "content"), _MESSAGE_FIELDS)
    if item["role"] not in _ROLES:
        raise invalid_value(item["role"], f"{where}.role", _ROLES)
    content = item["content"]
    if isinstance(content, str):
        return
    allowed = ("output_text", "refusal") if item["role"] == "assistant" else (
        "input_text", "input_image", "input_file", "input_audio",
    )  # fmt: skip
    for place, part in enumerate(list_of(content, f"{where}.content")):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in allowed:
            raise invalid_value(kind, f"{where}.content[{place}]", allowed)


def _check_item(kind: str, item: Mapping[str, Any], where: str) -> None:
    if kind == "function_call":
        text_of(item["arguments"], f"{where}.arguments")
        text_of(item["name"], f"{where}.name")
    elif kind == "custom_tool_call":
        text_of(item["input"], f"{where}.input")
    elif kind in ("function_call_output", "custom_tool_call_output"):
        if not isinstance(item["output"], str):
            list_of(item["output"], f"{where}.output")
    elif kind == "tool_search_call":
        fields_of(item["arguments"], f"{where}.arguments", (), tuple(item["arguments"]) if isinstance(
            item["arguments"], Mapping
        ) else ())  # fmt: skip
    elif kind in ("tool_search_output", "additional_tools"):
        check_entries(list_of(item["tools"], f"{where}.tools"), f"{where}.tools", declared=False)
    if kind in ("tool_search_call", "tool_search_output"):
        execution = item.get("execution", "server")
        if execution not in ("server", "client"):
            raise invalid_value(execution, f"{where}.execution", ("server", "client"))
        if execution == "client" and not item.get("call_id"):
            raise missing(f"{where}.call_id")


def _check_ids(kind: str, item: Mapping[str, Any], where: str, seen: set[str]) -> None:
    identity = item.get("id")
    if identity is not None and kind in _PREFIXES:
        prefix = _PREFIXES[kind]
        if not text_of(identity, f"{where}.id").startswith(prefix):
            raise Refusal(
                f"Invalid '{where}.id': '{identity}'. Expected an ID that begins with '{prefix}'.",
                param=f"{where}.id",
                code="invalid_value",
            )
        if identity in seen:
            raise Refusal(
                f"Duplicate item found with id {identity}. Remove duplicate items from your input and try again.",
                param="input",
            )
        seen.add(identity)
    if item.get("call_id") is not None:
        too_long(text_of(item["call_id"], f"{where}.call_id"), f"{where}.call_id", _LONGEST_ID)


def check_pairs(items: Sequence[Mapping[str, Any]]) -> None:
    """Check that calls have outputs and outputs calls; hosted searches are paired by order.

    Raises:
        Refusal: A partner is missing.
    """
    for kind, (answer, words) in _PAIRS.items():
        waiting: list[Any] = []
        hosted = 0
        for item in items:
            identity = item.get("call_id")
            if item_type(item) == kind:
                if identity is None:
                    hosted += 1
                elif item.get("execution", "client") != "server":
                    waiting.append(identity)
            elif item_type(item) == answer:
                if identity in waiting:
                    waiting.remove(identity)
                elif hosted and item.get("execution", "server") == "server" and kind == "tool_search_call":
                    hosted -= 1
                else:
                    output = answer.replace("_", " ")
                    raise Refusal(f"No tool call found for {output} with call_id {identity}.", param="input")
        if waiting:
            raise Refusal(f"No tool output found for {words} {waiting[0]}.", param="input")


def check_namespaces(
    items: Sequence[Mapping[str, Any]], eager: set[str], reachable: Mapping[str, set[str]], first: int
) -> None:
    """Check that replayed calls carry the namespace in which their tool exists.

    Args:
        items: All items, stored ones first.
        eager: Names of functions in the default namespace.
        reachable: Namespaces by function name.
        first: Position of the first item of the request itself.

    Raises:
        Refusal: A namespace is missing or wrong.
    """
    for index, item in enumerate(items):
        kind = item_type(item)
        if kind not in ("function_call", "custom_tool_call") or item["name"] in eager:
            continue
        name, namespace = item["name"], item.get("namespace")
        spaces = reachable.get(name, set())
        where = f"input[{index - first}].namespace"
        if namespace is None and spaces:
            raise Refusal(
                f"Missing namespace for {kind} '{name}'. It does not exist in the default namespace. Round-trip the "
                f"model's {kind} item with its namespace field included.",
                param=where,
            )
        if spaces and namespace not in spaces:
            raise Refusal(f"Unknown namespace '{namespace}' for {kind} '{name}'.", param=where)
