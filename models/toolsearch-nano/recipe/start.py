"""The teacher's vectors of tokens and of texts come in; the table that training starts from goes out."""

from __future__ import annotations

import numpy as np

from semantic_toolsearch.embedding import Matrix

__all__ = ["principal_axes", "starting_table"]

COMMON = 1e-3
"""A token of this share of all tokens weighs half as much as a rare one (smooth inverse frequency, Arora et al.,
"A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017)."""


def principal_axes(vectors: Matrix, dimension: int) -> tuple[Matrix, Matrix]:
    """The mean of some vectors, and the axes ``[d, dimension]`` along which they differ most."""
    mean: Matrix = vectors.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov((vectors - mean).T))
    return mean, np.ascontiguousarray(axes[:, ::-1][:, :dimension], dtype=np.float32)


def starting_table(tokens: Matrix, axes: Matrix, frequency: np.ndarray) -> Matrix:
    """Each token's vector along the axes, the shorter the more common it is; mean length 1.

    Args:
        tokens: The teacher's vectors of single tokens, ``[tokens, d]``.
        axes: ``[d, dimension]``.
        frequency: How often each token stands in the training texts.
    """
    share = (frequency + 1) / (frequency + 1).sum()
    table = (tokens - tokens.mean(axis=0)) @ axes * (COMMON / (COMMON + share))[:, None]
    result: Matrix = (table / np.linalg.norm(table, axis=1).mean()).astype(np.float32)
    return result
