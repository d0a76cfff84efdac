"""Vectors as catalogs have them, and a small saved index, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from semantic_toolsearch.index.manifest import IndexManifest
from semantic_toolsearch.index.storage import write_index


def clustered(n: int, d: int = 32, seed: int = 0) -> np.ndarray:
    """Unit rows, float32 ``[n, d]``, in clusters of about ten, as the tools of one server lie."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, n // 10), d))
    rows = centres[rng.integers(0, len(centres), n)] + 0.5 * rng.standard_normal((n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="session")
def units() -> Callable[..., np.ndarray]:
    return clustered


def _manifest(tools: int = 3, embedder: str = "model@1") -> IndexManifest:
    return IndexManifest(embedder=embedder, dimension=32, recipe="r1", catalog="c" * 64, tools=tools)


def _small_files(mark: bytes = b"") -> dict[str, bytes]:
    return {"vectors.faiss": b"0123456789" + mark, "documents.jsonl": b'{"a": 1}\n', "empty.npy": b""}


def _data_folder(folder: Path) -> Path:
    (data,) = folder.glob("data-*")
    return data


@pytest.fixture(scope="session")
def manifest() -> Callable[..., IndexManifest]:
    return _manifest


@pytest.fixture(scope="session")
def small_files() -> Callable[..., dict[str, bytes]]:
    return _small_files


@pytest.fixture(scope="session")
def data_folder() -> Callable[[Path], Path]:
    """Finds the one data folder of an index."""
    return _data_folder


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    write_index(folder, manifest=_manifest(), files=_small_files())
    return folder
