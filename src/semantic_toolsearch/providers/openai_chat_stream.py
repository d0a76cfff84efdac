"""Chunks of a chat completion in, the complete chat completion as a dict out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from semantic_toolsearch.errors import ConversationError
from semantic_toolsearch.providers import base

__all__ = ["assemble"]

_WHOLE: Final = frozenset({"role", "id", "type"})
"""Texts that come whole, repeated by some servers; every other text comes in parts."""


def assemble(events: Iterable[Any]) -> dict[str, Any]:
    """See `openai_chat.assemble`."""
    completion: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in base.events_of(events, "OpenAI Chat Completions"):
        for choice in chunk.pop("choices", None) or ():
            _add_choice(choices, choice)
        completion.update({key: value for key, value in chunk.items() if value is not None})
    if not completion and not choices:
        raise ConversationError("No chunk came in this stream of OpenAI Chat Completions.")
    completion["object"] = "chat.completion"
    completion.pop("obfuscation", None)  # padding of single chunks
    for choice in choices.values():
        for call in choice["message"].get("tool_calls", ()):
            del call["index"]
    completion["choices"] = [choice for _, choice in sorted(choices.items())]
    return completion


def _add_choice(choices: dict[int, dict[str, Any]], part: dict[str, Any]) -> None:
    index = part.get("index") or 0
    empty: dict[str, Any] = {
        "index": index,
        "message": {"role": "assistant", "content": None},
        "finish_reason": None,
    }
    choice = choices.setdefault(index, empty)
    _add_message(choice["message"], part.get("delta") or {})
    if part.get("finish_reason") is not None:
        choice["finish_reason"] = part["finish_reason"]
    if part.get("logprobs") is not None:
        choice["logprobs"] = choice.get("logprobs") or {}
        _merge(choice["logprobs"], part["logprobs"])


def _add_message(message: dict[str, Any], delta: dict[str, Any]) -> None:
    calls = delta.pop("tool_calls", None)
    _merge(message, delta)
    for part in calls or ():
        _add_call(message.setdefault("tool_calls", []), part)


def _add_call(calls: list[dict[str, Any]], part: dict[str, Any]) -> None:
    """Add a part of a call to the call it belongs to, or as a new one.

    A part with an id that differs starts a call of its own whatever its index says: some compatible servers
    give every call the index 0, or none.
    """
    index, call_id = part.pop("index", None), part.get("id")
    same = [call for call in calls if index is None or call["index"] == index]
    call = same[-1] if same else None
    if call is None or (call_id and call.get("id") and call_id != call["id"]):
        call = {"index": len(calls) if index is None else index}
        calls.append(call)
    name = (call.get("function") or {}).get("name")
    if name and (part.get("function") or {}).get("name") == name:
        del part["function"]["name"]
    _merge(call, part)


def _merge(whole: dict[str, Any], part: dict[str, Any]) -> None:
    """Add a part to the whole: texts and lists grow, objects are merged, null says nothing."""
    for key, value in part.items():
        known = whole.get(key)
        if value is None:
            whole.setdefault(key, None)
        elif isinstance(known, str) and isinstance(value, str) and key not in _WHOLE:
            whole[key] = known + value
        elif isinstance(known, list) and isinstance(value, list):
            known.extend(value)
        elif isinstance(known, dict) and isinstance(value, dict):
            _merge(known, value)
        elif value != "" or known is None:
            whole[key] = value
