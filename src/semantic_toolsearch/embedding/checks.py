"""Whatever an embedder returned comes in; a matrix that is safe to index, or an `EmbedderError`, goes out."""

from __future__ import annotations

import numpy as np

from semantic_toolsearch.embedding.protocol import Matrix
from semantic_toolsearch.errors import EmbedderError, described

UNIT_TOLERANCE = 1e-4
"""How far from 1 a row's length may be and still count as unit length."""


def checked(matrix: object, n: int, dimension: int, embedder_id: str) -> Matrix:
    """Check an embedder's output before anything relies on it.

    A NaN or a zero vector would not fail later: it would silently match nothing, or everything.

    Args:
        matrix: What the embedder returned; anything that numpy can read as numbers.
        n: How many texts were embedded.
        dimension: The embedder's stated dimension.
        embedder_id: Named in every message.

    Returns:
        float32 ``[n, dimension]``, C-contiguous, unit rows. Rows that are not of unit length are scaled; the
        input is never written to, and is returned itself where it is already right.

    Raises:
        EmbedderError: Not numbers, another shape, fewer or more rows than texts, NaN or infinite values, or a
            zero vector.
    """
    try:
        values = np.asarray(matrix)
        if values.dtype.kind not in "fiu":
            raise TypeError(f"values of type {values.dtype}")
        wide = values.astype(np.float64)
    except Exception as error:  # an array may be anybody's object, which refuses by any exception
        raise EmbedderError(
            f"embedder {embedder_id!r} returned no matrix of numbers ({described(error)})"
        ) from error
    if wide.ndim != 2:
        raise EmbedderError(
            f"embedder {embedder_id!r} returned an array of shape {wide.shape}; expected ({n}, {dimension})"
        )
    if wide.shape[0] != n:
        raise EmbedderError(f"embedder {embedder_id!r} returned {wide.shape[0]} vectors for {n} texts")
    if wide.shape[1] != dimension:
        raise EmbedderError(
            f"embedder {embedder_id!r} returned vectors of dimension {wide.shape[1]}; it states {dimension}. "
            f"Give it the model's real dimension."
        )
    if not np.isfinite(wide).all():
        row = int(np.flatnonzero(~np.isfinite(wide).all(axis=1))[0])
        raise EmbedderError(
            f"embedder {embedder_id!r} returned NaN or infinite values (first in vector {row})"
        )
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():  # the squares exceed every number; the vectors do not
        values = wide = wide / np.maximum(np.abs(wide).max(axis=1, keepdims=True), 1.0)
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if (lengths < 1e-12).any():
        row = int(np.flatnonzero(lengths[:, 0] < 1e-12)[0])
        raise EmbedderError(f"embedder {embedder_id!r} returned a zero vector (first is vector {row})")
    if np.abs(lengths - 1).max(initial=0) > UNIT_TOLERANCE:
        return np.ascontiguousarray(wide / lengths, dtype=np.float32)
    return np.ascontiguousarray(values, dtype=np.float32)
