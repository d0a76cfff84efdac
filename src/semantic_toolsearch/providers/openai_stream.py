"""Raw events of a Responses stream in, the complete response as a dict out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from semantic_toolsearch.errors import ConversationError
from semantic_toolsearch.providers.base import events_of, raise_error_of
from semantic_toolsearch.providers.malformed import reads_streams

__all__ = ["PROVIDER", "assemble"]

PROVIDER: Final = "OpenAI's Responses API"

_FINAL: Final = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")

# What arrives in pieces, by the field of the item that the pieces make up.
_PIECES: Final = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


@reads_streams(PROVIDER)
def assemble(events: Iterable[Any]) -> dict[str, Any]:
    """Return the response that a stream makes up, its output equal to that of the same response unstreamed.

    Items stand by ``output_index``. The finished item counts, not the one announced: its ``call_id`` may
    differ. An item that never finished is marked incomplete, and so is the response when the stream broke
    off. Events of unknown types are passed over.

    Args:
        events: Raw events, dicts or SDK objects, as ``responses.create(stream=True)`` gives them.

    Raises:
        ConversationError: An event reports an error, or there was nothing in the stream.
    """
    response: dict[str, Any] | None = None
    items: dict[int, dict[str, Any]] = {}
    finished: set[int] = set()
    ended = False
    for event in events_of(events, PROVIDER):
        kind = event.get("type")
        if kind == "error":
            raise_error_of({"error": {**event, "type": event.get("code")}}, PROVIDER)
        if isinstance(event.get("response"), dict):
            response, ended = event["response"], ended or kind in _FINAL
        elif kind in ("response.output_item.added", "response.output_item.done"):
            place = event.get("output_index", len(items))
            if isinstance(event.get("item"), dict) and place not in finished:
                items[place] = event["item"]
                if kind == "response.output_item.done":
                    finished.add(place)
        elif kind in _PIECES and (item := items.get(event.get("output_index", -1))) is not None:
            item[_PIECES[kind]] = (item.get(_PIECES[kind]) or "") + str(event.get("delta", ""))
    if response is None and not items:
        raise ConversationError(f"The stream of {PROVIDER} held no response: was it read to its end before?")
    return _joined(response or {"object": "response"}, items, finished, ended)


def _joined(
    response: dict[str, Any], items: dict[int, dict[str, Any]], finished: set[int], ended: bool
) -> dict[str, Any]:
    """Put the items into the response as its last event had it."""
    own = response.get("output") or []
    output = []
    for place in sorted({*range(len(own)), *items}):
        if place in items and (place in finished or place >= len(own)):
            item = items[place]
            output.append(item if place in finished else {**item, "status": "incomplete"})
        else:
            output.append(own[place])
    response = {**response, "output": output}
    if not ended:
        response |= {"status": "incomplete", "incomplete_details": {"reason": "stream_ended"}}
    return response
