"""A text, or files to be written into a folder, in; a file or folder that is whole or not there out."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from semantic_toolsearch.errors import DatasetError

__all__ = ["check_writable", "file_name", "folder_in_the_making", "write_text"]

_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]+")

_UNFINISHED: Final = ".tmp"

_LEAST_ROOM: Final = 65_536
"""Bytes that must be free."""


def file_name(name: str) -> str:
    """A name as any file may have it: one that none can have is replaced by what is left of it and a hash."""
    plain = _PLAIN.sub("_", name).strip("._")[:80]
    if plain == name:
        return name
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Make a folder, and try to write into it, before work is done whose results would find no place.

    Raises:
        DatasetError: It cannot be made or written.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target) as file:
            file.write(bytes(_LEAST_ROOM))
    except (OSError, ValueError) as error:  # a path may hold a null character
        raise DatasetError(f"cannot be written: {_reason(error)}.", target) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all; its folder is made.

    What is no character, such as a byte of a file's name that is no UTF-8, is written as a question mark: work is not
    lost for it.

    Raises:
        DatasetError: The file cannot be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name[:40]}-", suffix=_UNFINISHED
        )
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
            os.chmod(temporary, 0o644)  # mkstemp makes it private; a report is not
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except (OSError, ValueError) as error:
        raise DatasetError(f"cannot be written: {_reason(error)}.", target) from error


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def folder_in_the_making(target: Path) -> Iterator[Path]:
    """Give a new folder beside another one, to be renamed to it when all is written; else it is removed.

    Raises:
        OSError: It cannot be made.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        fresh.mkdir()
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
