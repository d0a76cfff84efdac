"""Every sentence that a model reads from this library, in one place; the same inputs give the same text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.hidden_text import seen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semantic_toolsearch.exchange import Mode
    from semantic_toolsearch.results import Hit, SearchResult

__all__ = [
    "INSTRUCTIONS",
    "forbidden_to_programs",
    "gone",
    "ignored_deferral",
    "no_room",
    "note",
    "refused",
    "unknown_tool",
]

INSTRUCTIONS: Final[dict[str, str]] = {
    "stub": (
        "Some tools are listed without their parameters. Before calling one of them, load it with tool_search, by what "
        "it does or by its name; its parameters come with your next turn. Tools with parameters need no search."
    ),
    "reference": (
        "More tools exist than you can see. When none of yours fits, look for one with tool_search, by what it should "
        "do or by its name; what it finds can be called at once."
    ),
    "output": (
        "More tools exist than you can see. When none of yours fits, look for one with tool_search, by what it should "
        "do or by its name; what it finds can be called at once."
    ),
    "bridge": (
        "More tools exist than you can see. When none of yours fits, look for one with tool_search, by what it should "
        "do or by its name, and call what it finds through call_tool, with arguments that follow the schema shown."
    ),
}
"""The note for the system prompt in each mode in which our search answers."""

MISSES_BEFORE_STOP: Final = 2
"""Misses in a row after which the next one says to stop searching."""


def note(
    mode: Mode, result: SearchResult, loaded: Sequence[str], available: Sequence[Hit], misses: int
) -> str:
    """What the model can do after a search."""
    if result.outcome != "matched" and not result.total:
        return "There are no tools to search here. Go on without, or tell the user that there is no tool for this."
    if result.outcome == "browse":
        return "These are names only; nothing was loaded. Search for what you need, or load tools by their names."
    sentences = []
    if loaded:
        sentences.append(
            "Call them through call_tool."
            if mode == "bridge"
            else "These tools are loaded: call them from your next turn."
        )
    if available:
        listed = ", ".join(hit.name for hit in available)
        sentences.append(f"You have {listed} already: call it directly.")
    if sentences:
        return " ".join(sentences)
    if misses >= MISSES_BEFORE_STOP:
        return (
            "Nothing matched again. Stop searching: go on with the tools you have, or tell the user that you found no "
            "tool for this."
        )
    hint = " Tools that might fit are listed as hints; load one by its name." if result.hints else ""
    return (
        "Nothing matched this query; that does not mean that no tool can do it. Use other words, or load a tool by a "
        f"name from the list.{hint}"
    )


def no_room(names: Sequence[str]) -> str:
    """A search found more than the next request can carry."""
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"No more tools fit into one request; found, but not loaded: {shown}."


def unknown_tool(name: str, similar: Sequence[str], *, searchable: bool) -> str:
    """A call of something that no visible tool is called."""
    hint = f" Nearest: {', '.join(similar)}." if similar else ""
    advice = " Find tools with a tool search." if searchable else ""
    return f"There is no tool called {name[:100]!r}; nothing was run.{hint}{advice}"


def gone(name: str) -> str:
    """A call of a tool that the conversation had loaded and that no visible tool is now."""
    return (
        f"{name[:100]!r} cannot be used now: its server is not connected, or it is not meant for you. Nothing was run. "
        "Go on without it or try later."
    )


def forbidden_to_programs(name: str) -> str:
    """A program calls a tool that was never loaded."""
    return f"{name} is not loaded, and programs cannot search: load it with a tool search first. Nothing was run."


def refused(name: str, parameters: dict[str, Any]) -> str:
    """A call of an unloaded tool, where those are not run unseen."""
    schema = json.dumps(seen(parameters), ensure_ascii=False)
    return (
        f"{name} was not loaded, so nothing was run. It is loaded now; call it again by this schema: {schema}"
    )


def ignored_deferral(names: Sequence[str]) -> str:
    """For the programmer: the model called deferred tools at once."""
    return (
        f"The model called {', '.join(names)} without any search, although nothing had loaded it: the way to the model "
        "seems to ignore deferral and to send every schema. Name it with transport=, or use prefer='client'."
    )
