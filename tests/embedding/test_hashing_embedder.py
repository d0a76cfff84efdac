"""The stand-in embedder: the same vectors everywhere, near for common words, and counted."""

from __future__ import annotations

import numpy as np

from semantic_toolsearch.testing import HashingEmbedder


def test_vectors_are_the_same_in_every_process() -> None:
    vector = HashingEmbedder(8).encode_query(["create an invoice"])[0]
    assert np.allclose(vector, HashingEmbedder(8).encode_document(["create an invoice"])[0])
    assert [round(float(value), 3) for value in vector] == GOLDEN


def test_common_words_and_parts_bring_texts_near() -> None:
    query = HashingEmbedder().encode_query(["create invoice"])
    documents = HashingEmbedder().encode_document(["createInvoice", "list_invoices", "weather_forecast"])
    scores = (documents @ query.T)[:, 0]
    assert scores[0] > 0.99
    assert scores[0] > scores[1] > scores[2]


def test_calls_and_texts_are_counted() -> None:
    embedder = HashingEmbedder()
    embedder.encode_document(["a", "b", "c"])
    embedder.encode_query(["a"])
    assert (embedder.calls, embedder.documents, embedder.queries) == (2, 3, 1)


GOLDEN = [0.405, -0.135, -0.135, 0.584, 0.315, 0.135, 0.584, 0.0]
