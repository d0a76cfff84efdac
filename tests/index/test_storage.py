"""A saved index: what is written is read back, and a refused save leaves everything as it was."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semantic_toolsearch._version import __version__
from semantic_toolsearch.errors import (
    IndexFileError,
    IndexFormatError,
    IndexMismatchError,
)
from semantic_toolsearch.index import FaissIndex
from semantic_toolsearch.index.manifest import IndexManifest
from semantic_toolsearch.index.storage import read_index, write_index

Make = Callable[..., Any]
Units = Callable[..., np.ndarray]


def test_s21_what_is_saved_is_loaded(tmp_path: Path, manifest: Make, small_files: Make) -> None:
    folder = tmp_path / "new" / "parents" / "index"
    written = write_index(folder, manifest=manifest(), files=small_files())
    stored = read_index(str(folder))
    assert stored.manifest == written
    assert stored.files == small_files()
    assert stored.file("vectors.faiss") == b"0123456789"
    assert (written.library, written.embedder, written.dimension, written.tools) == (
        __version__,
        "model@1",
        32,
        3,
    )
    stored.require(embedder="model@1", dimension=32, recipe="r1")


@pytest.mark.parametrize("hnsw_from", [1, 10**9])
def test_s21_a_loaded_vector_index_gives_the_same_scores(
    tmp_path: Path, units: Units, hnsw_from: int, manifest: Make
) -> None:
    vectors, queries = units(600), units(10, seed=1)
    index = FaissIndex.build(vectors, hnsw_from=hnsw_from)
    write_index(tmp_path / "i", manifest=manifest(600), files={"vectors.faiss": index.to_bytes()})
    stored = read_index(tmp_path / "i")
    loaded = FaissIndex.from_bytes(stored.file("vectors.faiss"), size=stored.manifest.tools, dimension=32)
    for before, after in zip(index.search(queries, 20), loaded.search(queries, 20), strict=True):
        assert before.tobytes() == after.tobytes()


def test_a_file_may_be_written_by_a_function(tmp_path: Path, manifest: Make) -> None:
    def write(path: Path) -> None:
        path.write_bytes(b"from a function")

    written = write_index(tmp_path / "i", manifest=manifest(), files={"a.bin": write, "b.bin": b"bytes"})
    assert read_index(tmp_path / "i").files == {"a.bin": b"from a function", "b.bin": b"bytes"}
    assert written.files["a.bin"].bytes == 15


def test_an_index_without_vectors_has_no_embedder(tmp_path: Path) -> None:
    words = IndexManifest(embedder=None, dimension=None, recipe="r1", catalog="c", tools=0)
    write_index(tmp_path / "i", manifest=words, files={})
    stored = read_index(tmp_path / "i")
    stored.require(embedder=None, dimension=None, recipe="r1")
    with pytest.raises(IndexMismatchError, match="embedder None"):
        stored.require(embedder="model@1", dimension=32, recipe="r1")


def test_saving_over_an_index_replaces_it_and_leaves_nothing_behind(
    saved: Path, manifest: Make, data_folder: Make
) -> None:
    old = data_folder(saved)
    write_index(saved, manifest=manifest(embedder="model@2"), files={"other.bin": b"new"})
    assert read_index(saved).files == {"other.bin": b"new"}
    assert read_index(saved).manifest.embedder == "model@2"
    assert not old.exists()
    assert sorted(p.name for p in saved.iterdir()) == sorted(
        [".toolsearch.lock", "manifest.json", data_folder(saved).name]
    )


@pytest.mark.parametrize(
    ("field", "value"), [("embedder", "model@2"), ("embedder", None), ("dimension", 384), ("recipe", "r2")]
)
def test_another_embedder_dimension_or_recipe_is_a_mismatch(saved: Path, field: str, value: object) -> None:
    right: dict[str, object] = {"embedder": "model@1", "dimension": 32, "recipe": "r1"}
    with pytest.raises(IndexMismatchError) as caught:
        read_index(saved).require(**{**right, field: value})  # type: ignore[arg-type]  # wrong on purpose
    for part in (str(saved), field, repr(right[field]), repr(value), "build the index again"):
        assert part in str(caught.value)


def test_saving_to_a_file_or_below_one_is_refused(tmp_path: Path, manifest: Make, small_files: Make) -> None:
    file = tmp_path / "file"
    file.write_text("precious")
    with pytest.raises(IndexFormatError, match="is a file"):
        write_index(file, manifest=manifest(), files=small_files())
    with pytest.raises(IndexFileError, match="cannot save the index"):
        write_index(file / "below", manifest=manifest(), files=small_files())
    assert file.read_text() == "precious"


@pytest.mark.parametrize("name", ["thesis.txt", "manifest.json"])
def test_saving_among_other_peoples_files_is_refused(
    tmp_path: Path, name: str, manifest: Make, small_files: Make
) -> None:
    (tmp_path / name).write_text('{"name": "web app"}')
    with pytest.raises(
        IndexFormatError, match=f"holds other things.*{name}.*choose a new or an empty folder"
    ):
        write_index(tmp_path, manifest=manifest(), files=small_files())
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_copied_index_can_be_saved_over(
    saved: Path, tmp_path: Path, manifest: Make, small_files: Make
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(saved, copy, ignore=shutil.ignore_patterns(".*"))
    write_index(copy, manifest=manifest(), files=small_files(b"2"))
    assert read_index(copy).files == small_files(b"2")


@contextlib.contextmanager
def ordinary_user() -> Iterator[None]:
    """Root may read and write anything, so where tests run as root this part runs as somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="has other permissions")
def test_a_folder_without_permission_is_a_clear_error(manifest: Make, small_files: Make) -> None:
    with tempfile.TemporaryDirectory() as name:
        parent, saved = Path(name), Path(name) / "index"
        write_index(saved, manifest=manifest(), files=small_files())
        for folder in (parent, saved):
            folder.chmod(0o555)
        (saved / "manifest.json").chmod(0o444)
        try:
            with ordinary_user():
                for path in (saved, parent / "new"):
                    with pytest.raises(
                        IndexFileError, match=r"cannot save the index.*make the folder writable"
                    ):
                        write_index(path, manifest=manifest(), files=small_files(b"2"))
            (saved / "manifest.json").chmod(0o000)
            with ordinary_user(), pytest.raises(IndexFileError, match=r"manifest\.json.*make it readable"):
                read_index(saved)
            (saved / "manifest.json").chmod(0o444)
            assert read_index(saved).files == small_files()
        finally:
            for folder in (parent, saved):
                folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_full_disk_is_a_clear_error_and_keeps_the_old_index(
    saved: Path, manifest: Make, small_files: Make
) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(IndexFileError, match=r"cannot save the index.*free some space"):
            write_index(saved, manifest=manifest(), files={"a.bin": b"a", "big.bin": b"x" * 100_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert read_index(saved).files == small_files()
    assert len(list(saved.glob("data-*"))) == 1


@pytest.mark.parametrize("step", [0, 1])
def test_a_failing_writer_keeps_the_old_index_and_leaves_nothing(
    saved: Path, step: int, manifest: Make, small_files: Make
) -> None:
    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("the writer's own")

    files: dict[str, bytes | Callable[[Path], None]] = {"a.bin": b"a", "b.bin": b"b"}
    files[list(files)[step]] = fail
    with pytest.raises(RuntimeError, match="the writer's own"):
        write_index(saved, manifest=manifest(), files=files)
    assert read_index(saved).files == small_files()
    assert len(list(saved.glob("data-*"))) == 1
