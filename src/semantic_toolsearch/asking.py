"""Queries and names as a program or a model may send them in; one ``SearchResult`` out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from semantic_toolsearch.events import Searched
from semantic_toolsearch.search_input import as_texts

if TYPE_CHECKING:
    from semantic_toolsearch.rankers.protocol import Visible
    from semantic_toolsearch.results import SearchResult
    from semantic_toolsearch.retriever import Retriever
    from semantic_toolsearch.snapshot import Snapshot

__all__ = ["find", "watched"]


def find(
    retriever: Retriever,
    *,
    query: Any = None,
    queries: Any = (),
    names: Any = (),
    limit: Any = None,
    visible: Visible | None = None,
) -> SearchResult:
    """Answer queries and names in one result; whatever a model sends becomes one that it can act on.

    Args:
        retriever: The rules over one catalog.
        query: A need, a word or a name; see ``ToolSearch.search``.
        queries: Further needs.
        names: Tools wanted by name.
        limit: The most tools to return, save those asked for by name.
        visible: bool ``[n]``, or None for all.
    """
    asked = [*as_texts(query), *as_texts(queries)]
    wanted = as_texts(names)
    if not wanted:
        return retriever.search(asked, limit, visible)
    selected = retriever.select(wanted, visible)
    if not any(text.strip() for text in asked):
        return selected
    return _together(selected, retriever.search(asked, limit, visible))


@contextmanager
def watched(
    snapshot: Snapshot, by: Literal["application", "model"]
) -> Iterator[Callable[[SearchResult], SearchResult]]:
    """Time a search, and tell the snapshot's hook of the result that is passed to what this yields."""
    hook = snapshot.hook
    if hook is None:
        yield lambda result: result
        return
    started = time.perf_counter()

    def tell(result: SearchResult) -> SearchResult:
        seconds = time.perf_counter() - started
        hook.later(Searched.of(result, seconds, by, with_query=snapshot.config.event_queries))
        return result

    try:
        yield tell
    finally:
        hook.flush()


def _together(selected: SearchResult, found: SearchResult) -> SearchResult:
    """Tools asked for by name first, then what the queries found besides."""
    taken = {hit.position for hit in selected.tools}
    tools = (*selected.tools, *(hit for hit in found.tools if hit.position not in taken))
    return replace(
        found,
        query=" | ".join(filter(None, (selected.query, found.query))),
        outcome="matched" if tools else found.outcome,
        tools=tools,
        hints=tuple(hit for hit in found.hints if hit.position not in taken),
        names=() if tools else found.names,
        namespaces=() if tools else found.namespaces,
        unknown=selected.unknown,
        notes=(*selected.notes, *found.notes),
    )
