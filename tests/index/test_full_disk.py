"""A save that meets a full disk, no descriptor or no permission: the old index stays, and the error says why."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from saved_folders import ANSWERED, answers, build, load

from semantic_toolsearch.errors import IndexFileError
from semantic_toolsearch.testing import HashingEmbedder
from small_disks import small_disk

resource = pytest.importorskip("resource", reason="Windows has no such limits")


def save_with_room_for(size: int, save: Callable[[], None]) -> IndexFileError | None:
    """Save while no file may be longer than ``size``: the system refuses the write that would go beyond."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        save()
    except IndexFileError as error:
        return error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    return None


def test_a_disk_that_is_full_at_any_byte_keeps_the_old_index(tmp_path: Path) -> None:
    """The last block of a file is written when it is closed; a writer that does not look then loses it in silence."""
    folder = tmp_path / "index"
    build("old").save(folder)
    search = build("new", embedder=HashingEmbedder(1024))
    search.save(tmp_path / "measured")
    files = {path.name: path.stat().st_size for path in (tmp_path / "measured").rglob("*") if path.is_file()}
    sizes = sorted(files.values())
    assert sizes[-1] == files["vectors.faiss"]  # so that each limit meets another file, and this one too
    limits = {size - missing for size in sizes for missing in (1, 4096) if size > missing}
    for limit in sorted(limits | {0, 1}):
        error = save_with_room_for(limit, lambda: search.save(folder))
        assert error is not None, f"nothing was said although no file could have more than {limit} bytes"
        assert "free some space" in str(error)
        assert answers(load(folder)) == ANSWERED["old"]
        assert len(list(folder.iterdir())) == 3
    assert save_with_room_for(sizes[-1], lambda: search.save(folder)) is None
    assert answers(load(folder, embedder=HashingEmbedder(1024))) == answers(search)


def is_open(number: int) -> bool:
    with contextlib.suppress(OSError):
        os.fstat(number)
        return True
    return False


@contextlib.contextmanager
def descriptors(free: int) -> Iterator[None]:
    """Let the process open only so many files more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 0
    while limit - sum(map(is_open, range(limit))) < free:
        limit += 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_descriptors_nothing_is_saved_or_loaded_by_halves(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build("old").save(folder)
    search = build("new")
    search.prepare()
    load(folder)  # whatever is imported for it is in memory now
    said: dict[str, list[str]] = {"load": [], "save": []}
    for free in range(10):
        for name, work in (("load", lambda: load(folder)), ("save", lambda: search.save(folder))):
            try:
                with descriptors(free):
                    work()
            except IndexFileError as error:
                said[name].append(str(error))
        if len(said["save"]) == free:
            break
        assert answers(load(folder)) == ANSWERED["old"]
    assert answers(load(folder)) == ANSWERED["new"]
    assert len(said["load"]) == 1  # one file at a time is enough
    assert len(said["save"]) > 1
    assert all("raise the limit of open files" in text for text in (*said["load"], *said["save"]))
    search.save(folder)
    assert len(list(folder.iterdir())) == 3


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte, of its own."""
    with small_disk(tmp_path / "disk", "1m") as folder:
        yield folder


def test_a_disk_with_any_room_too_little_keeps_the_old_index(disk: Path) -> None:
    folder = disk / "index"
    build("old").save(folder)
    search = build("new", embedder=HashingEmbedder(1024))
    refused: list[str] = []
    for pages in range(100):
        filler = disk / "filler"
        filler.unlink(missing_ok=True)
        space = os.statvfs(disk)
        filler.write_bytes(b"x" * space.f_frsize * (space.f_bavail - pages))
        try:
            search.save(folder)
        except IndexFileError as error:
            refused.append(str(error))
        else:
            break
        assert answers(load(folder)) == ANSWERED["old"]
        assert len(list(folder.iterdir())) == 3
    assert len(refused) > 8  # each file in its turn
    assert all("No space left" in text for text in refused)
    assert answers(load(folder, embedder=HashingEmbedder(1024))) == answers(search)


def test_a_read_only_disk_is_loaded_from_and_refuses_a_save(disk: Path) -> None:
    folder = disk / "index"
    build("old").save(folder)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    assert answers(load(folder)) == ANSWERED["old"]
    for place in (folder, disk / "fresh"):
        with pytest.raises(IndexFileError, match=r"Read-only file system.*choose another folder"):
            build("new").save(place)
    assert answers(load(folder)) == ANSWERED["old"]
