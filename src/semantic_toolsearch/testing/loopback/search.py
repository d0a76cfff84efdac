"""A hosted search call and the request's deferred tools in; the tools it finds out. Emulated.

Anthropic's two variants are those of ``emulated_search``. OpenAI publishes no ranking: exact names are loaded, and the
model that would write them is imitated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.emulated_search import (
    Bm25Documents,
    EmulatedSearch,
    SearchFailure,
    results_asked,
    searched_texts,
)
from semantic_toolsearch.names import split_identifier

from .refusal import ScriptError
from .view import Surface

if TYPE_CHECKING:
    from .script import Search

__all__ = ["SearchFailure", "by_bm25", "by_paths", "by_regex", "choose_paths", "fields"]


def fields(surface: Surface) -> tuple[str, ...]:
    """The searched texts of a tool, one for each field."""
    return searched_texts(surface.name, surface.description, surface.parameters)


def by_bm25(query: str, limit: Any, surfaces: Sequence[Surface]) -> list[Surface]:
    """Rank by Okapi BM25 over one joined document a tool; equal scores keep the order of the request.

    Raises:
        SearchFailure: The query is longer than 500 characters.
    """
    ranked = EmulatedSearch(map(fields, surfaces)).by_bm25(query)
    return [surfaces[place] for place in ranked[: results_asked(limit)]]


def by_regex(pattern: str, limit: Any, surfaces: Sequence[Surface]) -> list[Surface]:
    """Return the tools with a field that the pattern matches, in the order of the request.

    Raises:
        SearchFailure: The pattern is too long, is none, or takes too long.
    """
    matching = EmulatedSearch(map(fields, surfaces)).by_regex(pattern)
    return [surfaces[place] for place in islice(matching, results_asked(limit))]


def by_paths(paths: Sequence[str], surfaces: Sequence[Surface]) -> list[Surface]:
    """Return the deferred functions that OpenAI would load: a flat name, a namespace, or ``namespace.function``.

    Unknown paths and repeats are skipped.

    Raises:
        ScriptError: A path means two things.
    """
    deferred = [surface for surface in surfaces if surface.deferred]
    found: list[Surface] = []
    for path in paths:
        flat = [s for s in deferred if not s.grouped and s.name == path]
        group = [s for s in deferred if s.grouped and s.namespace == path]
        one = [s for s in deferred if s.grouped and f"{s.namespace}.{s.name}" == path]
        meanings = [meaning for meaning in (flat, group, one) if meaning]
        if len(meanings) > 1:
            raise ScriptError(f"the path {path!r} is both a function and a namespace")
        found.extend(s for meaning in meanings for s in meaning if not any(s is other for other in found))
    return found


def choose_paths(
    step: Search, up_front: Sequence[Mapping[str, Any]], surfaces: Sequence[Surface] = ()
) -> list[str]:
    """The names that the model loads (emulated).

    Those given, else those that stand in the query, else the best by what the model reads, else, as a lucky guess, by
    what stays hidden in them.
    """
    if step.paths is not None:
        return list(step.paths)
    shown = {_label(entry): entry for entry in up_front if _loadable(entry)}
    words = step.query.split()
    named = [name for name in shown if any(word.strip("`'\".,()") == name for word in words)]
    if named:
        return named
    read = [
        f"{name} {' '.join(split_identifier(name))} {entry.get('description') or entry.get('server_description') or ''}"
        for name, entry in shown.items()
    ]
    hidden = [
        " ".join(text for s in surfaces if s.deferred and s.namespace == name for text in fields(s))
        for name in shown
    ]
    chosen = Bm25Documents(read).ranked(step.query) or Bm25Documents(hidden).ranked(step.query)
    return [list(shown)[position] for position in chosen][: step.limit or 1]


def _label(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or entry.get("server_label") or "")


def _loadable(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == "namespace" or bool(entry.get("defer_loading"))
