"""One generation of a live catalog: the tools, and everything built from them, each part built once on first use."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias

from semantic_toolsearch.dense import DenseSearcher, KnownVectors
from semantic_toolsearch.documents import dense_text
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.rankers.bm25 import Bm25Ranker
from semantic_toolsearch.rankers.protocol import Ranker, RankerFactory
from semantic_toolsearch.retriever import Retriever

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.embedding import Embedder, EmbeddingCache
    from semantic_toolsearch.embedding.cache import Vector

__all__ = ["RANKERS", "RankerSpec", "Snapshot"]

RankerSpec: TypeAlias = "str | Ranker | RankerFactory"

RANKERS = ("hybrid", "semantic", "bm25", "keyword", "regex")
"""Names of the built-in rankers; the first is the default."""


class Snapshot:
    """A catalog with its retriever. Immutable to its readers, so that a search sees one generation from end to end.

    Args:
        catalog: The tools.
        ranker: Name of a built-in ranker, a ranker, or a callable that makes one from a catalog.
        config: The numbers of the rules.
        embedder: The model of the dense half.
        cache: Vectors kept on disk, or None.
        generation: Grows with each replacement of the catalog.
        words: The lexical half, when it is already built for this catalog.
        dense: The dense half, when it is already built for this catalog.
        known: Vectors of an earlier generation, by text.
    """

    def __init__(
        self,
        catalog: Catalog,
        ranker: RankerSpec,
        config: SearchConfig,
        embedder: Embedder,
        cache: EmbeddingCache | None,
        *,
        generation: int = 0,
        words: Bm25Ranker | None = None,
        dense: DenseSearcher | None = None,
        known: Mapping[str, Vector] | None = None,
    ) -> None:
        self.catalog = catalog
        self.ranker = ranker
        self.config = config
        self.embedder = embedder
        self.cache = cache
        self.generation = generation
        self._known = known
        self._words = words
        self._dense = dense
        self._retriever: Retriever | None = None
        self._building = threading.RLock()

    def next(self, catalog: Catalog) -> Snapshot:
        """The following generation, with every vector of this one at hand."""
        known = self._dense.known() if self._dense is not None else self._known
        return Snapshot(
            catalog,
            self.ranker,
            self.config,
            self.embedder,
            self.cache,
            generation=self.generation + 1,
            known=known,
        )

    @property
    def retriever(self) -> Retriever:
        """The rules over this generation's ranker."""
        if self._retriever is None:
            with self._building:
                if self._retriever is None:
                    self._retriever = Retriever(self.catalog, self._ranker(), self.config, self.generation)
        return self._retriever

    @property
    def started(self) -> bool:
        """Whether anything was built yet, so that a successor should be built before it takes over."""
        return self._retriever is not None

    @property
    def uses_words(self) -> bool:
        """Whether the ranker reads the lexical index."""
        return self.ranker in ("hybrid", "semantic", "bm25")

    @property
    def uses_dense(self) -> bool:
        """Whether the ranker reads embeddings."""
        return self.ranker in ("hybrid", "semantic")

    @property
    def words(self) -> Bm25Ranker:
        """The lexical half."""
        with self._building:
            if self._words is None:
                self._words = Bm25Ranker.of(self.catalog)
            return self._words

    @property
    def dense(self) -> DenseSearcher:
        """The dense half; its vectors are computed when they are first needed."""
        with self._building:
            if self._dense is None:
                self._dense = DenseSearcher(
                    lambda: [dense_text(tool) for tool in self.catalog],
                    self.embedder,
                    KnownVectors(self._known, self.cache),
                    hnsw_from=self.config.hnsw_from,
                )
            return self._dense

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Build all that searches need.

        Raises:
            Unavailable: The embedding model failed.
        """
        _ = self.retriever
        if self.uses_words:
            _ = self.words
        if self.uses_dense and len(self.catalog):
            self.dense.index(progress)

    def _ranker(self) -> Ranker:
        spec: Any = self.ranker
        if spec == "hybrid":
            from semantic_toolsearch.rankers.hybrid import HybridRanker

            return HybridRanker(self.words, self.dense)
        if spec == "semantic":
            from semantic_toolsearch.rankers.semantic import SemanticRanker

            return SemanticRanker(self.dense, self.words)
        if spec == "bm25":
            return self.words
        if spec == "keyword":
            from semantic_toolsearch.rankers.keyword import KeywordRanker

            return KeywordRanker(self.catalog)
        if spec == "regex":
            from semantic_toolsearch.rankers.regex import RegexRanker

            return RegexRanker(self.catalog)
        if isinstance(spec, str):
            raise ConfigError(
                f"There is no ranker {spec!r}; choose one of {', '.join(RANKERS)}, or pass an object."
            )
        made = spec(self.catalog) if isinstance(spec, type) or not hasattr(spec, "rank") else spec
        if not callable(getattr(made, "rank", None)):
            raise ConfigError(
                f"A ranker needs a method rank(query, *, limit, visible); {type(made).__name__} has none."
            )
        ranker: Ranker = made
        return ranker
