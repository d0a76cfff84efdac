"""A path and the size and hash its file must have go in; exactly those bytes, or a named error, come out."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from semantic_toolsearch.errors import IndexCorruptError, IndexFileError
from semantic_toolsearch.index.manifest import MEND, FileEntry


def read_verified(path: Path, entry: FileEntry) -> bytes:
    """Read a file once and return the bytes that were checked, so nothing can change in between.

    Raises:
        IndexCorruptError: The file is shorter, longer or different, or no regular file.
        IndexFileError: Memory has no room for it.
        OSError: It is missing or cannot be read.
    """
    with _open_regular(path) as descriptor:
        size = os.fstat(descriptor).st_size
        # Sizes are compared first, so that a manifest cannot make us allocate what is not there.
        try:
            data = _read(descriptor, entry.bytes + 1) if size == entry.bytes else b""
        except (MemoryError, OverflowError) as error:
            raise IndexFileError(
                f"{path} has {size} bytes, for which memory has no room: give the process more, or {MEND}"
            ) from error
    if size != entry.bytes or len(data) != entry.bytes:
        kind = "truncated" if size < entry.bytes else "longer than it was written"
        raise IndexCorruptError(f"{path} is {kind} ({size} bytes instead of {entry.bytes}): {MEND}")
    if (digest := hashlib.sha256(data).hexdigest()) != entry.sha256:
        raise IndexCorruptError(f"{path} was changed (sha256 {digest} instead of {entry.sha256}): {MEND}")
    return data


def read_bounded(path: Path, limit: int) -> bytes:
    """Read at most ``limit`` bytes of a file.

    Raises:
        IndexCorruptError: It is no regular file.
        OSError: It is missing or cannot be read.
    """
    with _open_regular(path) as descriptor:
        return _read(descriptor, limit)


@contextlib.contextmanager
def _open_regular(path: Path) -> Iterator[int]:
    # Reading a pipe or a device might never end, and O_NONBLOCK because opening a pipe waits already.
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise IndexCorruptError(f"{path} is not a regular file: remove it, and {MEND}")
        yield descriptor
    finally:
        os.close(descriptor)


def _read(descriptor: int, limit: int) -> bytes:
    with os.fdopen(descriptor, "rb", buffering=0, closefd=False) as file:
        first = file.read(limit) or b""
        parts = [first]
        left = limit - len(first)
        while left > 0 and (part := file.read(left)):
            parts.append(part)
            left -= len(part)
    return first if len(parts) == 1 else b"".join(parts)
