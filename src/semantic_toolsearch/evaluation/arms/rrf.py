"""Several rankers in; one that adds their ranks up and throws their scores away out: a reference to compare with.

Reciprocal rank fusion (Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
Rank Learning Methods", SIGIR 2009).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semantic_toolsearch.rankers.protocol import Ranking

if TYPE_CHECKING:
    from semantic_toolsearch.rankers.protocol import Ranker, Visible

__all__ = ["ReciprocalRankFusion"]

K: Final = 60
"""The constant of the paper: what is added to each rank."""

DEPTH: Final = 100
"""Ranks of each ranker that count at least."""


class ReciprocalRankFusion:
    """Fuses rankers by rank; equal sums stand in catalog order.

    Args:
        rankers: Made for the same catalog.
    """

    name = "rrf"

    def __init__(self, *rankers: Ranker) -> None:
        self._rankers = rankers

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Rank the tools that any of the rankers has among its first hundred."""
        sums: dict[int, float] = defaultdict(float)
        rankings = [ranker.rank(query, limit=max(limit, DEPTH), visible=visible) for ranker in self._rankers]
        for ranking in rankings:
            for rank, position in enumerate(ranking.positions.tolist()[:DEPTH], 1):
                sums[position] += 1 / (K + rank)
        order = sorted(sums, key=lambda position: (-sums[position], position))[:limit]
        return Ranking(
            np.array(order, dtype=np.int64),
            np.array([sums[position] for position in order], dtype=np.float32),
            degraded=next((ranking.degraded for ranking in rankings if ranking.degraded), None),
        )

    def explain(self, query: str, position: int) -> dict[str, float]:
        """The parts of all rankers, where they tell them."""
        parts: dict[str, float] = {}
        for ranker in self._rankers:
            tell: Any = getattr(ranker, "explain", None)
            parts |= {} if tell is None else tell(query, position)
        return parts
