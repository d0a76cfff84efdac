"""The bytes that an embeddings endpoint sends come in; its vectors in the order of the texts go out."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

MOST_BYTES_PER_TEXT: Final = 1_000_000
"""Bytes of an answer for each text: five times what 8,192 numbers take when they are written out."""

_MOST_BYTES_BESIDES: Final = 1_000_000


def read_answer(chunks: Iterable[bytes], texts: int, seconds: float) -> bytes:
    """Read an answer that neither grows nor drips without end.

    Args:
        chunks: The answer as it arrives.
        texts: How many texts were sent.
        seconds: How long it may take to arrive.

    Raises:
        ValueError: It is too long.
        TimeoutError: It takes too long.
    """
    most, until = _MOST_BYTES_BESIDES + texts * MOST_BYTES_PER_TEXT, time.monotonic() + seconds
    read = bytearray()
    for chunk in chunks:
        read += chunk
        if len(read) > most:
            raise ValueError(f"its answer is longer than {most:,} bytes")
        if time.monotonic() > until:
            raise TimeoutError(f"its answer was not complete after {seconds:g} s")
    return bytes(read)


def vectors_of(answer: bytes, texts: int) -> list[Any]:
    """One vector a text, as numbers of whatever kind the endpoint wrote.

    Args:
        answer: JSON with ``data``, a list of objects with ``embedding``, numbers or the base64 of float32, and mostly
            with ``index``.
        texts: How many texts were sent.

    Raises:
        ValueError: It is something else, or has another number of vectors.
    """
    try:
        entries = json.loads(answer)["data"]
        indices = [entry.get("index") for entry in entries]
        vectors = [_numbers(entry["embedding"]) for entry in entries]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as fault:
        start = answer[:60].decode("utf-8", "replace")
        raise ValueError(
            f"{start!r} is no answer with embeddings ({type(fault).__name__}: {fault})"
        ) from fault
    if len(vectors) != texts:
        raise ValueError(f"it returned {len(vectors)} vectors for {texts} texts")
    if all(index is None for index in indices):
        return vectors  # some servers leave the index out; then the order is all there is
    order = {index: position for position, index in enumerate(indices) if type(index) is int}
    if set(order) != set(range(texts)):
        raise ValueError(f"its indices {indices[:8]} do not number the {texts} texts")
    return [vectors[order[position]] for position in range(texts)]


def _numbers(embedding: Any) -> Any:
    """An embedding as numbers; base64, which the request asks for, is decoded."""
    if not isinstance(embedding, str):
        return embedding
    return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
