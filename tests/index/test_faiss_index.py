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
