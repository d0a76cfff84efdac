"""What is no index, or an index of another kind, is refused before anything of it is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from semantic_toolsearch.errors import (
    IndexCorruptError,
    IndexFormatError,
)
from semantic_toolsearch.index.storage import read_index, write_index

Make = Callable[..., Any]
Units = Callable[..., np.ndarray]


def resealed(folder: Path, **changes: object) -> None:
    """Change fields of the manifest and give it a right checksum again, as its writer could."""
    path = folder / "manifest.json"
    fields = {k: v for k, v in json.loads(path.read_bytes()).items() if k != "sha256"} | changes
    digest = hashlib.sha256((json.dumps(fields, indent=1) + "\n").encode()).hexdigest()
    path.write_text(json.dumps(fields | {"sha256": digest}, indent=1) + "\n")


def test_a_resealed_manifest_is_otherwise_accepted(saved: Path) -> None:
    resealed(saved, embedder="model@9")
    assert read_index(saved).manifest.embedder == "model@9"


@pytest.mark.parametrize("found", [0, 2, 999, "1", None, 1.5, [1]])
def test_another_format_is_named_with_what_to_do(saved: Path, found: object) -> None:
    resealed(saved, format=found)
    with pytest.raises(IndexFormatError, match="reads format 1: install the version that wrote it"):
        read_index(saved)


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..",
        ".",
        ".hidden",
        "",
        "a\0b",
        "C:x",
        "a\n",
        "ü",
        "x" * 101,
    ],
)
def test_a_file_name_that_could_leave_the_folder_is_refused(saved: Path, name: str, manifest: Make) -> None:
    entry = {"bytes": 0, "sha256": "0" * 64}
    resealed(saved, files={name: entry})
    with pytest.raises(IndexCorruptError, match="is invalid at"):
        read_index(saved)
    with pytest.raises(ValidationError):
        write_index(saved.parent / "new", manifest=manifest(), files={name: b""})
    assert not (saved.parent / "outside").exists()
    assert not list((saved.parent / "new").glob("data-*"))


@pytest.mark.parametrize(
    "name", ["..", "data-" + "0" * 31, "data-" + "g" * 32, "data-" + "0" * 32 + "/..", "/"]
)
def test_a_data_folder_elsewhere_is_refused(saved: Path, name: str) -> None:
    resealed(saved, data=name)
    with pytest.raises(IndexCorruptError, match="is invalid at 'data'"):
        read_index(saved)


@pytest.mark.parametrize(
    "changes",
    [
        {"tools": -1},
        {"tools": "3"},
        {"tools": True},
        {"dimension": 0},
        {"embedder": 7},
        {"unknown": 1},
        {"files": []},
        {"files": {"a": {"bytes": -1, "sha256": "0" * 64}}},
        {"files": {"a": {"bytes": 1, "sha256": "0" * 63}}},
        {"files": {"a": {"bytes": 1, "sha256": "0" * 64, "more": 1}}},
    ],
    ids=json.dumps,
)
def test_a_manifest_with_wrong_fields_is_refused(saved: Path, changes: dict[str, object]) -> None:
    resealed(saved, **changes)
    with pytest.raises(IndexCorruptError, match="is invalid at"):
        read_index(saved)


def test_a_manifest_that_claims_more_than_there_is_allocates_nothing(saved: Path) -> None:
    resealed(saved, files={"vectors.faiss": {"bytes": 10**15, "sha256": "0" * 64}})
    with pytest.raises(IndexCorruptError, match="truncated"):
        read_index(saved)


@pytest.mark.parametrize(
    "content",
    [b"{}", b"[]", b"null", b"1", b'{"kind": "other"}', b'{"name": "app", "icons": []}'],
    ids=bytes.decode,
)
def test_some_other_json_file_is_no_index(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(IndexFormatError, match="does not describe a tool-search index"):
        read_index(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\0", b"{", b"[" * 100_000, b"\x80abc", b'{"kind": 1}}'])
def test_a_manifest_that_is_no_json_is_corrupt(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(IndexCorruptError, match="not readable JSON"):
        read_index(tmp_path)


def test_reading_where_no_index_is_says_so(tmp_path: Path) -> None:
    with pytest.raises(IndexFormatError, match="there is no such folder"):
        read_index(tmp_path / "nothing")
    with pytest.raises(IndexFormatError, match=r"no manifest\.json"):
        read_index(tmp_path)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(IndexFormatError, match="there is no such folder"):
        read_index(file)
