"""Every way in which a saved index can be broken is found and named."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semantic_toolsearch.errors import (
    IndexCorruptError,
    IndexFormatError,
)
from semantic_toolsearch.index import FaissIndex
from semantic_toolsearch.index.storage import read_index, write_index

Make = Callable[..., Any]
Units = Callable[..., np.ndarray]


def test_every_changed_byte_of_the_manifest_is_found(saved: Path, small_files: Make) -> None:
    path = saved / "manifest.json"
    whole = path.read_bytes()
    for place in range(len(whole)):
        for flip in (0x01, 0x20, 0x80):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
            with pytest.raises((IndexCorruptError, IndexFormatError)):
                read_index(saved)
    path.write_bytes(whole)
    assert read_index(saved).files == small_files()


def test_every_cut_of_the_manifest_is_found(saved: Path) -> None:
    path = saved / "manifest.json"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises((IndexCorruptError, IndexFormatError)):
            read_index(saved)


@pytest.mark.parametrize(
    "tail", [b" ", b"\n", b"{}", b"\0", b"x" * (1 << 20)], ids=["space", "line", "{}", "0", "MB"]
)
def test_bytes_after_the_manifest_are_found(saved: Path, tail: bytes) -> None:
    path = saved / "manifest.json"
    path.write_bytes(path.read_bytes() + tail)
    with pytest.raises((IndexCorruptError, IndexFormatError)):
        read_index(saved)


def test_every_changed_byte_of_a_small_file_is_found(
    saved: Path, small_files: Make, data_folder: Make
) -> None:
    for path in sorted(data_folder(saved).iterdir()):
        whole = path.read_bytes()
        for place in range(len(whole)):
            for bit in range(8):
                path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << bit)]) + whole[place + 1 :])
                with pytest.raises(
                    IndexCorruptError, match=f"{path.name} was changed.*build the index again"
                ):
                    read_index(saved)
        path.write_bytes(whole)
    assert read_index(saved).files == small_files()


def test_a_changed_byte_anywhere_in_a_large_file_is_found(
    tmp_path: Path, units: Units, manifest: Make, data_folder: Make
) -> None:
    write_index(tmp_path, manifest=manifest(2000), files={"v": FaissIndex.build(units(2000)).to_bytes()})
    path = data_folder(tmp_path) / "v"
    whole = bytearray(path.read_bytes())
    places = np.random.default_rng(0).integers(0, len(whole), 60).tolist()
    for place in [0, 1, 2, 3, 4, 45, 46, len(whole) - 1, *places]:
        whole[place] ^= 1
        path.write_bytes(whole)
        with pytest.raises(IndexCorruptError, match="was changed"):
            read_index(tmp_path)
        whole[place] ^= 1
    path.write_bytes(whole)
    assert read_index(tmp_path).files["v"] == whole


def test_every_cut_and_every_tail_of_a_file_is_found(saved: Path, data_folder: Make) -> None:
    for path in sorted(data_folder(saved).iterdir()):
        whole = path.read_bytes()
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            with pytest.raises(IndexCorruptError, match=f"{path.name} is truncated"):
                read_index(saved)
        path.write_bytes(whole + b"\0")
        with pytest.raises(IndexCorruptError, match=f"{path.name} is longer"):
            read_index(saved)
        path.write_bytes(whole)


@pytest.mark.parametrize("name", ["vectors.faiss", "documents.jsonl", "empty.npy"])
def test_a_missing_file_is_found(saved: Path, name: str, data_folder: Make) -> None:
    (data_folder(saved) / name).unlink()
    with pytest.raises(IndexCorruptError, match=f"{name} is missing"):
        read_index(saved)


def test_a_missing_data_folder_is_found(saved: Path, data_folder: Make) -> None:
    shutil.rmtree(data_folder(saved))
    with pytest.raises(IndexCorruptError, match="is missing"):
        read_index(saved)


def test_a_file_in_the_place_of_the_data_folder_is_found(saved: Path, data_folder: Make) -> None:
    data = data_folder(saved)
    shutil.rmtree(data)
    data.write_bytes(b"")
    with pytest.raises(IndexCorruptError, match="is missing"):
        read_index(saved)


def test_a_folder_in_the_place_of_a_file_is_found(saved: Path, data_folder: Make) -> None:
    path = data_folder(saved) / "vectors.faiss"
    path.unlink()
    path.mkdir()
    with pytest.raises(IndexCorruptError, match=r"vectors\.faiss is not a regular file"):
        read_index(saved)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("name", ["vectors.faiss", "manifest.json"])
def test_a_pipe_in_the_place_of_a_file_does_not_hang(saved: Path, name: str, data_folder: Make) -> None:
    path = (saved if name == "manifest.json" else data_folder(saved)) / name
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(IndexCorruptError, match="not a regular file"):
        read_index(saved)


def test_strange_files_beside_ours_are_never_read_nor_removed(
    saved: Path, manifest: Make, small_files: Make, data_folder: Make
) -> None:
    (saved / "notes.txt").write_text("mine")
    (data_folder(saved) / "extra.npy").write_bytes(b"stranger")
    (saved / "data-of-mine").mkdir()
    assert read_index(saved).files == small_files()
    write_index(saved, manifest=manifest(), files=small_files(b"!"))
    assert (saved / "notes.txt").read_text() == "mine"
    assert (saved / "data-of-mine").is_dir()
    assert read_index(saved).files == small_files(b"!")


def test_the_manifest_of_another_index_is_found(
    saved: Path, tmp_path: Path, manifest: Make, small_files: Make
) -> None:
    write_index(tmp_path / "other", manifest=manifest(), files=small_files())
    shutil.copy(tmp_path / "other" / "manifest.json", saved / "manifest.json")
    with pytest.raises(IndexCorruptError, match="is missing"):
        read_index(saved)


def test_the_files_of_another_index_are_found(
    saved: Path, tmp_path: Path, manifest: Make, small_files: Make, data_folder: Make
) -> None:
    write_index(
        tmp_path / "other", manifest=manifest(), files=small_files(b"") | {"vectors.faiss": b"9876543210"}
    )
    stranger = data_folder(tmp_path / "other") / "vectors.faiss"
    shutil.copy(stranger, data_folder(saved) / "vectors.faiss")
    with pytest.raises(IndexCorruptError, match="was changed"):
        read_index(saved)


def test_a_damaged_index_is_mended_by_saving_again(saved: Path, manifest: Make, small_files: Make) -> None:
    (saved / "manifest.json").write_bytes(b"\xff\xfe")
    with pytest.raises(IndexCorruptError, match="not readable JSON"):
        read_index(saved)
    write_index(saved, manifest=manifest(), files=small_files(b"+"))
    assert read_index(saved).files == small_files(b"+")
    assert len(list(saved.glob("data-*"))) == 1


def test_a_file_the_index_should_have_is_named(saved: Path) -> None:
    with pytest.raises(
        IndexCorruptError, match=r"no file 'bm25\.npy', only vectors\.faiss, documents\.jsonl"
    ):
        read_index(saved).file("bm25.npy")
