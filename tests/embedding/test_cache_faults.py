"""A cache that cannot be read or written, whatever the reason, costs one warning and no wait that repeats."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.embedding import EmbeddingCache, cache, embed_documents, text_hash
from semantic_toolsearch.embedding.cache import default_cache_path, open_cache
from semantic_toolsearch.embedding.documents import BATCH
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.testing import HashingEmbedder
from small_disks import small_disk

TEXTS = [f"tool {number}" for number in range(3 * BATCH)]
EXPECTED = HashingEmbedder(16).encode_document(TEXTS)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each use of the file was ready to wait for another process, in seconds."""
    monkeypatch.setattr(cache, "_WAIT", 0.3)
    noted: list[float] = []
    connect = sqlite3.connect

    def noting(*args: Any, timeout: float, **options: Any) -> sqlite3.Connection:
        noted.append(timeout)
        return connect(*args, timeout=timeout, **options)

    monkeypatch.setattr(sqlite3, "connect", noting)
    return noted


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process that writes and never ends, as one that is stopped in a debugger."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA locking_mode = EXCLUSIVE'); c.execute('BEGIN EXCLUSIVE');"
        "print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        yield
    finally:
        holder.communicate("")


def filled(path: Path) -> EmbeddingCache:
    store = EmbeddingCache(path)
    embed_documents(HashingEmbedder(16), TEXTS[:10], store)
    return store


