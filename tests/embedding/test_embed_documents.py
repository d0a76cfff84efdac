"""Documents are embedded once per different text, in batches that are kept as they are finished."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_toolsearch.embedding import EmbeddingCache, EmbeddingStats, embed_documents, text_hash
from semantic_toolsearch.embedding.documents import BATCH
from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.testing import HashingEmbedder

CATALOG = [f"tool_{number}: does the thing number {number} in a way of its own" for number in range(500)]


def test_bc55_only_changed_texts_are_embedded(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    embedder, cache = HashingEmbedder(), EmbeddingCache(path)
    first, stats = embed_documents(embedder, CATALOG, cache)
    assert stats == EmbeddingStats(texts=500, unique=500, embedded=500, from_cache=0)
    assert embedder.documents == 500
    assert embedder.calls == -(-500 // BATCH)
    for _ in range(20):
        again, stats = embed_documents(embedder, CATALOG, cache)
        assert stats == EmbeddingStats(texts=500, unique=500, embedded=0, from_cache=500)
        assert np.array_equal(first, again)
    assert embedder.documents == 500

    changed = [*CATALOG[:250], "a new description", *CATALOG[251:]]
    matrix, stats = embed_documents(embedder, changed, cache)
    assert (stats.embedded, stats.from_cache, embedder.documents) == (1, 499, 501)
    assert np.array_equal(np.delete(matrix, 250, 0), np.delete(first, 250, 0))

    restarted = HashingEmbedder()
    matrix, stats = embed_documents(restarted, CATALOG, EmbeddingCache(path))
    assert (stats.embedded, restarted.calls) == (0, 0)
    assert np.array_equal(matrix, first)


def test_equal_texts_are_embedded_once_without_a_cache() -> None:
    embedder = HashingEmbedder()
    matrix, stats = embed_documents(embedder, ["a", "b", "a", "a"])
    assert stats == EmbeddingStats(texts=4, unique=2, embedded=2, from_cache=0)
    assert np.array_equal(matrix, HashingEmbedder().encode_document(["a", "b", "a", "a"]))


def test_no_texts_cost_nothing(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    matrix, stats = embed_documents(embedder, [], EmbeddingCache(tmp_path / "c"))
    assert (matrix.shape, matrix.dtype, embedder.calls) == ((0, 256), np.float32, 0)
    assert stats == EmbeddingStats(0, 0, 0, 0)


def test_an_interrupted_run_keeps_its_finished_batches(tmp_path: Path) -> None:
    class Failing(HashingEmbedder):
        def encode_document(self, texts: Sequence[str]) -> Any:
            if self.calls == 3:
                raise KeyboardInterrupt
            return super().encode_document(texts)

    cache = EmbeddingCache(tmp_path / "c")
    with pytest.raises(KeyboardInterrupt):
        embed_documents(Failing(), CATALOG, cache)
    embedder = HashingEmbedder()
    _, stats = embed_documents(embedder, CATALOG, cache)
    assert stats.from_cache == 3 * BATCH
    assert embedder.documents == 500 - 3 * BATCH


def test_progress_counts_up_to_the_total_with_every_batch(tmp_path: Path) -> None:
    cache, seen = EmbeddingCache(tmp_path / "c"), []
    embed_documents(HashingEmbedder(), CATALOG[:100], cache)
    embed_documents(HashingEmbedder(), CATALOG, cache, lambda done, total: seen.append((done, total)))
    assert seen[0] == (100, 500)
    assert seen[-1] == (500, 500)
    assert [done for done, _ in seen] == [100, *range(100 + BATCH, 500, BATCH), 500]


@pytest.mark.parametrize(
    "change",
    [
        lambda matrix: matrix[:-1],
        lambda matrix: matrix[:, :-1],
        lambda matrix: matrix * np.float32(np.nan),
        lambda matrix: matrix * 0,
        lambda matrix: None,
    ],
    ids=["fewer", "dimension", "nan", "zeros", "nothing"],
)
def test_bc54_unusable_vectors_are_neither_returned_nor_stored(tmp_path: Path, change: Any) -> None:
    class Broken(HashingEmbedder):
        def encode_document(self, texts: Sequence[str]) -> Any:
            return change(super().encode_document(texts))

    cache = EmbeddingCache(tmp_path / "c")
    with pytest.raises(EmbedderError, match="hashing-256"):
        embed_documents(Broken(), ["a", "b"], cache)
    assert len(cache) == 0


def test_vectors_of_another_dimension_under_the_same_id_are_not_used(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c")
    small = HashingEmbedder(16)
    small.id = "hashing-256"
    embed_documents(small, ["a"], cache)
    matrix, stats = embed_documents(HashingEmbedder(), ["a"], cache)
    assert (matrix.shape, stats.embedded) == ((1, 256), 1)


def test_lone_surrogates_have_an_address_of_their_own() -> None:
    assert text_hash("\ud800") != text_hash("?")
    matrix, _ = embed_documents(HashingEmbedder(), ["\ud800", "x \udfff"])
    assert matrix.shape == (2, 256)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=12), max_size=12), st.randoms(use_true_random=False))
def test_each_text_has_its_vector_in_any_order(texts: list[str], random: Any) -> None:
    embedder = HashingEmbedder(32)
    matrix, stats = embed_documents(embedder, texts)
    assert np.array_equal(matrix, HashingEmbedder(32).encode_document(texts))
    assert stats.embedded == len(set(texts)) == embedder.documents
    shuffled = texts.copy()
    random.shuffle(shuffled)
    other, _ = embed_documents(embedder, shuffled)
    assert {t: v.tobytes() for t, v in zip(texts, matrix, strict=True)} == {
        t: v.tobytes() for t, v in zip(shuffled, other, strict=True)
    }
