"""The simple keyword scheme that hosted and home-made searches use: 3 for a word in the name, else 1 in the description.

The baseline to compare with, kept to the number (source: the client-side scheme documented for everruns'
``tool_search``): terms are the query's white-space separated pieces without wrapping punctuation, matched as
substrings with case ignored; repeats count again; parameters are not searched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.rankers.protocol import Ranking, Visible, best
from semantic_toolsearch.tokens import MAX_QUERY_CHARACTERS

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog

__all__ = ["KeywordRanker"]

NAME_POINTS: Final = 3
DESCRIPTION_POINTS: Final = 1

_WRAPPING: Final = re.compile(r"^[\W_]+|[\W_]+$")


class KeywordRanker:
    """Ranks by substring overlap, name before description."""

    name = "keyword"

    def __init__(self, catalog: Catalog) -> None:
        self._names = [tool.name.casefold() for tool in catalog]
        self._descriptions = [tool.description.casefold() for tool in catalog]

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Rank the tools that hold a term of the query; a score of 1 has every term in its name."""
        terms = _terms(query)
        points = np.zeros(len(self._names), dtype=np.float32)
        for term in terms:
            points += self._points(term)
        return best(points / np.float32(max(1, NAME_POINTS * len(terms))), limit, visible)

    def explain(self, query: str, position: int) -> dict[str, float]:
        """The tool's points, as the scheme counts them."""
        return {"keyword": float(sum(self._points(term)[position] for term in _terms(query)))}

    def _points(self, term: str) -> npt.NDArray[np.float32]:
        return np.fromiter(
            (
                NAME_POINTS if term in name else DESCRIPTION_POINTS if term in description else 0
                for name, description in zip(self._names, self._descriptions, strict=True)
            ),
            dtype=np.float32,
            count=len(self._names),
        )


def _terms(query: str) -> list[str]:
    pieces = (_WRAPPING.sub("", piece).casefold() for piece in query[:MAX_QUERY_CHARACTERS].split())
    return [piece for piece in pieces if piece]
