"""Hashes of texts come in; the vectors embedded for them earlier, by any process, go out."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from semantic_toolsearch.errors import ConfigError

Vector: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

logger = logging.getLogger("semantic_toolsearch")

FILE_NAME = "embeddings.sqlite3"
ENVIRONMENT_VARIABLE = "TOOLSEARCH_CACHE_DIR"

_APPLICATION = 0x54534543  # "TSEC", so that another program's database is not mistaken for a cache
_FORMAT = 1
_WAIT = 30.0  # seconds that one process waits for another's write
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,  -- grows with every write: the lowest is the oldest
    embedder TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    vector BLOB NOT NULL,
    checksum BLOB NOT NULL,
    UNIQUE (embedder, text_hash)
)
"""


def default_cache_path() -> Path:
    """Where the cache lies unless told otherwise: ``$TOOLSEARCH_CACHE_DIR``, else the user's cache folder.

    Raises:
        ConfigError: Neither is there, since the user has no home.
    """
    folder = os.environ.get(ENVIRONMENT_VARIABLE) or _users_folder()
    if folder is None:
        raise ConfigError(
            "there is no place for the embedding cache, since the user has no home folder: set "
            f"{ENVIRONMENT_VARIABLE} to a folder, pass cache=<path>, or cache=False for none"
        )
    return Path(folder) / FILE_NAME


def _users_folder() -> str | None:
    import platformdirs

    try:
        folder = platformdirs.user_cache_dir("semantic_toolsearch", appauthor=False)
    except RuntimeError:
        return None
    return None if folder.startswith("~") else folder  # as releases gave it that do not raise


