"""Texts as counts of tokens and gradients of their vectors come in; a trained table of token vectors goes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from tokenizers import Tokenizer

from semantic_toolsearch.embedding import Matrix

__all__ = ["Adam", "Bags", "counts"]


def counts(tokenizer: Path, texts: Sequence[str], most: int) -> csr_matrix:
    """How often each token stands in each text's first ``most`` tokens; special tokens count for nothing.

    Returns:
        float32 ``[texts, tokens]``.
    """
    opened = Tokenizer.from_file(str(tokenizer))
    opened.no_padding()
    opened.enable_truncation(most)
    special = [number for number, token in opened.get_added_tokens_decoder().items() if token.special]
    encoded = [encoding.ids for encoding in opened.encode_batch_fast(list(texts), add_special_tokens=False)]
    starts = np.cumsum([0, *map(len, encoded)])
    ids = np.concatenate([np.array(entry, dtype=np.int32) for entry in encoded])
    ones = (~np.isin(ids, special)).astype(np.float32)
    matrix = csr_matrix((ones, ids, starts), shape=(len(texts), opened.get_vocab_size()))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


class Bags:
    """Vectors of some texts under a table: forward at construction, backward by `gradient`.

    Args:
        matrix: Counts, float32 ``[n, tokens]``.
        table: float32 ``[tokens, d]``.

    Attributes:
        vectors: Unit vectors, float32 ``[n, d]``; zero for a text without tokens.
        rows: Tokens that occur.
    """

    def __init__(self, matrix: csr_matrix, table: Matrix) -> None:
        self.rows, columns = np.unique(matrix.indices, return_inverse=True)
        shape = (matrix.shape[0], len(self.rows))
        self._matrix = csr_matrix((matrix.data, columns, matrix.indptr), shape=shape)
        sums = self._matrix @ table[self.rows]
        self._lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        self.vectors: Matrix = sums / self._lengths

    def gradient(self, of_vectors: Matrix) -> Matrix:
        """The loss's gradient by the table's `rows`, from that by `vectors`."""
        along = (of_vectors * self.vectors).sum(axis=1, keepdims=True)
        result: Matrix = self._matrix.T @ ((of_vectors - along * self.vectors) / self._lengths)
        return result


class Adam:
    """Adam (Kingma and Ba, 2015) for tables of which a step touches few rows: the others stay as they are."""

    def __init__(self, table: Matrix, *, first: float = 0.9, second: float = 0.999) -> None:
        self.table = table
        self._mean, self._square = np.zeros_like(table), np.zeros_like(table)
        self._first, self._second = first, second
        self._steps = 0
        # Fresh arrays of megabytes at every step would cost more than the arithmetic.
        self._move, self._other = np.empty_like(table), np.empty_like(table)

    def step(self, rows: np.ndarray, gradient: Matrix, rate: float) -> None:
        """Move ``table[rows]`` against its gradient, whose array is used up; no row may occur twice."""
        self._steps += 1
        move, other = self._move[: len(rows)], self._other[: len(rows)]
        np.take(self._mean, rows, axis=0, out=move, mode="clip")
        move *= self._first
        move += np.multiply(gradient, 1 - self._first, out=other)
        self._mean[rows] = move
        np.take(self._square, rows, axis=0, out=other, mode="clip")
        other *= self._second
        gradient *= gradient
        gradient *= 1 - self._second
        other += gradient
        self._square[rows] = other
        other /= 1 - self._second**self._steps
        np.sqrt(other, out=other)
        other += 1e-8
        move *= rate / (1 - self._first**self._steps)
        move /= other
        np.take(self.table, rows, axis=0, out=other, mode="clip")
        other -= move
        self.table[rows] = other
