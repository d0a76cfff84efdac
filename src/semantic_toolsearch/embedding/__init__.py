"""Texts come in, unit vectors go out: the embedder protocol and the embedders that implement it."""

from __future__ import annotations

from semantic_toolsearch.embedding.protocol import Embedder, Matrix

__all__ = ["Embedder", "Matrix"]
