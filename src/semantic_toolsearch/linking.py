"""Messages in; which of them providers accept only together out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semantic_toolsearch.history import MODEL_ROLES, pairs, plain

__all__ = ["kind", "links", "role"]


def links(messages: Sequence[Any]) -> list[tuple[int, int]]:
    """Give pairs of messages, earlier first, that providers accept only together."""
    bound = [(min(pair), max(pair)) for pair in pairs(messages) if pair[0] != pair[1]]
    led = False  # whether the message follows reasoning within one output of the model
    for at, message in enumerate(messages):
        if led and _is_output(message):
            bound.append((at - 1, at))
        else:
            led = kind(message) == "reasoning"
    return bound


def role(message: Any) -> str | None:
    """Return who a message is from; None for items without a role."""
    value = plain(message)
    author = value.get("role", "user" if "parts" in value else None)
    return author if isinstance(author, str) else None


def kind(message: Any) -> str | None:
    """Return the type of an item."""
    sort = plain(message).get("type")
    return sort if isinstance(sort, str) else None


def _is_output(message: Any) -> bool:
    """Whether the model, or the provider within the model's output, wrote a message or item."""
    author, sort = role(message), kind(message)
    if sort == "tool_search_output":
        return plain(message).get("execution") != "client"
    return author in MODEL_ROLES if author else sort is not None and not sort.endswith("_call_output")
