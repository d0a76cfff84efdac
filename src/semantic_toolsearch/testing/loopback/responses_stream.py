"""A complete response of the Responses interface in; its stream of events, in the recorded order, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .responses_api import ResponsesSpeaker
from .settings import Settings

__all__ = ["events"]

Event = dict[str, Any]


def events(speaker: ResponsesSpeaker, settings: Settings, new_id: Callable[[str], str]) -> Iterator[Event]:
    """Yield the numbered events of a response; each has its name under ``type``."""
    for number, event in enumerate(_events(speaker, settings, new_id)):
        yield {**event, "sequence_number": number}


def _events(speaker: ResponsesSpeaker, settings: Settings, new_id: Callable[[str], str]) -> Iterator[Event]:
    started = speaker.response(status="in_progress", output=[])
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}
    for index, item in enumerate(speaker.view.emitted):
        added = _added(item)
        if item["type"] == "tool_search_call" and item["execution"] == "client" and settings.change_call_id:
            added["call_id"] = new_id("call_")  # recorded: another one than in the finished item
        yield {"type": "response.output_item.added", "output_index": index, "item": added}
        yield from _parts(index, item, settings.chunk)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    if speaker.error:
        yield {"type": "error", "code": speaker.error.type, "message": speaker.error.message, "param": None}
        return
    whole = speaker.response()
    yield {"type": f"response.{whole['status']}", "response": whole}


def _added(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as it is announced: empty where deltas follow, but a search's output is complete at once."""
    empty: dict[str, Any] = {"status": "in_progress"}
    if item["type"] == "message":
        empty["content"] = []
    elif item["type"] == "custom_tool_call":
        empty["input"] = ""
    elif item["type"] == "function_call":
        empty["arguments"] = ""
    elif item["type"] == "tool_search_call":
        empty["arguments"] = {}
    return {**item, **empty}


def _parts(index: int, item: Mapping[str, Any], chunk: int) -> Iterator[Event]:
    place = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        part = item["content"][0]
        inside = {**place, "content_index": 0}
        yield {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}
        for piece in _pieces(part["text"], chunk):
            yield {
                "type": "response.output_text.delta", **inside, "delta": piece, "logprobs": [], "obfuscation": "x",
            }  # fmt: skip
        yield {"type": "response.output_text.done", **inside, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **inside, "part": part}
    elif item["type"] in ("function_call", "custom_tool_call"):
        custom = item["type"] == "custom_tool_call"
        name, key = (
            ("custom_tool_call_input", "input") if custom else ("function_call_arguments", "arguments")
        )
        for piece in _pieces(item[key], chunk):
            yield {"type": f"response.{name}.delta", **place, "delta": piece, "obfuscation": "x"}
        yield {"type": f"response.{name}.done", **place, key: item[key]}


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
