"""A path goes in; one holder at a time, over threads and processes, comes out."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from semantic_toolsearch.errors import IndexFileError

_PAUSE_SECONDS = 0.02


@contextlib.contextmanager
def exclusive(path: Path, *, wait_seconds: float = 60.0) -> Iterator[None]:
    """Hold the lock file at ``path``, which is created if missing and never removed.

    The system frees the lock when its holder ends, however it ends, so no stale lock can exist.

    Args:
        path: The lock file; its folder exists.
        wait_seconds: How long to wait for another holder.

    Raises:
        IndexFileError: Another holder kept it for the whole time.
        OSError: The file cannot be opened, or its file system has no locks.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        deadline = time.monotonic() + wait_seconds
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise IndexFileError(
                    f"another process has been saving to {path.parent} for {wait_seconds:g} s: "
                    "wait for it, or end it"
                )
            time.sleep(_PAUSE_SECONDS)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
