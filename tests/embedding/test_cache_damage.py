"""A cache file broken at every place: vectors are computed again, with one warning at most, and none is ever wrong."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from semantic_toolsearch.embedding import EmbeddingCache, embed_documents, text_hash
from semantic_toolsearch.testing import HashingEmbedder

logger = logging.getLogger(__name__)  # the numbers tried: --log-cli-level=INFO

TEXTS = [f"tool {number}" for number in range(8)]
EXPECTED = HashingEmbedder(16).encode_document(TEXTS)
LOG = logging.getLogger("semantic_toolsearch")


class Warned(logging.Handler):
    """Counts warnings; caplog would keep every one of a hundred thousand."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


@pytest.fixture
def warned() -> Iterator[Warned]:
    handler, propagated = Warned(), LOG.propagate
    LOG.addHandler(handler)
    LOG.propagate = False
    yield handler
    LOG.removeHandler(handler)
    LOG.propagate = propagated


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A filled cache file."""
    path = tmp_path_factory.mktemp("whole") / "cache"
    embed_documents(HashingEmbedder(16), TEXTS, EmbeddingCache(path))
    return path.read_bytes()


def outcome(path: Path, warned: Warned) -> str:
    """Embed with the file as it is, twice, as two processes would; the second finds what the first has stored."""
    told = []
    for _ in range(2):
        warned.count = 0
        matrix, stats = embed_documents(HashingEmbedder(16), TEXTS, EmbeddingCache(path))
        assert np.array_equal(matrix, EXPECTED), "a wrong vector"
        assert warned.count <= 1
        told.append((stats.embedded, warned.count))
    (first, _), (second, later) = told
    if later:
        return "left alone"
    return "whole" if first == 0 else "mended" if second == 0 else "not mended"


def still_open(path: Path) -> list[str]:
    """Files of the cache that this process has open."""
    links = Path("/proc/self/fd")
    found = []
    for link in links.iterdir() if links.is_dir() else ():
        with contextlib.suppress(OSError):
            found.append(os.readlink(link))
    return [name for name in found if name.startswith(str(path))]


def places(size: int, step: int, offset: int = 0) -> Iterator[int]:
    return (place for place in range(size) if place < 100 // step or place % step == offset % step)


@pytest.mark.parametrize(
    ("step", "patterns"),
    [(97, (0x01,)), pytest.param(1, (0x01, 0x80, 0xFF), marks=pytest.mark.slow)],
    ids=["sample", "every-byte"],
)
def test_flipped_bytes_never_give_a_wrong_vector(
    tmp_path: Path, whole: bytes, warned: Warned, step: int, patterns: tuple[int, ...]
) -> None:
    path = tmp_path / "cache"
    found: Counter[str] = Counter()
    for place in places(len(whole), step):
        for pattern in patterns:
            path.write_bytes(whole[:place] + bytes([whole[place] ^ pattern]) + whole[place + 1 :])
            found[outcome(path, warned)] += 1
            assert still_open(path) == [], f"byte {place}, pattern {pattern}"
            for beside in ("cache-wal", "cache-shm", "cache-journal"):
                (tmp_path / beside).unlink(missing_ok=True)
    logger.info("flips in a cache of %d bytes: %s", len(whole), dict(found))
    assert {"whole", "mended"} <= found.keys()


def test_a_flipped_bit_in_any_byte_of_a_vector_is_noticed(
    tmp_path: Path, whole: bytes, warned: Warned
) -> None:
    path = tmp_path / "cache"
    start = whole.index(EXPECTED[3].tobytes())
    for place in range(start, start + EXPECTED[3].nbytes):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        matrix, stats = embed_documents(HashingEmbedder(16), TEXTS, EmbeddingCache(path))
        assert stats.embedded == 1
        assert np.array_equal(matrix, EXPECTED)
    assert warned.count == 0


@pytest.mark.parametrize("step", [401, pytest.param(7, marks=pytest.mark.slow)], ids=["sample", "many"])
def test_cut_and_lengthened_files_never_give_a_wrong_vector(
    tmp_path: Path, whole: bytes, warned: Warned, step: int
) -> None:
    path = tmp_path / "cache"
    found: Counter[str] = Counter()
    pages = range(0, len(whole), 512)
    for length in sorted({*places(len(whole), step), *pages, len(whole) - 1}):
        path.write_bytes(whole[:length])
        found[outcome(path, warned)] += 1
        for beside in ("cache-wal", "cache-shm", "cache-journal"):
            (tmp_path / beside).unlink(missing_ok=True)
    for tail in (b"\0", b"x" * 4096, whole):
        path.write_bytes(whole + tail)
        found[outcome(path, warned)] += 1
    logger.info("cuts of a cache: %s", dict(found))
    assert found.total() > 20


WRITER = """
import os, sys
from semantic_toolsearch.embedding import EmbeddingCache, embed_documents
from semantic_toolsearch.testing import HashingEmbedder
import sqlite3
store = EmbeddingCache(sys.argv[1])
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM vectors").fetchone()  # keeps the log from being merged at the end
embed_documents(HashingEmbedder(16), [f"tool {number}" for number in range(8)], store)
os.kill(os.getpid(), 9)
"""


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a killed writer leaves: a file, its log with all that was written, and the log's index."""
    folder = tmp_path_factory.mktemp("torn")
    EmbeddingCache(folder / "cache").put_many("another", {text_hash("x"): EXPECTED[0]})
    subprocess.run([sys.executable, "-c", WRITER, str(folder / "cache")], check=False)
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert left.keys() == {"cache", "cache-wal", "cache-shm"}
    return left


