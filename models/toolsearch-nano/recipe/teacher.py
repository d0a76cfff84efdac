"""A folder of an ONNX sentence encoder comes in; its vectors of texts and of single tokens go out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from semantic_toolsearch.embedding import Matrix, OnnxEmbedder, embed_documents
from semantic_toolsearch.embedding.cache import EmbeddingCache

__all__ = ["text_vectors", "token_vectors"]

TOKENS = 64
"""Tokens of one run."""


def text_vectors(folder: Path, texts: Sequence[str], cache: Path) -> Matrix:
    """Unit vectors of texts, float32 ``[n, d]``; those in the cache file are not computed again."""

    def tell(done: int, total: int) -> None:
        if done == total or done % 8192 < 64:
            print(f"teacher: {done} of {total} texts", flush=True)

    store = EmbeddingCache(cache, max_entries=10_000_000)
    return embed_documents(OnnxEmbedder(folder), texts, store, tell)[0]


def token_vectors(folder: Path) -> Matrix:
    """The unit vector of every token of the vocabulary as a text of its own, float32 ``[tokens, d]``."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
    parts = []
    for start in range(0, len(vocabulary), TOKENS):
        tokens = np.arange(start, min(start + TOKENS, len(vocabulary)))
        ids = np.full((len(tokens), 3), vocabulary["[CLS]"], dtype=np.int64)
        ids[:, 1], ids[:, 2] = tokens, vocabulary["[SEP]"]
        parts.append(session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0])
    return np.vstack(parts)
