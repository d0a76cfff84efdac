"""A query in; the tools whose texts are nearest by the embedding model alone out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semantic_toolsearch.dense import DenseSearcher, Unavailable
from semantic_toolsearch.rankers.calibration import calibration_of
from semantic_toolsearch.rankers.protocol import Ranking, Visible

if TYPE_CHECKING:
    from semantic_toolsearch.rankers.bm25 import Bm25Ranker

__all__ = ["SemanticRanker"]


class SemanticRanker:
    """Ranks by meaning alone; by words while the embedding model is unavailable."""

    name = "semantic"

    def __init__(self, dense: DenseSearcher, words: Bm25Ranker) -> None:
        self._dense = dense
        self._words = words

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Return the nearest tools; one at a right angle or beyond has nothing in common with the query."""
        try:
            positions, cosines = self._dense.search(query, limit, visible)
            strong = calibration_of(self._dense.embedder_id, self._dense.index().dimension).strong_cosine
        except Unavailable as reason:
            ranking = self._words.rank(query, limit=limit, visible=visible)
            return Ranking(ranking.positions, ranking.scores, ranking.strong, degraded=str(reason))
        near = cosines > 0
        positions, cosines = positions[near], np.minimum(cosines[near], 1.0)
        return Ranking(positions, cosines, cosines >= strong)

    def explain(self, query: str, position: int, visible: Visible | None = None) -> dict[str, float]:
        """The tool's cosine with the query."""
        try:
            return {"cosine": float(self._dense.cosines(query, np.array([position]))[0])}
        except Unavailable:
            return self._words.explain(query, position, visible)
