"""A query in; tools by the scheme of home-made searches out: 3 for a word in the name, else 1 in the description.

The baseline to compare with, kept to the number. A query is split at white space, and punctuation around
each term is dropped; terms match as substrings, with case ignored; repeats count again; parameters are not
searched.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.joined_texts import JoinedTexts
from semantic_toolsearch.rankers.protocol import Ranking, Visible, best
from semantic_toolsearch.tokens import WRAPPING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["KeywordRanker"]

NAME_POINTS: Final = 3
DESCRIPTION_POINTS: Final = 1

_REMEMBERED_TERMS: Final = 256
"""Terms whose points are kept, a byte for each tool: the commonest ones come again, and hit the most tools."""


class KeywordRanker:
    """Ranks by substring overlap, name before description."""

    name = "keyword"

    def __init__(self, catalog: Iterable[ToolDefinition]) -> None:
        self._texts = [(tool.name.casefold(), tool.description.casefold()) for tool in catalog]
        self._names = JoinedTexts((name,) for name, _ in self._texts)
        self._descriptions = JoinedTexts((description,) for _, description in self._texts)
        self._points = lru_cache(_REMEMBERED_TERMS)(self._count)

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Rank the tools that hold a term of the query; a score of 1 has every term in its name."""
        terms = _terms(query)
        points = np.zeros(len(self._texts), dtype=np.float32)
        for term, times in Counter(terms).items():
            points += np.float32(times) * self._points(term)
        return best(points / np.float32(max(1, NAME_POINTS * len(terms))), limit, visible)

    def explain(self, query: str, position: int) -> dict[str, float]:
        """The tool's points, as the scheme counts them."""
        return {"keyword": float(sum(_points(term, *self._texts[position]) for term in _terms(query)))}

    def _count(self, term: str) -> npt.NDArray[np.int8]:
        """int8 ``[n]``: the points of one term; a term has no white space, so it is found within one text."""
        points = np.zeros(len(self._texts), dtype=np.int8)
        points[self._descriptions.having(term)] = DESCRIPTION_POINTS
        points[self._names.having(term)] = NAME_POINTS
        return points


def _points(term: str, name: str, description: str) -> int:
    if term in name:
        return NAME_POINTS
    return DESCRIPTION_POINTS if term in description else 0


def _terms(query: str) -> list[str]:
    pieces = (piece.strip(WRAPPING).casefold() for piece in query.split())
    return [piece for piece in pieces if any(map(str.isalnum, piece))]
