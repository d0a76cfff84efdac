"""Settings of all tests: random inputs are never judged by time, and no test meets the user's embedding cache."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.load_profile("default")


@pytest.fixture(autouse=True)
def _own_embedding_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TOOLSEARCH_CACHE_DIR", str(tmp_path / "embeddings"))


@pytest.fixture(scope="session")
def model():
    """The shipped embedding model, loaded once."""
    from semantic_toolsearch import OnnxEmbedder

    return OnnxEmbedder()
