"""Tools, queries and judgements in; one checked, immutable dataset out."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import DatasetError

__all__ = ["Dataset", "Query", "drawn", "told_apart"]

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody asks for.

    Attributes:
        id: Unique in its dataset.
        text: The words, as a user or a model writes them.
        split: ``dev`` to choose settings on, ``test`` to report.
        kind: What makes it hard (``paraphrase``, ``misspelt``, ...), or None where nobody said.
        language: BCP-47 tag, or None.
        part: Which part of its source it comes from, or None.
        answerable: Whether a tool of the dataset answers it; one that is not has no gold tools.
    """

    id: str
    text: str
    split: str = "test"
    kind: str | None = None
    language: str | None = None
    part: str | None = None
    answerable: bool = True


@dataclass(frozen=True)
class Dataset:
    """A catalog with queries of which is known what answers them.

    A tool's *place* is its index in ``tools``, which is its position in ``catalog`` too.

    Attributes:
        name: Name of the task, as tables show it.
        tools: The usable tools.
        ids: One id a tool, in the same order.
        queries: The queries, in the order of their file.
        gold: By query id, the ids of the tools that answer it with their grade, at least 1.
        copies: By query id, the ids of near copies of gold tools, each with the gold tool that it stands for. To
            find a copy is to find its gold tool.
        unusable: By tool id, why a definition cannot be used. It may be gold, and is then never found.
        sha256: Hash of each file that the dataset was read from.
        description: Where it comes from, in a sentence.

    Raises:
        DatasetError: An id occurs twice or is unknown, an answerable query has no gold tool, or another one has.
    """

    name: str
    tools: tuple[ToolDefinition, ...]
    ids: tuple[str, ...]
    queries: tuple[Query, ...]
    gold: Mapping[str, Mapping[str, int]]
    copies: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)
    description: str = ""

    def __post_init__(self) -> None:
        if len(self.tools) != len(self.ids):
            raise DatasetError(
                f"{self.name}: {len(self.tools)} tools have {len(self.ids)} ids; give one each."
            )
        known = {*self.ids, *self.unusable}
        for what, ids in (("tool", self.ids), ("query", [query.id for query in self.queries])):
            if twice := [each for each, count in Counter(ids).items() if count > 1]:
                raise DatasetError(f"{self.name}: the {what} id {twice[0]!r} occurs twice.")
        for query in self.queries:
            golden = self.gold.get(query.id, {})
            if bool(golden) != query.answerable:
                wrong = "is said to be unanswerable but has" if golden else "has no"
                raise DatasetError(f"{self.name}: the query {query.id!r} {wrong} gold tools.")
            copies = self.copies.get(query.id, {})
            for tool in (*golden, *copies):
                if tool not in known:
                    raise DatasetError(
                        f"{self.name}: the query {query.id!r} names the unknown tool {tool!r}."
                    )
            for stood_for in copies.values():
                if stood_for not in golden:
                    raise DatasetError(
                        f"{self.name}: {stood_for!r} has a copy but is not gold for {query.id!r}."
                    )

    @cached_property
    def catalog(self) -> Catalog:
        """The tools, as searches take them.

        Raises:
            DatasetError: Two tools have the same namespace and name; see ``told_apart``.
        """
        catalog = Catalog(self.tools)
        if len(catalog) != len(self.tools):
            raise DatasetError(f"{self.name}: {catalog.report.quarantined[0]}")
        return catalog

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Place of each usable tool by its id."""
        return {each: place for place, each in enumerate(self.ids)}

    def gold_places(self, query: str) -> tuple[int, ...]:
        """Places of the usable gold tools of a query, in the order of the judgements."""
        return tuple(self.places[tool] for tool in self.gold.get(query, {}) if tool in self.places)

    def copy_places(self, query: str) -> tuple[int, ...]:
        """Places of the usable copies of a query's gold tools."""
        return tuple(self.places[tool] for tool in self.copies.get(query, {}) if tool in self.places)

    def right_places(self, query: str) -> tuple[int, ...]:
        """Places of the usable gold tools of a query and of their copies."""
        return (*self.gold_places(query), *self.copy_places(query))

    def standing(self, query: str) -> dict[str, tuple[int, ...]]:
        """For each gold tool of a query, places of the usable tools that stand for it: itself, then its copies."""
        of_copies: dict[str, list[int]] = {tool: [] for tool in self.gold.get(query, {})}
        for copy, original in self.copies.get(query, {}).items():
            if copy in self.places:
                of_copies[original].append(self.places[copy])
        return {
            tool: (*((self.places[tool],) if tool in self.places else ()), *copies)
            for tool, copies in of_copies.items()
        }

    def only(self, queries: Iterable[Query]) -> Dataset:
        """The same tools with some of the queries."""
        chosen = tuple(queries)
        return replace(self, queries=chosen, gold={query.id: self.gold.get(query.id, {}) for query in chosen})

    def split(self, name: str, most: int | None = None, seed: int = 7) -> Dataset:
        """The same tools with the queries of one split.

        Args:
            name: The split.
            most: Queries to keep at most, drawn with the seed and left in their order; None for all.
            seed: Of the draw.

        Raises:
            DatasetError: The split has no query.
        """
        queries = [query for query in self.queries if query.split == name]
        if not queries:
            splits = ", ".join(sorted({query.split for query in self.queries})) or "no queries at all"
            raise DatasetError(f"{self.name}: no query is of the split {name!r}; there is: {splits}.")
        return self.only(queries if most is None else drawn(queries, most, seed))

    def with_tools(self, places: Sequence[int]) -> Dataset:
        """The same queries over some of the tools; gold tools that are left out can no longer be found."""
        kept = set(places)
        left_out = {self.ids[place]: "left out" for place in range(len(self.tools)) if place not in kept}
        golden = {tool for judged in (*self.gold.values(), *self.copies.values()) for tool in judged}
        return replace(
            self,
            tools=tuple(self.tools[place] for place in places),
            ids=tuple(self.ids[place] for place in places),
            unusable={**self.unusable, **{tool: why for tool, why in left_out.items() if tool in golden}},
        )


def drawn(items: Sequence[Item], most: int, seed: int) -> Sequence[Item]:
    """Draw some of the items.

    Args:
        items: What to draw from.
        most: How many at most; all of them where there are no more.
        seed: Of the draw; the same one draws the same items.

    Returns:
        The items in their order.
    """
    if len(items) <= most:
        return items
    return [items[place] for place in sorted(random.Random(seed).sample(range(len(items)), most))]


def told_apart(tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """The tools with a number behind the namespace where an earlier one has the same namespace and name.

    Public collections hold many tools of one name, as several servers offer them; a catalog keeps the first only.
    """
    taken = {tool.identity for tool in tools}
    seen: Counter[tuple[str | None, str]] = Counter()
    told = []
    for tool in tools:
        identity = tool.identity
        seen[identity] += 1
        if seen[identity] > 1:
            while (namespace := _numbered(tool.namespace, seen[identity]), tool.name) in taken:
                seen[identity] += 1
            taken.add((namespace, tool.name))
            tool = tool.model_copy(update={"namespace": namespace})
        told.append(tool)
    return tuple(told)


def _numbered(namespace: str | None, number: int) -> str:
    return str(number) if namespace is None else f"{namespace} {number}"
