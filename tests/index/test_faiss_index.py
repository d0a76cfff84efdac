"""What is particular to the FAISS form: when a graph is built, how good it is, and how it is written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from semantic_toolsearch.errors import IndexCorruptError, IndexMismatchError
from semantic_toolsearch.index import HNSW_FROM, FaissIndex

Units = Callable[..., np.ndarray]


def test_a_graph_is_built_from_the_documented_size_on(units: Units) -> None:
    assert HNSW_FROM == 50_000
    few = units(300)
    assert FaissIndex.build(few).kind == "flat"
    assert FaissIndex.build(few, hnsw_from=301).kind == "flat"
    assert FaissIndex.build(few, hnsw_from=300).kind == "hnsw"


def test_the_default_size_is_the_documented_one(units: Units, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semantic_toolsearch.index.faiss.HNSW_FROM", 200)
    assert FaissIndex.build(units(199)).kind == "flat"
    assert FaissIndex.build(units(200)).kind == "hnsw"


def test_the_graph_finds_nearly_all_of_the_nearest(units: Units) -> None:
    vectors, queries = units(6000, 64), units(100, 64, seed=1)
    exact, _ = FaissIndex.build(vectors).search(queries, 20)
    found, _ = FaissIndex.build(vectors, hnsw_from=1).search(queries, 20)
    recall = [len(set(a) & set(b)) / 20 for a, b in zip(exact.tolist(), found.tolist(), strict=True)]
    assert np.mean(recall) > 0.99
    assert (exact[:, 0] == found[:, 0]).mean() > 0.99


@pytest.mark.parametrize("hnsw_from", [1, 10**9])
def test_the_same_vectors_give_the_same_bytes(units: Units, hnsw_from: int) -> None:
    vectors = units(800)
    first = FaissIndex.build(vectors, hnsw_from=hnsw_from).to_bytes()
    assert FaissIndex.build(vectors, hnsw_from=hnsw_from).to_bytes() == first
    loaded = FaissIndex.from_bytes(first, size=800, dimension=32)
    assert loaded.to_bytes() == first


def test_s20_a_graph_does_not_depend_on_registration_order(units: Units) -> None:
    import faiss

    vectors = units(800)
    vectors[[5, 70, 300]] = vectors[5]
    graphs = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(800)
        data = FaissIndex.build(vectors[order], hnsw_from=1).to_bytes()
        mapped = faiss.deserialize_index(np.frombuffer(data, np.uint8))
        graphs.add(faiss.serialize_index(faiss.downcast_index(mapped.index)).tobytes())
    assert len(graphs) == 1


def test_where_the_graph_has_too_few_answers_the_search_is_exact(units: Units) -> None:
    import faiss

    vectors, queries = units(1000), units(20, seed=1)
    graph = faiss.IndexIDMap(faiss.IndexHNSWFlat(32, 8, faiss.METRIC_INNER_PRODUCT))
    graph.add_with_ids(vectors, np.arange(1000))
    inner = faiss.downcast_index(graph.index)
    links = faiss.vector_to_array(inner.hnsw.neighbors)
    faiss.copy_array_to_vector(np.full_like(links, -1), inner.hnsw.neighbors)
    assert (inner.search(queries, 20)[1][:, 5:] == -1).all()  # no way leads anywhere any more
    for mask in (None, np.arange(1000) % 5 > 0):
        exact = FaissIndex.build(vectors).search(queries, 20, mask)
        found = FaissIndex(graph).search(queries, 20, mask)
        assert (found[0] == exact[0]).all()
        assert (found[1] == exact[1]).all()


def alike_but(apart: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """``n`` near-identical vectors, and at the returned positions the few that stand apart from them."""
    rng = np.random.default_rng(0)
    d = apart.shape[1]
    filler = rng.standard_normal((1, d)) / np.sqrt(d) + 0.05 * rng.standard_normal((n, d)) / np.sqrt(d)
    positions = rng.choice(n, len(apart), replace=False)
    filler[positions] = apart
    return (filler / np.linalg.norm(filler, axis=1, keepdims=True)).astype(np.float32), positions


@pytest.mark.parametrize("loaded", [False, True])
def test_bc56_a_tool_unlike_all_others_is_found_in_a_graph(loaded: bool) -> None:
    import faiss

    rng = np.random.default_rng(1)
    apart = rng.standard_normal((40, 128))
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    vectors, positions = alike_but(apart, 6000)
    queries = (apart + rng.standard_normal((40, 128)) / np.sqrt(128)).astype(np.float32)  # cosine about 0.7
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    index = FaissIndex.build(vectors, hnsw_from=1)
    assert index.kind == "hnsw"
    if loaded:
        index = FaissIndex.from_bytes(index.to_bytes(), size=6000, dimension=128)
    mapped = faiss.deserialize_index(np.frombuffer(index.to_bytes(), np.uint8))
    alone = np.where((ids := faiss.vector_to_array(mapped.id_map)) < 0, ~ids, ids)[
        mapped.index.search(queries, 20)[1]
    ]
    by_graph = (alone == positions[:, None]).any(axis=1).mean()
    assert by_graph < 0.9  # the graph by itself loses some, or this test shows nothing
    found, scores = index.search(queries, 20)
    assert (found[:, 0] == positions).mean() >= 0.97
    assert all(len(set(row)) == 20 for row in found.tolist())
    assert (np.diff(scores, axis=1) <= 0).all()
    hidden = np.ones(6000, dtype=bool)
    hidden[positions[:20]] = False
    assert not np.isin(index.search(queries, 20, hidden)[0], positions[:20]).any()
    assert (index.search(queries, 20, hidden)[0][20:, 0] == positions[20:]).mean() >= 0.95


def test_vectors_that_a_graph_cannot_serve_stay_flat() -> None:
    rng = np.random.default_rng(0)
    centre = rng.standard_normal((1, 384))
    vectors = centre / np.linalg.norm(centre) + 0.3 * rng.standard_normal((3000, 384)) / np.sqrt(384)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert FaissIndex.build(vectors.astype(np.float32), hnsw_from=1).kind == "flat"


def test_a_graphs_search_breadth_survives_saving(units: Units) -> None:
    import faiss

    built = FaissIndex.build(units(400), hnsw_from=1)
    loaded = faiss.deserialize_index(np.frombuffer(built.to_bytes(), np.uint8))
    assert faiss.downcast_index(loaded.index).hnsw.efSearch == 256
    assert faiss.downcast_index(loaded.index).hnsw.efConstruction == 100


@pytest.mark.parametrize("hnsw_from", [1, 10**9])
@pytest.mark.parametrize(("size", "dimension"), [(99, 32), (101, 32), (100, 31), (0, 384)])
def test_another_number_or_dimension_than_stated_is_a_mismatch(
    units: Units, hnsw_from: int, size: int, dimension: int
) -> None:
    data = FaissIndex.build(units(100), hnsw_from=hnsw_from).to_bytes()
    with pytest.raises(
        IndexMismatchError, match=f"100 vectors of dimension 32.*{size} of dimension {dimension}"
    ):
        FaissIndex.from_bytes(data, size=size, dimension=dimension)


@pytest.mark.parametrize("hnsw_from", [1, 10**9])
def test_cut_bytes_are_corrupt(units: Units, hnsw_from: int) -> None:
    data = FaissIndex.build(units(100), hnsw_from=hnsw_from).to_bytes()
    for length in [0, 3, 4, 5, 8, 16, 33, 40, 45, 60, len(data) // 2, len(data) - 4, len(data) - 1]:
        with pytest.raises(IndexCorruptError, match="build the index again"):
            FaissIndex.from_bytes(data[:length], size=100, dimension=32)


def test_other_faiss_indexes_are_refused(units: Units) -> None:
    import faiss

    euclidean = faiss.IndexFlatL2(32)
    euclidean.add(units(10))
    doubled = faiss.IndexIDMap(faiss.IndexFlatIP(32))
    doubled.add_with_ids(units(10), np.arange(10))
    graph = faiss.IndexIDMap(faiss.IndexHNSWFlat(32, 8, faiss.METRIC_INNER_PRODUCT))
    graph.add_with_ids(units(10), np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 8]))
    for index in (euclidean, doubled, graph):
        data = faiss.serialize_index(index).tobytes()
        with pytest.raises(IndexCorruptError):
            FaissIndex.from_bytes(data, size=10, dimension=32)


def test_importing_the_index_package_loads_no_faiss() -> None:
    code = (
        "import sys, semantic_toolsearch.index, semantic_toolsearch.index.storage;"
        "sys.exit('faiss' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_one_query_starts_no_thread() -> None:
    code = """
