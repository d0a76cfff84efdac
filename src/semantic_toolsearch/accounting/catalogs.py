"""A catalog in; what its tools cost per turn, in full and deferred, by namespace, out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.accounting.counting import TokenCounter, default_counter
from semantic_toolsearch.exchange import search_tool
from semantic_toolsearch.providers.base import cut_description, stub_schema, wire_schema

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog

__all__ = ["CatalogCost", "NamespaceCost", "ToolCost", "report", "search_tool_cost", "tool_costs"]

_MAX_LIMIT = 20


@dataclass(frozen=True, slots=True)
class ToolCost:
    """Tokens of one tool in a request.

    Attributes:
        name: Wire name.
        full: With its schema.
        stub: With an open schema.
    """

    name: str
    full: int
    stub: int


@dataclass(frozen=True, slots=True)
class NamespaceCost:
    """Tokens that the tools of one namespace cost per turn.

    Attributes:
        namespace: The namespace, or None for the tools without one.
        tools: Number of tools.
        full: Tokens with all schemas.
        deferred: Tokens with stubs, the tools that are never deferred in full.
    """

    namespace: str | None
    tools: int
    full: int
    deferred: int

    @property
    def difference(self) -> int:
        """What deferring saves per turn."""
        return self.full - self.deferred


@dataclass(frozen=True, slots=True)
class CatalogCost:
    """Tokens that a catalog costs per turn, before any tool is loaded.

    Attributes:
        namespaces: One entry per namespace, in catalog order.
        search: Tokens of the search tool, which only deferring needs.
        label: How the tokens were counted.
    """

    namespaces: tuple[NamespaceCost, ...]
    search: int
    label: str

    @property
    def tools(self) -> int:
        """Number of tools."""
        return sum(part.tools for part in self.namespaces)

    @property
    def full(self) -> int:
        """Tokens per turn with all schemas."""
        return sum(part.full for part in self.namespaces)

    @property
    def deferred(self) -> int:
        """Tokens per turn with stubs and the search tool."""
        return sum(part.deferred for part in self.namespaces) + self.search

    @property
    def difference(self) -> int:
        """What deferring saves per turn; negative where it costs more."""
        return self.full - self.deferred

    def __str__(self) -> str:
        rows = [("namespace", "tools", "full", "deferred", "difference")]
        rows += [
            (
                part.namespace or "-",
                f"{part.tools:,}",
                f"{part.full:,}",
                f"{part.deferred:,}",
                f"{part.difference:,}",
            )
            for part in self.namespaces
        ]
        rows.append(("search tool", "1", "0", f"{self.search:,}", f"{-self.search:,}"))
        rows.append(
            ("all", f"{self.tools:,}", f"{self.full:,}", f"{self.deferred:,}", f"{self.difference:,}")
        )
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(row[column].rjust(widths[column]) for column in range(1, 5))]
            )
            for row in rows
        ]
        return "\n".join([f"Tokens per turn ({self.label})", *lines])


def report(
    catalog: Catalog, *, keep: Collection[str] = (), counter: TokenCounter | None = None
) -> CatalogCost:
    """Count what sending all of a catalog costs per turn, and what deferring it costs instead.

    Args:
        catalog: The tools; those with the policy ``never`` are sent in full either way.
        keep: Further names of tools that stay in full.
        counter: How to count; by default as `default_counter` says.

    Raises:
        UnknownToolError: `keep` names a tool that the catalog does not hold.
    """
    counter = counter or default_counter()
    kept = {catalog.position(name) for name in keep}
    sums: dict[str | None, list[int]] = {}
    for place, cost in enumerate(tool_costs(catalog, counter)):
        tool = catalog.tools[place]
        row = sums.setdefault(tool.namespace, [0, 0, 0])
        in_full = tool.defer == "never" or place in kept
        row[0] += 1
        row[1] += cost.full
        row[2] += cost.full if in_full else cost.stub
    parts = tuple(NamespaceCost(namespace, *row) for namespace, row in sums.items())
    return CatalogCost(parts, search_tool_cost(counter), counter.label)


def tool_costs(catalog: Catalog, counter: TokenCounter) -> Iterator[ToolCost]:
    """Give the tokens of each tool, in catalog order."""
    for name, tool in zip(catalog.wire_names, catalog, strict=True):
        full = _entry(name, tool.description, wire_schema(tool))
        stub = _entry(name, cut_description(tool.description), stub_schema())
        yield ToolCost(name, counter(full), counter(stub))


def search_tool_cost(counter: TokenCounter) -> int:
    """Return the tokens of the search tool."""
    own = search_tool(offer_limit=True, max_limit=_MAX_LIMIT)
    return counter(_entry(own.name, own.description, own.parameters))


def _entry(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": schema}
