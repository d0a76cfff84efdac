"""An archive of datasets in; the folder that it is unpacked in, once for all runs, out."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from pathlib import Path, PurePosixPath

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.writing import folder_in_the_making

__all__ = ["unpacked"]


def unpacked(archive: Path) -> Path:
    """Return the folder with the archive's content; unpacked there unless it has been before.

    The folder is in the user's cache folder, beside the embeddings, and is called by the archive's SHA-256: another
    archive gets another folder, and one that was unpacked by half is never used.

    Raises:
        DatasetError: The archive cannot be read, is damaged, holds a file that would lie outside of its folder, or
            the cache folder cannot be written. The message says how to unpack it by hand.
    """
    from semantic_toolsearch.embedding.cache import default_cache_path

    by_hand = f"Unpack it yourself (tar xzf {archive.name} -C FOLDER) and name that folder."
    try:
        with archive.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        folder = default_cache_path().parent / "datasets" / digest[:16]
        if folder.is_dir():
            return folder
        with folder_in_the_making(folder) as fresh:
            with tarfile.open(archive) as members:
                _extract(members, fresh)
            if not folder.is_dir():  # another process may have been faster
                fresh.rename(folder)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DatasetError(
            f"cannot be unpacked ({type(error).__name__}: {reason}). {by_hand}", archive
        ) from error
    return folder


def _extract(members: tarfile.TarFile, folder: Path) -> None:
    """Write the regular files; tarfile's own filter for foreign archives is missing from Python before 3.11.4.

    Raises:
        ValueError: A member is neither file nor folder, or would lie outside.
    """
    for member in members:
        place = PurePosixPath(member.name)
        if place.is_absolute() or ".." in place.parts or not (member.isreg() or member.isdir()):
            raise ValueError(f"{member.name!r} is no file inside of the folder")
        if member.isreg():
            target = folder.joinpath(*place.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            content = members.extractfile(member)
            if content is not None:
                with content, target.open("wb") as file:
                    shutil.copyfileobj(content, file)
