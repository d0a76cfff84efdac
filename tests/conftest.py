"""Settings of all tests: random inputs are never judged by time, and no test meets the user's embedding cache."""

from __future__ import annotations

import os
from pathlib import Path

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


@pytest.fixture(scope="session")
def public_data():
    """The folder of the unpacked public datasets, which are no part of the repository; without it, a skip."""
    folder = Path(os.environ.get("TOOLSEARCH_DATA", ""))
    if not (folder / "pool_all" / "tools.jsonl").is_file():
        pytest.skip(f"no {folder}/pool_all/tools.jsonl: set TOOLSEARCH_DATA to the unpacked public data")
    return folder
