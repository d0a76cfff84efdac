"""Unit vectors go in; an HNSW graph over them comes out, with a list of the tools that it fails to reach.

A graph loses tools that are unlike all others: among 15,000 near-identical tools it missed a third to four
fifths of those that stand apart. So each tool is looked for once when the graph is built, with two made-up
queries as far from it as real queries are. Where the graph misses it although it belongs to the answer, the
tool is kept on a list, and every search scores the tools on the list exactly.

In FAISS's file the ids tell both things: an id is the tool's position in the catalog, or ``~position`` (which
is negative) when the tool is on the list.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np

from semantic_toolsearch.embedding import Matrix
from semantic_toolsearch.index.protocol import Positions
from semantic_toolsearch.index.runtime import load_faiss, one_thread

LINKS: Final = 32
EF_CONSTRUCTION: Final = 100
EF_SEARCH: Final = 256
SEED: Final = 12345

_PROBES: Final = 2
_PROBE_COSINE: Final = 0.6
_PROBE_EF: Final = 32
_PROBE_LIMIT: Final = 20
_PROBE_BATCH: Final = 1024
_MOST_UNREACHED: Final = 0.25
"""With a larger share of unreached tools, scoring them all is no slower than the graph."""


def build_graph(vectors: Matrix) -> Any | None:
    """Build a graph that depends on the vectors only, not on their order.

    Vectors enter in the order of their hashes and in one thread: FAISS promises equal graphs for no less.

    Args:
        vectors: float32 ``[n, d]``, unit rows, in catalog order, n > 0.

    Returns:
        An ``IndexIDMap`` over an ``IndexHNSWFlat``, or None when the vectors lie so that a graph cannot serve
        them (it misses more than a quarter of the tools).
    """
    faiss = load_faiss()
    size, dimension = vectors.shape
    digests = [hashlib.sha256(row).digest() for row in vectors]
    order = np.array(sorted(range(size), key=digests.__getitem__), dtype=np.int64)
    rows = vectors[order]
    graph = faiss.IndexHNSWFlat(dimension, LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = EF_CONSTRUCTION
    graph.hnsw.efSearch = EF_SEARCH
    graph.hnsw.rng = faiss.RandomGenerator(SEED)
    mapped = faiss.IndexIDMap(graph)
    with one_thread():
        mapped.add_with_ids(rows, order)
    unreached = _unreached(graph, rows)
    if unreached.mean() > _MOST_UNREACHED:
        return None
    faiss.copy_array_to_vector(np.where(unreached, ~order, order), mapped.id_map)
    return mapped


def positions_and_unreached(mapped: Any) -> tuple[Positions, Positions]:
    """Read the ids of a graph.

    Returns:
        The catalog position of each row, and the rows that must be scored exactly.
    """
    ids: Positions = load_faiss().vector_to_array(mapped.id_map)
    return np.where(ids < 0, ~ids, ids), np.flatnonzero(ids < 0)


def _unreached(graph: Any, rows: Matrix) -> np.ndarray[Any, np.dtype[np.bool_]]:
    faiss = load_faiss()
    rng = np.random.default_rng(SEED)
    limit = min(_PROBE_LIMIT, len(rows))
    breadth = faiss.SearchParametersHNSW(efSearch=_PROBE_EF)
    missed = np.zeros(len(rows), dtype=np.bool_)
    for start in range(0, len(rows), _PROBE_BATCH):
        batch = rows[start : start + _PROBE_BATCH]
        own = np.arange(start, start + len(batch))
        for _ in range(_PROBES):
            probes = _at_cosine(batch, _PROBE_COSINE, rng)
            scores, found = graph.search(probes, limit, params=breadth)
            # A tool that scores below the last one found is rightly absent; 1e-6 is rounding.
            belongs = np.einsum("ij,ij->i", probes, batch) > scores[:, -1] + 1e-6
            missed[own] |= belongs & ~(found == own[:, None]).any(axis=1)
    return missed


def _at_cosine(vectors: Matrix, cosine: float, rng: np.random.Generator) -> Matrix:
    """One random unit vector for each of ``vectors``, at the given cosine with it."""
    away = rng.standard_normal(vectors.shape, dtype=np.float32)
    away -= np.einsum("ij,ij->i", away, vectors)[:, None] * vectors
    length = np.linalg.norm(away, axis=1, keepdims=True)
    away /= np.maximum(length, 1e-12)  # with one dimension there is no other direction
    mixed: Matrix = np.float32(cosine) * vectors + np.float32(np.sqrt(1 - cosine**2)) * away
    return mixed
