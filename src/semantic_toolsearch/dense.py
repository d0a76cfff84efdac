"""A catalog's texts and an embedder in, cosines out: the dense half of a search, and what happens when it fails.

An embedding model may be remote, missing or broken. Its failure is never an error of the search and never an empty
answer: whoever ranks is told that there are no cosines, and why, and goes on without. Building is tried again, but
not more often than once in ``RETRY_SECONDS``, so that a dead endpoint is not asked on every turn.
"""

from __future__ import annotations

import logging
import threading
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

from semantic_toolsearch.embedding import checked, embed_documents, text_hash
from semantic_toolsearch.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from semantic_toolsearch.embedding import Embedder, EmbeddingCache, EmbeddingStats, Matrix
    from semantic_toolsearch.embedding.cache import Vector
    from semantic_toolsearch.index import VectorIndex

__all__ = ["DenseSearcher", "KnownVectors", "Unavailable"]

RETRY_SECONDS: Final = 30.0
FIRST_RETRIES: Final = 2
"""So many failures are tried again at once: the first ones are often a hiccup."""

_REMEMBERED_QUERIES: Final = 256

T = TypeVar("T")

logger = logging.getLogger("semantic_toolsearch")


class Unavailable(Exception):  # noqa: N818 - a state to be handled, not an error that a user meets
    """There are no cosines for this search; the text says why."""


class KnownVectors:
    """Vectors that need not be computed: those of an earlier generation in memory, then those on disk.

    Args:
        earlier: Vectors by text hash, of the same embedder.
        disk: The cache on disk, or None.
    """

    def __init__(self, earlier: Mapping[str, Vector] | None, disk: EmbeddingCache | None) -> None:
        self._earlier = earlier or {}
        self._disk = disk

    def get_many(self, embedder_id: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """The vectors known for these text hashes."""
        found = {key: self._earlier[key] for key in hashes if key in self._earlier}
        missing = [key for key in hashes if key not in found]
        if missing and self._disk is not None:
            found |= self._disk.get_many(embedder_id, missing)
        return found

    def put_many(self, embedder_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep new vectors for other processes."""
        if self._disk is not None:
            self._disk.put_many(embedder_id, vectors)


class DenseSearcher:
    """Cosines between queries and the tools of one catalog.

    Args:
        texts: Gives one text a tool, in catalog order; asked only when something must be embedded or hashed.
        embedder: The model.
        known: Vectors of texts seen before.
        hnsw_from: Number of tools from which the index is approximate; None for the index's default.
        index: A ready index of these texts, when there is one.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        texts: Callable[[], Sequence[str]],
        embedder: Embedder,
        known: KnownVectors,
        *,
        hnsw_from: int | None = None,
        index: VectorIndex | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.embedder = embedder
        self._write_texts = texts
        self._written: Sequence[str] | None = None
        self._known = known
        self.stats: EmbeddingStats | None = None
        self._hnsw_from = hnsw_from
        self._index = index
        self._building = threading.Lock()
        self._clock = clock
        self._failures = 0
        self._failed_at = 0.0
        self._failure = ""
        self._remembered = lru_cache(maxsize=_REMEMBERED_QUERIES)(self._encoded)

    @property
    def size(self) -> int:
        """Number of tools in the vector index; 0 while there is none."""
        return 0 if self._index is None else self._index.size

    def index(self, progress: Callable[[int, int], None] | None = None) -> VectorIndex:
        """The vector index, built on first use.

        Raises:
            Unavailable: The model failed, now or too recently to be asked again.
        """
        if self._index is None:
            with self._building:
                if self._index is None:
                    self._index = self._attempt(lambda: self._build(progress))
        return self._index

    def search(
        self, query: str, limit: int, visible: npt.NDArray[np.bool_] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """The nearest tools: int64 ``[k]`` positions and float32 ``[k]`` cosines, best first."""
        index = self.index()
        positions, cosines = index.search(self._vector(query), limit, visible)
        return positions[0], cosines[0]

    def cosines(self, query: str, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """float32 ``[m]``: the exact cosines of chosen tools."""
        return self.index().scores(self._vector(query), positions)[0]

    def hashes(self) -> list[str]:
        """The hash of each tool's text, in catalog order."""
        return [text_hash(text) for text in self._texts()]

    def known(self) -> dict[str, Vector]:
        """Every vector of this index by the hash of its text; empty when nothing was built."""
        if self._index is None:
            return {}
        return dict(zip(self.hashes(), self._index.vectors(), strict=True))

    def _texts(self) -> Sequence[str]:
        if self._written is None:
            self._written = self._write_texts()
        return self._written

    def _vector(self, query: str) -> Matrix:
        vector: Matrix = self._attempt(lambda: self._remembered(query))
        return vector

    def _encoded(self, query: str) -> Matrix:
        return checked(self.embedder.encode_query([query]), 1, self.embedder.dimension, self.embedder.id)

    def _build(self, progress: Callable[[int, int], None] | None) -> VectorIndex:
        from semantic_toolsearch.index.faiss import FaissIndex

        vectors, self.stats = embed_documents(self.embedder, self._texts(), self._known, progress)
        return FaissIndex.build(
            vectors, **({} if self._hnsw_from is None else {"hnsw_from": self._hnsw_from})
        )

    def _attempt(self, action: Callable[[], T]) -> T:
        """Run what may fail, unless it failed too recently."""
        if self._failures > FIRST_RETRIES and self._clock() - self._failed_at < RETRY_SECONDS:
            raise Unavailable(self._failure)
        try:
            outcome = action()
        except Exception as fault:
            raise self._failed(fault) from fault
        if self._failures:
            self._failures = 0
        return outcome

    def _failed(self, fault: Exception) -> Unavailable:
        reason = str(fault) if isinstance(fault, EmbedderError) else f"{type(fault).__name__}: {fault}"
        self._failure = f"The embedding model failed, so words alone decide ({reason[:300]})"
        self._failed_at = self._clock()
        if not self._failures:
            logger.warning("%s; it is tried again later", self._failure)
        self._failures += 1
        return Unavailable(self._failure)
