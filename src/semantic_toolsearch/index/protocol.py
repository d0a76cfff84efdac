"""What a vector index is to this library: query vectors come in, tools' positions and scores go out."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from semantic_toolsearch.embedding import Matrix

Positions: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
"""int64 array of positions in the catalog."""

Scores: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
"""float32 array of inner products; of unit vectors, so cosines in [-1, 1] up to rounding."""

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
"""bool array with one entry a tool; True where the tool may be found."""


@runtime_checkable
class VectorIndex(Protocol):
    """One unit vector a tool, at the tool's position in the catalog; never changed once built.

    A live catalog builds the next index out of `vectors` of the last one and swaps the two in one assignment,
    so a search needs no lock and sees one generation.
    """

    @property
    def size(self) -> int:
        """Number of vectors, which is the number of tools."""
        ...

    @property
    def dimension(self) -> int:
        """Columns of every vector."""
        ...

    def search(self, vectors: Matrix, limit: int, visible: Mask | None = None) -> tuple[Positions, Scores]:
        """Find the nearest visible tools of each query.

        Args:
            vectors: Query vectors, float32 ``[q, dimension]``, unit rows.
            limit: Most tools a query may get.
            visible: bool ``[size]``; a tool whose entry is False is never returned. None: all are visible.

        Returns:
            Positions ``[q, k]`` and scores ``[q, k]`` with k = min(limit, visible tools), best first; equal
            scores stand in ascending position.

        Raises:
            EmbedderError: The query vectors have another dimension, are not finite or not of unit length.
            ValueError: ``limit`` is negative or ``visible`` is not a mask over the tools.
        """
        ...

    def scores(self, vectors: Matrix, positions: Positions) -> Scores:
        """Exact inner products of each query with chosen tools.

        Args:
            vectors: Query vectors, float32 ``[q, dimension]``, unit rows.
            positions: Positions ``[m]``, in any order, repeats allowed.

        Returns:
            ``[q, m]``, equal to the scores that `search` gives the same tools.

        Raises:
            EmbedderError: As for `search`.
            IndexError: A position is negative or not below ``size``.
        """
        ...

    def vectors(self) -> Matrix:
        """All vectors, ``[size, dimension]``, in catalog order; a read-only view or a copy."""
        ...
