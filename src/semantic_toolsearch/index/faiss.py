"""Unit vectors go in; a searchable FAISS index that never changes comes out, exact below `HNSW_FROM` tools.

Two facts about FAISS shape this file. A search that is given a selector scores every pair by itself, in one
thread a query; one that is not takes other kernels, depending on the batch, whose last bits differ. So every
search here has a selector, and a score depends on nothing but the two vectors: not on the batch, nor on the
number of threads, nor on where a tool was registered. And FAISS keeps *any* of the equal scores at the cut,
so one result more than asked for is fetched, and more while the cut falls between equal ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from semantic_toolsearch.embedding import Matrix
from semantic_toolsearch.errors import EmbedderError, IndexCorruptError, IndexMismatchError
from semantic_toolsearch.index.graph import build_graph, positions_and_unreached
from semantic_toolsearch.index.protocol import Mask, Positions, Scores
from semantic_toolsearch.index.runtime import load_faiss, one_thread

HNSW_FROM: Final = 50_000
"""Number of tools from which a graph is built; below it every search is exact.

Measured at 384 dimensions on one core: an exact query takes 0.06 ms per 1,000 tools, so at 50,000 tools it
costs about what embedding the query does (3 to 4 ms). The graph answers there in under 1 ms with 99.8 % of
the 20 nearest, but takes 25 s to build, where the flat index takes 0.1 s.
"""

_LENGTH_TOLERANCE: Final = 0.01
_SORT_ALL_BELOW: Final = 8
"""When more than one visible tool in this many is wanted, sorting all scores beats FAISS's heap."""

_WRITTEN_AT_ONCE: Final = 1 << 20
"""Bytes that FAISS hands over at a time."""

_FLAT_CODE, _MAPPED_CODE = b"IxFI", b"IxMp"
_MEND = "build the index again with save()"


