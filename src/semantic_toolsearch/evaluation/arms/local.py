"""A dataset and a ranker in; what the library's own search answers, and why, out."""

from __future__ import annotations

import copy
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

import numpy as np

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.dense import Unavailable
from semantic_toolsearch.documents import shared_words
from semantic_toolsearch.embedding import DEFAULT_MODEL
from semantic_toolsearch.errors import EmbedderError, RankerError, ToolSearchError
from semantic_toolsearch.evaluation.answers import DEPTH, Answer, Build, How, Why
from semantic_toolsearch.evaluation.arms.patterns import written_pattern
from semantic_toolsearch.evaluation.arms.rrf import ReciprocalRankFusion
from semantic_toolsearch.evaluation.measuring.collecting import FAULTS, reason_of
from semantic_toolsearch.judgement import Candidate, Judgement
from semantic_toolsearch.rankers.checked import checked_parts, checked_rank, cleaned
from semantic_toolsearch.results import EXACT_NAME_BONUS
from semantic_toolsearch.retriever import Retriever
from semantic_toolsearch.search_input import clean_text
from semantic_toolsearch.toolsearch import ToolSearch

if TYPE_CHECKING:
    from os import PathLike

    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.embedding import Embedder, EmbeddingCache
    from semantic_toolsearch.evaluation.dataset import Dataset, Query
    from semantic_toolsearch.rankers.protocol import Visible
    from semantic_toolsearch.snapshot import RankerSpec, Snapshot

__all__ = ["GIVEN_UP", "CacheSpec", "LocalArm"]

GIVEN_UP: Final = 20
"""So many first queries that all fail the same way end the asking: the rest would fail too."""

CacheSpec: TypeAlias = "EmbeddingCache | str | PathLike[str] | bool | None"
"""Where embeddings are kept; as for ``ToolSearch``."""

_WARM_UP: Final = "warm up"

_PATTERNS: Final = "regex: patterns are written from the query's telling words; a real model writes its own."
_ALONE: Final = "The ranker alone, without exact names, band and confidence; its first {limit} are returned."


@dataclass(frozen=True)
class LocalArm:
    """A ranker under the library's rules, or alone.

    Attributes:
        name: As tables show it.
        ranker: As for ``ToolSearch``, or ``rrf``: reciprocal rank fusion of bm25 and semantic.
        embedder: As for ``ToolSearch``.
        cache: As for ``ToolSearch``.
        config: As for ``ToolSearch``.
        rules: Whether exact names, band, confidence and cap act on the ranking. Without them it is the ranker's own
            order, for comparisons with published figures, and the first ``config.default_limit`` tools are returned.
        code: What tells shipped weights, or the code of a ranker or an embedder of the user's own, from what they
            were before.
        how: See ``Arm``.
        ranks: See ``Arm``.
        hides: See ``Arm``.
    """

    name: str
    ranker: RankerSpec | Literal["rrf"]
    embedder: str | Embedder = DEFAULT_MODEL
    cache: CacheSpec = None
    config: SearchConfig | None = None
    rules: bool = True
    code: str = ""
    how: ClassVar[How] = "local"
    ranks: ClassVar[bool] = True
    hides: ClassVar[bool] = True

    @property
    def notes(self) -> tuple[str, ...]:
        """See ``Arm``."""
        from semantic_toolsearch.config import SearchConfig

        limit = (self.config or SearchConfig()).default_limit
        patterns = (_PATTERNS,) if self.ranker == "regex" else ()
        return (*patterns, *(() if self.rules else (_ALONE.format(limit=limit),)))

    def prepare(self, dataset: Dataset) -> PreparedSearch:
        """Build the index, embed what is not in the cache, and ask one query, so that none is slow for being first.

        Raises:
            EmbedderError: The model fails already here: there is nothing but words to rank by.
            RankerError: A custom ranker cannot be made.
            ConfigError: What was made is no ranker.
        """
        from semantic_toolsearch.config import SearchConfig

        catalog = dataset.catalog if isinstance(self.ranker, str) else _of_its_own(dataset.catalog)
        # A slow model is slow and not worse: figures must not depend on how long this machine needs.
        config = (self.config or SearchConfig()).but(embedder_timeout=None)
        start = time.perf_counter()
        fused = self.ranker == "rrf"
        search = ToolSearch(
            catalog,
            ranker="semantic" if fused else self.ranker,
            embedder=self.embedder,
            config=config,
            cache=self.cache,
        )
        snapshot, _ = search.seen_by(None)
        retriever = _built(snapshot)
        if fused:
            retriever = Retriever(
                catalog, ReciprocalRankFusion(snapshot.words, retriever.ranker), retriever.config
            )
        prepared = PreparedSearch(retriever, rules=self.rules, patterns=self.ranker == "regex")
        degraded = prepared.warm_up()
        if degraded is not None and isinstance(self.ranker, str):
            raise EmbedderError(f"No query can be embedded: {degraded}")
        stats = search.stats()
        prepared.build = Build(time.perf_counter() - start, stats.embedded, stats.from_cache)
        return prepared


