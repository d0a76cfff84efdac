"""Unit vectors go in, the nearest tools come out: the index protocol, its FAISS form, its folder on disk."""

from __future__ import annotations

from semantic_toolsearch.index.faiss import HNSW_FROM, FaissIndex
from semantic_toolsearch.index.protocol import Mask, Positions, Scores, VectorIndex

__all__ = ["HNSW_FROM", "FaissIndex", "Mask", "Positions", "Scores", "VectorIndex"]
