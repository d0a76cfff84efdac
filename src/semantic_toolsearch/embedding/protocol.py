"""What an embedding model is to this library: texts come in, unit vectors go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
"""float32 array of shape ``[n, d]``; every row has length 1, so a dot product is a cosine."""


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors whose dot product tells how near two meanings are.

    A class of yours needs these two attributes and two methods and inherits nothing. Documents and queries
    are encoded by separate methods because many models were trained with a different prompt for each. They are
    called from any thread, and from several at once.

    Attributes:
        id: Names the model *and* everything that changes its vectors (weights, prompts, pooling). It is
            stored in every index and is the cache's key: two embedders with the same id must give the same
            vectors.
        dimension: Columns of every matrix it returns.
    """

    @property
    def id(self) -> str:
        """Name of the model and of all that changes its vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Columns of every returned matrix."""
        ...

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that are searched.

        Args:
            texts: Any number of texts, the empty text included.

        Returns:
            float32 ``[len(texts), dimension]``, unit rows, in the order of ``texts``.

        Raises:
            EmbedderError: The model failed or gave unusable vectors.
        """
        ...

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that search; same shape, order and errors as `encode_document`."""
        ...
