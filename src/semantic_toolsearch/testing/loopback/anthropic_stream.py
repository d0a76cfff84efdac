"""A complete Messages response in; its stream of server-sent events, in the recorded order, out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .anthropic_api import AnthropicSpeaker
from .settings import Settings

__all__ = ["events"]

Event = dict[str, Any]


def events(speaker: AnthropicSpeaker, message: Mapping[str, Any], settings: Settings) -> Iterator[Event]:
    """Yield the events of a response; each has its name under ``type``."""
    start = {**message, "content": [], "stop_reason": None, "usage": speaker.first_usage()}
    yield {"type": "message_start", "message": start}
    if settings.pings:
        yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_search_tool_result" and settings.pings:
            yield {"type": "ping"}
        cut = speaker.raw_inputs.get(index)
        last = index == len(message["content"]) - 1
        yield from _block(index, block, cut, settings.chunk, closed=not (last and speaker.error))
    if speaker.error:
        yield {"type": "error", "error": {"type": speaker.error.type, "message": speaker.error.message}}
        return
    ending = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    usage = {key: value for key, value in message["usage"].items() if key != "service_tier"}
    yield {"type": "message_delta", "delta": ending, "usage": usage}
    yield {"type": "message_stop"}


def _block(
    index: int, block: Mapping[str, Any], cut: str | None, chunk: int, *, closed: bool
) -> Iterator[Event]:
    kind = block["type"]
    if kind == "text":
        yield _start(index, {"type": "text", "text": ""})
        for piece in _pieces(block["text"], chunk):
            yield _delta(index, {"type": "text_delta", "text": piece})
    elif kind in ("tool_use", "server_tool_use"):
        yield _start(index, {**block, "input": {}})
        whole = cut if cut is not None else json.dumps(block["input"]) if block["input"] else ""
        for piece in ("", *_pieces(whole, chunk)):  # the first delta is empty, as recorded
            yield _delta(index, {"type": "input_json_delta", "partial_json": piece})
    else:
        yield _start(index, dict(block))  # a search result comes whole, without deltas
    if closed:
        yield {"type": "content_block_stop", "index": index}


def _start(index: int, block: Mapping[str, Any]) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, delta: Mapping[str, Any]) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
