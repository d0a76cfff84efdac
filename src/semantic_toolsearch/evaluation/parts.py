"""Finished pieces of a run in; a folder from which an interrupted run goes on out."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from semantic_toolsearch.evaluation.writing import write_text

__all__ = ["Parts"]

Record = TypeVar("Record", bound=BaseModel)

_UNSAFE: Final = re.compile(r"[^\w.-]+")

_PIECE: Final = re.compile(r".*\.[0-9a-f]{16}\.json|\..*\.tmp")
"""A piece's name, or that of one whose writing was cut off."""


class Parts:
    """Keeps each finished piece of a run in a file of its own until the run is complete.

    A piece is found again only under the same key, which holds all that it depends on: another seed, dataset or
    version is another piece. What cannot be read counts as not there.

    Args:
        folder: Where the pieces lie; made when the first is kept. None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._used: set[Path] = set()

    def find(self, name: str, key: Any, kind: type[Record]) -> Record | None:
        """Return the piece of this name and key, or None.

        Args:
            name: What the piece is about, for the file's name.
            key: All that it depends on, as JSON values.
            kind: The record that it must be.
        """
        if self.folder is None:
            return None
        file = self._file(self.folder, name, key)
        try:
            found = kind.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            return None
        self._used.add(file)
        return found

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
            file = self._file(self.folder, name, key)
            write_text(file, json.dumps(piece.model_dump(mode="json"), ensure_ascii=False))
            self._used.add(file)

    def finish(self) -> None:
        """Remove the pieces that were kept or found: the run is complete. Those of other runs stay."""
        self._remove(self._used)

    def clear(self) -> None:
        """Remove all pieces, so that a run starts anew; whatever else lies in the folder stays."""
        if self.folder is not None and self.folder.is_dir():
            self._remove(file for file in self.folder.iterdir() if _PIECE.fullmatch(file.name))

    def _remove(self, files: Iterable[Path]) -> None:
        for file in list(files):
            with contextlib.suppress(OSError):
                file.unlink()
        if self.folder is not None:
            with contextlib.suppress(OSError):  # not empty, or not there
                self.folder.rmdir()

    @staticmethod
    def _file(folder: Path, name: str, key: Any) -> Path:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:16]
        return folder / f"{_UNSAFE.sub('-', name)[:80]}.{digest}.json"
