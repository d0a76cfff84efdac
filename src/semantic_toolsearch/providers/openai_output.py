"""A Responses output in, its calls and searches out; the answer to a call in, the item that carries it out.

Reading goes by ``type`` on plain dicts and takes what it needs: the items are replayed as received.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.exchange import (
    BRIDGE_TOOL_NAME,
    SEARCH_TOOL_NAME,
    ParsedResponse,
    RawCall,
    SearchCall,
)
from semantic_toolsearch.providers.base import (
    parse_arguments,
    parsed,
    read_call,
    response_of,
    wire_text,
)
from semantic_toolsearch.providers.malformed import reads_responses
from semantic_toolsearch.providers.openai_stream import PROVIDER

__all__ = ["call_result", "output_item", "parse"]

_CALLS: Final = ("function_call", "custom_tool_call", "tool_search_call")


@reads_responses(PROVIDER)
def parse(response: Any) -> ParsedResponse:
    """Read a complete response: its calls and client-executed searches, in the order of its output.

    Args:
        response: A response of the API as a dict or SDK object, or what `assemble` returns.

    Returns:
        ``stop`` is the reason of an incomplete response, else its status. ``complete`` is False for every
        status but ``completed``, and where a call is marked incomplete. A custom tool's text is its argument
        ``input``.

    Raises:
        ConversationError: It is an error body, or no response of this API.
    """
    body = response_of(response, "output", PROVIDER)
    items = [item for item in body["output"] or () if isinstance(item, Mapping)]
    status = body.get("status")
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    cut = any(item.get("type") in _CALLS and item.get("status") == "incomplete" for item in items)
    return parsed(
        _calls(items),
        stop=reason or status,
        complete=status in (None, "completed") and not cut,
        open_searches=_open_searches(items),
    )


def call_result(call: RawCall, text: str, *, is_error: bool = False) -> dict[str, Any]:
    """Return the item that answers a call.

    Args:
        call: The call as `parse` gave it; its caller goes back with the answer.
        text: What the model reads.
        is_error: Whether it failed; this API has no field for it, so the text must say so itself.
    """
    custom = call.raw.get("type") == "custom_tool_call"
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return output_item(kind, call.id, wire_text(text), call.caller)


def _calls(items: Iterable[Mapping[str, Any]]) -> Iterator[RawCall | SearchCall]:
    for item in items:
        kind, identity = item.get("type"), str(item.get("call_id") or item.get("id") or "")
        if kind == "tool_search_call" and item.get("execution") == "client":
            yield SearchCall(identity, parse_arguments(item.get("arguments")), item)
        elif kind in ("function_call", "custom_tool_call"):
            name, namespace, caller = str(item.get("name")), item.get("namespace"), item.get("caller")
            if name in (SEARCH_TOOL_NAME, BRIDGE_TOOL_NAME) and namespace == name:
                namespace = None
            custom = kind == "custom_tool_call"
            yield read_call(
                id=identity,
                name=name,
                namespace=namespace if isinstance(namespace, str) else None,
                arguments={"input": item.get("input", "")} if custom else item.get("arguments"),
                caller=caller if isinstance(caller, Mapping) else None,
                raw=item,
            )


def _open_searches(items: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return ids of hosted searches without an output; they have no call id and are paired in order."""
    waiting: list[str] = []
    for item in items:
        if item.get("execution", "server") != "server":
            continue
        if item.get("type") == "tool_search_call":
            waiting.append(str(item.get("id") or ""))
        elif item.get("type") == "tool_search_output" and waiting:
            waiting.pop(0)
    return tuple(waiting)


def output_item(kind: str, identity: str, text: str, caller: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return an output item; the caller of a program's call goes back with it."""
    item: dict[str, Any] = {"type": kind, "call_id": wire_text(identity), "output": text}
    return {**item, "caller": dict(caller)} if isinstance(caller, Mapping) else item
