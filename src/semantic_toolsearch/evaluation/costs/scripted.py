"""What a user needs and what a request shows in; the next step of a model that always does the same out.

The model searches with the user's own words unless it has what it needs, calls what it needs as soon as it has it, and
ends with a sentence. It never calls a tool whose schema it has not seen, and it never searches twice for one need.
OpenAI's own search has no query: the model names what it wants to load of what it sees listed. How well a model does
that cannot be imitated, so this one names what is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.emulated_search import MAX_QUERY
from semantic_toolsearch.evaluation.costs.sample_arguments import sample_arguments
from semantic_toolsearch.exchange import BRIDGE_TOOL_NAME
from semantic_toolsearch.providers.openai_namespaces import namespaces_of
from semantic_toolsearch.testing.loopback import Call, Parallel, Say, Search

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.evaluation.dataset import Dataset, Query
    from semantic_toolsearch.exchange import Mode, TurnPlan
    from semantic_toolsearch.testing.loopback import RequestView, Step, Surface

__all__ = ["DONE", "NO_TOOL", "RESULT", "Need", "ScriptedModel", "need_of"]

DONE: Final = "That is done; is there anything else that you need?"
NO_TOOL: Final = "I have found no tool that does this, so I cannot help you here."
RESULT: Final = "Done."
"""What each call returns: the same in all modes, and short, since results are no matter of how tools travel."""


@dataclass(frozen=True, slots=True)
class Need:
    """One message of the user and what would answer it.

    Attributes:
        text: The message.
        tools: For each gold tool, the places of the tools that do: itself first, then its copies.
    """

    text: str
    tools: tuple[tuple[int, ...], ...]


def need_of(dataset: Dataset, query: Query) -> Need:
    """Return what a query asks for, as far as the catalog can hold it."""
    return Need(query.text, tuple(filter(None, dataset.standing(query.id).values())))


class ScriptedModel:
    """Decides step by step.

    Args:
        catalog: The tools.
        namespace_max: Most functions of one OpenAI namespace, as the turns are planned with.
    """

    def __init__(self, catalog: Catalog, namespace_max: int | None) -> None:
        self._catalog = catalog
        self._address = namespaces_of(catalog, namespace_max).address
        self._place_of: dict[tuple[str | None, str], int] = {
            **{self._address(place): place for place in range(len(catalog))},
            **{(None, name): place for place, name in enumerate(catalog.wire_names)},
        }
        self._arguments: dict[int, Mapping[str, Any]] = {}
        self._need = Need("", ())
        self._searched = False
        self._tried: set[int] = set()

    def hear(self, need: Need) -> None:
        """Take up the user's next message."""
        self._need, self._searched, self._tried = need, False, set()

    def step(self, view: RequestView, plan: TurnPlan) -> Step:
        """Decide what to do next.

        Args:
            view: The request as its model sees it, with what this response has loaded so far.
            plan: What the request was written from: an open schema alone does not tell a stub from a tool that takes
                nothing.
        """
        known = self._known(view, {*plan.full, *plan.loaded})
        chosen = [next((place for place in group if place in known), None) for group in self._need.tools]
        if None in chosen and not self._searched and view.search is not None:
            self._searched = True
            missing = [
                group[0] for group, found in zip(self._need.tools, chosen, strict=True) if found is None
            ]
            paths = self._paths(missing) if view.search.kind == "paths" else None
            return Search(self._need.text[:MAX_QUERY], paths=paths)
        waiting = dict.fromkeys(place for place in chosen if place is not None and place not in self._tried)
        if waiting:
            self._tried.update(waiting)
            calls = [self._call(place, known[place], plan.mode) for place in waiting]
            return calls[0] if len(calls) == 1 else Parallel(calls)
        return Say(NO_TOOL if None in chosen else DONE)

    def _known(self, view: RequestView, names: set[str]) -> dict[int, Surface | None]:
        """Tools whose schema the model has read, by place, each with the entry to call where there is one."""
        known: dict[int, Surface | None] = {self._catalog.position(name): None for name in names}
        for surface in view.surfaces:
            place = self._place_of.get((surface.namespace if surface.grouped else None, surface.name))
            if place is not None and (surface.loaded or place in known):
                known[place] = surface
        return known

    def _paths(self, places: Iterable[int]) -> tuple[str, ...]:
        """The namespaces that hold these tools, and the names of tools outside of any."""
        addresses = map(self._address, places)
        return tuple(dict.fromkeys(name if space is None else space for space, name in addresses))

    def _call(self, place: int, surface: Surface | None, mode: Mode) -> Call:
        if place not in self._arguments:
            self._arguments[place] = sample_arguments(self._catalog[place])
        given = self._arguments[place]
        if surface is None and mode == "bridge":
            return Call(BRIDGE_TOOL_NAME, {"name": self._catalog.wire_names[place], "arguments": given})
        if surface is None:
            return Call(self._catalog.wire_names[place], given)
        return Call(surface.name, given, namespace=surface.namespace)
