"""A text, or files to be written into a folder, in; a file or folder that is whole or not there out."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semantic_toolsearch.errors import DatasetError

__all__ = ["folder_in_the_making", "write_text"]


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all; its folder is made.

    Raises:
        DatasetError: The file cannot be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(temporary, 0o644)  # mkstemp makes it private; a report is not
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise DatasetError(f"cannot be written: {error.strerror or error}.", target) from error


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
