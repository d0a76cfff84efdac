"""A catalog and settings in; one generation out: the tools, and all that searches need of them, built on first use."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from semantic_toolsearch.dense import DenseSearcher, KnownVectors
from semantic_toolsearch.documents import dense_text
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.guarded import GuardedEmbedder
from semantic_toolsearch.rankers.bm25 import Bm25Ranker
from semantic_toolsearch.rankers.checked import ranker_made
from semantic_toolsearch.rankers.protocol import Ranker, RankerFactory
from semantic_toolsearch.retriever import Retriever

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.embedding import Embedder, EmbeddingCache
    from semantic_toolsearch.embedding.cache import Vector
    from semantic_toolsearch.events import EventHook
    from semantic_toolsearch.index import VectorIndex

__all__ = ["RANKERS", "RankerSpec", "Snapshot", "check_ranker"]

RankerSpec: TypeAlias = "str | Ranker | RankerFactory"
"""What may be given as a ranker: a built-in one's name, an object, or what makes one from a catalog."""

RANKERS: Final = ("hybrid", "semantic", "bm25", "keyword", "regex")
"""Names of the built-in rankers; the first is the default."""


class Snapshot:
    """A catalog with its retriever. To its readers it never changes: a search sees one generation throughout.

    Args:
        catalog: The tools.
        ranker: Name of a built-in ranker, a ranker, or a callable that makes one from a catalog.
        config: The numbers of the rules.
        embedder: The model of the dense half.
        cache: Vectors kept on disk, or None.
        generation: Grows with each replacement of the catalog.
        words: The lexical half, when it is already built for this catalog.
        index: The vector index, when it is already built for this catalog, with the ``hashes`` of its texts.
        hashes: See ``index``.
        known: Vectors of an earlier generation, by text hash.
        hook: Who is told what happens, or None.

    Attributes:
        dense: The dense half; its vectors are computed when they are first needed.
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
        index: VectorIndex | None = None,
        hashes: Sequence[str] | None = None,
        known: Mapping[str, Vector] | None = None,
        hook: EventHook | None = None,
    ) -> None:
        self.catalog = catalog
        self.ranker = ranker
        self.config = config
        # The same for all generations, so that an outage outlasts them.
        self.embedder = GuardedEmbedder.over(embedder, config.embedder_timeout)
        self.cache = cache
        self.generation = generation
        self.hook = hook
        self.embedder.outages.hook = hook
        self.dense = DenseSearcher(
            lambda: [dense_text(tool) for tool in catalog],
            self.embedder,
            KnownVectors(known, cache),
            hnsw_from=config.hnsw_from,
            index=index,
            hashes=hashes,
        )
        self._words = words
        self._retriever: Retriever | None = None
        self._building = threading.RLock()

    def next(self, catalog: Catalog) -> Snapshot:
        """The following generation, with every vector of this one at hand."""
        return Snapshot(
            catalog,
            self.ranker,
            self.config,
            self.embedder,
            self.cache,
            generation=self.generation + 1,
            known=self.dense.known(),
            hook=self.hook,
        )

    def of(self, catalog: Catalog, **built: Any) -> Snapshot:
        """A first generation of other tools, with the settings of this one.

        Args:
            catalog: The tools.
            built: What is built already or known: ``words``, ``index`` with ``hashes``, ``known``.
        """
        return Snapshot(catalog, self.ranker, self.config, self.embedder, self.cache, hook=self.hook, **built)

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
        return self._retriever is not None or self._words is not None or self.dense.size > 0

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
        if self._words is None:
            with self._building:
                if self._words is None:
                    self._words = Bm25Ranker.of(self.catalog)
        return self._words

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Build all that searches need.

        Raises:
            Unavailable: The embedding model failed.
        """
        _ = self.retriever
        if self.uses_dense:
            self.dense.index(progress)

    def _ranker(self) -> Ranker:
        spec: Any = self.ranker
        if not isinstance(spec, str):
            ranker: Ranker = ranker_made(spec, self.catalog) if _is_factory(spec) else spec
            check_ranker(ranker)
            return ranker
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
        from semantic_toolsearch.rankers.regex import RegexRanker

        return RegexRanker(self.catalog)


def check_ranker(spec: Any) -> None:
    """Check what can be told of a ranker before it is used.

    Raises:
        ConfigError: It is neither the name of a built-in ranker, nor an object with a method ``rank``, nor a
            callable that may make one.
    """
    if isinstance(spec, str):
        if spec not in RANKERS:
            raise ConfigError(
                f"There is no ranker {spec!r}; choose one of {', '.join(RANKERS)}, or pass an object."
            )
    elif not callable(getattr(spec, "rank", None)) and (isinstance(spec, type) or not _is_factory(spec)):
        name = spec.__name__ if isinstance(spec, type) else type(spec).__name__
        raise ConfigError(
            f"A ranker needs a method rank(query, *, limit, visible); {name} has none. Pass an object with "
            f"one, a callable that makes one from a catalog, or one of {', '.join(RANKERS)}."
        )


def _is_factory(spec: Any) -> bool:
    """Whether this makes rankers: a class, or a callable that does not rank itself."""
    return isinstance(spec, type) or (callable(spec) and not hasattr(spec, "rank"))