@pytest.mark.parametrize("name", ["cache-wal", "cache-shm"])
@pytest.mark.parametrize("step", [499, pytest.param(5, marks=pytest.mark.slow)], ids=["sample", "many"])
def test_a_damaged_log_never_gives_a_wrong_vector(
    tmp_path: Path, torn: dict[str, bytes], warned: Warned, name: str, step: int
) -> None:
    found: Counter[str] = Counter()
    data = torn[name]
    changes = [
        data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :] for place in places(len(data), step)
    ]
    changes += [data[:length] for length in places(len(data), 2 * step)]
    changes += [data + data, b"", b"x" * 5000]
    folder = tmp_path / "broken"
    for change in changes:
        folder.mkdir()
        for part, content in (torn | {name: change}).items():
            (folder / part).write_bytes(content)
        found[outcome(folder / "cache", warned)] += 1
        shutil.rmtree(folder)
    logger.info("damage of %s: %s", name, dict(found))
    assert found["whole"] + found["mended"] > 0


def test_the_log_of_another_cache_never_gives_a_wrong_vector(
    tmp_path: Path, whole: bytes, torn: dict[str, bytes], warned: Warned
) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "cache").write_bytes(whole)
    (folder / "cache-wal").write_bytes(torn["cache-wal"])
    outcome(folder / "cache", warned)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE vectors DROP COLUMN checksum",
        "ALTER TABLE vectors RENAME TO vectors_of_old",
        "DROP TABLE vectors",
        "UPDATE vectors SET vector = 'a text'",
        "UPDATE vectors SET vector = zeroblob(64)",
        "UPDATE vectors SET vector = zeroblob(1)",
        "UPDATE vectors SET vector = zeroblob(1000000)",
        "UPDATE vectors SET checksum = 7",
        "UPDATE vectors SET text_hash = CAST(x'ff80' || number AS TEXT)",
        "UPDATE vectors SET text_hash = zeroblob(5) || number",
        "UPDATE OR IGNORE vectors SET text_hash = (SELECT text_hash FROM vectors ORDER BY number DESC LIMIT 1)",
        "UPDATE vectors SET embedder = embedder || '-2'",
        "CREATE TRIGGER later AFTER INSERT ON vectors BEGIN UPDATE vectors SET vector = zeroblob(64); END",
        "CREATE TRIGGER never BEFORE INSERT ON vectors BEGIN SELECT RAISE(ABORT, 'no'); END",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 0",
        "PRAGMA application_id = 1",
        "PRAGMA journal_mode = DELETE",
    ],
)
def test_a_cache_that_another_program_has_changed_never_gives_a_wrong_vector(
    tmp_path: Path, whole: bytes, warned: Warned, statement: str
) -> None:
    path = tmp_path / "cache"
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    outcome(path, warned)


def test_vectors_swapped_between_texts_or_models_are_noticed(
    tmp_path: Path, whole: bytes, warned: Warned
) -> None:
    """Each is right by itself, checksum and all, but for the place where it stands."""
    path = tmp_path / "cache"
    for change in (
        "UPDATE vectors SET (vector, checksum) = (SELECT vector, checksum FROM vectors AS other "
        "WHERE other.number = vectors.number % 8 + 1)",
        "UPDATE vectors SET embedder = 'another'",
    ):
        path.write_bytes(whole)
        connection = sqlite3.connect(path)
        connection.execute(change)
        connection.commit()
        connection.close()
        assert EmbeddingCache(path).get_many("another", [text_hash(text) for text in TEXTS]) == {}
        assert outcome(path, warned) == "mended"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("beside", ["cache", "cache-wal", "cache-shm", "cache-journal"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "zero", "loop", "dangling"])
def test_what_is_no_file_is_left_alone(
    tmp_path: Path, whole: bytes, warned: Warned, beside: str, kind: str
) -> None:
    path = tmp_path / "cache"
    path.write_bytes(whole)
    place = tmp_path / beside
    place.unlink(missing_ok=True)
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to({"zero": "/dev/zero", "loop": place.name, "dangling": "nowhere"}[kind])
    outcome(path, warned)
