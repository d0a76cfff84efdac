"""Checks for embedders and rankers of your own, and stand-ins that need neither a model nor a provider.

``semantic_toolsearch.testing.loopback`` is a local server that speaks the providers' interfaces and enforces their
rules.
"""

from semantic_toolsearch.testing.embedders import HashingEmbedder, check_embedder
from semantic_toolsearch.testing.rankers import check_ranker

__all__ = ["HashingEmbedder", "check_embedder", "check_ranker"]
