"""Files that change between the check and the use: what is used are the bytes that were checked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_folders import ANSWERED, SavedFolder, answers, load

from semantic_toolsearch import saved
from semantic_toolsearch.index import verified


@pytest.fixture
def broken(tmp_path: Path) -> SavedFolder:
    return SavedFolder(tmp_path / "index")


def overwritten(broken: SavedFolder) -> None:
    for name, path in broken.paths.items():
        path.write_bytes(bytes(byte ^ 0xFF for byte in broken.content[name]))


def cut(broken: SavedFolder) -> None:
    for path in broken.paths.values():
        os.truncate(path, 3)


def lengthened(broken: SavedFolder) -> None:
    for name, path in broken.paths.items():
        path.write_bytes(broken.content[name] * 2)


def removed(broken: SavedFolder) -> None:
    shutil.rmtree(broken.folder)


CHANGES = (overwritten, cut, lengthened, removed)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_changes_after_the_check_is_not_looked_at(
    broken: SavedFolder, change: Callable[[SavedFolder], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither when the index is put together, nor when a search later reads a definition."""
    read = saved.read_index

    def read_then_change(path: Any) -> Any:
        stored = read(path)
        change(broken)
        return stored

    monkeypatch.setattr(saved, "read_index", read_then_change)
    assert answers(load(broken.folder)) == ANSWERED["old"]


@pytest.mark.parametrize("when", ["sized", "read", "hashed"])
@pytest.mark.parametrize("change", CHANGES[:3], ids=lambda change: change.__name__)
def test_what_changes_during_the_check_is_named_or_not_looked_at(
    broken: SavedFolder, change: Callable[[SavedFolder], None], when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each file, in the middle of its check."""
    steps = {
        "sized": (verified.os, "fstat"),
        "read": (verified, "_read"),
        "hashed": (verified.hashlib, "sha256"),
    }
    for turn in range(len(broken.paths)):
        broken.restore()
        turns = iter(range(100))
        with monkeypatch.context() as patched:
            place, name = steps[when]
            step = getattr(place, name)

            def changing(*args: Any) -> Any:
                result = step(*args)  # noqa: B023 - used within this round only
                if next(turns) == turn:  # noqa: B023
                    change(broken)
                return result

            patched.setattr(place, name, changing)
            found = broken.outcome()
        assert found in {"equal", "IndexCorruptError", "IndexFormatError"}


FLICKER = """
import sys
from pathlib import Path
paths = [Path(name) for name in sys.argv[1:]]
whole = [path.read_bytes() for path in paths]
print("ready", flush=True)
number = 0
while True:
    for path, data in zip(paths, whole):
        number += 1
        place = number * 7919 % len(data)
        with path.open("r+b", buffering=0) as file:
            file.seek(place); file.write(bytes([data[place] ^ 1 << number % 8]))
            file.truncate(place) if number % 3 == 0 else None
            file.seek(0); file.write(data)
"""


@pytest.mark.parametrize("loads", [150, pytest.param(20_000, marks=pytest.mark.slow)])
def test_files_that_flicker_are_whole_or_named(broken: SavedFolder, loads: int) -> None:
    """Another process changes single bytes and puts them back, as fast as it can."""
    writer = subprocess.Popen(
        [sys.executable, "-c", FLICKER, *map(str, broken.paths.values())], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        found = Counter(broken.outcome() for _ in range(loads))
    finally:
        writer.kill()
        writer.communicate()
    assert found.keys() <= {"equal", "IndexCorruptError", "IndexFormatError"}
    assert len(found) > 1
    broken.restore()
    assert broken.outcome() == "equal"


def test_faiss_is_given_the_very_bytes_that_were_hashed(
    broken: SavedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import faiss

    hashed: list[int] = []
    given: list[int] = []
    hash_of, read = verified.hashlib.sha256, faiss.deserialize_index

    def noting_hash(data: bytes) -> Any:
        hashed.append(np.frombuffer(data, np.uint8).ctypes.data)
        return hash_of(data)

    def noting_read(data: np.ndarray) -> Any:
        given.append(data.ctypes.data)
        return read(data)

    monkeypatch.setattr(verified.hashlib, "sha256", noting_hash)
    monkeypatch.setattr(faiss, "deserialize_index", noting_read)
    assert answers(load(broken.folder)) == ANSWERED["old"]
    assert len(given) == 1
    assert given[0] in hashed  # the same memory, not an equal copy read again
