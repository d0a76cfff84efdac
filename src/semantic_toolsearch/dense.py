"""A catalog's texts and an embedder in, cosines out: the dense half of a search, also while the model fails.

An embedding model may be remote, missing, broken or stuck, and so may the vector index. Their failure is never
an error of the search and never an empty answer: whoever ranks is told that there are no cosines, and why, and
goes on without. They are asked again by later searches, as often as ``Outages`` allows.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from semantic_toolsearch.embedding import embed_documents, text_hash
from semantic_toolsearch.errors import EmbedderError, ToolSearchError, described
from semantic_toolsearch.guarded import GuardedEmbedder
from semantic_toolsearch.outages import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from semantic_toolsearch.embedding import Embedder, EmbeddingCache, EmbeddingStats, Matrix
    from semantic_toolsearch.embedding.cache import Vector
    from semantic_toolsearch.index import VectorIndex

__all__ = ["DenseSearcher", "KnownVectors", "Unavailable"]

T = TypeVar("T")


class KnownVectors:
    """Vectors that need not be computed: those of an earlier generation in memory, then those on disk.

    New ones are kept in memory too, so that a model that fails in the middle goes on there.

    Args:
        earlier: Vectors by text hash, of the same embedder.
        disk: The cache on disk, or None.
    """

    def __init__(self, earlier: Mapping[str, Vector] | None, disk: EmbeddingCache | None) -> None:
        self._memory = dict(earlier or {})
        self._disk = disk

    def get_many(self, embedder_id: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """The vectors known for these text hashes."""
        found = {key: self._memory[key] for key in hashes if key in self._memory}
        missing = [key for key in hashes if key not in found]
        if missing and self._disk is not None:
            found |= self._disk.get_many(embedder_id, missing)
        return found

    def put_many(self, embedder_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep new vectors, for other processes too."""
        self._memory.update(vectors)
        if self._disk is not None:
            self._disk.put_many(embedder_id, vectors)

    def in_memory(self) -> dict[str, Vector]:
        """The vectors at hand without the disk."""
        return dict(self._memory)

    def forget(self) -> None:
        """Let go of the vectors in memory."""
        self._memory = {}


