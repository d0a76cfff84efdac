"""Tools that would do as well as a gold tool in; the gold tool that each one stands for out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.names import split_identifier, squash

__all__ = ["jaccard", "stood_for"]

_WORD = re.compile(r"\w+")
_SEPARATOR = re.compile(r"__|[./:]")


def stood_for(copy: ToolDefinition | None, golden: Sequence[tuple[str, ToolDefinition | None]]) -> str:
    """Return the id of the gold tool that a near copy stands for.

    It is the only one there is; else the one whose own name (behind the last ``.``, ``/``, ``:`` or ``__``) is
    the same; where several or none have it, of these the one that has the most words in common, or the first.

    Args:
        copy: The near copy; None where its definition cannot be used.
        golden: Ids and definitions of the gold tools, at least one.
    """
    if len(golden) == 1 or copy is None:
        return golden[0][0]
    leaf = _leaf(copy)
    chosen = [each for each in golden if each[1] is not None and _leaf(each[1]) == leaf] or golden
    return max(chosen, key=lambda each: 0.0 if each[1] is None else jaccard(_text(copy), _text(each[1])))[0]


def jaccard(one: str, other: str) -> float:
    """Jaccard index of the words of two texts, 0 to 1: the share of all words that both have."""
    mine, others = _words(one), _words(other)
    return len(mine & others) / max(1, len(mine | others))


def _leaf(tool: ToolDefinition) -> str:
    return squash(_SEPARATOR.split(tool.name.rstrip("./:_"))[-1]) or squash(tool.name)


def _text(tool: ToolDefinition) -> str:
    return " ".join((*split_identifier(tool.name), tool.description))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
