"""An embedder that answers, and wrongly: nothing of it reaches an index or a score."""

from __future__ import annotations

import numpy as np
import pytest

from faulty_parts import QUERY, RANKERS, Broken, searching, warnings_of
from semantic_toolsearch.dense import DenseSearcher, KnownVectors, Unavailable
from semantic_toolsearch.embedding import EmbeddingCache, checked, embed_documents
from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.testing import HashingEmbedder


class Refusing:
    """An array that cannot be had, like a tensor that is still on another device."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("can't convert a tensor that requires grad")


def one_row(value):
    def fault(matrix):
        matrix[-1] = value
        return matrix

    return fault


UNUSABLE = {
    "NaN in one row": one_row(np.nan),
    "infinite values in one row": one_row(-np.inf),
    "one zero row": one_row(0),
    "one dimension": np.ravel,
    "three dimensions": lambda matrix: matrix[None],
    "single number": lambda matrix: 0.5,
    "more rows": lambda matrix: np.vstack([matrix, matrix]),
    "no row": lambda matrix: matrix[:0],
    "no column": lambda matrix: matrix[:, :0],
    "wider": lambda matrix: np.hstack([matrix, matrix]),
    "objects": lambda matrix: matrix.astype(object),
    "truth values": lambda matrix: matrix > 0,
    "generator": iter,
    "text": lambda matrix: "0.5",
    "dictionary": lambda matrix: {"embedding": matrix},
    "no array to be had": lambda matrix: Refusing(),
    "numbers beyond any float": lambda matrix: [[10**400] * 64] * len(matrix),
}
USABLE = {
    "float64": lambda matrix: matrix.astype(np.float64),
    "float16": lambda matrix: matrix.astype(np.float16),
    "int": lambda matrix: np.round(matrix * 1000).astype(np.int32),
    "lists": lambda matrix: matrix.tolist(),
    "not of unit length": lambda matrix: matrix * np.float32(37),
    "of enormous length": lambda matrix: matrix.astype(np.float64) * 1e300,
    "of tiny length": lambda matrix: matrix.astype(np.float64) * 1e-11,
    "columns first": np.asfortranarray,
    "a view of every second number": lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2],
    "backwards in memory": lambda matrix: matrix[::-1].copy()[::-1],
    "other byte order": lambda matrix: matrix.astype(">f4"),
}


def read_only(matrix):
    matrix.flags.writeable = False
    return matrix


USABLE["read-only"] = read_only


@pytest.mark.parametrize(
    ("ranker", "side"), [("hybrid", "document"), ("hybrid", "query"), ("semantic", "query")]
)
@pytest.mark.parametrize("fault", UNUSABLE)
def test_bc54_an_unusable_answer_costs_meaning_alone(ranker, side, fault, caplog):
    embedder = Broken(UNUSABLE[fault], side)
    search = searching(ranker, embedder)
    for _ in range(2):
        result = search.search(QUERY)
        assert [hit.name for hit in result.tools] == ["flux_list"]
        assert "words alone" in result.degraded
    assert len(warnings_of(caplog)) == 1
    embedder.failing = False
    assert search.search(QUERY).degraded is None


@pytest.mark.parametrize("side", ["document", "query"])
@pytest.mark.parametrize("form", USABLE)
def test_any_form_of_the_right_numbers_gives_the_same_scores(side, form):
    expected = searching("hybrid", HashingEmbedder(64)).search("book a boat")
    result = searching("hybrid", Broken(USABLE[form], side)).search("book a boat")
    assert result.degraded is None
    assert [hit.name for hit in result.tools] == [hit.name for hit in expected.tools]
    np.testing.assert_allclose(
        [hit.score for hit in result.tools], [hit.score for hit in expected.tools], rtol=0, atol=2e-3
    )


@pytest.mark.parametrize("length", [1e200, 1e308, 1e-10])
def test_vectors_of_any_finite_length_become_unit_vectors(length):
    found = checked(np.eye(3, 4) * length, 3, 4, "m")
    np.testing.assert_allclose(found, np.eye(3, 4), atol=1e-6)


class OneBuffer(HashingEmbedder):
    """Writes every answer into the same memory, as a runtime with a preallocated output does."""

    def __init__(self, fails_at=None):
        super().__init__(64)
        self._memory = np.zeros((64, 64), dtype=np.float32)
        self.fails_at = fails_at

    def _encode(self, texts):
        if self.calls == self.fails_at:
            self.calls += 1
            raise OSError("gone")
        matrix = super()._encode(texts)
        self._memory[:] = np.nan
        self._memory[: len(matrix)] = matrix
        return self._memory[: len(matrix)]


def test_a_remembered_query_is_not_changed_by_the_next_one():
    search = searching("semantic", OneBuffer())
    before = [(hit.name, hit.score) for hit in search.search("set a lamp").tools]
    search.search("boat")
    assert [(hit.name, hit.score) for hit in search.search("set a lamp").tools] == before


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_what_was_embedded_before_a_failure_is_not_changed_by_the_next_batch(tmp_path, disk):
    texts = [f"text {number}" for number in range(150)]  # three batches; the third fails once
    embedder = OneBuffer(fails_at=2)
    cache = EmbeddingCache(tmp_path / "cache") if disk else None
    searcher = DenseSearcher(lambda: texts, embedder, KnownVectors(None, cache))
    with pytest.raises(Unavailable):
        searcher.index()
    np.testing.assert_array_equal(searcher.index().vectors(), HashingEmbedder(64).encode_document(texts))


def test_an_embedder_may_do_what_it_likes_with_the_list_it_is_given():
    class Emptying(HashingEmbedder):
        def _encode(self, texts):
            matrix = super()._encode(texts)
            texts.clear()
            return matrix

    texts = [f"text {number}" for number in range(70)]
    matrix, stats = embed_documents(Emptying(64), texts)
    np.testing.assert_array_equal(matrix, HashingEmbedder(64).encode_document(texts))
    assert stats.embedded == 70
    assert searching("hybrid", Emptying(64)).search(QUERY).degraded is None


@pytest.mark.parametrize("dimension", [0, -1, 10**12, 63, 64.5, "64", None, True, float("nan")])
def test_bc54_a_wrong_dimension_costs_meaning_alone(dimension, caplog):
    embedder = HashingEmbedder(64)
    embedder.dimension = dimension
    embedder._encode = lambda texts: np.ones((len(texts), 64), dtype=np.float32)
    result = searching("hybrid", embedder).search(QUERY)
    assert [hit.name for hit in result.tools] == ["flux_list"]
    assert "dimension" in result.degraded
    assert len(warnings_of(caplog)) == 1


def test_a_dimension_may_be_a_number_of_numpys():
    embedder = HashingEmbedder(64)
    embedder.dimension = np.int64(64)
    assert searching("hybrid", embedder).search(QUERY).degraded is None


@pytest.mark.parametrize("identity", [None, "", 7, b"model", "cut \ud83d emoji"])
@pytest.mark.parametrize("ranker", RANKERS)
def test_bc54_a_wrong_id_costs_meaning_alone(identity, ranker, caplog):
    embedder = HashingEmbedder(64)
    embedder.id = identity
    result = searching(ranker, embedder).search(QUERY)
    assert [hit.name for hit in result.tools] == ["flux_list"]
    assert "id" in result.degraded
    assert len(warnings_of(caplog)) == 1


@pytest.mark.parametrize("ranker", RANKERS)
def test_vectors_of_a_model_that_became_another_are_not_compared_with_those_of_the_first(ranker):
    embedder = HashingEmbedder(64)
    search = searching(ranker, embedder)
    assert search.search(QUERY).degraded is None
    embedder.id = "another-model"
    result = search.search("set a lamp")
    assert [hit.name for hit in result.tools] == ["lamp_set"]
    assert "'hashing-64'" in result.degraded
    assert "'another-model'" in result.degraded
    embedder.id = "hashing-64"
    assert search.search("set a lamp").degraded is None


def test_a_model_that_changes_in_the_middle_of_a_build_fills_no_index():
    class Changing(HashingEmbedder):
        def encode_document(self, texts):
            self.id = f"model-{self.calls}"
            return super().encode_document(texts)

    texts = [f"text {number}" for number in range(150)]
    with pytest.raises(Unavailable, match="changed its id"):
        DenseSearcher(lambda: texts, Changing(64), KnownVectors(None, None)).index()


def test_checks_name_the_embedder_whatever_its_answer_raises():
    with pytest.raises(EmbedderError, match=r"'the-model' returned no matrix of numbers.*requires grad"):
        checked(Refusing(), 1, 4, "the-model")
