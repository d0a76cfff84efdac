"""A regular expression in, the tools with a matching field out, in catalog order.

Semantics of Anthropic's hosted regex variant (https://platform.claude.com/docs, "Tool search tool"): Python
syntax, ``search`` rather than ``match``, at most 200 characters, over names, descriptions, argument names and
argument descriptions; case is ignored here. A pattern comes from a model and may be hostile, so it runs in an
engine that can be stopped: when the time is used up, the search ends and says so.
"""

from __future__ import annotations

import time
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from semantic_toolsearch.rankers.protocol import Ranking, Visible
from semantic_toolsearch.schemas import schema_fields

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog

__all__ = ["LONGEST_PATTERN", "RegexRanker"]

LONGEST_PATTERN: Final = 200
DEFAULT_SECONDS: Final = 0.25

_MOST_REPEATS: Final = 1_000
"""Counted repeats multiply: the engine unrolls ``(a{1000}){1000}`` into memory before any time bound can act."""


class RegexRanker:
    """Finds tools by pattern.

    Args:
        catalog: The tools to search.
        seconds: Time that one search may take, over all tools.
    """

    name = "regex"

    def __init__(self, catalog: Catalog, *, seconds: float = DEFAULT_SECONDS) -> None:
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

        A pattern that is too long, does not parse or takes too long gives no tool and a note.
        """
        import regex

        if len(query) > LONGEST_PATTERN:
            return _fault(f"The pattern has {len(query)} characters; at most {LONGEST_PATTERN} are allowed.")
        if prod(max(1, int(count)) for count in regex.findall(r"(?<=[{,]\s*)\d+", query)) > _MOST_REPEATS:
            return _fault(
                f"The pattern's counted repeats multiply to over {_MOST_REPEATS}; use * or + instead."
            )
        try:
            pattern = regex.compile(query, regex.IGNORECASE)
        except (regex.error, RecursionError, OverflowError, ValueError) as fault:
            return _fault(f"The pattern is not a valid regular expression: {fault}.")
        deadline = time.monotonic() + self._seconds
        found: list[int] = []
        for position, fields in enumerate(self._fields):
            if visible is not None and not visible[position]:
                continue
            try:
                if any(
                    pattern.search(text, timeout=max(1e-4, deadline - time.monotonic())) for text in fields
                ):
                    found.append(position)
            except TimeoutError:
                return _fault(f"The pattern was stopped after {self._seconds} seconds; use a simpler one.")
            if len(found) == limit:
                break
        return Ranking(np.array(found, dtype=np.int64), np.ones(len(found), dtype=np.float32))


def _fault(note: str) -> Ranking:
    return Ranking(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32), notes=(note,))
