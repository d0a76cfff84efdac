"""The prompts of a conversation's requests in; tokens read from, written to and outside the prompt cache, out.

A provider keeps the beginning of a prompt: tools, then system prompt, then messages. What a prompt shares with an
earlier one from its start is read, the rest is written. A tool that is loaded by changing the tools list costs one
rewrite of everything behind it; one that is loaded by an item in the conversation costs nothing but itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, Literal

from semantic_toolsearch.accounting.counting import TokenCounter, default_counter
from semantic_toolsearch.accounting.wire import definitions, read_by_model
from semantic_toolsearch.exchange import as_dict
from semantic_toolsearch.providers.base import json_text

__all__ = [
    "ANTHROPIC_PRICES",
    "OPENAI_PRICES",
    "UNCACHED",
    "CacheCost",
    "CachePrices",
    "Prompt",
    "TurnCost",
    "cache_cost",
]


@dataclass(frozen=True, slots=True)
class CachePrices:
    """Prices of tokens against an ordinary input token, and what a cache can keep.

    Attributes:
        write: Price of a token that is written to the cache.
        read: Price of a token that is read from it.
        by: Whether a beginning is shared by whole parts (tools list, system prompt, message), as where a client
            sets marks, or up to the first character that differs.
        minimum: Tokens that a prompt must have to be kept.
    """

    write: float
    read: float
    by: Literal["part", "character"] = "part"
    minimum: int = 1_024


ANTHROPIC_PRICES: Final = CachePrices(write=1.25, read=0.1)
"""Anthropic's cache: writes cost a quarter more, and a beginning is shared up to a mark."""

OPENAI_PRICES: Final = CachePrices(write=1.0, read=0.1, by="character")
"""OpenAI's cache: writes cost nothing more."""

UNCACHED: Final = CachePrices(write=1.0, read=1.0)
"""No cache at all."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request, as far as it is a prompt.

    Attributes:
        tools: The ``tools`` list.
        system: System prompt or instructions.
        messages: Messages or items, oldest first.
    """

    tools: Sequence[Mapping[str, Any]] = ()
    system: Any = ""
    messages: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class TurnCost:
    """Input tokens of one request.

    Attributes:
        read: Read from the cache.
        written: Written to it.
        fresh: Neither.
        cost: All of them in ordinary input tokens.
        rewritten: Whether the tools list differs from the request's before, so that nothing behind it is kept.
    """

    read: int
    written: int
    fresh: int
    cost: float
    rewritten: bool


@dataclass(frozen=True, slots=True)
class CacheCost:
    """Input tokens of a conversation.

    Attributes:
        turns: One entry per request.
        label: How the tokens were counted.
    """

    turns: tuple[TurnCost, ...]
    label: str

    @property
    def read(self) -> int:
        """Tokens read from the cache."""
        return sum(turn.read for turn in self.turns)

    @property
    def written(self) -> int:
        """Tokens written to the cache."""
        return sum(turn.written for turn in self.turns)

    @property
    def fresh(self) -> int:
        """Tokens that are neither."""
        return sum(turn.fresh for turn in self.turns)

    @property
    def cost(self) -> float:
        """All of them in ordinary input tokens."""
        return sum(turn.cost for turn in self.turns)

    @property
    def rewrites(self) -> int:
        """Requests whose tools list differs from the one before."""
        return sum(turn.rewritten for turn in self.turns)

    def __str__(self) -> str:
        return (
            f"{len(self.turns)} requests: {self.read:,} tokens read, {self.written:,} written, "
            f"{self.fresh:,} fresh, {self.rewrites} rewrite{'' if self.rewrites == 1 else 's'} of the tools; "
            f"as much as {self.cost:,.0f} tokens ({self.label})"
        )


def cache_cost(
    prompts: Sequence[Prompt],
    *,
    prices: CachePrices = ANTHROPIC_PRICES,
    cached_messages: bool = True,
    counter: TokenCounter | None = None,
) -> CacheCost:
    """Count what the requests of one conversation read from the prompt cache and write to it.

    Entries with ``defer_loading`` are no part of a prompt; the definitions of tools that a message refers to are
    part of that message. What earlier requests wrote is taken to be kept until the last one.

    Args:
        prompts: The requests, in order, as they were or would be sent.
        prices: What a token costs, and what can be kept.
        cached_messages: Whether messages are kept too, or only tools and system prompt.
        counter: How to count; by default as `default_counter` says.
    """
    counter = counter or default_counter()
    sizes: dict[str, int] = {}

    def size(part: str) -> int:
        if part not in sizes:
            sizes[part] = counter.count(part)
        return sizes[part]

    earlier: list[list[str]] = []
    turns: list[TurnCost] = []
    tools_before = ""
    for prompt in prompts:
        parts = list(_parts(prompt))
        kept = parts if cached_messages else parts[:2]
        fresh = sum(map(size, parts[len(kept) :]))
        total = sum(map(size, kept))
        read = max((_shared(kept, before, prices.by, size, counter) for before in earlier), default=0)
        if total < prices.minimum:
            read, written, fresh = 0, 0, total + fresh
        else:
            written = total - read
            earlier.append(kept)
        rewritten = bool(turns) and parts[0] != tools_before
        tools_before = parts[0]
        cost = read * prices.read + written * prices.write + fresh
        turns.append(TurnCost(read, written, fresh, cost, rewritten))
    return CacheCost(tuple(turns), counter.label)


def _parts(prompt: Prompt) -> Iterator[str]:
    yield json_text(read_by_model(prompt.tools)) if prompt.tools else ""
    yield json_text(prompt.system) if prompt.system else ""
    by_name = definitions(prompt.tools)
    for message in prompt.messages:
        plain = as_dict(message)
        referred = [by_name[name] for name in _references(plain) if name in by_name]
        yield _json(plain) + (json_text(referred) if referred else "")


def _json(value: Any) -> str:
    return json_text(_plain(value))


def _plain(value: Any) -> Any:
    """Return a message with the SDK objects inside it as plain JSON."""
    value = as_dict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _references(value: Any) -> Iterator[str]:
    """Give the names of the tools that a message loads by reference."""
    value = as_dict(value)
    if isinstance(value, Mapping):
        if value.get("type") == "tool_reference":
            yield str(value.get("tool_name"))
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _references(item)


def _shared(parts: list[str], before: list[str], by: str, size: Any, counter: TokenCounter) -> int:
    """Return the tokens at the start of two prompts that are the same."""
    pairs = list(zip(parts, before, strict=False))
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    shared = sum(size(part) for part in parts[:same])
    if by == "character" and same < len(pairs):
        common = _common(*pairs[same])
        shared += min(counter.count(common), size(parts[same])) if common else 0
    return int(shared)


def _common(one: str, other: str) -> str:
    """Return the beginning that two texts share; found by halving, since tools lists are long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return one[:low]
