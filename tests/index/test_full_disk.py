"""A save that meets a full disk, no descriptor or no permission: the old index stays, and the error says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from saved_folders import ANSWERED, answers, build, load

from semantic_toolsearch.errors import IndexFileError
from semantic_toolsearch.testing import HashingEmbedder

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