class PreparedSearch:
    """A built search over one dataset.

    Args:
        retriever: The rules over the ranker.
        rules: See ``LocalArm``.
        patterns: Whether the ranker takes patterns, which are then written from the queries.

    Attributes:
        build: What getting ready took.
    """

    def __init__(self, retriever: Retriever, *, rules: bool, patterns: bool) -> None:
        self.build = Build()
        self._retriever = retriever
        self._catalog = retriever.catalog
        self._judge = self._by_rules if rules else self._by_ranker
        self._written = written_pattern if patterns else str

    def warm_up(self) -> str | None:
        """Ask one query whose answer is of no interest, and whose fault the real ones will show again.

        Returns:
            Why the answer is not by the arm's own means, or None.
        """
        try:
            return self._judge(_WARM_UP, None, DEPTH).degraded
        except FAULTS:
            return None

    def answers(
        self, queries: Sequence[Query], hidden: Mapping[str, Collection[int]] | None = None
    ) -> Iterator[tuple[Query, Answer]]:
        """Answer in the order of the queries; see ``PreparedArm.answers``."""
        faults: list[tuple[Any, ...]] = []
        given_up = ""
        for asked, query in enumerate(queries):
            if given_up:
                yield query, Answer(failed=given_up)
                continue
            text, mask = self._written(query.text), self._mask((hidden or {}).get(query.id, ()))
            start = time.perf_counter()
            try:
                judgement = self._judge(text, mask, DEPTH)
            except FAULTS as fault:  # a ranker may be anybody's code; it costs this query alone
                failed = reason_of(fault)
                yield query, Answer(seconds=time.perf_counter() - start, failed=failed)
                faults.append((type(fault), type(fault.__cause__)))
                if len(faults) == asked + 1 == GIVEN_UP and len(set(faults)) == 1:
                    given_up = f"not asked, since the first {GIVEN_UP} queries all failed: {failed}"
                continue
            yield query, _answer(judgement, time.perf_counter() - start)

    def explain(self, query: Query, places: Collection[int]) -> list[Why]:
        """See ``PreparedArm.explain``; empty where the query fails."""
        text = clean_text(self._written(query.text))
        try:
            judgement = self._judge(text, None, len(self._catalog))
        except FAULTS:
            return []
        ranked = {each.position: (rank, each) for rank, each in enumerate(judgement.candidates, 1)}
        return [self._why(query, text, place, *ranked.get(place, (None, None))) for place in places]

    def _why(self, query: Query, text: str, place: int, rank: int | None, candidate: Candidate | None) -> Why:
        if candidate is None:
            candidate = Candidate(place, reason="The ranker sees nothing in common with the query.")
        reason = candidate.reason
        try:
            parts = checked_parts(self._retriever.ranker, text, place)
        except FAULTS as fault:
            parts, reason = {}, f"{reason} ({reason_of(fault)})"
        if candidate.named == "whole":
            parts["exact_name"] = EXACT_NAME_BONUS
        return Why(
            place=place,
            rank=rank,
            score=candidate.score,
            verdict=candidate.verdict,
            reason=reason,
            parts=parts,
            words=shared_words(self._catalog[place], query.text),
        )

    def _by_rules(self, text: str, mask: Visible | None, depth: int) -> Judgement:
        return self._retriever.judge(text, visible=mask, depth=depth)

    def _by_ranker(self, text: str, mask: Visible | None, depth: int) -> Judgement:
        """The ranker's own order as a judgement that knows no rule but the limit."""
        answer = checked_rank(self._retriever.ranker, text, depth, len(self._catalog), mask)
        ranking = cleaned(answer, mask)
        limit = self._retriever.config.default_limit
        candidates = []
        for rank, (place, score) in enumerate(
            zip(ranking.positions.tolist(), ranking.scores.tolist(), strict=True), 1
        ):
            verdict: Literal["returned", "capped"] = "returned" if rank <= limit else "capped"
            reason = f"It is number {rank} of the ranking, of which the first {limit} are returned."
            candidates.append(Candidate(place, score, verdict=verdict, reason=reason))
        return Judgement(tuple(candidates), ranking.notes, ranking.degraded)

    def _mask(self, hidden: Collection[int]) -> Visible | None:
        if not hidden:
            return None
        mask = np.ones(len(self._catalog), dtype=np.bool_)
        mask[list(hidden)] = False
        return mask


def _of_its_own(catalog: Catalog) -> Catalog:
    """A catalog that a foreign ranker may change without changing what other arms search."""
    return Catalog(copy.deepcopy(catalog.tools))


def _built(snapshot: Snapshot) -> Retriever:
    try:
        snapshot.prepare()
        return snapshot.retriever
    except Unavailable as fault:
        # Words alone would still answer, but their figures are not those of the arm's name.
        raise EmbedderError(f"The tools cannot be embedded: {fault.__cause__ or fault}") from fault
    except ToolSearchError:
        raise
    except FAULTS as fault:  # anybody's factory
        raise RankerError(f"The ranker cannot be made: {reason_of(fault)}") from fault


def _answer(judgement: Judgement, seconds: float) -> Answer:
    degraded = () if judgement.degraded is None else (judgement.degraded,)
    return Answer(
        ranked=tuple(candidate.position for candidate in judgement.candidates[:DEPTH]),
        returned=tuple(candidate.position for candidate in judgement.returned),
        seconds=seconds,
        notes=(*degraded, *judgement.notes),
    )
