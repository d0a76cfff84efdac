"""A query in; the best tools by words and meaning out: BM25 and cosine fused by score, each against its own best tool.

Fusing by score rather than by rank keeps what the half-of-the-best band and the confidence rule need: a zero,
and distances between tools. What depends on the embedding model is in ``calibration``; docs/ranking.md has the
figures on which all was chosen.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.dense import DenseSearcher, Unavailable
from semantic_toolsearch.rankers.calibration import Calibration, calibration_of
from semantic_toolsearch.rankers.protocol import Ranking, Visible, best
from semantic_toolsearch.tokens import telling_tokens

if TYPE_CHECKING:
    from semantic_toolsearch.rankers.bm25 import Bm25Ranker

__all__ = ["HybridRanker", "is_foreign", "scales"]

FAINT_MATCH: Final = 0.05
"""A best word match below this share of the query's weight is not blown up to a full one."""

FULL_COVERAGE: Final = 0.999
"""Coverage from which a tool has every word of the query."""

FULL_COVERAGE_BONUS: Final = 0.75
"""Added to its sum where the query is one word: more than meaning can make up for, so that a rare word which one
tool alone has finds it. Not for longer queries, where having every word is what a stuffed description does best."""

FULL_COVERAGE_PROBABILITY: Final = 0.9
"""Such a tool is an answer, whatever the cosine."""

FOREIGN_COVERAGE: Final = 0.08
"""Coverage from which a tool is an answer where the model cannot read: character pairs spread a query's weight
thinly."""

HEAD: Final = 5
"""So many of the first tools are looked at for how sure the answer is: the best is not always the first."""

_LAST_LATIN: Final = "\u024f"
_POOL: Final = 1000


class HybridRanker:
    """The default ranker; falls back to words while the embedding model is unavailable."""

    name = "hybrid"

    def __init__(self, words: Bm25Ranker, dense: DenseSearcher) -> None:
        self._words = words
        self._dense = dense

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Rank by the weighted sum of both arms.

        The best of each arm are joined, more and more of them until no tool that was left out could be among
        the ``limit`` best (the threshold algorithm of Fagin, Lotem and Naor, 2003).
        """
        foreign = is_foreign(query)
        shares, coverage = self._words.scores(query, visible), self._words.coverage(query, visible)
        complete = (coverage >= FULL_COVERAGE) & (len(set(telling_tokens(query))) == 1)
        wanted = max(limit, HEAD)
        pool = max(wanted, _POOL)
        while True:
            by_words = best(shares, pool, visible)
            try:
                calibration, vector = self._calibration(), self._dense.vector(query)
                near, cosines = self._dense.search(query, pool, visible)
                besides = complete.copy() if visible is None else complete & visible
                besides[by_words.positions] = True
                besides[near] = False
                unseen = np.flatnonzero(besides)
                cosines = np.concatenate([cosines, self._dense.cosines(query, unseen)]).clip(0.0, 1.0)
            except Unavailable as reason:
                return Ranking(by_words.positions[:limit], by_words.scores[:limit], degraded=str(reason))
            positions = np.concatenate([near, unseen])
            weight = calibration.foreign if foreign else calibration.word_weight(_count(visible, len(shares)))
            per_share, per_cosine = scales(weight, by_words.scores, cosines)
            sums = per_share * shares[positions] + per_cosine * cosines
            sums += np.float32(FULL_COVERAGE_BONUS) * complete[positions]
            order = np.lexsort((positions, -sums))
            order = order[sums[order] > 0]
            if len(near) < pool:
                break  # every visible tool was looked at
            most_outside = per_cosine * cosines[len(near) - 1]
            if len(by_words) == pool:
                most_outside += per_share * by_words.scores[-1]
            if len(order) >= wanted and sums[order[wanted - 1]] > most_outside:
                break
            pool *= 4
        positions, sums, cosines = positions[order], sums[order], cosines[order]
        known, head = complete[positions], positions[:HEAD]
        # What holds the word that is the query answers it by itself, and says nothing of what merely stands near it.
        shared = np.where(known[:HEAD], np.float32(0), coverage[head])
        sure = _sureness(calibration, foreign, shared, cosines[:HEAD], calibration.elsewhere_of(vector))
        strong = known | (sure >= calibration.strong)
        if known.any():  # what ranks above one is no less sure
            strong |= np.arange(len(known)) <= np.flatnonzero(known)[-1]
            sure = max(sure, FULL_COVERAGE_PROBABILITY)
        # The order is that of the sums. Their height is how likely the best tools are an answer, so that a query
        # that no tool answers scores low, and scores of different queries and catalogs compare.
        scores = np.float32(sure) * sums / np.float32(sums.max(initial=1e-9))
        return Ranking(positions[:limit], scores[:limit], strong[:limit])

    def explain(self, query: str, position: int, visible: Visible | None = None) -> dict[str, float]:
        """The arms before weighting: BM25 share, coverage, the cosine, and how near the query is to tools elsewhere."""
        arms = self._words.explain(query, position, visible)
        arms["coverage"] = float(self._words.coverage(query, visible)[position])
        with suppress(Unavailable):
            arms["cosine"] = float(self._dense.cosines(query, np.array([position], dtype=np.int64))[0])
            arms["elsewhere"] = self._calibration().elsewhere_of(self._dense.vector(query))
        return arms

    def _calibration(self) -> Calibration:
        return calibration_of(self._dense.embedder_id, self._dense.index().dimension)


def scales(
    weight: float, shares: npt.NDArray[np.float32], cosines: npt.NDArray[np.float32]
) -> tuple[np.float32, np.float32]:
    """What a share and a cosine are multiplied by: each arm's weight over its best tool."""
    most, nearest = shares.max(initial=FAINT_MATCH), cosines.max(initial=0.0)
    return np.float32(weight / most), np.float32((1 - weight) / nearest if nearest > 0 else 0.0)


def is_foreign(query: str) -> bool:
    """Whether most letters lie beyond the Latin ones, where an English model sees unknown pieces only."""
    if query.isascii():
        return False
    letters = [char for char in query if char.isalpha()]
    return 2 * sum(char > _LAST_LATIN for char in letters) > len(letters)


def _sureness(
    calibration: Calibration,
    foreign: bool,
    coverage: npt.NDArray[np.float32],
    cosines: npt.NDArray[np.float32],
    elsewhere: float,
) -> float:
    """How likely the first tools are an answer, by the best that each arm says of any of them."""
    words, meaning = float(coverage.max(initial=0.0)), float(cosines.max(initial=0.0))
    if foreign:  # no cosine makes an answer there, and none takes one away
        by_words = calibration.strong * words / FOREIGN_COVERAGE
        return min(max(by_words, 0.5 * calibration.strong * meaning), 1.0)
    return calibration.probability(meaning, words, elsewhere)


def _count(visible: Visible | None, size: int) -> int:
    return size if visible is None else int(np.count_nonzero(visible))
