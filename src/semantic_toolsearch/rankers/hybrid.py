"""Words and meaning together: BM25 and cosine fused by score, each measured against its own best tool.

Fusing by score rather than by rank keeps what the half-of-the-best band and the confidence rule need: a zero,
and distances between tools. The weights and the confidence were chosen on dev splits; docs/ranking.md has the
figures and the commands that print them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.dense import DenseSearcher, Unavailable
from semantic_toolsearch.rankers.protocol import Ranking, Visible, best
from semantic_toolsearch.tokens import telling_tokens

if TYPE_CHECKING:
    from semantic_toolsearch.rankers.bm25 import Bm25Ranker

__all__ = ["HybridRanker"]

WORD_WEIGHT: Final = 0.3
"""Weight of the words' arm among up to ``SMALL`` visible tools; meaning has the rest."""

LARGE_WORD_WEIGHT: Final = 0.5
"""Its weight among ``LARGE`` and more, growing with the logarithm between: in a crowd many tools mean the same."""

SMALL: Final = 400
LARGE: Final = 4_000

FOREIGN_WORD_WEIGHT: Final = 0.8
"""The same for a query in a script that the embedding model was not trained to read."""

FAINT_MATCH: Final = 0.05
"""A best word match below this share of the query's weight is not blown up to a full one."""

COVERAGE_WEIGHT: Final = 0.22
"""How much having all of the query's words counts beside the cosine, as evidence for an answer."""

STRONG_EVIDENCE: Final = 0.34
"""Evidence from which a tool counts as an answer."""

FULL_COVERAGE: Final = 0.999
"""A tool with every word of the query counts as an answer, whatever the cosine."""

FULL_COVERAGE_BONUS: Final = 0.45
"""Added to its sum where the query is one word: more than meaning can make up for, so that a rare word which one
tool alone has finds it. Not for longer queries, where having every word is what a stuffed description does best."""

FOREIGN_COVERAGE: Final = 0.08
"""Coverage from which it does where the model cannot read: character pairs spread a query's weight thinly."""

CONFIDENT_DEPTH: Final = 20
"""What ranks above a confident answer is not less of one: so far down are confident answers looked for."""

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
        foreign = _is_foreign(query)
        shares, coverage = self._words.scores(query), self._words.coverage(query)
        weight = FOREIGN_WORD_WEIGHT if foreign else _word_weight(visible, len(shares))
        complete = (coverage >= FULL_COVERAGE) & (len(set(telling_tokens(query))) == 1)
        wanted = max(limit, CONFIDENT_DEPTH)
        pool = max(wanted, _POOL)
        while True:
            by_words = best(shares, pool, visible)
            try:
                near, cosines = self._dense.search(query, pool, visible)
                besides = complete.copy() if visible is None else complete & visible
                besides[by_words.positions] = True
                besides[near] = False
                unseen = np.flatnonzero(besides)
                cosines = np.concatenate([cosines, self._dense.cosines(query, unseen)]).clip(0.0, 1.0)
            except Unavailable as reason:
                return Ranking(by_words.positions[:limit], by_words.scores[:limit], degraded=str(reason))
            positions = np.concatenate([near, unseen])
            per_share, per_cosine = _scales(weight, by_words.scores, cosines)
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
        evidence, strong = _evidence(foreign, coverage[positions], cosines)
        head = strong[:CONFIDENT_DEPTH]
        strong[:CONFIDENT_DEPTH] = np.logical_or.accumulate(head[::-1])[::-1]
        # The order is that of the sums. Their height is the best tool's evidence, so that a query that no
        # tool answers scores low, and scores of different queries compare.
        height = np.float32(min(1.0, evidence.max(initial=0.0)))
        scores = height * sums / np.float32(sums.max(initial=1e-9))
        return Ranking(positions[:limit], scores[:limit], strong[:limit])

    def explain(self, query: str, position: int) -> dict[str, float]:
        """The arms before weighting: BM25 share and coverage of the query's weight, and the cosine."""
        arms = self._words.explain(query, position)
        arms["coverage"] = float(self._words.coverage(query)[position])
        with suppress(Unavailable):
            arms["cosine"] = float(self._dense.cosines(query, np.array([position], dtype=np.int64))[0])
        return arms


def _word_weight(visible: Visible | None, size: int) -> float:
    """The words' share of the sum among so many visible tools."""
    tools = size if visible is None else int(np.count_nonzero(visible))
    growth = np.log(max(tools, 1) / SMALL) / np.log(LARGE / SMALL)
    return WORD_WEIGHT + (LARGE_WORD_WEIGHT - WORD_WEIGHT) * float(np.clip(growth, 0.0, 1.0))


def _scales(
    weight: float, shares: npt.NDArray[np.float32], cosines: npt.NDArray[np.float32]
) -> tuple[np.float32, np.float32]:
    """What a share and a cosine are multiplied by: each arm's weight over its best tool."""
    most, nearest = shares.max(initial=FAINT_MATCH), cosines.max(initial=0.0)
    return np.float32(weight / most), np.float32((1 - weight) / nearest if nearest > 0 else 0.0)


def _evidence(
    foreign: bool, coverage: npt.NDArray[np.float32], cosines: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """How much says that each tool answers the query at all, and whether it is enough."""
    if foreign:
        return np.maximum(coverage, cosines), coverage >= FOREIGN_COVERAGE
    evidence = cosines + np.float32(COVERAGE_WEIGHT) * coverage
    return evidence, (evidence >= STRONG_EVIDENCE) | (coverage >= FULL_COVERAGE)


def _is_foreign(query: str) -> bool:
    """Whether most letters lie beyond the Latin ones, where an English model sees unknown pieces only."""
    letters = [char for char in query if char.isalpha()]
    return 2 * sum(char > _LAST_LATIN for char in letters) > len(letters)
