"""The contract of every vector index, run over the flat index and the graph, fresh and loaded from bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.index import FaissIndex, VectorIndex

Units = Callable[..., np.ndarray]
KINDS = ("flat", "hnsw", "flat loaded", "hnsw loaded")


def make(vectors: np.ndarray, kind: str) -> FaissIndex:
    index = FaissIndex.build(vectors, hnsw_from=1 if kind.startswith("hnsw") else 10**9)
    if kind.endswith("loaded"):
        index = FaissIndex.from_bytes(index.to_bytes(), size=len(vectors), dimension=vectors.shape[1])
    assert len(vectors) == 0 or index.kind == kind.split()[0]
    return index


def expected(vectors: np.ndarray, query: np.ndarray, limit: int, mask: np.ndarray | None) -> list[int]:
    """The right answer by numpy alone; the data below has no ties but exact copies."""
    products = (vectors.astype(np.float64) @ query.astype(np.float64)).round(9)
    positions = np.arange(len(vectors)) if mask is None else np.flatnonzero(mask)
    return positions[np.lexsort((positions, -products[positions]))][:limit].tolist()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def test_s02_thousand_tools_give_thousand_vectors_and_numpys_scores(units: Units, kind: str) -> None:
    vectors, queries = units(1000, 384), units(20, 384, seed=1)
    index = make(vectors, kind)
    assert isinstance(index, VectorIndex)
    assert (index.size, index.dimension) == (1000, 384)
    positions, scores = index.search(queries, 20)
    products = queries @ vectors.T
    assert np.abs(np.take_along_axis(products, positions, axis=1) - scores).max() < 1e-5
    everything = index.scores(queries, np.arange(1000))
    assert everything.dtype == np.float32
    assert np.abs(everything - products).max() < 1e-5


def test_best_first_and_complete(units: Units, kind: str) -> None:
    vectors, queries = units(500), units(30, seed=1)
    positions, scores = make(vectors, kind).search(queries, 10)
    assert positions.dtype == np.int64
    assert scores.dtype == np.float32
    assert (np.diff(scores, axis=1) <= 0).all()
    for query, row in zip(queries, positions, strict=True):
        assert row.tolist() == expected(vectors, query, 10, None)


def test_scores_are_those_of_the_search_to_the_last_bit(units: Units, kind: str) -> None:
    vectors, queries = units(700, 384), units(25, 384, seed=1)
    index = make(vectors, kind)
    positions, scores = index.search(queries, 30)
    for number, query in enumerate(queries):
        assert (index.scores(query[None], positions[number])[0] == scores[number]).all()
    few_positions, few_scores = index.search(queries, 30, np.isin(np.arange(700), positions[0]))
    assert (few_scores[0] == scores[0]).all()
    assert (few_positions[0] == positions[0]).all()


def test_scores_keep_order_and_repeats_of_positions(units: Units, kind: str) -> None:
    vectors = units(50)
    index = make(vectors, kind)
    chosen = index.scores(vectors[:2], np.array([7, 3, 7, 49]))
    assert chosen.shape == (2, 4)
    assert np.abs(chosen - vectors[:2] @ vectors[[7, 3, 7, 49]].T).max() < 1e-5
    assert index.scores(vectors[:2], np.array([], dtype=np.int64)).shape == (2, 0)


@pytest.mark.parametrize("wrong", [-1, 50, 10**12])
def test_scores_of_a_position_that_is_not_there_raise(units: Units, kind: str, wrong: int) -> None:
    index = make(units(50), kind)
    with pytest.raises(IndexError, match="50 tools"):
        index.scores(units(1), np.array([0, wrong]))


def test_vectors_come_back_in_catalog_order(units: Units, kind: str) -> None:
    vectors = units(300)
    back = make(vectors, kind).vectors()
    assert (back == vectors).all()
    assert back.dtype == np.float32


def test_vectors_outlive_their_index(units: Units, kind: str) -> None:
    vectors = units(300)
    copies = [make(vectors, kind).vectors() for _ in range(20)]  # each index is freed at once
    assert all((copy == vectors).all() for copy in copies)


@settings(deadline=None, max_examples=60)
@given(data=st.data(), kind=st.sampled_from(KINDS), n=st.integers(0, 250), limit=st.integers(0, 300))
def test_an_invisible_tool_is_never_returned(
    units: Units, data: st.DataObject, kind: str, n: int, limit: int
) -> None:
    vectors, queries = units(n, 16), units(3, 16, seed=1)
    share = data.draw(st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9, 1.0]))
    mask = np.random.default_rng(data.draw(st.integers(0, 9))).random(n) < share
    positions, scores = make(vectors, kind).search(queries, limit, mask)
    k = min(limit, int(mask.sum()))
    assert positions.shape == scores.shape == (3, k)
    assert mask[positions].all()
    assert all(len(set(row)) == k for row in positions.tolist())
    if kind.startswith("flat"):
        assert [row.tolist() for row in positions] == [expected(vectors, q, limit, mask) for q in queries]


def test_half_hidden_graph_still_finds_the_nearest_visible(units: Units) -> None:
    vectors, queries = units(3000), units(50, seed=1)
    mask = np.random.default_rng(2).random(3000) < 0.7
    positions, _ = make(vectors, "hnsw").search(queries, 20, mask)
    right = [set(expected(vectors, query, 20, mask)) for query in queries]
    found = [len(wanted & set(row)) / 20 for wanted, row in zip(right, positions.tolist(), strict=True)]
    assert np.mean(found) > 0.98


@pytest.mark.parametrize("copies", [2, 30, 400])
def test_equal_scores_stand_in_ascending_position(units: Units, kind: str, copies: int) -> None:
    vectors = units(500)
    twins = np.sort(np.random.default_rng(3).choice(500, copies, replace=False))
    vectors[twins] = vectors[twins[0]]
    positions, scores = make(vectors, kind).search(vectors[twins[:1]], 10)
    want = min(10, copies)
    assert positions[0, :want].tolist() == twins[:want].tolist()
    assert len(set(scores[0, :want].tolist())) == 1


def test_equal_scores_at_the_cut_in_a_large_index(units: Units) -> None:
    # Large enough that FAISS's heap is used; the copies are far more than are fetched at first.
    vectors = units(5000)
    twins = np.arange(100, 4100, 10)
    vectors[twins] = vectors[100]
    for index in (make(vectors, "flat"), make(vectors, "hnsw")):
        positions, _ = index.search(vectors[100:101], 5)
        assert positions[0].tolist() == [100, 110, 120, 130, 140]
        mask = np.arange(5000) >= 2000
        positions, _ = index.search(vectors[100:101], 5, mask)
        assert positions[0].tolist() == [2000, 2010, 2020, 2030, 2040]


@pytest.mark.parametrize("batch", [1, 2, 19, 20, 64])
def test_an_answer_does_not_depend_on_its_batch(units: Units, kind: str, batch: int) -> None:
    vectors, queries = units(2000, 384), units(64, 384, seed=1)
    index = make(vectors, kind)
    positions, scores = index.search(queries[:batch], 15)
    for number in range(batch):
        alone = index.search(queries[number : number + 1], 15)
        assert (alone[0][0] == positions[number]).all()
        assert (alone[1][0] == scores[number]).all()


def test_s20_an_answer_does_not_depend_on_registration_order(units: Units, kind: str) -> None:
    vectors, queries = units(2000, 384), units(40, 384, seed=1)
    positions, scores = make(vectors, kind).search(queries, 15)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(2000)
        shuffled, same = make(vectors[order], kind).search(queries, 15)
        assert (order[shuffled] == positions).all()
        assert (same == scores).all()


def test_s20_an_answer_does_not_depend_on_the_number_of_threads(units: Units, kind: str) -> None:
    import faiss

    vectors, queries = units(2000, 384), units(40, 384, seed=1)
    answers: list[tuple[bytes, bytes, bytes]] = []

    def work(threads: int) -> None:
        faiss.omp_set_num_threads(threads)  # holds for this thread only
        index = make(vectors, kind)
        positions, scores = index.search(queries, 15)
        answers.append((index.to_bytes(), positions.tobytes(), scores.tobytes()))

    for threads in (1, 2, 4):
        worker = threading.Thread(target=work, args=(threads,))
        worker.start()
        worker.join()
    assert len(answers) == 3
    assert len(set(answers)) == 1


def test_the_callers_thread_setting_stays(units: Units, kind: str) -> None:
    import faiss

    before = faiss.omp_get_max_threads()
    index = make(units(300), kind)
    index.search(units(2), 5)
    index.scores(units(2), np.arange(5))
    assert faiss.omp_get_max_threads() == before


def test_readers_in_many_threads_get_the_same_answers(units: Units, kind: str) -> None:
    vectors, queries = units(3000), units(8, seed=1)
    mask = np.arange(3000) % 3 > 0
    index = make(vectors, kind)
    right = [answer.tobytes() for m in (None, mask) for answer in index.search(queries, 20, m)]
    wrong: list[int] = []

    def read() -> None:
        for _ in range(20):
            got = [answer.tobytes() for m in (None, mask) for answer in index.search(queries, 20, m)]
            if got != right:
                wrong.append(1)

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert not wrong


def test_an_empty_index_answers(units: Units, kind: str) -> None:
    index = make(np.empty((0, 384), np.float32), kind)
    assert (index.size, index.dimension, index.kind) == (0, 384, "flat")
    positions, scores = index.search(units(2, 384), 5)
    assert positions.shape == scores.shape == (2, 0)
    assert index.scores(units(2, 384), np.array([], np.int64)).shape == (2, 0)
    assert index.search(units(2, 384), 5, np.zeros(0, bool))[0].shape == (2, 0)
    assert index.vectors().shape == (0, 384)


def test_one_tool(units: Units, kind: str) -> None:
    vectors = units(1)
    index = make(vectors, kind)
    positions, scores = index.search(vectors, 5)
    assert positions.tolist() == [[0]]
    assert scores == pytest.approx(1.0, abs=1e-5)
    assert (index.vectors() == vectors).all()


@pytest.mark.parametrize(("limit", "k"), [(0, 0), (1, 1), (99, 99), (100, 100), (101, 100), (10**9, 100)])
def test_limit_above_the_number_of_tools_gives_all_of_them(
    units: Units, kind: str, limit: int, k: int
) -> None:
    positions, scores = make(units(100), kind).search(units(3, seed=1), limit)
    assert positions.shape == scores.shape == (3, k)
    assert all(len(set(row)) == k for row in positions.tolist())


def test_no_queries_give_no_rows(units: Units, kind: str) -> None:
    index = make(units(100), kind)
    assert index.search(np.empty((0, 32), np.float32), 5)[0].shape == (0, 5)
    assert index.scores(np.empty((0, 32), np.float32), np.arange(3)).shape == (0, 3)


def test_nothing_visible_gives_nothing(units: Units, kind: str) -> None:
    positions, scores = make(units(100), kind).search(units(3), 5, np.zeros(100, dtype=bool))
    assert positions.shape == scores.shape == (3, 0)


@pytest.mark.parametrize(
    "mask", [np.ones(99, bool), np.ones((1, 100), bool), np.ones(100, np.int64), np.arange(5)], ids=str
)
def test_a_mask_that_is_none_raises(units: Units, kind: str, mask: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"bool mask of shape \[100\]"):
        make(units(100), kind).search(units(1), 5, mask)


def test_a_negative_limit_raises(units: Units, kind: str) -> None:
    with pytest.raises(ValueError, match="-1"):
        make(units(10), kind).search(units(1), -1)


@pytest.mark.parametrize("fault", ["nan", "inf", "zeros", "long", "huge"])
def test_bc54_unusable_vectors_are_an_embedders_error(units: Units, kind: str, fault: str) -> None:
    good, bad = units(20), units(20)
    bad[7] = {"nan": np.nan, "inf": np.inf, "zeros": 0.0, "long": 0.5, "huge": 3e38}[fault]
    with pytest.raises(EmbedderError, match="row 7"):
        make(bad, kind)
    index = make(good, kind)
    for call in (lambda: index.search(bad, 5), lambda: index.scores(bad, np.arange(3))):
        with pytest.raises(EmbedderError, match="row 7"):
            call()


@pytest.mark.parametrize("shape", [(3, 31), (3, 33), (32,), (1, 3, 32)], ids=str)
def test_bc54_vectors_of_another_shape_are_an_embedders_error(
    units: Units, kind: str, shape: tuple[int, ...]
) -> None:
    with pytest.raises(EmbedderError, match=r"instead of \[n, 32\]"):
        make(units(20), kind).search(np.ones(shape, np.float32), 5)


def test_input_of_any_layout_is_read_right_and_left_alone(units: Units, kind: str) -> None:
    vectors, queries = units(200), units(10, seed=1)
    right = make(vectors, kind).search(queries, 5)
    strided = np.asfortranarray(vectors), np.repeat(queries, 2, axis=0)[::2]
    kept = vectors.copy(), strided[1].copy()
    index = make(strided[0], kind)
    got = index.search(strided[1], 5)
    assert (got[0] == right[0]).all()
    assert (got[1] == right[1]).all()
    assert (strided[0] == kept[0]).all()
    assert (strided[1] == kept[1]).all()
    strided[0][:] = 0  # the index has its own copy
    assert (index.search(queries, 5)[0] == right[0]).all()


def test_x13_the_next_index_is_built_from_the_last_ones_vectors(units: Units, kind: str) -> None:
    vectors, fresh = units(200), units(20, seed=9)
    old = make(vectors, kind)
    following = make(np.concatenate([old.vectors()[:150], fresh]), kind)
    assert following.search(fresh[:1], 1)[0].tolist() == [[150]]
    assert old.size == 200
    assert old.search(vectors[199:], 1)[0].tolist() == [[199]]
