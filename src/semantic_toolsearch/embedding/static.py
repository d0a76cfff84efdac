"""A folder with one vector a token and texts come in; the texts' unit vectors, summed by numpy, go out."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semantic_toolsearch.embedding.checks import checked
from semantic_toolsearch.embedding.protocol import Matrix
from semantic_toolsearch.embedding.texts import as_texts
from semantic_toolsearch.embedding.tokenizer_file import CHARACTERS_PER_TOKEN, open_tokenizer
from semantic_toolsearch.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# model_folder is imported where it is used: building pydantic models is a tenth of this package's import.

TEXT_TOKENS = 30
"""Tokens of a usual text, to judge how loud an axis is."""


class StaticEmbedder:
    """Embeds with a table of token vectors from a folder: a text's vector is the sum of its tokens', made unit.

    No network of any kind: no connection, and no layers to run, so that a query takes a tenth of a millisecond.
    Word order says nothing to it. The files are compared with the manifest's sizes and hashes before they are
    read, and nothing is unpickled. Construction reads only the manifest; table and tokenizer are loaded at the
    first call, once, whichever thread comes first. Instances may be shared by threads.

    A text of which no token is known, the empty one too, has a fixed vector: as a document one, as a query
    another at a right angle to it, and both along axes on which texts say least. So a query that says
    nothing to the model is near to no tool, not even to one that says nothing to it either.

    Args:
        folder: Model folder (``manifest.json`` of kind ``static``, ``vectors.npy``, ``scales.npy``,
            ``tokenizer.json``).

    Attributes:
        id: The manifest's id and 12 digits of a hash over the loaded files' hashes.
        dimension: Columns of every matrix.
        folder: Where the model was found.

    Raises:
        EmbedderError: The folder has no usable manifest of this kind; at the first encode, a file is missing or
            damaged.
    """

    id: str
    dimension: int

    def __init__(self, folder: Path | str) -> None:
        from semantic_toolsearch.embedding.model_folder import SCALES, TOKENIZER, VECTORS, read_manifest

        self.folder = Path(folder)
        self._manifest = read_manifest(self.folder, kind="static")
        hashes = [self._manifest.files[name].sha256 for name in (VECTORS, SCALES, TOKENIZER)]
        self.id = f"{self._manifest.id}-{hashlib.sha256(' '.join(hashes).encode()).hexdigest()[:12]}"
        self.dimension = self._manifest.dimension
        self._lock = threading.Lock()
        self._loaded: _Table | None = None

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that are searched; see `Embedder.encode_document`."""
        return self._encode(texts, self._manifest.document_prefix, query=False)

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that search; see `Embedder.encode_query`."""
        return self._encode(texts, self._manifest.query_prefix, query=True)

    def _encode(self, texts: Sequence[str], prefix: str, *, query: bool) -> Matrix:
        clean = as_texts(texts, prefix=prefix, limit=self._manifest.max_tokens * CHARACTERS_PER_TOKEN)
        out = np.empty((len(clean), self.dimension), dtype=np.float32)
        if not clean:
            return out
        table = self._load()
        try:
            tokens = [
                encoding.ids
                for encoding in table.tokenizer.encode_batch_fast(clean, add_special_tokens=False)
            ]
            for row, ids in enumerate(np.array(entry, dtype=np.intp) for entry in tokens):
                out[row] = table.scales.take(ids) @ table.vectors.take(ids, axis=0).astype(np.float32)
        except Exception as error:  # tokenizers raises types of its own, some of them bare Exception
            raise EmbedderError(f"embedder {self.id!r} failed: {error}") from error
        silent = ~out.any(axis=1)
        if silent.any():
            out[silent] = table.nothing[int(query)]
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        return checked(out, len(clean), self.dimension, self.id)

    def _load(self) -> _Table:
        """Verify and open the model once; a failure is not remembered, so a repaired folder works."""
        from semantic_toolsearch.embedding.model_folder import SCALES, TOKENIZER, VECTORS, read_verified

        if self._loaded is not None:
            return self._loaded
        with self._lock:
            if self._loaded is None:
                vectors, scales, vocabulary = (
                    read_verified(self.folder, self._manifest, name) for name in (VECTORS, SCALES, TOKENIZER)
                )
                try:
                    self._loaded = _opened(
                        open_tokenizer(vocabulary, self._manifest.max_tokens),
                        _array(vectors, VECTORS, np.int8),
                        _array(scales, SCALES, np.float16),
                        self.dimension,
                    )
                except Exception as error:  # the tokenizers package raises types of its own
                    raise EmbedderError(
                        f"{self.folder}: intact, but it cannot be loaded ({error}). Install what reads it again "
                        f"(pip install --force-reinstall tokenizers), or export the model anew."
                    ) from error
            return self._loaded


@dataclass(frozen=True)
class _Table:
    """A loaded model.

    Attributes:
        tokenizer: Gives the row numbers of a text's tokens.
        vectors: int8 ``[tokens, dimension]``.
        scales: float32 ``[tokens]``; 0 for tokens that count for nothing.
    """

    tokenizer: Tokenizer
    vectors: np.ndarray[Any, np.dtype[np.int8]]
    scales: Matrix

    @cached_property
    def nothing(self) -> Matrix:
        """The vectors of texts of which no token is known: of a document, of a query.

        They are the two axes along which a text says least, so that hardly any is near to them.
        """
        means = np.einsum("i,ij->j", self.scales, self.vectors) / len(self.scales)
        squares = np.einsum("i,ij,ij->j", self.scales**2, self.vectors, self.vectors, dtype=np.float32)
        # In a sum of tokens, what they have in common grows faster than what tells them apart.
        loudness = squares / len(self.scales) + TEXT_TOKENS * means**2
        vectors: Matrix = np.eye(len(loudness), dtype=np.float32)[np.argsort(loudness, kind="stable")[:2]]
        return vectors


def _opened(tokenizer: Tokenizer, vectors: Any, scales: Any, dimension: int) -> _Table:
    """Put a model together.

    Raises:
        ValueError: The parts do not belong together, or hold values that no such model has.
    """
    tokens = tokenizer.get_vocab_size()
    if vectors.shape != (tokens, dimension) or scales.shape != (tokens,):
        raise ValueError(
            f"vectors of shape {vectors.shape} and scales of shape {scales.shape}; the tokenizer has {tokens} "
            f"tokens and the manifest {dimension} dimensions"
        )
    if dimension < 2:
        raise ValueError("a static model needs at least 2 dimensions")
    if not (np.isfinite(scales) & (scales >= 0)).all():
        raise ValueError("scales that are negative or no finite numbers")
    weights = scales.astype(np.float32)
    weights[[number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special]] = 0
    return _Table(tokenizer, np.ascontiguousarray(vectors), weights)


def _array(data: bytes, name: str, dtype: type[np.generic]) -> Any:
    """Read what `numpy.save` wrote, and nothing else.

    Raises:
        ValueError: It is something else, needs pickle, or holds numbers of another type.
    """
    stream = io.BytesIO(data)
    array = np.lib.format.read_array(stream, allow_pickle=False)
    if array.dtype != dtype or stream.read(1):
        raise ValueError(f"{name} holds {array.dtype}, or more than one array; expected {np.dtype(dtype)}")
    return array
