"""Your own embedder comes in, and a broken promise goes out as an `AssertionError`; stand-ins included.

`semantic_toolsearch.testing.loopback` is a local server that speaks the providers' interfaces and enforces their rules.
"""

from __future__ import annotations

from .embedders import HashingEmbedder, check_embedder

__all__ = ["HashingEmbedder", "check_embedder"]
