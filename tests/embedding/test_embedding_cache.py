"""The cache saves time and never changes a vector: across processes, threads and damage."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semantic_toolsearch.embedding import EmbeddingCache, embed_documents, text_hash
from semantic_toolsearch.embedding.cache import default_cache_path
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.testing import HashingEmbedder


def _vectors(*texts: str) -> dict[str, Any]:
    matrix = HashingEmbedder(16).encode_document(texts)
    return {text_hash(text): row for text, row in zip(texts, matrix, strict=True)}


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "deep" / "cache.sqlite3")


def test_stored_vectors_come_back_exactly(cache: EmbeddingCache) -> None:
    given = _vectors("a", "b", "c")
    assert cache.get_many("m", list(given)) == {}
    cache.put_many("m", given)
    found = EmbeddingCache(cache.path).get_many("m", [*given, text_hash("d")])
    assert found.keys() == given.keys()
    assert all(np.array_equal(found[key], given[key]) for key in given)
    assert all(found[key].dtype == np.float32 and found[key].flags.writeable for key in given)
    assert len(cache) == 3


def test_embedders_do_not_see_each_others_vectors(cache: EmbeddingCache) -> None:
    one, two = _vectors("a"), {text_hash("a"): -_vectors("a")[text_hash("a")]}
    cache.put_many("one", one)
    cache.put_many("two", two)
    assert np.array_equal(cache.get_many("one", list(one))[text_hash("a")], one[text_hash("a")])
    assert np.array_equal(cache.get_many("two", list(one))[text_hash("a")], two[text_hash("a")])


def test_looking_makes_no_file(cache: EmbeddingCache) -> None:
    assert cache.get_many("m", [text_hash("a")]) == {}
    assert len(cache) == 0
    cache.put_many("m", {})
    assert not cache.path.parent.exists()


def test_the_oldest_are_removed_beyond_the_bound(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c", max_entries=10)
    for start in range(0, 30, 4):
        cache.put_many("m", _vectors(*(f"text {number}" for number in range(start, start + 4))))
    assert len(cache) == 10
    kept = cache.get_many("m", [text_hash(f"text {number}") for number in range(32)])
    assert kept.keys() == {text_hash(f"text {number}") for number in range(22, 32)}


def test_a_vector_written_again_counts_as_new(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "c", max_entries=2)
    for text in ("a", "b", "a", "c"):
        cache.put_many("m", _vectors(text))
    assert cache.get_many("m", list(_vectors("a", "b", "c"))).keys() == _vectors("a", "c").keys()


def test_thousands_of_hashes_in_one_question(cache: EmbeddingCache) -> None:
    given = _vectors(*(f"text {number}" for number in range(40)))
    cache.put_many("m", given)
    many = [text_hash(f"text {number}") for number in range(40_000)]
    assert cache.get_many("m", many).keys() == given.keys()


@pytest.mark.parametrize("column", ["vector", "checksum", "text_hash"])
def test_a_changed_entry_counts_as_absent(cache: EmbeddingCache, column: str) -> None:
    cache.put_many("m", _vectors("a", "b"))
    with sqlite3.connect(cache.path) as connection:
        value = _vectors("z")[text_hash("z")].tobytes() if column == "vector" else "tampered"
        connection.execute(f"UPDATE vectors SET {column} = ? WHERE text_hash = ?", (value, text_hash("a")))  # noqa: S608 - own names
    connection.close()
    assert cache.get_many("m", [text_hash("a"), text_hash("b"), "tampered"]).keys() == {text_hash("b")}


def _other_program(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE vectors (mine TEXT)")
    connection.close()


def _newer_format(path: Path) -> None:
    EmbeddingCache(path).put_many("m", _vectors("a"))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()


def _damaged(path: Path) -> None:
    EmbeddingCache(path).put_many("m", _vectors(*map(str, range(500))))
    data = bytearray(path.read_bytes())
    data[100:] = os.urandom(len(data) - 100)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b"not a database, but long enough to be taken for one" * 100),
        lambda path: path.mkdir(),
        _other_program,
        _newer_format,
        _damaged,
    ],
    ids=["garbage", "folder", "other program", "newer format", "damaged"],
)
def test_an_unusable_file_costs_one_warning_and_nothing_else(
    tmp_path: Path, make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    cache, embedder = EmbeddingCache(path), HashingEmbedder(16)
    with caplog.at_level(logging.WARNING, "semantic_toolsearch"):
        for _ in range(2):
            matrix, stats = embed_documents(embedder, ["a", "b"], cache)
            assert np.array_equal(matrix, HashingEmbedder(16).encode_document(["a", "b"]))
            assert stats.embedded == 2
    assert [record.name for record in caplog.records] == ["semantic_toolsearch"]
    assert str(path) in caplog.text
    assert before is None or path.read_bytes() == before  # a file that is not ours stays as it is


def test_a_place_that_cannot_exist_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    cache = EmbeddingCache(tmp_path / "file" / "cache")
    cache.put_many("m", _vectors("a"))
    cache.put_many("m", _vectors("a"))
    assert cache.get_many("m", list(_vectors("a"))) == {}
    assert len(caplog.records) == 1


def test_an_empty_file_becomes_a_cache(tmp_path: Path) -> None:
    (tmp_path / "c").touch()
    cache = EmbeddingCache(tmp_path / "c")
    cache.put_many("m", _vectors("a"))
    assert len(cache) == 1


def test_the_default_place_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLSEARCH_CACHE_DIR", str(tmp_path / "mine"))
    assert EmbeddingCache().path == tmp_path / "mine" / "embeddings.sqlite3"
    monkeypatch.delenv("TOOLSEARCH_CACHE_DIR")
    assert "semantic_toolsearch" in str(default_cache_path())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_new_folder_is_for_its_owner_only(cache: EmbeddingCache) -> None:
    cache.put_many("m", _vectors("a"))
    assert stat.S_IMODE(cache.path.parent.stat().st_mode) & 0o077 == 0


def test_a_bound_out_of_range_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="max_entries"):
        EmbeddingCache(tmp_path / "c", max_entries=0)


def test_threads_lose_nothing(cache: EmbeddingCache) -> None:
    start = threading.Barrier(6)

    def work(name: int) -> None:
        start.wait()
        for number in range(10):
            cache.put_many("m", _vectors(f"{name} {number}", "shared"))
            cache.get_many("m", [text_hash("shared")])

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 61


_BUILD = """
import sys
from semantic_toolsearch.embedding import EmbeddingCache, embed_documents
from semantic_toolsearch.testing import HashingEmbedder

path, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sys.stdin.readline()
for start in range(first, last, 20):
    texts = [f"tool {n}" for n in range(start, start + 20)]
    embed_documents(HashingEmbedder(16), texts, EmbeddingCache(path))
"""


@pytest.mark.parametrize("count", [2, 4])
def test_processes_that_build_at_once_lose_nothing(tmp_path: Path, count: int) -> None:
    path = tmp_path / "cache"
    builders = [
        subprocess.Popen(
            [sys.executable, "-c", _BUILD, str(path), first, last],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for first, last in (("0", "400"), ("200", "600"), ("0", "600"), ("0", "600"))[:count]
    ]  # fmt: skip
    for builder in builders:  # all have been started before any is let go
        assert builder.stdin is not None
        builder.stdin.write("go\n")
        builder.stdin.flush()
    for builder in builders:
        _, errors = builder.communicate(timeout=60)
        assert (builder.returncode, errors) == (0, "")  # a skipped cache would have warned on stderr
    assert len(EmbeddingCache(path)) == 600
    embedder = HashingEmbedder(16)
    texts = [f"tool {number}" for number in range(600)]
    matrix, stats = embed_documents(embedder, texts, EmbeddingCache(path))
    assert (stats.embedded, stats.from_cache, embedder.documents) == (0, 600, 0)
    assert np.array_equal(matrix, embedder.encode_document(texts))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_a_killed_writer_loses_nothing_that_it_has_told_and_leaves_no_half_batch(
    tmp_path: Path, kills: int
) -> None:
    program = Path(__file__).with_name("killed_writer.py")
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "cache"), str(kills)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    logging.getLogger(__name__).info("killed writers: %s", done.stdout)
    assert json.loads(done.stdout)["kills"] == kills