def test_a_cache_that_another_process_keeps_locked_is_waited_for_once(
    tmp_path: Path, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    store = filled(tmp_path / "cache")
    waits.clear()
    with locked(store.path):
        matrix, stats = embed_documents(HashingEmbedder(16), TEXTS, store)
        assert np.array_equal(matrix, EXPECTED)
        assert stats.embedded == len(TEXTS)
        assert waits == [0.3, 0, 0, 0]  # one look, three batches
        assert len(caplog.records) == 1
    embed_documents(HashingEmbedder(16), TEXTS, store)
    waits.clear()
    matrix, stats = embed_documents(
        HashingEmbedder(16), TEXTS, store
    )  # free again: used again, and waited for
    assert (stats.embedded, stats.from_cache, waits) == (0, len(TEXTS), [0.3])
    assert np.array_equal(matrix, EXPECTED)


def test_a_new_cache_that_cannot_be_made_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Only a lock is worth waiting for: a place that is full or not writable stays so."""
    slept: list[float] = []
    monkeypatch.setattr(cache.time, "sleep", slept.append)
    path = tmp_path / "cache"
    path.touch()
    path.chmod(0o444)
    with somebody_else(tmp_path):
        matrix, stats = embed_documents(HashingEmbedder(16), TEXTS, EmbeddingCache(path))
    assert np.array_equal(matrix, EXPECTED)
    assert stats.embedded == len(TEXTS)
    assert (slept, len(caplog.records)) == ([], 1)


@contextlib.contextmanager
def somebody_else(*folders: Path) -> Iterator[None]:
    """Act as a user without rights: root may write anywhere. The folders, and those above, can be entered."""
    if not hasattr(os, "geteuid"):
        pytest.skip("the system has other permissions")
    opened = {
        place for folder in folders for place in (folder, *folder.parents) if not place.stat().st_mode & 0o001
    }
    for place in opened:
        place.chmod(place.stat().st_mode | 0o001)
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.mark.parametrize("stored", [False, True], ids=["new", "filled"])
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555], ids=oct)
def test_a_folder_without_rights_costs_one_warning(
    tmp_path: Path, mode: int, stored: bool, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if stored:
        filled(folder / "cache")
    folder.chmod(mode)
    try:
        with somebody_else(tmp_path):
            for _ in range(2):
                store = EmbeddingCache(folder / "cache")
                caplog.clear()
                matrix, _ = embed_documents(HashingEmbedder(16), TEXTS, store)
                assert np.array_equal(matrix, EXPECTED)
                assert len(store) in (0, 10)
                assert len(caplog.records) == 1
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000], ids=["null", "no character", "long"])
def test_a_path_that_no_file_can_have_costs_one_warning(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = EmbeddingCache(tmp_path / name)
    matrix, _ = embed_documents(HashingEmbedder(16), TEXTS, store)
    assert np.array_equal(matrix, EXPECTED)
    assert len(store) == 0
    assert len(caplog.records) == 1


@pytest.mark.parametrize("found", ["nothing", "~"])
def test_a_user_without_a_home_has_no_cache_and_is_told_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, found: str, caplog: pytest.LogCaptureFixture
) -> None:
    import platformdirs

    def homeless(*args: Any, **options: Any) -> str:
        if found == "~":  # what older releases gave: a folder of that name would come to lie anywhere
            return "~/.cache/semantic_toolsearch"
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("TOOLSEARCH_CACHE_DIR")
    monkeypatch.setattr(platformdirs, "user_cache_dir", homeless)
    with pytest.raises(ConfigError, match="TOOLSEARCH_CACHE_DIR"):
        default_cache_path()
    with caplog.at_level(logging.WARNING, "semantic_toolsearch"):
        assert open_cache(None) is None
        search = ToolSearch(
            [{"name": "plan_trip", "description": "Plan a trip."}], embedder=HashingEmbedder()
        )
    assert search.search("plan a trip").tools[0].tool.name == "plan_trip"
    assert "TOOLSEARCH_CACHE_DIR" in caplog.text
    with pytest.raises(ConfigError, match="TOOLSEARCH_CACHE_DIR"):
        EmbeddingCache()


@contextlib.contextmanager
def limited(kind: str, value: int) -> Iterator[None]:
    """The same as a full disk: no file may be longer. Or: no more files may be open than are open now, and a few."""
    resource = pytest.importorskip("resource", reason="Windows has no such limits")
    what = getattr(resource, kind)
    soft, hard = resource.getrlimit(what)
    if kind == "RLIMIT_NOFILE":
        free, value = value, 0
        while value - sum(map(is_open, range(value))) < free:
            value += 1
    resource.setrlimit(what, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


def is_open(number: int) -> bool:
    with contextlib.suppress(OSError):
        os.fstat(number)
        return True
    return False


@pytest.mark.parametrize("stored", [False, True], ids=["new", "filled"])
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("RLIMIT_FSIZE", (0, 1, 100, 4096, 5000, 8192, 20_000, 32_768, 50_000, 10**6)),
        ("RLIMIT_NOFILE", tuple(range(6))),
    ],
)
def test_a_cache_without_room_or_descriptors_costs_one_warning(
    tmp_path: Path, kind: str, values: tuple[int, ...], stored: bool, caplog: pytest.LogCaptureFixture
) -> None:
    told = []
    for value in values:
        path = tmp_path / f"{value}"
        if stored:
            filled(path)
        caplog.clear()
        with limited(kind, value):
            matrix, _ = embed_documents(HashingEmbedder(16), TEXTS, EmbeddingCache(path))
        told.append(len(caplog.records))
        assert np.array_equal(matrix, EXPECTED)
        after = EmbeddingCache(path)
        again, later = embed_documents(HashingEmbedder(16), TEXTS, after)
        assert np.array_equal(again, EXPECTED)
        assert len(after) == len(TEXTS)  # it recovers by itself, without the user's help
        assert later.from_cache == len(TEXTS) or told[-1]
        assert len(caplog.records) == told[-1]
    assert set(told) == {0, 1}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of a quarter of a megabyte."""
    with small_disk(tmp_path / "disk", "256k") as folder:
        yield folder


def test_a_disk_with_any_room_too_little_costs_one_warning(
    disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    told = []
    for pages in range(64):
        shutil.rmtree(disk / "cache", ignore_errors=True)
        (disk / "filler").unlink(missing_ok=True)
        space = os.statvfs(disk)
        (disk / "filler").write_bytes(b"x" * space.f_frsize * max(0, space.f_bavail - pages))
        caplog.clear()
        matrix, _ = embed_documents(HashingEmbedder(16), TEXTS, EmbeddingCache(disk / "cache" / "c"))
        assert np.array_equal(matrix, EXPECTED)
        told.append(len(caplog.records))
        (disk / "filler").unlink()
        again, _ = embed_documents(HashingEmbedder(16), TEXTS, store := EmbeddingCache(disk / "cache" / "c"))
        assert np.array_equal(again, EXPECTED)
        assert len(store) == len(TEXTS)  # once there is room
        if not told[-1]:
            break
    assert told[-1] == 0
    assert set(told[:-1]) == {1}
    assert len(told) > 8


def test_a_cache_on_a_read_only_disk_costs_one_warning_at_most(
    disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (disk / "empty").touch()
    filled(disk / "filled")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for name in ("empty", "filled", "new", "deep/new"):
        caplog.clear()
        matrix, _ = embed_documents(HashingEmbedder(16), TEXTS, EmbeddingCache(disk / name))
        assert np.array_equal(matrix, EXPECTED)
        assert len(caplog.records) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files in /proc")
def test_a_warning_that_is_kept_keeps_no_file_open(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Programs keep records of their logs; an error among them would keep the frame in which the file was open."""
    store = filled(tmp_path / "cache")
    connection = sqlite3.connect(store.path)
    connection.execute("UPDATE vectors SET vector = 'no bytes'")
    connection.commit()
    connection.close()
    assert store.get_many(HashingEmbedder(16).id, [text_hash(text) for text in TEXTS]) == {}
    assert len(caplog.records) == 1
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert not [link for link in links if str(tmp_path) in os.readlink(link)]