import os, numpy as np
import faiss
from semantic_toolsearch.index import FaissIndex
rows = np.random.default_rng(0).standard_normal((20_000, 64), dtype=np.float32)
rows /= np.linalg.norm(rows, axis=1, keepdims=True)
flat, graph = FaissIndex.build(rows), FaissIndex.build(rows[:2000], hnsw_from=1)
before = len(os.listdir("/proc/self/task"))
mask = np.arange(20_000) % 2 == 0
flat.search(rows[:1], 20); flat.search(rows[:1], 20, mask); flat.search(rows[:1], 9000)
flat.scores(rows[:1], np.arange(500)); graph.search(rows[:1], 20)
assert len(os.listdir("/proc/self/task")) == before
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("hnsw_from", [1, 10_000])
def test_a_written_file_holds_the_bytes_of_the_index(tmp_path, hnsw_from):
    vectors = np.random.default_rng(4).standard_normal((50, 8)).astype(np.float32)
    index = FaissIndex.build(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), hnsw_from=hnsw_from)
    index.write(tmp_path / "vectors")
    assert (tmp_path / "vectors").read_bytes() == index.to_bytes()


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(tmp_path):
    index = FaissIndex.build(np.eye(4, dtype=np.float32))
    with pytest.raises(FileNotFoundError):
        index.write(tmp_path / "missing" / "vectors")
