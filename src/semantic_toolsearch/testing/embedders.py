"""An embedder comes in, and a broken promise goes out as an `AssertionError`; stand-ins included."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence

import numpy as np

from semantic_toolsearch.embedding.protocol import Embedder, Matrix
from semantic_toolsearch.embedding.texts import as_texts
from semantic_toolsearch.names import split_identifier

__all__ = ["HashingEmbedder", "check_embedder", "require"]


class HashingEmbedder:
    """Embeds by hashing words and character trigrams: no model, no download, the same vectors everywhere.

    Texts with common words or word parts come out near each other; meaning is not seen. Meant for tests and
    examples that need an embedder but not its quality (feature hashing: Weinberger et al., 2009).

    Args:
        dimension: Columns of every matrix.

    Attributes:
        calls: How often an encode method was called.
        documents: Texts given to `encode_document` so far.
        queries: Texts given to `encode_query` so far.
    """

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension
        self.id = f"hashing-{dimension}"
        self.calls = self.documents = self.queries = 0
        self._lock = threading.Lock()

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that are searched; see `Embedder.encode_document`."""
        matrix = self._encode(texts)
        with self._lock:
            self.calls += 1
            self.documents += len(matrix)
        return matrix

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that search; see `Embedder.encode_query`."""
        matrix = self._encode(texts)
        with self._lock:
            self.calls += 1
            self.queries += len(matrix)
        return matrix

    def _encode(self, texts: Sequence[str]) -> Matrix:
        clean = as_texts(texts, limit=100_000)
        matrix = np.zeros((len(clean), self.dimension), dtype=np.float32)
        for row, text in enumerate(clean):
            for word in split_identifier(text):
                self._add(matrix[row], word, 1.0)
                padded = f"<{word}>"
                for start in range(len(padded) - 2):
                    self._add(matrix[row], padded[start : start + 3], 0.3)
            if not matrix[row].any():  # no words, or words that cancelled each other out
                self._add(matrix[row], "<none>", 1.0)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix /= lengths
        return matrix

    def _add(
        self, row: np.ndarray[tuple[int, ...], np.dtype[np.float32]], feature: str, weight: float
    ) -> None:
        code = zlib.crc32(feature.encode())
        row[code % self.dimension] += weight if code & 0x8000_0000 else -weight


def check_embedder(embedder: Embedder) -> None:
    """Check that an embedder keeps every promise of the protocol; call it in a test of your own embedder.

    Embeds about 60 short texts and a few long ones.

    Args:
        embedder: The object to check.

    Raises:
        AssertionError: A promise is broken; the message says which one.
    """
    identity, dimension = embedder.id, embedder.dimension
    require(isinstance(identity, str), f"id must be a string, not {type(identity).__name__}")
    require(bool(identity), "id must not be empty: it is the key of caches and indexes")
    require(isinstance(dimension, int), f"dimension must be an int, not {type(dimension).__name__}")
    require(dimension > 0, f"dimension must be positive, not {dimension}")
    for name in ("encode_document", "encode_query"):
        _check_shapes(embedder, name)
        _check_independence(embedder, name)
        _check_foreign_texts(embedder, name)
    _check_threads(embedder)
    require(
        (embedder.id, embedder.dimension) == (identity, dimension),
        "id and dimension must not change with use",
    )


_TEXTS = (
    "Send an email to a colleague",
    "create_invoice: bill a customer",
    "What is the weather in Oslo tomorrow?",
    "undo the last commit",
    "Turn off the kitchen lights",
    "Convert dollars to euros",
    "Restart the database server after the nightly backup has finished, then tell the operator on duty",
)


def require(condition: bool, message: str) -> None:
    """Like ``assert``, which ``python -O`` would remove."""
    if not condition:
        raise AssertionError(message)


def _encode(embedder: Embedder, name: str, texts: Sequence[str]) -> Matrix:
    matrix: Matrix = getattr(embedder, name)(list(texts))
    require(isinstance(matrix, np.ndarray), f"{name} must return a numpy array, not {type(matrix).__name__}")
    expected = (len(texts), embedder.dimension)
    require(
        matrix.shape == expected,
        f"{name} returned shape {matrix.shape} for {len(texts)} texts, not {expected}",
    )
    require(matrix.dtype == np.float32, f"{name} must return float32, not {matrix.dtype}")
    require(bool(np.isfinite(matrix).all()), f"{name} returned NaN or infinite values")
    lengths = np.linalg.norm(matrix, axis=1)
    require(
        np.allclose(lengths, 1, atol=1e-3), f"{name} must return unit vectors; lengths are {lengths.round(3)}"
    )
    return matrix


def _check_shapes(embedder: Embedder, name: str) -> None:
    _encode(embedder, name, [])
    given = list(_TEXTS)
    matrix = _encode(embedder, name, given)
    require(given == list(_TEXTS), f"{name} changed the list it was given")
    cosines = matrix @ matrix.T
    for row in range(len(given)):
        others = np.delete(cosines[row], row).max()
        require(others < 0.99, f"{name} gives different texts almost the same vector (cosine {others:.3f})")
    _encode(embedder, name, given * 7)


def _check_independence(embedder: Embedder, name: str) -> None:
    """A text's vector must be its own: the same alone, beside others, in any order, and the second time."""
    together = _encode(embedder, name, _TEXTS)
    backwards = _encode(embedder, name, _TEXTS[::-1])[::-1]
    alone = np.vstack([_encode(embedder, name, [text]) for text in _TEXTS])
    for other, where in ((backwards, "in another order"), (alone, "alone")):
        least = float((together * other).sum(axis=1).min())
        require(
            least > 0.999, f"{name}: a text's vector differs when it is embedded {where} (cosine {least:.4f})"
        )


def _check_foreign_texts(embedder: Embedder, name: str) -> None:
    """Texts that occur in real catalogs and must not fail."""
    hostile = [
        "",
        "   ",
        "\n\t",
        "\x00",
        "?!",
        "明日の天気",
        "الطقس",
        "😀" * 50,
        "cut \ud83d emoji",
        "a" * 5000,
    ]
    _encode(embedder, name, hostile)
    _encode(embedder, name, ["long text " * 20_000])


def _check_threads(embedder: Embedder) -> None:
    expected = _encode(embedder, "encode_query", _TEXTS)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            least = float((_encode(embedder, "encode_query", _TEXTS) * expected).sum(axis=1).min())
            require(least > 0.999, f"threads disturb each other: cosine {least:.4f}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(not failures, f"encode_query failed when called from several threads: {failures[:1]}")
