"""Words and meaning together: BM25 and cosine fused by score, each measured against its own best tool.

Fusing by score rather than by rank keeps what the half-of-the-best band and the confidence rule need: a zero, and
distances between tools. The weights and the confidence were chosen on dev splits; docs/ranking.md has the figures
and the commands that print them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.dense import DenseSearcher, Unavailable
from semantic_toolsearch.rankers.protocol import Ranking, Visible, best

if TYPE_CHECKING:
    from semantic_toolsearch.rankers.bm25 import Bm25Ranker

__all__ = ["HybridRanker"]

WORD_WEIGHT: Final = 0.3
"""Weight of the words' arm in a catalog of up to ``SMALL`` visible tools; meaning has the rest."""

LARGE_WORD_WEIGHT: Final = 0.5
"""Its weight from ``LARGE`` tools on, growing with the logarithm between: in a crowd many tools mean nearly the same."""

SMALL: Final = 400
LARGE: Final = 4_000

FOREIGN_WORD_WEIGHT: Final = 0.8
"""The same for a query in a script that the embedding model was not trained to read, where words match at all."""

FULL_COVERAGE_BONUS: Final = 0.45
"""For a tool with every word of the query: more than meaning can make up for, so that a rare word which one tool
alone has finds it. It changes no dev task beyond noise; one-word queries are what it is for."""

FAINT_MATCH: Final = 0.05
"""A best word match below this share of the query's weight is not blown up to a full one."""

COVERAGE_WEIGHT: Final = 0.22
"""How much having all of the query's words counts beside the cosine, as evidence that a tool answers at all."""

STRONG_EVIDENCE: Final = 0.34
"""Evidence from which a tool counts as an answer."""

FULL_COVERAGE: Final = 0.999
"""A tool with every word of the query counts as an answer, whatever the cosine."""

FOREIGN_COVERAGE: Final = 0.08
"""Coverage from which it does where the model cannot read: character pairs spread a query's weight thinly."""

_LAST_LATIN: Final = "\u024f"
_POOL: Final = 100


class HybridRanker:
    """The default ranker; falls back to words while the embedding model is unavailable."""

    name = "hybrid"

    def __init__(self, words: Bm25Ranker, dense: DenseSearcher) -> None:
        self._words = words
        self._dense = dense

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Rank the best of both arms by their weighted sum."""
        words = self._words.scores(query)
        pool = max(limit, _POOL)
        by_words = best(words, pool, visible)
        try:
            near, cosines = self._dense.search(query, pool, visible)
            unseen = np.setdiff1d(by_words.positions, near)
            positions = np.concatenate([near, unseen])
            cosines = np.concatenate([cosines, self._dense.cosines(query, unseen)])
        except Unavailable as reason:
            return Ranking(by_words.positions[:limit], by_words.scores[:limit], degraded=str(reason))
        fused, strong = _fused(
            _word_weight(len(words) if visible is None else int(np.count_nonzero(visible))),
            _is_foreign(query),
            words[positions],
            self._words.coverage(query)[positions],
            np.clip(cosines, 0.0, 1.0),
        )
        order = np.lexsort((positions, -fused))
        order = order[fused[order] > 0][:limit]
        # What ranks above a confident answer is not less of one: evidence counts downwards from the last strong tool.
        strong = np.logical_or.accumulate(strong[order][::-1])[::-1]
        return Ranking(positions[order], fused[order], strong)

    def explain(self, query: str, position: int) -> dict[str, float]:
        """The arms before weighting: BM25 share and coverage of the query's weight, and the cosine."""
        arms = self._words.explain(query, position)
        arms["coverage"] = float(self._words.coverage(query)[position])
        try:
            arms["cosine"] = float(self._dense.cosines(query, np.array([position], dtype=np.int64))[0])
        except Unavailable:
            pass
        return arms


def _word_weight(tools: int) -> float:
    """The words' share of the score among so many visible tools."""
    growth = np.log(max(tools, 1) / SMALL) / np.log(LARGE / SMALL)
    return WORD_WEIGHT + (LARGE_WORD_WEIGHT - WORD_WEIGHT) * float(np.clip(growth, 0.0, 1.0))


def _fused(
    word_weight: float,
    foreign: bool,
    shares: npt.NDArray[np.float32],
    coverage: npt.NDArray[np.float32],
    cosines: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """One score a tool in [0, 1], and whether the evidence behind it is strong.

    The order is that of the weighted sum; its height is the best tool's evidence, so that a query that no tool
    answers scores low and scores of different queries compare.
    """
    weight = np.float32(FOREIGN_WORD_WEIGHT if foreign else word_weight)
    order = np.zeros(len(shares), dtype=np.float32)
    if (most := shares.max(initial=0.0)) > 0:
        order += weight * shares / np.float32(max(most, FAINT_MATCH))
    if (nearest := cosines.max(initial=0.0)) > 0:
        order += (1 - weight) * cosines / nearest
    order += np.float32(FULL_COVERAGE_BONUS) * (coverage >= FULL_COVERAGE)
    evidence = cosines + np.float32(COVERAGE_WEIGHT) * coverage
    strong = (evidence >= STRONG_EVIDENCE) | (coverage >= FULL_COVERAGE)
    if foreign:
        evidence, strong = np.maximum(coverage, cosines), coverage >= FOREIGN_COVERAGE
    height = np.float32(min(1.0, evidence.max(initial=0.0)))
    return height * order / np.float32(max(order.max(initial=0.0), 1e-9)), strong


def _is_foreign(query: str) -> bool:
    """Whether most letters lie beyond the Latin ones, where an English model sees little but unknown pieces."""
    letters = [char for char in query if char.isalpha()]
    return 2 * sum(char > _LAST_LATIN for char in letters) > len(letters)