class DenseSearcher:
    """Cosines between queries and the tools of one catalog. Safe to share between threads.

    Args:
        texts: Gives one text a tool, in catalog order; asked only when something must be embedded or hashed.
        embedder: The model; a ``GuardedEmbedder`` where several searchers share one.
        known: Vectors of texts seen before.
        hnsw_from: Number of tools from which the index is approximate; None for the index's default.
        index: A ready index of these texts, when there is one.
        hashes: The texts' hashes, when they are known.

    Attributes:
        stats: What building the index cost; None where it was not built here.
    """

    def __init__(
        self,
        texts: Callable[[], Sequence[str]],
        embedder: Embedder,
        known: KnownVectors,
        *,
        hnsw_from: int | None = None,
        index: VectorIndex | None = None,
        hashes: Sequence[str] | None = None,
    ) -> None:
        self.stats: EmbeddingStats | None = None
        self._write_texts = texts
        self._model = GuardedEmbedder.over(embedder)
        self._known = known
        self._hnsw_from = hnsw_from
        self._index = index
        self._hashes = hashes
        self._building = threading.Lock()
        self._failures = 0  # attempts to build
        self._failure = ""

    @property
    def size(self) -> int:
        """Number of tools in the vector index; 0 while there is none."""
        return 0 if self._index is None else self._index.size

    def index(self, progress: Callable[[int, int], None] | None = None) -> VectorIndex:
        """The vector index, built on first use: one thread builds, the others wait and share the outcome.

        Raises:
            Unavailable: The model failed, now or too recently to be asked again.
        """
        if self._index is None:
            failures = self._failures
            with self._building:
                if self._failures > failures:
                    raise Unavailable(self._failure)
                if self._index is None:
                    self._index = self._build(progress)
                    self._known.forget()
        return self._index

    def search(
        self, query: str, limit: int, visible: npt.NDArray[np.bool_] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """The nearest tools: int64 ``[k]`` positions and float32 ``[k]`` cosines, best first.

        Raises:
            Unavailable: As for ``index``.
        """
        index = self.index()
        if not index.size or (visible is not None and not visible.any()):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        vector = self._model.query_vector(query, index.dimension)
        positions, cosines = self._by_index(lambda: index.search(vector, limit, visible))
        return positions[0], cosines[0]

    def vector(self, query: str) -> Matrix:
        """The query's own vector, float32 ``[1, d]``.

        Raises:
            Unavailable: As for ``index``.
        """
        return self._model.query_vector(query, self.index().dimension)

    @property
    def embedder_id(self) -> str:
        """The id of the embedding model.

        Raises:
            Unavailable: As for ``index``; also where it cannot tell.
        """
        self.index()  # which asks for the id as often as it may be asked
        try:
            return self._model.id
        except EmbedderError as fault:
            raise self._model.outages.failed("queries", fault) from fault

    def cosines(self, query: str, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """float32 ``[m]``: the exact cosines of chosen tools.

        Raises:
            Unavailable: As for ``index``.
        """
        index = self.index()
        if not len(positions):
            return np.zeros(0, dtype=np.float32)
        vector = self._model.query_vector(query, index.dimension)
        scores: npt.NDArray[np.float32] = self._by_index(lambda: index.scores(vector, positions))[0]
        return scores

    def hashes(self) -> Sequence[str]:
        """The hash of each tool's text, in catalog order."""
        if self._hashes is None:
            self._hashes = [text_hash(text) for text in self._write_texts()]
        return self._hashes

    def known(self) -> dict[str, Vector]:
        """Every vector that is at hand, by the hash of its text; waits for an index that is being built."""
        with self._building:
            if self._index is None:
                return self._known.in_memory()
            try:
                vectors = self._by_index(self._index.vectors)
            except Unavailable:  # then they are embedded again
                return {}
            return dict(zip(self.hashes(), vectors, strict=True))

    def _build(self, progress: Callable[[int, int], None] | None) -> VectorIndex:
        from semantic_toolsearch.index.faiss import FaissIndex
        from semantic_toolsearch.index.runtime import load_faiss

        texts = self._write_texts()
        try:
            with self._model.outages.attempt("index", _IndexFault):
                _by_faiss(load_faiss)  # before anything is embedded in vain
                # Without texts there is nothing to ask the model for, not even how long its vectors are.
                vectors = self._vectors(texts, progress) if texts else np.zeros((0, 1), dtype=np.float32)
                return _by_faiss(lambda: FaissIndex.build(vectors, hnsw_from=self._hnsw_from))
        except Unavailable as reason:
            self._failures += 1
            self._failure = str(reason)
            raise

    def _vectors(self, texts: Sequence[str], progress: Callable[[int, int], None] | None) -> Matrix:
        with self._model.attempt("documents"):
            try:
                vectors, self.stats = embed_documents(self._model, texts, self._known, progress)
            except MemoryError as fault:
                raise EmbedderError(
                    f"there is no memory for {len(texts)} vectors of dimension {self._model.dimension}"
                ) from fault
            return vectors

    def _by_index(self, action: Callable[[], T]) -> T:
        """What the index answers.

        Raises:
            Unavailable: It failed.
        """
        outages = self._model.outages
        try:
            found = action()
        except (ValueError, IndexError):  # a mask or a position that is none: the caller's fault
            raise
        except Exception as fault:  # FAISS raises types of several languages
            raise outages.failed("index", fault) from fault
        outages.worked("index")
        return found


class _IndexFault(ToolSearchError):  # noqa: N818 - never leaves this file
    """FAISS raised; the text says what."""


def _by_faiss(action: Callable[[], T]) -> T:
    try:
        return action()
    except Exception as fault:  # as above
        raise _IndexFault(described(fault)) from fault
