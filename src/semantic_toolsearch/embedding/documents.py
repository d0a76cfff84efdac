"""Document texts come in; their matrix goes out, and only texts that the cache lacks are embedded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from semantic_toolsearch.embedding.cache import Vector, VectorStore
from semantic_toolsearch.embedding.checks import checked
from semantic_toolsearch.embedding.protocol import Embedder, Matrix

BATCH = 64
"""Texts embedded, stored and reported at a time: what an interrupted run loses at most."""


@dataclass(frozen=True, slots=True)
class EmbeddingStats:
    """What one call of `embed_documents` cost.

    Attributes:
        texts: Texts asked for.
        unique: Different texts among them.
        embedded: Different texts that the model had to embed.
        from_cache: Different texts whose vectors were stored.
    """

    texts: int
    unique: int
    embedded: int
    from_cache: int


def text_hash(text: str) -> str:
    """Address of a text: hexadecimal sha256 of its UTF-8 form (lone surrogates included)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def embed_documents(
    embedder: Embedder,
    texts: Sequence[str],
    cache: VectorStore | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Matrix, EmbeddingStats]:
    """Embed documents, each different text at most once, and store every batch as soon as it is done.

    Args:
        embedder: The model.
        texts: Documents, repetitions allowed.
        cache: Where vectors are looked up and stored; None embeds all.
        progress: Called as ``progress(done, total)`` over the different texts: once at the start, with what
            the cache had, and after every batch.

    Returns:
        float32 ``[len(texts), embedder.dimension]``, unit rows, in the order of ``texts``; and the cost.

    Raises:
        EmbedderError: The model failed or returned unusable vectors. Batches finished before that are stored.
    """
    hashes = [text_hash(text) for text in texts]
    by_hash = dict(zip(hashes, texts, strict=True))
    dimension = embedder.dimension
    places = {key: place for place, key in enumerate(by_hash)}
    unique = np.empty((len(by_hash), dimension), dtype=np.float32)
    missing = set(by_hash)
    if cache is not None and by_hash:
        for key, vector in cache.get_many(embedder.id, list(by_hash)).items():
            if _usable(vector, dimension):
                unique[places[key]] = vector
                missing.discard(key)
    # Neighbours of one length pad little; the hash makes the order that of the texts, whatever the caller's
    # was.
    ordered = sorted(missing, key=lambda key: (len(by_hash[key]), key))
    stats = EmbeddingStats(len(texts), len(by_hash), len(ordered), len(by_hash) - len(ordered))
    done = stats.from_cache
    if progress is not None:
        progress(done, len(by_hash))
    for start in range(0, len(ordered), BATCH):
        keys = ordered[start : start + BATCH]
        encoded = embedder.encode_document([by_hash[key] for key in keys])
        fresh = checked(encoded, len(keys), dimension, embedder.id)
        unique[[places[key] for key in keys]] = fresh
        if cache is not None:
            # A copy: an embedder may write its next answer into the same memory.
            cache.put_many(embedder.id, dict(zip(keys, fresh.copy(), strict=True)))
        done += len(keys)
        if progress is not None:
            progress(done, len(by_hash))
    matrix = unique if len(by_hash) == len(texts) else unique[[places[key] for key in hashes]]
    return matrix, stats


def _usable(vector: Vector, dimension: int) -> bool:
    """An entry of another length or of no unit length was written by something else under the same id."""
    return vector.shape == (dimension,) and bool(abs(float(np.linalg.norm(vector)) - 1) < 1e-3)
