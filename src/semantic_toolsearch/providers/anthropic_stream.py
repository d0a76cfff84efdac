"""Raw stream events of Anthropic Messages in, the complete message as a dict out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.errors import ConversationError
from semantic_toolsearch.providers import base

__all__ = ["assemble", "input_of"]

INVALID: Final = "INVALID_JSON"
"""Key that wraps a call's input where it is no JSON object: the provider takes nothing but objects back."""

_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_TEXTS: Final = {"text_delta": "text", "thinking_delta": "thinking", "compaction_delta": "content"}


def assemble(events: Iterable[Any]) -> dict[str, Any]:
    """See `anthropic.assemble`."""
    message: dict[str, Any] | None = None
    blocks = _Blocks()
    finished = False
    for event in base.events_of(events, "Anthropic"):
        kind = event.get("type")
        if kind == "message_start":
            message = dict(event["message"])
        elif kind == "message_delta" and message is not None:
            _finish(message, event)
        elif kind == "message_stop":
            finished = True
        else:
            blocks.take(event)
    if message is None:
        raise ConversationError("No message started in this stream of Anthropic's: pass all its raw events.")
    message["content"] = [*(message.get("content") or ()), *blocks.content()]
    if not finished:
        message["stop_reason"] = None
    return message


def input_of(block: Mapping[str, Any]) -> Any:
    """Return the input of a call's block, or the text that was no JSON object."""
    given = block.get("input")
    if isinstance(given, Mapping) and list(given) == [INVALID] and isinstance(given[INVALID], str):
        return given[INVALID]
    return given


class _Blocks:
    """The blocks of one message, as far as they have come."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._ended: set[int] = set()

    def take(self, event: dict[str, Any]) -> None:
        """Take an event of one block; others (pings, what the SDK's helper adds) say nothing new."""
        kind, index = event.get("type"), event.get("index", 0)
        if kind == "content_block_start":
            self._blocks[index] = event["content_block"]
        elif kind == "content_block_delta" and index in self._blocks:
            self._add(index, event["delta"])
        elif kind == "content_block_stop":
            self._ended.add(index)

    def content(self) -> Iterator[dict[str, Any]]:
        """Give the blocks in order, without calls that never ended."""
        for index, block in sorted(self._blocks.items()):
            if block.get("type") not in _CALLS:
                yield block
            elif index in self._ended:
                _set_input(block, "".join(self._inputs.get(index, ())))
                yield block

    def _add(self, index: int, delta: dict[str, Any]) -> None:
        block, kind = self._blocks[index], delta.get("type")
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(delta.get("partial_json") or "")
        elif kind == "signature_delta":
            block["signature"] = delta.get("signature")
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]
        elif kind in _TEXTS:
            key = _TEXTS[kind]
            block[key] = (block.get(key) or "") + (delta.get(key) or "")


def _set_input(block: dict[str, Any], text: str) -> None:
    if not text.strip():
        block.setdefault("input", {})
        return
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = None
    block["input"] = read if isinstance(read, dict) else {INVALID: text}


def _finish(message: dict[str, Any], event: dict[str, Any]) -> None:
    """Take over what the end of a message says; its counts are totals of the whole message."""
    message.update(event.get("delta") or {})
    if isinstance(event.get("usage"), Mapping):
        message["usage"] = base.merged_usage(message.get("usage"), event["usage"])
    rest = ("type", "delta", "usage")
    message.update({key: value for key, value in event.items() if key not in rest and value is not None})
