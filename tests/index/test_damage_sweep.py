"""Saved searches broken at every place: loading ends in a named error, and FAISS sees no changed byte."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_folders import SavedFolder

from semantic_toolsearch.errors import IndexCorruptError
from semantic_toolsearch.index import FaissIndex
from semantic_toolsearch.index.manifest import IndexManifest
from semantic_toolsearch.index.storage import read_index, write_index

logger = logging.getLogger(__name__)  # the numbers tried: --log-cli-level=INFO

EVERY_BIT = (*(1 << bit for bit in range(8)), 0xFF)
TAILS = (b"\0", b"\n", b" ", b"{}", b"[]\n", b"\xff" * 7, b"x" * 4096)
NAMED = {"IndexCorruptError", "IndexFormatError"}


@pytest.fixture
def broken(tmp_path: Path) -> SavedFolder:
    return SavedFolder(tmp_path / "index")


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often FAISS was given anything to read: it takes a changed byte in silence, or ends the process."""
    import faiss

    seen: list[int] = []
    read = faiss.deserialize_index

    def noting(data: np.ndarray) -> Any:
        seen.append(data.size)
        return read(data)

    monkeypatch.setattr(faiss, "deserialize_index", noting)
    return lambda: len(seen)


def places(size: int, step: int) -> Iterator[int]:
    """Both ends of a file, and every ``step``-th place between them."""
    return (place for place in range(size) if place < 16 or place >= size - 8 or place % step == 0)


@pytest.mark.parametrize(
    ("step", "patterns"),
    [(61, (0x01, 0x80, 0xFF)), pytest.param(1, EVERY_BIT, marks=pytest.mark.slow)],
    ids=["sample", "every-byte"],
)
def test_flipped_bytes_of_every_file_are_named(
    broken: SavedFolder, unread: Callable[[], int], step: int, patterns: tuple[int, ...]
) -> None:
    found: Counter[str] = Counter()
    for name, path in broken.paths.items():
        whole = broken.content[name]
        with path.open("r+b", buffering=0) as file:
            for place in places(len(whole), step):
                for pattern in patterns:
                    os.pwrite(file.fileno(), bytes([whole[place] ^ pattern]), place)
                    found[broken.outcome()] += 1
                os.pwrite(file.fileno(), whole[place : place + 1], place)
    logger.info(
        f"flips: {dict(found)}, in {len(broken.paths)} files of {sum(map(len, broken.content.values()))} bytes"
    )
    assert found.keys() <= NAMED
    assert found.total() > 1000
    assert unread() == 0
    assert broken.outcome() == "equal"


@pytest.mark.parametrize(
    "step", [61, pytest.param(1, marks=pytest.mark.slow)], ids=["sample", "every-length"]
)
def test_cut_and_lengthened_files_are_named(
    broken: SavedFolder, unread: Callable[[], int], step: int
) -> None:
    cuts: Counter[str] = Counter()
    tails: Counter[str] = Counter()
    for name, path in broken.paths.items():
        whole = broken.content[name]
        for length in places(len(whole), step):
            path.write_bytes(whole[:length])
            cuts[broken.outcome()] += 1
        for tail in (*TAILS, whole):
            path.write_bytes(whole + tail)
            tails[broken.outcome()] += 1
        path.write_bytes(whole)
    logger.info(f"cuts: {dict(cuts)}; tails: {dict(tails)}")
    assert (cuts + tails).keys() <= NAMED
    assert unread() == 0
    assert broken.outcome() == "equal"


@pytest.fixture(scope="module", params=[10**9, 1], ids=["flat", "graph"])
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[int]]:
    """An index with one large file, and the places near which FAISS keeps a length, an id or another field."""
    import faiss

    size, dimension = 3000, 64
    rows = np.random.default_rng(0).standard_normal((size, dimension), dtype=np.float32)
    index = FaissIndex.build(rows / np.linalg.norm(rows, axis=1, keepdims=True), hnsw_from=request.param)
    folder = tmp_path_factory.mktemp("large")
    manifest = IndexManifest(embedder="m", dimension=dimension, recipe="r", catalog="c", tools=size)
    write_index(folder, manifest=manifest, files={"vectors.faiss": index.write})
    data = index.to_bytes()
    blocks = [index.vectors().tobytes()]
    if index.kind == "hnsw":
        mapped = faiss.deserialize_index(np.frombuffer(data, np.uint8))
        graph = faiss.downcast_index(mapped.index)
        hnsw = graph.hnsw
        blocks = [faiss.vector_to_array(faiss.downcast_index(graph.storage).codes).tobytes()]
        blocks += [
            faiss.vector_to_array(part).tobytes()
            for part in (
                hnsw.levels,
                hnsw.offsets,
                hnsw.neighbors,
                hnsw.cum_nneighbor_per_level,
                mapped.id_map,
            )
        ]
    fields = set(range(64)) | set(range(len(data) - 16, len(data)))
    for block in blocks:
        start = data.index(block)
        for edge in (start, start + len(block)):
            fields |= set(range(max(0, edge - 24), min(len(data), edge + 8)))
    return folder, fields


@pytest.mark.parametrize("draws", [60, pytest.param(6000, marks=pytest.mark.slow)], ids=["sample", "many"])
def test_a_large_file_is_checked_at_every_field_and_all_over(
    large: tuple[Path, set[int]], draws: int
) -> None:
    folder, fields = large
    (path,) = folder.glob("data-*/vectors.faiss")
    whole = path.read_bytes()
    rng = np.random.default_rng(draws)
    drawn = (np.arange(draws) * len(whole) // draws + rng.integers(0, len(whole) // draws, draws)).tolist()
    chosen = sorted(fields) if draws > 1000 else sorted(fields)[::7]
    flipped = 0
    with path.open("r+b", buffering=0) as file:
        for place in (*chosen, *drawn):
            for pattern in EVERY_BIT if draws > 1000 and place in fields else (1 << place % 8,):
                os.pwrite(file.fileno(), bytes([whole[place] ^ pattern]), place)
                with pytest.raises(IndexCorruptError, match="was changed"):
                    read_index(folder)
                flipped += 1
            os.pwrite(file.fileno(), whole[place : place + 1], place)
    logger.info(f"large file: {flipped} flips, {len(fields)} bytes of fields, {len(whole)} bytes")
    assert read_index(folder).files["vectors.faiss"] == whole


@pytest.mark.parametrize("draws", [20, pytest.param(2000, marks=pytest.mark.slow)], ids=["sample", "many"])
def test_a_large_file_is_checked_at_every_cut(large: tuple[Path, set[int]], draws: int) -> None:
    folder, fields = large
    (path,) = folder.glob("data-*/vectors.faiss")
    whole = path.read_bytes()
    blocks = range(0, len(whole), 4096 if draws > 1000 else 1 << 17)
    drawn = np.random.default_rng(draws).integers(0, len(whole), draws).tolist()
    lengths = sorted({0, 1, len(whole) - 1, *blocks, *drawn, *(fields if draws > 1000 else ())}, reverse=True)
    for length in lengths:
        if length < len(whole):
            os.truncate(path, length)
            with pytest.raises(IndexCorruptError, match="is truncated"):
                read_index(folder)
    path.write_bytes(whole + whole[:1])
    with pytest.raises(IndexCorruptError, match="is longer"):
        read_index(folder)
    path.write_bytes(whole)
    logger.info(f"large file: {len(lengths)} cuts")
    assert read_index(folder).files["vectors.faiss"] == whole