class VectorStore(Protocol):
    """Where vectors are looked up before anything is embedded, and kept afterwards."""

    def get_many(self, embedder_id: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Look vectors up.

        Args:
            embedder_id: The ``id`` of the embedder that made them.
            hashes: What stands for each text, as ``text_hash`` gives it.

        Returns:
            float32 ``[d]`` by hash; those that are not stored are missing.
        """
        ...

    def put_many(self, embedder_id: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors.

        Args:
            embedder_id: The ``id`` of the embedder that made them.
            vectors: float32 ``[d]``, of length 1, by the hash of its text.
        """
        ...


class EmbeddingCache:
    """Vectors on disk, addressed by embedder id and text hash, shared by any number of processes and threads.

    A cache may only ever save time. So whatever is wrong with its file (damaged, not writable, locked,
    written by another program) it is then treated as empty, with one warning of the logger
    ``semantic_toolsearch``, and an entry whose checksum does not match counts as absent.

    Args:
        path: The cache file; its folder is made when needed. None is `default_cache_path`.
        max_entries: Beyond this many vectors the oldest written are removed.

    Raises:
        ConfigError: ``max_entries`` is below 1, or no path is given and the user has no home.
    """

    def __init__(self, path: Path | str | None = None, *, max_entries: int = 100_000) -> None:
        if max_entries < 1:
            raise ConfigError(f"EmbeddingCache: max_entries must be at least 1, not {max_entries!r}")
        self.path = default_cache_path() if path is None else Path(path)
        self.max_entries = max_entries
        self._warned = False
        self._wait = _WAIT  # for a lock; 0 once that was in vain, until the file can be used again

    def get_many(self, embedder_id: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Look vectors up; see ``VectorStore.get_many``. One that is not intact counts as not stored."""
        found: dict[str, Vector] = {}
        if not hashes:
            return found
        try:
            if not self.path.exists():
                return found
            with self._connection() as connection:
                question = connection.execute(
                    "SELECT text_hash, vector, checksum FROM vectors "
                    "WHERE embedder = ? AND text_hash IN (SELECT value FROM json_each(?))",
                    (embedder_id, json.dumps(list(hashes))),
                )
                with contextlib.closing(question) as rows:  # or a damaged row would keep the file open
                    for key, vector, checksum in rows:
                        if checksum == _checksum(embedder_id, key, vector):
                            found[key] = np.frombuffer(vector, dtype="<f4").astype(np.float32)
        except (sqlite3.Error, OSError, TypeError, ValueError) as error:
            self._warn("read", error)
        return found

    def put_many(self, embedder_id: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors, all or none, then remove the oldest beyond ``max_entries``; see ``VectorStore.put_many``."""
        rows = []
        for text_hash, vector in vectors.items():
            data = np.ascontiguousarray(vector, dtype="<f4").tobytes()
            rows.append((embedder_id, text_hash, data, _checksum(embedder_id, text_hash, data)))
        if not rows:
            return
        try:
            with self._connection() as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors (embedder, text_hash, vector, checksum) "
                    "VALUES (?, ?, ?, ?)",
                    rows,
                )
                connection.execute(
                    "DELETE FROM vectors WHERE number <= "
                    "(SELECT number FROM vectors ORDER BY number DESC LIMIT 1 OFFSET ?)",
                    (self.max_entries,),
                )
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError, ValueError) as error:
            self._warn("written", error)

    def __len__(self) -> int:
        """Vectors stored; 0 when the file cannot be used."""
        try:
            if not self.path.exists():
                return 0
            with self._connection() as connection:
                return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
        except (sqlite3.Error, OSError, ValueError) as error:
            self._warn("read", error)
            return 0

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one operation: nothing stays open that a fork or another thread could share."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_what_is_no_file(self.path)
        connection = sqlite3.connect(self.path, timeout=self._wait, isolation_level=None)
        try:
            _prepare(connection, self._wait)
            yield connection
        except sqlite3.Error:
            self._wait = 0  # whoever keeps the file locked would be waited for at every batch
            raise
        else:
            self._wait = _WAIT
        finally:
            connection.close()

    def _warn(self, action: str, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            logger.warning(
                "the embedding cache %s cannot be %s (%s: %s); going on without it. Delete the file if it is "
                "damaged, or set %s to a folder that can be written.",
                self.path, action, type(error).__name__, str(error), ENVIRONMENT_VARIABLE,
            )  # fmt: skip  # the text alone, since whoever keeps the record would keep the error's connection


def _refuse_what_is_no_file(path: Path) -> None:
    """Opening a pipe, even one beside the file, may wait for ever."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            place = f"{path}{suffix}"
            if not stat.S_ISREG(os.stat(place).st_mode):
                raise OSError(f"{place} is not a regular file")


def _prepare(connection: sqlite3.Connection, wait: float) -> None:
    """Create the table in a new file; refuse a file that is not this cache."""
    # One statement reads one state: between two of them another process may have made the table.
    application, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "
        "(SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if (application, version) == (_APPLICATION, _FORMAT):
        return
    if application not in (0, _APPLICATION) or version not in (0, _FORMAT) or (application == 0 and tables):
        raise sqlite3.DatabaseError(f"not an embedding cache of format {_FORMAT}")
    _use_write_ahead_log(connection, wait)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_SCHEMA)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    connection.execute("COMMIT")


def _use_write_ahead_log(connection: sqlite3.Connection, wait: float) -> None:
    """Let readers go on while one process writes; SQLite itself does not wait when it switches."""
    until = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # A full disk or a missing right stays as it is; the low byte is the kind of the error.
            if error.sqlite_errorcode & 0xFF not in _LOCKED or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _checksum(embedder_id: str, text_hash: str, vector: bytes) -> bytes:
    digest = hashlib.blake2b(f"{embedder_id}\0{text_hash}\0".encode(), digest_size=16)
    digest.update(vector)
    return digest.digest()


def open_cache(cache: EmbeddingCache | str | os.PathLike[str] | bool | None) -> EmbeddingCache | None:
    """The cache that a user names: None or True for the user's folder, a path, a cache itself, False for none.

    Raises:
        ConfigError: It is something else.
    """
    if cache is False:
        return None
    if cache is None or cache is True:
        try:
            return EmbeddingCache()
        except ConfigError as reason:
            logger.warning("Going on without an embedding cache: %s.", reason)
            return None
    if isinstance(cache, EmbeddingCache):
        return cache
    try:
        return EmbeddingCache(Path(cache))
    except TypeError:
        raise ConfigError(
            f"cache is a {type(cache).__name__}; pass a path, an EmbeddingCache, False for none, or nothing."
        ) from None
