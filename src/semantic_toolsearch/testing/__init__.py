"""Checks for embedders and rankers of your own, and a stand-in embedder that needs no model."""

from semantic_toolsearch.testing.embedders import HashingEmbedder, check_embedder
from semantic_toolsearch.testing.rankers import check_ranker

__all__ = ["HashingEmbedder", "check_embedder", "check_ranker"]
