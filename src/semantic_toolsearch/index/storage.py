"""A manifest and named files go in; a folder that is whole at every moment comes out, and its bytes back.

The folder holds ``manifest.json`` and one ``data-<random>/`` folder that it names. Saving writes a new data
folder, then replaces the manifest, which is one atomic step: whatever is killed and whenever, a reader finds
the old index or the new one. The next saver, who holds the lock, removes what was replaced or abandoned.

Loading reads each file once, compares size and SHA-256, and hands out those very bytes, so nothing can change
between the check and the use. The hashes find damage and mixing; they are no signature, so load only folders
whose writer you trust. Nothing is ever unpickled or fetched.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from semantic_toolsearch.errors import (
    IndexCorruptError,
    IndexFileError,
    IndexFormatError,
    IndexMismatchError,
)
from semantic_toolsearch.index.locking import exclusive
from semantic_toolsearch.index.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    MEND,
    FileEntry,
    IndexManifest,
    manifest_bytes,
    parse_manifest,
    shown,
)
from semantic_toolsearch.index.verified import read_bounded, read_verified

VECTORS: Final = "vectors.faiss"
TOOLS: Final = "documents.jsonl"

_LOCK = ".toolsearch.lock"
_OWN_LEFTOVER = re.compile(r"data-[0-9a-f]{32}|\.manifest-[0-9a-f]{32}")
_READ_ATTEMPTS = 20
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
_MORE_FILES = "close some files, or raise the limit of open files"


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """A saved index whose every byte has been checked.

    Attributes:
        manifest: What the index is and was built from.
        folder: Where it was read from.
        files: Each file's name and its verified content.
    """

    manifest: IndexManifest
    folder: Path
    files: Mapping[str, bytes]

    def file(self, name: str) -> bytes:
        """The verified content of one file.

        Raises:
            IndexCorruptError: The manifest names no such file.
        """
        try:
            return self.files[name]
        except KeyError:
            names = ", ".join(self.files) or "none"
            raise IndexCorruptError(f"{self.folder} has no file {name!r}, only {names}: {MEND}") from None

    def require(self, *, embedder: str | None, dimension: int | None, recipe: str) -> None:
        """Check that the index fits what will search it.

        Args:
            embedder: Id of the embedder that will encode the queries; None when there is none.
            dimension: Its dimension.
            recipe: Id of the recipe that turns tools into texts.

        Raises:
            IndexMismatchError: It was built with something else; the message names both.
        """
        wanted = {"embedder": embedder, "dimension": dimension, "recipe": recipe}
        for name, value in wanted.items():
            if (found := getattr(self.manifest, name)) != value:
                raise IndexMismatchError(
                    f"the index in {self.folder} was built with {name} {shown(found)} and is loaded with "
                    f"{shown(value)}: load it with the same {name}, or build the index again with save()"
                )


def write_index(
    path: str | os.PathLike[str],
    *,
    manifest: IndexManifest,
    files: Mapping[str, bytes | Callable[[Path], None]],
) -> IndexManifest:
    """Save an index, replacing one that is there.

    Savers of the same folder take turns across threads and processes; the last one stays. A crash at any
    point leaves the old index or the new one.

    Args:
        path: Folder to write; created with its parents if missing.
        manifest: What the index is; ``data`` and ``files`` are filled in here.
        files: Each file's name and its content, or a function that writes it to the path it is given.

    Returns:
        The manifest as written.

    Raises:
        IndexFormatError: The path is a file, or a folder that holds other things and no index.
        IndexFileError: The system refused to write (the message carries its reason); an index that was there
            is unchanged.
    """
    folder = _folder(path)
    try:
        if folder.exists() and not folder.is_dir():
            raise IndexFormatError(f"cannot save an index to {folder}, which is a file: give a folder's path")
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_foreign_folder(folder)
        with exclusive(folder / _LOCK):
            _remove_leftovers(folder)
            written = _write(folder, manifest, files)
            _remove_leftovers(folder)
    except OSError as error:
        raise IndexFileError(
            f"cannot save the index to {folder}: {error.strerror or error} "
            f"({error.filename2 or error.filename or folder}): {_to_write(error)}"
        ) from error
    return written


def read_index(path: str | os.PathLike[str]) -> StoredIndex:
    """Read a saved index and check every byte of it.

    Needs no lock and writes nothing, so it works on read-only media and beside a running save.

    Args:
        path: Folder that `write_index` wrote.

    Raises:
        IndexFormatError: There is no index, or one of another format.
        IndexCorruptError: Bytes are missing, added or changed.
        IndexFileError: The system refused to read.
    """
    folder = _folder(path)
    manifest = _read_manifest(folder)
    for _ in range(_READ_ATTEMPTS):
        try:
            data = folder / manifest.data
            files = {name: read_verified(data / name, entry) for name, entry in manifest.files.items()}
            return StoredIndex(manifest, folder, files)
        except (FileNotFoundError, NotADirectoryError) as error:
            # A saver may have replaced the index after we read its manifest: then there is a new manifest.
            latest = _read_manifest(folder)
            if latest.data == manifest.data:
                raise IndexCorruptError(
                    f"{error.filename} is missing although {folder / MANIFEST} names it: {MEND}"
                ) from error
            manifest = latest
        except OSError as error:
            raise IndexFileError(f"cannot read the index in {folder}: {error}: {_to_read(error)}") from error
    raise IndexFileError(f"{folder} was replaced {_READ_ATTEMPTS} times while it was read: try again later")


def _folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path)
    try:
        fits = b"\0" not in os.fsencode(folder)
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise IndexFormatError(f"{shown(str(folder))} can be the name of no folder: check the path")
    return folder


def _to_read(error: OSError) -> str:
    return _MORE_FILES if error.errno in _NO_DESCRIPTOR else "make it readable"


def _to_write(error: OSError) -> str:
    if error.errno in _NO_DESCRIPTOR:
        return _MORE_FILES
    if error.errno in (errno.EISDIR, errno.ENOTDIR):
        return "remove it, or choose another folder"
    return "make the folder writable, free some space, or choose another folder"


def _write(
    folder: Path, manifest: IndexManifest, files: Mapping[str, bytes | Callable[[Path], None]]
) -> IndexManifest:
    token = uuid.uuid4().hex
    data = folder / f"data-{token}"
    draft = folder / f".manifest-{token}"
    # Validation, not model_copy: a file name that could escape the folder must never be written.
    placeholder = {name: FileEntry(bytes=0, sha256="0" * 64) for name in files}
    fields = {name: getattr(manifest, name) for name in type(manifest).model_fields}
    IndexManifest.model_validate(fields | {"data": data.name, "files": placeholder})
    try:
        data.mkdir()
        entries = {name: _write_file(data / name, content) for name, content in files.items()}
        _sync_folder(data)
        written = IndexManifest.model_validate(fields | {"data": data.name, "files": entries})
        _write_file(draft, manifest_bytes(written))
        _sync_folder(folder)
        draft.replace(folder / MANIFEST)
    except BaseException:
        draft.unlink(missing_ok=True)
        shutil.rmtree(data, ignore_errors=True)
        raise
    _sync_folder(folder)
    return written


def _write_file(path: Path, content: bytes | Callable[[Path], None]) -> FileEntry:
    if callable(content):
        content(path)
        with path.open("rb+") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
            return FileEntry(bytes=file.tell(), sha256=digest)
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return FileEntry(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def _read_manifest(folder: Path) -> IndexManifest:
    path = folder / MANIFEST
    try:
        data = read_bounded(path, MAX_MANIFEST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "it has no manifest.json" if folder.is_dir() else "there is no such folder"
        raise IndexFormatError(
            f"{folder} holds no index ({what}): check the path, or write one with save()"
        ) from error
    except OSError as error:
        raise IndexFileError(f"cannot read {path}: {error}: {_to_read(error)}") from error
    if len(data) > MAX_MANIFEST_BYTES:
        raise IndexFormatError(
            f"{path} is larger than any manifest ({MAX_MANIFEST_BYTES} bytes): check the path"
        )
    return parse_manifest(data, path)


def _refuse_foreign_folder(folder: Path) -> None:
    names = {entry.name for entry in os.scandir(folder)}
    if not names or _LOCK in names:
        return
    try:
        _read_manifest(folder)
    except IndexFileError as error:
        raise IndexFormatError(
            f"{folder} holds other things ({', '.join(sorted(names)[:5])}) and no index to replace: "
            "choose a new or an empty folder"
        ) from error


def _remove_leftovers(folder: Path) -> None:
    """Remove data folders that the manifest does not name. Only for the holder of the lock."""
    current = None
    if (folder / MANIFEST).exists():
        try:
            current = _read_manifest(folder).data
        except IndexFileError:
            return  # whatever a damaged manifest named stays until a new one is in its place
    for entry in os.scandir(folder):
        if not _OWN_LEFTOVER.fullmatch(entry.name) or entry.name == current:
            continue
        if entry.is_dir(follow_symlinks=False):
            # Errors are left to the next save: on Windows a reader may still hold a file open.
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                Path(entry.path).unlink()


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened; its entries are written with the file
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
