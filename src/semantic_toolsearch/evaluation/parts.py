"""Finished pieces of a run in; a folder from which an interrupted run goes on out."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from semantic_toolsearch.evaluation.writing import write_text

__all__ = ["Parts"]

Record = TypeVar("Record", bound=BaseModel)

_UNSAFE: Final = re.compile(r"[^\w.-]+")


class Parts:
    """Keeps each finished piece of a run in a file of its own until the run is complete.

    A piece is found again only under the same key, which holds all that it depends on: another seed, dataset or
    version is another piece. What cannot be read counts as not there.

    Args:
        folder: Where the pieces lie; made when the first is kept. None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def find(self, name: str, key: Any, kind: type[Record]) -> Record | None:
        """Return the piece of this name and key, or None.

        Args:
            name: What the piece is about, for the file's name.
            key: All that it depends on, as JSON values.
            kind: The record that it must be.
        """
        if self.folder is None:
            return None
        try:
            return kind.model_validate_json(self._file(self.folder, name, key).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, name: str, key: Any, piece: BaseModel) -> None:
        """Write a piece, whole or not at all.

        Args:
            name: As for ``find``.
            key: As for ``find``.
            piece: The piece.

        Raises:
            DatasetError: The folder cannot be written.
        """
        if self.folder is not None:
            write_text(self._file(self.folder, name, key), piece.model_dump_json())

    def clear(self) -> None:
        """Remove all pieces: the run is complete, or is to start anew."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def _file(folder: Path, name: str, key: Any) -> Path:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:16]
        return folder / f"{_UNSAFE.sub('-', name)[:80]}.{digest}.json"
