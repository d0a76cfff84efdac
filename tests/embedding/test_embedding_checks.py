"""What an embedder returns is either safe to index or refused with the embedder's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from semantic_toolsearch.embedding import checked
from semantic_toolsearch.errors import EmbedderError

UNIT = np.eye(3, 4, dtype=np.float32)


def _with(row: int, value: float) -> Any:
    matrix = UNIT.copy()
    matrix[row] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (UNIT[:2], "2 vectors for 3 texts"),
        (np.eye(4, dtype=np.float32), "4 vectors for 3 texts"),
        (UNIT[:, :3], "dimension 3; it states 4"),
        (UNIT[0], r"shape \(4,\)"),
        (UNIT[None], r"shape \(1, 3, 4\)"),
        (_with(1, np.nan), "NaN or infinite values .first in vector 1"),
        (_with(2, np.inf), "NaN or infinite values .first in vector 2"),
        (_with(1, 0), "zero vector .first is vector 1"),
        (UNIT.astype(object), "no matrix of numbers"),
        (UNIT.astype(complex), "no matrix of numbers"),
        ([[1, 0, 0, 0], [1, 0], [1, 0, 0, 0]], "no matrix of numbers"),
        ([["a"] * 4] * 3, "no matrix of numbers"),
        (None, "no matrix of numbers"),
        ("text", "no matrix of numbers"),
    ],
)
def test_bc54_unusable_vectors_are_refused_by_name(matrix: object, message: str) -> None:
    with pytest.raises(EmbedderError, match=f"'the-model' returned.*{message}"):
        checked(matrix, 3, 4, "the-model")


def test_right_vectors_come_back_themselves() -> None:
    assert checked(UNIT, 3, 4, "m") is UNIT


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int64])
def test_other_number_types_become_float32(dtype: Any) -> None:
    found = checked(UNIT.astype(dtype), 3, 4, "m")
    assert found.dtype == np.float32
    assert np.array_equal(found, UNIT)


@pytest.mark.parametrize("factor", [0.5, 7.0, 1e-8, 1e30])
def test_vectors_of_another_length_are_scaled_and_the_input_stays(factor: float) -> None:
    given = (UNIT * np.float32(factor)).astype(np.float32)
    before = given.copy()
    found = checked(given, 3, 4, "m")
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert np.array_equal(given, before)


def test_lists_and_layouts_become_contiguous_float32() -> None:
    for given in (UNIT.tolist(), np.asfortranarray(UNIT)):
        found = checked(given, 3, 4, "m")
        assert found.flags["C_CONTIGUOUS"]
        assert found.dtype == np.float32
        assert np.array_equal(found, UNIT)


def test_no_texts_need_no_rows() -> None:
    assert checked(np.empty((0, 4), np.float32), 0, 4, "m").shape == (0, 4)
