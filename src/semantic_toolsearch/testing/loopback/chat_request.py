"""A Chat Completions request in; a refusal in the provider's words, or the request as its model sees it, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .cache import Segment
from .openai_fields import check_function, check_name, fields_of, invalid_value, list_of, text_of, too_long
from .refusal import Refusal
from .settings import Settings
from .view import Choice, RequestView, SearchOffer, Surface, canonical

__all__ = ["ChatRequest", "read_request"]

_OPTIONAL: Final = (
    "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
    "max_tokens", "metadata", "modalities", "moderation", "n", "parallel_tool_calls", "prediction", "presence_penalty",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format",
    "safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options", "temperature",
    "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity", "web_search_options",
)  # fmt: skip
_MESSAGES: Final[dict[str, tuple[str, ...]]] = {
    "system": ("content", "name"),
    "developer": ("content", "name"),
    "user": ("content", "name"),
    "assistant": ("content", "name", "tool_calls", "refusal", "audio", "function_call", "annotations"),
    "tool": ("content", "tool_call_id"),
}
_LONGEST_CALL_ID: Final = 40


@dataclass(slots=True)
class ChatRequest:
    """A request that passed: what the model sees, and the canonical prompt for the cache."""

    view: RequestView
    segments: list[Segment]


def read_request(body: Mapping[str, Any], index: int, settings: Settings) -> ChatRequest:
    """Check a request and read it.

    Raises:
        Refusal: A rule is broken.
    """
    fields_of(body, "", ("model", "messages"), _OPTIONAL)
    text_of(body["model"], "model")
    tools = _check_tools(body, settings)
    _check_choice(body, tools)
    messages = list_of(body["messages"], "messages")
    if not messages:
        raise Refusal(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="messages",
            code="empty_array",
        )
    _check_messages(messages)
    surfaces = [
        Surface(
            name=tool[tool["type"]]["name"],
            definition=tool[tool["type"]],
            parameters=tool[tool["type"]].get("parameters") or {},
            kind="custom" if tool["type"] == "custom" else "function",
        )
        for tool in tools
    ]
    view = RequestView(index, "chat", body, messages, surfaces, tuple(tools))
    found = next((surface for surface in surfaces if surface.name in settings.search_names), None)
    view.search = SearchOffer("function", found.name, found.parameters) if found else None
    view.choice = _choice(body)
    results: list[str] = []
    for message in reversed(messages):
        if message["role"] != "tool":
            break
        results.append(_text(message["content"]))
    view.results = tuple(reversed(results))
    view.user_text = next((_text(m["content"]) for m in reversed(messages) if m["role"] == "user"), "")
    segments = [Segment(canonical(tool)) for tool in tools] + [
        Segment(canonical(message)) for message in messages
    ]
    return ChatRequest(view, segments)


def _check_tools(body: Mapping[str, Any], settings: Settings) -> list[Mapping[str, Any]]:
    if "tools" not in body:
        return []
    tools = list_of(body["tools"], "tools")
    if not tools:
        raise Refusal(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="tools",
            code="empty_array",
        )
    if len(tools) > settings.chat_tool_limit:
        raise Refusal(
            f"Invalid 'tools': array too long. Expected an array with maximum length {settings.chat_tool_limit}, but "
            f"got an array with length {len(tools)} instead.",
            param="tools",
            code="array_above_max_length",
        )
    names: list[str] = []
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        kind = tool.get("type") if isinstance(tool, Mapping) else None
        if kind not in ("function", "custom"):
            raise invalid_value(kind, f"{where}.type", ("function", "custom"))
        fields_of(tool, where, ("type", kind), ())
        inner = tool[kind]
        optional = (
            ("description", "parameters", "strict") if kind == "function" else ("description", "format")
        )
        fields_of(inner, f"{where}.{kind}", ("name",), optional)
        if kind == "function":
            check_function(inner, f"{where}.function")
        else:
            check_name(inner["name"], f"{where}.custom.name")
        if inner["name"] in names:
            raise Refusal(f"Invalid 'tools': duplicate tool name '{inner['name']}'.", param="tools")
        names.append(inner["name"])
    return tools


def _check_choice(body: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not tools:
        raise Refusal(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        )
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            raise invalid_value(choice, "tool_choice", ("none", "auto", "required"))
        return
    kind = choice.get("type")
    if kind not in ("function", "custom", "allowed_tools"):
        raise invalid_value(kind, "tool_choice.type", ("function", "custom", "allowed_tools"))
    if kind == "allowed_tools":
        return
    fields_of(choice, "tool_choice", ("type", kind), ())
    name = choice[kind].get("name")
    if not any(tool["type"] == kind and tool[kind]["name"] == name for tool in tools):
        raise Refusal(f"Tool choice '{name}' not found in 'tools' parameter.", param="tool_choice")


def _choice(body: Mapping[str, Any]) -> Choice:
    given = body.get("tool_choice") or "auto"
    parallel = body.get("parallel_tool_calls") is not False
    if isinstance(given, str):
        return Choice("none" if given == "none" else "any" if given == "required" else "auto", None, parallel)
    if given["type"] == "allowed_tools":
        return Choice("auto", None, parallel)
    return Choice("tool", given[given["type"]]["name"], parallel)


def _check_messages(messages: Sequence[Any]) -> None:
    """Check each message, and that tool messages answer the calls right before them."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in _MESSAGES:
            raise invalid_value(role, f"{where}.role", tuple(_MESSAGES))
        required = ("role", "tool_call_id", "content") if role == "tool" else ("role",)
        fields_of(message, where, required, _MESSAGES[role])
        if role == "tool":
            identity = message["tool_call_id"]
            if identity not in waiting:
                raise Refusal(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    param=f"{where}.role",
                )
            waiting.remove(identity)
            continue
        _all_answered(waiting, where)
        if role == "assistant":
            waiting = _call_ids(message, where)
        elif message.get("content") is None:
            raise Refusal(
                f"Invalid value for 'content': expected a string, got null. ({where})",
                param=f"{where}.content",
            )
    _all_answered(waiting, "messages")


def _all_answered(waiting: Sequence[str], where: str) -> None:
    if waiting:
        raise Refusal(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}",
            param=where,
        )


def _call_ids(message: Mapping[str, Any], where: str) -> list[str]:
    calls = message.get("tool_calls")
    if calls is None:
        if message.get("content") is None and message.get("function_call") is None:
            raise Refusal(
                f"Invalid value for 'content': expected a string, got null. ({where})",
                param=f"{where}.content",
            )
        return []
    if not list_of(calls, f"{where}.tool_calls"):
        raise Refusal(
            f"Invalid '{where}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty "
            "array instead.",
            param=f"{where}.tool_calls",
            code="empty_array",
        )
    identities = []
    for place, call in enumerate(calls):
        here = f"{where}.tool_calls[{place}]"
        kind = call.get("type") if isinstance(call, Mapping) else None
        if kind not in ("function", "custom"):
            raise invalid_value(kind, f"{here}.type", ("function", "custom"))
        fields_of(call, here, ("id", "type", kind), ())
        too_long(text_of(call["id"], f"{here}.id"), f"{here}.id", _LONGEST_CALL_ID)
        inner = "arguments" if kind == "function" else "input"
        fields_of(call[kind], f"{here}.{kind}", ("name", inner), ())
        check_name(call[kind]["name"], f"{here}.{kind}.name")
        text_of(call[kind][inner], f"{here}.{kind}.{inner}")
        identities.append(call["id"])
    return identities


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or [])
