"""What every model that comes with the library does, whatever its kind."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from semantic_toolsearch.embedding import SHIPPED_MODELS, resolve_embedder


@pytest.mark.parametrize("name", SHIPPED_MODELS)
def test_s17_it_finds_by_meaning_without_network(name: str) -> None:
    documents = [
        "create invoice: Bill a customer for an order.",
        "git reset: Unstage changes that were added.",
        "lamp: Switch the lights of a room on or off.",
    ]
    queries = [
        "charge the client for our work",
        "take back what I added to the commit",
        "it is too dark in the bedroom",
    ]
    embedder = resolve_embedder(name)
    found = embedder.encode_query(queries) @ embedder.encode_document(documents).T
    assert found.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", SHIPPED_MODELS)
def test_threads_share_one_loaded_model(name: str) -> None:
    embedder, texts = resolve_embedder(name), ["undo my last commit", ""]
    expected = resolve_embedder(name).encode_query(texts)
    results: list[np.ndarray] = []
    start = threading.Barrier(6)

    def work() -> None:
        start.wait()
        results.extend(embedder.encode_query(texts) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 30
    assert all(np.array_equal(result, expected) for result in results)
