"""Vectors as catalogs have them, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest


def clustered(n: int, d: int = 32, seed: int = 0) -> np.ndarray:
    """Unit rows, float32 ``[n, d]``, in clusters of about ten, as the tools of one server lie."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, n // 10), d))
    rows = centres[rng.integers(0, len(centres), n)] + 0.5 * rng.standard_normal((n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="session")
def units() -> Callable[..., np.ndarray]:
    return clustered
