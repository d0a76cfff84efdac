"""Texts come in, unit vectors go out: the embedder protocol, the embedders, their checks and their cache.

Importing this package loads none of onnxruntime, torch or openai; each embedder loads its own at first use.
"""

from __future__ import annotations

from semantic_toolsearch.embedding.cache import EmbeddingCache
from semantic_toolsearch.embedding.checks import checked
from semantic_toolsearch.embedding.documents import EmbeddingStats, embed_documents, text_hash
from semantic_toolsearch.embedding.onnx import OnnxEmbedder
from semantic_toolsearch.embedding.openai_compatible import OpenAICompatibleEmbedder
from semantic_toolsearch.embedding.protocol import Embedder, Matrix
from semantic_toolsearch.embedding.resolve import resolve_embedder
from semantic_toolsearch.embedding.sentence_transformer import SentenceTransformerEmbedder
from semantic_toolsearch.embedding.shipped import (
    DEFAULT_MODEL,
    MODEL_NAMES,
    SHIPPED_MODELS,
    shipped_model,
    shipped_name,
)
from semantic_toolsearch.embedding.static import StaticEmbedder

__all__ = [
    "DEFAULT_MODEL",
    "MODEL_NAMES",
    "SHIPPED_MODELS",
    "Embedder",
    "EmbeddingCache",
    "EmbeddingStats",
    "Matrix",
    "OnnxEmbedder",
    "OpenAICompatibleEmbedder",
    "SentenceTransformerEmbedder",
    "StaticEmbedder",
    "checked",
    "embed_documents",
    "resolve_embedder",
    "shipped_model",
    "shipped_name",
    "text_hash",
]
