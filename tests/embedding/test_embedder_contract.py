"""Every embedder passes one contract suite, and the suite notices each way of breaking it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from semantic_toolsearch.embedding import Embedder, OnnxEmbedder, OpenAICompatibleEmbedder
from semantic_toolsearch.testing import HashingEmbedder, check_embedder


def test_s18_hashing_embedder_keeps_the_contract() -> None:
    embedder = HashingEmbedder()
    assert isinstance(embedder, Embedder)
    check_embedder(embedder)


def test_s18_shipped_model_keeps_the_contract() -> None:
    embedder = OnnxEmbedder()
    assert isinstance(embedder, Embedder)
    check_embedder(embedder)


@pytest.mark.parametrize("packed", [True, False], ids=["base64", "numbers"])
def test_s18_openai_compatible_endpoint_keeps_the_contract(endpoint: Any, packed: bool) -> None:
    endpoint.base64 = packed
    embedder = OpenAICompatibleEmbedder(endpoint.url, "some-model", batch_size=10)
    assert isinstance(embedder, Embedder)
    check_embedder(embedder)
    assert max(len(request["input"]) for request in endpoint.requests) <= 10


@pytest.mark.torch
def test_s18_sentence_transformer_keeps_the_contract(original_model: Any) -> None:
    from semantic_toolsearch.embedding import SentenceTransformerEmbedder

    embedder = SentenceTransformerEmbedder(original_model, device="cpu")
    assert isinstance(embedder, Embedder)
    check_embedder(embedder)


class _Wrapped(HashingEmbedder):
    """A correct embedder whose output one broken rule changes."""

    def __init__(self, change: Callable[[Any, Sequence[str]], Any]) -> None:
        super().__init__()
        self._change = change

    def _encode(self, texts: Sequence[str]) -> Any:
        return self._change(super()._encode(texts), texts)


def _by_position(matrix: Any, texts: Sequence[str]) -> Any:
    return np.roll(matrix, 1, axis=0)


def _by_batch(matrix: Any, texts: Sequence[str]) -> Any:
    mixed = matrix + 0.2 * matrix.sum(axis=0) / max(len(matrix), 1)
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


def _refuse_empty(matrix: Any, texts: Sequence[str]) -> Any:
    if "" in texts:
        raise ValueError("an empty text")
    return matrix


def _refuse_surrogates(matrix: Any, texts: Sequence[str]) -> Any:
    for text in texts:
        text.encode()
    return matrix


def _first_letter(matrix: Any, texts: Sequence[str]) -> Any:
    out = np.zeros_like(matrix)
    for row, text in enumerate(texts):
        out[row, zlib.crc32(text[:1].encode("utf-8", "replace")) % 2] = 1
    return out


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda matrix, _: matrix.astype(np.float64), "float32"),
        (lambda matrix, _: matrix.tolist(), "numpy array"),
        (lambda matrix, _: matrix * 2, "unit vectors"),
        (lambda matrix, _: matrix[:1], "shape"),
        (lambda matrix, _: matrix[:, :-1], "shape"),
        (lambda matrix, _: matrix * np.nan, "NaN"),
        (_by_position, "in another order"),
        (_by_batch, "alone"),
        (_first_letter, "almost the same vector"),
    ],
    ids=["float64", "list", "length", "rows", "columns", "nan", "order", "batch", "collapsed"],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_the_contract_check_names_the_broken_promise(change: Any, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_embedder(_Wrapped(change))


@pytest.mark.parametrize("change", [_refuse_empty, _refuse_surrogates])
def test_the_contract_check_lets_a_refusal_of_ordinary_texts_through(change: Any) -> None:
    with pytest.raises(ValueError, match=r"empty text|surrogates"):
        check_embedder(_Wrapped(change))


def test_the_contract_check_refuses_an_empty_id() -> None:
    embedder = HashingEmbedder()
    embedder.id = ""
    with pytest.raises(AssertionError, match="id must not be empty"):
        check_embedder(embedder)
