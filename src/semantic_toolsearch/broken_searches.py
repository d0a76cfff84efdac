"""A stored conversation in; the same without what makes a provider refuse it because of a search that broke off, out.

An interrupted program leaves searches without an answer, answers without a search, and arguments that were cut. With
one of them in the history every later request of the conversation fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.exchange import SEARCH_TOOL_NAME
from semantic_toolsearch.facts import Place
from semantic_toolsearch.history import blocks, plain, unpaired
from semantic_toolsearch.search_records import decoded

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import Api

__all__ = ["without_broken_searches"]

_LISTS: Final = ("content", "tool_calls", "parts")
_THOUGHTS: Final = ("thinking", "redacted_thinking")


def without_broken_searches(messages: Iterable[Any], api: Api) -> list[Any]:
    """Leave out unanswered searches of ours and answers to no call; put arguments right that are no object.

    What needs no change is the caller's own object. Outputs of the Responses format stay, since the provider may
    hold their calls; so does whatever Gemini may pair by its order.
    """
    items = list(messages)
    unanswered, orphans = unpaired(items)
    gone = (
        frozenset[Place]() if api == "gemini" else unanswered if api == "responses" else unanswered | orphans
    )
    kept: list[Any] = []
    for at, message in enumerate(items):
        places = {place for place in gone if place.at == at}
        if left := _mended(message, places):
            kept += left
        elif api == "responses":
            while kept and plain(kept[-1]).get("type") == "reasoning":  # it goes with the call that it led to
                kept.pop()
    return kept


def _mended(message: Any, gone: Collection[Place]) -> list[Any]:
    """Return a message without the parts that stand at these places; nothing where nothing is left of it."""
    if any(place.field is None for place in gone):
        return []
    value = plain(message)
    changed: dict[str, Any] = {}
    for field in _LISTS:
        listed = value.get(field)
        dropped = {place.part for place in gone if place.field == field}
        if not isinstance(listed, (list, tuple)):
            continue
        parts = {place: _readable(part) for place, part in blocks(listed)}
        new = [parts.get(place, part) or part for place, part in enumerate(listed) if place not in dropped]
        if dropped or any(parts.values()):
            changed[field] = new
    if (item := _readable(value)) is not None:
        return [item]
    if not changed:
        return [message]
    rest = {**value, **changed}
    if not rest.get("tool_calls"):
        rest.pop("tool_calls", None)
    return [rest] if not gone or _says_something(rest) else []


def _says_something(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    if isinstance(content, str):
        content = content.strip()
    elif isinstance(content, list):
        content = [part for part in content if plain(part).get("type") not in _THOUGHTS]
    return bool(content or message.get("tool_calls") or message.get("parts"))


def _readable(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """A search of ours with an object of arguments in place of anything else; None where it needs no change."""
    if call.get("type") == "tool_search_call":
        return None if isinstance(call.get("arguments"), Mapping) else {**call, "arguments": {}}
    inner = call.get("function")
    if isinstance(inner, Mapping):
        mended = _readable(inner)
        return None if mended is None else {**call, "function": mended}
    field = "input" if call.get("type") == "tool_use" else "arguments"
    if call.get("name") != SEARCH_TOOL_NAME or field not in call:
        return None
    if isinstance(call[field], Mapping) or (
        field == "arguments" and isinstance(decoded(call[field]), Mapping)
    ):
        return None
    return {**call, field: {} if field == "input" else "{}"}
