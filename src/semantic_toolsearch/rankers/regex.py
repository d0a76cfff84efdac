"""A regular expression in, the tools with a matching field out, in catalog order.

Semantics of Anthropic's hosted regex variant (https://platform.claude.com/docs, "Tool search tool"): Python
syntax, ``search`` rather than ``match``, at most 200 characters, over names, descriptions, argument names and
argument descriptions; case is ignored here. A pattern comes from a model and may be hostile, so it runs in an
engine that can be stopped: when the time is used up, the search ends and says so.
"""

from __future__ import annotations

import time
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from semantic_toolsearch.hostile_patterns import unusable
from semantic_toolsearch.joined_texts import JoinedTexts
from semantic_toolsearch.rankers.protocol import Ranking, Visible
from semantic_toolsearch.schemas import schema_fields
from semantic_toolsearch.word_patterns import folded, listed_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["LONGEST_PATTERN", "RegexRanker"]

LONGEST_PATTERN: Final = 200
"""Characters of a pattern, as in the hosted variant."""

DEFAULT_SECONDS: Final = 0.5

_MOST_REPEATS: Final = 1_000
"""What the counted repeats of a pattern may multiply to."""


class RegexRanker:
    """Finds tools by pattern.

    Args:
        catalog: The tools to search.
        seconds: Time that one search may take, over all tools.
    """

    name = "regex"
    takes_patterns = True

    def __init__(self, catalog: Iterable[ToolDefinition], *, seconds: float = DEFAULT_SECONDS) -> None:
        self._fields = [
            (
                tool.name,
                tool.description,
                *(
                    text
                    for field in schema_fields(tool.parameters)
                    for text in (field.name, field.description)
                ),
            )
            for tool in catalog
        ]
        self._seconds = seconds

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Return the first ``limit`` matching tools in catalog order, all with score 1.

        A pattern that is too long, does not parse or takes too long gives no tool and a note. One that only lists
        words, as most do that models write, is looked for without the engine: at any size in milliseconds.
        """
        import regex

        if fault := _fault(query):
            return _nothing(fault)
        if words := listed_words(query):
            matching = self._texts.holding(map(folded, words))
            return _found(islice((place for place in matching if visible is None or visible[place]), limit))
        try:
            pattern = regex.compile(query, regex.IGNORECASE)
        except (regex.error, RecursionError, OverflowError, ValueError) as error:
            return _nothing(f"The pattern is not a valid regular expression: {error}.")
        deadline = time.monotonic() + self._seconds
        found: list[int] = []
        for position, fields in enumerate(self._fields):
            if visible is not None and not visible[position]:
                continue
            try:
                if any(pattern.search(text, timeout=_left(deadline)) for text in fields):
                    found.append(position)
            except TimeoutError:
                return _nothing(
                    f"The pattern was stopped after {self._seconds:g} seconds; use a simpler one."
                )
            if len(found) == limit:
                break
        return _found(found)

    @cached_property
    def _texts(self) -> JoinedTexts:
        return JoinedTexts(tuple(map(folded, fields)) for fields in self._fields)


def _found(places: Iterable[int]) -> Ranking:
    positions = np.fromiter(places, dtype=np.int64)
    return Ranking(positions, np.ones(len(positions), dtype=np.float32))


def _fault(pattern: str) -> str | None:
    """What forbids even to compile a pattern, or None."""
    if len(pattern) > LONGEST_PATTERN:
        return f"The pattern has more than {LONGEST_PATTERN} characters; use a shorter one."
    return unusable(pattern, _MOST_REPEATS)


def _left(deadline: float) -> float:
    """Seconds until the deadline.

    Raises:
        TimeoutError: It is past.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _nothing(note: str) -> Ranking:
    return Ranking(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32), notes=(note,))
