"""The tools of a general agent in full and deferred in; the bytes and tokens that deferring saves, row by row, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from semantic_toolsearch.accounting.counting import TokenCounter, default_counter
from semantic_toolsearch.exchange import search_tool
from semantic_toolsearch.providers.base import json_text
from semantic_toolsearch.surface import deferred_surface, full_surface

__all__ = ["SizeRow", "measure_surface"]


@dataclass(frozen=True, slots=True)
class SizeRow:
    """One comparison of the surface in full and deferred.

    Attributes:
        name: What is compared.
        full: Bytes in full, as compact JSON.
        deferred: Bytes with eighteen tools deferred.
        full_tokens: Tokens in full.
        deferred_tokens: Tokens deferred.
        label: How the tokens were counted.
    """

    name: str
    full: int
    deferred: int
    full_tokens: int
    deferred_tokens: int
    label: str

    @property
    def saved(self) -> float:
        """Share of the bytes that deferring saves, 0 to 1."""
        return 1 - self.deferred / self.full

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return {
            "name": self.name,
            "full_bytes": self.full,
            "deferred_bytes": self.deferred,
            "saved": round(self.saved, 4),
            "full_tokens": self.full_tokens,
            "deferred_tokens": self.deferred_tokens,
            "tokens_by": self.label,
        }


def measure_surface(counter: TokenCounter | None = None) -> list[SizeRow]:
    """Measure the tools list, its parameter schemas, and the list with this library's own search tool.

    Args:
        counter: How to count tokens; by default as `accounting.default_counter` says.
    """
    counter = counter or default_counter()
    full, deferred = full_surface(), deferred_surface()
    own = search_tool(offer_limit=True, max_limit=20)
    ours = {"name": own.name, "description": own.description, "parameters": own.parameters}
    return [
        _row("tools list", [json_text(full)], [json_text(deferred)], counter),
        _row("parameter schemas", _schemas(full), _schemas(deferred), counter),
        _row(
            "the list, with our own search tool only where deferred",
            [json_text(full[:-1])],
            [json_text([*deferred[:-1], ours])],
            counter,
        ),
    ]


def _schemas(tools: Sequence[dict[str, Any]]) -> list[str]:
    return [json_text(tool["parameters"]) for tool in tools]


def _row(name: str, full: list[str], deferred: list[str], counter: TokenCounter) -> SizeRow:
    before, after = "".join(full), "".join(deferred)
    return SizeRow(
        name,
        len(before.encode()),
        len(after.encode()),
        counter.count(before),
        counter.count(after),
        counter.label,
    )