class FaissIndex:
    """A `VectorIndex` in memory. Safe for any number of reading threads, since nothing is ever written.

    Make one with `build` or `from_bytes`.
    """

    __slots__ = ("_flat", "_graph", "_owner", "_positions", "_rows", "_unreached")

    def __init__(self, index: Any) -> None:
        """Wrap an index that `build` or `from_bytes` made."""
        faiss = load_faiss()
        self._owner = index  # the views below live in its memory
        self._graph: Any = None
        self._positions: Positions | None = None  # row in FAISS -> position in the catalog; None: the same
        self._rows: Positions | None = None  # and back
        self._unreached: Positions = np.empty(0, np.int64)  # rows that the graph may miss
        self._flat: Any = index
        if isinstance(index, faiss.IndexIDMap):
            self._graph = faiss.downcast_index(index.index)
            self._flat = faiss.downcast_index(self._graph.storage)
            self._positions, self._unreached = positions_and_unreached(index)
            self._rows = np.argsort(self._positions)

    @classmethod
    def build(cls, vectors: Matrix, *, hnsw_from: int | None = None) -> FaissIndex:
        """Index one vector a tool.

        The same vectors give the same index, and a graph does not depend on the order in which tools were
        registered.

        Args:
            vectors: float32 ``[n, d]``, unit rows, in catalog order; n may be 0.
            hnsw_from: Number of tools from which a graph is built instead of a flat index; None: `HNSW_FROM`.
                A flat index is built all the same where the vectors lie so that a graph cannot serve them.

        Raises:
            EmbedderError: A vector is not finite or not of unit length.
        """
        faiss = load_faiss()
        rows = _checked(vectors, None, "vectors of the catalog")
        size, dimension = rows.shape
        if size and size >= (HNSW_FROM if hnsw_from is None else hnsw_from):
            graph = build_graph(rows)
            if graph is not None:
                return cls(graph)
        flat = faiss.IndexFlatIP(dimension)
        flat.add(rows)
        return cls(flat)

    @classmethod
    def from_bytes(cls, data: bytes, *, size: int, dimension: int) -> FaissIndex:
        """Read what `to_bytes` wrote. Give it verified bytes only: FAISS takes a changed byte in silence.

        Args:
            data: The whole file.
            size: Number of vectors that the manifest states.
            dimension: Dimension that the manifest states.

        Raises:
            IndexCorruptError: The bytes are no index of a kind that `build` makes.
            IndexMismatchError: It holds another number of vectors, or vectors of another dimension.
        """
        faiss = load_faiss()
        if data[:4] not in (_FLAT_CODE, _MAPPED_CODE):
            raise IndexCorruptError(f"these {len(data)} bytes are no index that build() makes: {_MEND}")
        try:
            index = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
        except RuntimeError as error:
            raise IndexCorruptError(f"FAISS cannot read the vector index ({error}): {_MEND}") from error
        if (index.ntotal, index.d) != (size, dimension):
            raise IndexMismatchError(
                f"the vector index holds {index.ntotal} vectors of dimension {index.d}, "
                f"its manifest states {size} of dimension {dimension}: {_MEND}"
            )
        if isinstance(index, faiss.IndexIDMap):
            graph = faiss.downcast_index(index.index)
            positions = np.sort(positions_and_unreached(index)[0])
            if not isinstance(graph, faiss.IndexHNSWFlat) or not np.array_equal(positions, np.arange(size)):
                raise IndexCorruptError(f"the vector index is no graph over {size} tools: {_MEND}")
        return cls(index)

    def to_bytes(self) -> bytes:
        """The index as FAISS writes it, with everything a search depends on."""
        faiss = load_faiss()
        return bytes(faiss.serialize_index(self._owner).data)

    def write(self, path: Path) -> None:
        """Write what `to_bytes` gives to a new file, without a second copy of the vectors in memory.

        Raises:
            OSError: The system refused any part of it.
        """
        faiss = load_faiss()
        # FAISS only prints it when its own file cannot be closed, and the last block is lost with a full disk.
        with path.open("xb") as file:
            faiss.write_index(self._owner, faiss.PyCallbackIOWriter(file.write, _WRITTEN_AT_ONCE))

    @property
    def kind(self) -> Literal["flat", "hnsw"]:
        """``flat`` when every search is exact, ``hnsw`` when a graph is searched."""
        return "flat" if self._graph is None else "hnsw"

    @property
    def size(self) -> int:
        """Number of vectors, which is the number of tools."""
        return int(self._flat.ntotal)

    @property
    def dimension(self) -> int:
        """Columns of every vector."""
        return int(self._flat.d)

    def search(self, vectors: Matrix, limit: int, visible: Mask | None = None) -> tuple[Positions, Scores]:
        """Find the nearest visible tools of each query; see `VectorIndex.search`.

        A graph is searched only while at least half of the tools are visible. Below that, and wherever the
        graph has too few answers, the search is exact.
        """
        queries = _checked(vectors, self.dimension, "query vectors")
        if limit < 0:
            raise ValueError(f"limit is {limit}: it must not be negative")
        mask = self._mask_of_rows(visible)
        count = self.size if mask is None else int(np.count_nonzero(mask))
        k = min(limit, count)
        found = (np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32))
        if k == 0 or len(queries) == 0:
            return found
        todo = np.arange(len(queries))
        if self._graph is not None and 2 * count >= self.size:
            todo = self._search_graph(queries, found, count, mask)
        self._search_flat(queries, todo, found, count, mask)
        return found

    def scores(self, vectors: Matrix, positions: Positions) -> Scores:
        """Exact inner products of each query with chosen tools; see `VectorIndex.scores`."""
        queries = _checked(vectors, self.dimension, "query vectors")
        chosen = np.asarray(positions, dtype=np.int64).reshape(-1)
        if chosen.size and (chosen.min() < 0 or chosen.max() >= self.size):
            raise IndexError(
                f"positions reach from {chosen.min()} to {chosen.max()}: the index has {self.size} tools"
            )
        rows = chosen if self._rows is None else self._rows[chosen]
        return self._scores_of_rows(queries, np.broadcast_to(rows, (len(queries), len(rows))))

    def vectors(self) -> Matrix:
        """A copy of all vectors, ``[size, dimension]``, in catalog order."""
        faiss = load_faiss()
        if self.size == 0:
            return np.empty((0, self.dimension), np.float32)
        view: Matrix = faiss.rev_swig_ptr(self._flat.get_xb(), self.size * self.dimension)
        rows = view.reshape(self.size, self.dimension)
        # A copy, because a view would outlive the index that owns its memory.
        return rows.copy() if self._rows is None else rows[self._rows]

    def _search_graph(
        self, queries: Matrix, found: tuple[Positions, Scores], count: int, mask: Mask | None
    ) -> Positions:
        """Answer queries into ``found`` by the graph; returns the queries that need an exact search."""
        faiss = load_faiss()
        k = found[0].shape[1]
        fetch = min(k + 1, count)
        if fetch * _SORT_ALL_BELOW > count:
            return np.arange(len(queries))
        selector, _bits = self._selector(mask)
        breadth = max(int(self._graph.hnsw.efSearch), 2 * fetch)
        params = faiss.SearchParametersHNSW(efSearch=breadth, sel=selector)
        _, rows = self._graph.search(queries, fetch, params=params)
        scores = self._scores_of_rows(queries, rows)
        ranked = np.sort(scores, axis=-1)[:, ::-1]
        certain = (rows.min(axis=-1) >= 0) & (ranked[:, -1] < ranked[:, k - 1])
        extra = self._unreached if mask is None else self._unreached[mask[self._unreached]]
        extra_rows = np.broadcast_to(extra, (len(queries), len(extra)))
        scores[np.isin(rows, extra)] = -np.inf  # they come again among the extra ones
        rows = np.concatenate([rows, extra_rows], axis=1)
        scores = np.concatenate([scores, self._scores_of_rows(queries, extra_rows)], axis=1)
        self._keep_best(found, np.flatnonzero(certain), rows[certain], scores[certain])
        return np.flatnonzero(~certain)

    def _search_flat(
        self,
        queries: Matrix,
        todo: Positions,
        found: tuple[Positions, Scores],
        count: int,
        mask: Mask | None,
    ) -> None:
        """Answer the queries ``todo`` into ``found`` exactly."""
        faiss = load_faiss()
        k = found[0].shape[1]
        selector, _bits = self._selector(mask)
        params = faiss.SearchParameters(sel=selector)
        fetch = min(k + 1, count)
        while len(todo) and fetch * _SORT_ALL_BELOW <= count:
            scores, rows = self._flat.search(queries[todo], fetch, params=params)
            certain = scores[:, -1] < scores[:, k - 1]  # nothing left out can equal the last one kept
            self._keep_best(found, todo[certain], rows[certain], scores[certain])
            todo = todo[~certain]
            fetch *= 4
        rows = np.arange(self.size) if mask is None else np.flatnonzero(mask)
        for query in todo:
            scores = self._scores_of_rows(queries[query : query + 1], rows[None])
            self._keep_best(found, np.array([query]), rows[None], scores)

    def _selector(self, mask: Mask | None) -> tuple[Any, Any]:
        """FAISS's form of a mask, and the memory that it reads and that must outlive it."""
        faiss = load_faiss()
        if mask is None:
            return faiss.IDSelectorAll(), None
        bits = np.packbits(mask, bitorder="little")
        return faiss.IDSelectorBitmap(self.size, faiss.swig_ptr(bits)), bits

    def _keep_best(
        self, found: tuple[Positions, Scores], queries: Positions, rows: Positions, scores: Scores
    ) -> None:
        k = found[0].shape[1]
        positions = rows if self._positions is None else self._positions[rows]
        best = np.lexsort((positions, -scores), axis=-1)[:, :k]
        found[0][queries] = np.take_along_axis(positions, best, axis=-1)
        found[1][queries] = np.take_along_axis(scores, best, axis=-1)

    def _scores_of_rows(self, queries: Matrix, rows: Positions) -> Scores:
        """Inner product of each query with its own ``rows[q, m]``; undefined where a row is -1."""
        faiss = load_faiss()
        labels = np.ascontiguousarray(rows, dtype=np.int64)
        scores = np.zeros(labels.shape, np.float32)
        if scores.size:
            q, m = labels.shape
            with one_thread():
                self._flat.compute_distance_subset(
                    q, faiss.swig_ptr(queries), m, faiss.swig_ptr(scores), faiss.swig_ptr(labels)
                )
        return scores

    def _mask_of_rows(self, visible: Mask | None) -> Mask | None:
        if visible is None:
            return None
        mask = np.asarray(visible)
        if mask.dtype != np.bool_ or mask.shape != (self.size,):
            raise ValueError(
                f"visible is {mask.dtype} of shape {list(mask.shape)}: "
                f"it must be a bool mask of shape [{self.size}], one entry a tool"
            )
        if mask.all():
            return None
        return mask if self._positions is None else mask[self._positions]


def _checked(vectors: Matrix, dimension: int | None, what: str) -> Matrix:
    """The vectors as FAISS reads them, or an error that tells what their embedder did wrong."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or (dimension is not None and rows.shape[1] != dimension):
        expected = f"[n, {dimension}]" if dimension is not None else "[n, d]"
        raise EmbedderError(
            f"the {what} have shape {list(rows.shape)} instead of {expected}: "
            "documents and queries need the same embedder, and one row a text"
        )
    with np.errstate(all="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= _LENGTH_TOLERANCE))  # NaN fails every comparison
    if wrong.size:
        raise EmbedderError(
            f"{wrong.size} of {len(rows)} {what} are not of length 1 (the first is row {wrong[0]}, "
            f"length {lengths[wrong[0]]:.4g}): an embedder must return finite unit vectors"
        )
    return rows
