"""A prepared arm and a dataset in; what it loads where nothing fits, and whether bare names come first, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.evaluation.dataset import Query, drawn
from semantic_toolsearch.evaluation.measuring.collecting import collected
from semantic_toolsearch.evaluation.measuring.returned import nothing_loaded

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.answers import PreparedArm
    from semantic_toolsearch.evaluation.dataset import Dataset

__all__ = ["Strangers", "probe_figures", "some_queries", "strangers_to"]

_SMALL_CATALOG: Final = 500
"""Tools below which another task's query is taken to have no answer."""


@dataclass(frozen=True, slots=True)
class Strangers:
    """A few queries of one dataset, to be asked of others.

    Attributes:
        task: Name of the dataset.
        queries: Each query with the names of its gold tools and their copies.
    """

    task: str
    queries: tuple[tuple[Query, frozenset[str]], ...]


def some_queries(dataset: Dataset, most: int, seed: int) -> Strangers:
    """Draw at most so many answerable queries of a dataset."""
    chosen = drawn([query for query in dataset.queries if query.answerable], most, seed)
    named = [
        (query, frozenset(dataset.tools[place].name for place in dataset.right_places(query.id)))
        for query in chosen
    ]
    return Strangers(dataset.name, tuple(named))


def strangers_to(dataset: Dataset, others: Sequence[Strangers]) -> list[Query]:
    """Queries of other datasets that no tool of a small one answers, as far as the names of their right tools tell."""
    if len(dataset.tools) >= _SMALL_CATALOG:
        return []
    names = {tool.name for tool in dataset.tools}
    return [
        replace(query, id=f"{other.task}/{query.id}", answerable=False)
        for other in others
        if other.task != dataset.name
        for query, right in other.queries
        if not right & names
    ]


def probe_figures(
    prepared: PreparedArm, dataset: Dataset, strangers: Sequence[Query], *, most: int, seed: int
) -> dict[str, float]:
    """Ask what the dataset's own queries do not.

    Args:
        prepared: What is asked; tools must be allowed to be hidden from it.
        dataset: Its tools and queries.
        strangers: As ``strangers_to`` gives them.
        most: Queries, and names, to ask at most; 0 for none.
        seed: Of both draws.

    Returns:
        Shares, 0 to 1, of what there is to ask: ``nothing_without_gold``, queries that load nothing when their gold
        tools are hidden; ``nothing_for_strangers``, strangers that load nothing; ``named_first``, tools that come first
        when their name in backticks is the query.
    """
    figures: dict[str, float] = {}
    right = {query.id: dataset.right_places(query.id) for query in dataset.queries if query.answerable}
    asked = drawn([query for query in dataset.queries if right.get(query.id)], most, seed)
    if asked:
        figures["nothing_without_gold"] = nothing_loaded(collected(prepared, asked, right).values())
    if strangers:
        figures["nothing_for_strangers"] = nothing_loaded(collected(prepared, strangers).values())
    named = drawn(list(enumerate(dataset.tools)), most, seed)
    if named:
        spelled = [Query(str(place), f"`{tool.name}`") for place, tool in named]
        answers = collected(prepared, spelled)
        first = [
            bool(found := answers[str(place)].ranked) and dataset.tools[found[0]].name == tool.name
            for place, tool in named
        ]
        figures["named_first"] = sum(first) / len(first)
    return figures
