"""Savers that are killed, savers at once, readers beside them: an index is old or new, never half."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semantic_toolsearch.errors import IndexFileError, IndexFormatError
from semantic_toolsearch.index.locking import exclusive
from semantic_toolsearch.index.storage import StoredIndex, read_index, write_index

logger = logging.getLogger(__name__)  # what was killed, and when: --log-cli-level=INFO

Make = Callable[..., Any]

SAVER = """
import sys
from semantic_toolsearch.index.manifest import IndexManifest
from semantic_toolsearch.index.storage import write_index
folder, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for number in range(rounds):
    mark = f"{name}-{number}"
    manifest = IndexManifest(embedder=mark, dimension=4, recipe="r", catalog="c", tools=number)
    files = {f"file{i}.bin": (mark + "|").encode() * 20_000 for i in range(4)}
    write_index(folder, manifest=manifest, files=files)
"""


def start_saver(folder: Path, name: str, rounds: int) -> subprocess.Popen[str]:
    saver = subprocess.Popen(
        [sys.executable, "-c", SAVER, str(folder), name, str(rounds)], stdout=subprocess.PIPE, text=True
    )
    assert saver.stdout is not None
    assert saver.stdout.readline() == "ready\n"
    return saver


def finish(saver: subprocess.Popen[str]) -> int:
    saver.communicate()
    return saver.returncode


def assert_whole(stored: StoredIndex) -> None:
    """Every file is of the same save as the manifest."""
    content = (f"{stored.manifest.embedder}|").encode() * 20_000
    assert stored.files == {f"file{i}.bin": content for i in range(4)}


def killed(way: str, folder: Path, how: int) -> dict[str, dict[str, int]]:
    """What the folder was after each kill; see the program."""
    program = Path(__file__).with_name("killed_saver.py")
    done = subprocess.run(
        [sys.executable, str(program), way, str(folder), str(how)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    logger.info("killed by %s: %s", way, done.stdout)
    found: dict[str, dict[str, int]] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.parametrize("kills", [6, pytest.param(300, marks=pytest.mark.slow)])
def test_a_saver_killed_at_any_moment_leaves_the_old_index_or_the_new_one(tmp_path: Path, kills: int) -> None:
    found = killed("times", tmp_path / "index", kills)["over"]
    assert found["old"] + found["new"] == kills
    assert found["left something behind"] > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.parametrize(
    ("way", "stride"),
    [
        ("disk", 13),
        pytest.param("disk", 1, marks=pytest.mark.slow),
        pytest.param("calls", 23, marks=pytest.mark.slow),
    ],
)
def test_a_saver_killed_at_any_step_leaves_the_old_index_or_the_new_one(
    tmp_path: Path, way: str, stride: int
) -> None:
    found = killed(way, tmp_path, stride)
    assert found["first"].keys() == {"none", "new"}
    assert found["over"].keys() == {"old", "new"}


def test_a_saver_killed_before_there_was_an_index_leaves_none(tmp_path: Path, manifest: Make) -> None:
    def killed(path: Path) -> None:
        raise SystemExit  # as far as the folder is concerned: nothing after this point runs

    with pytest.raises(SystemExit):
        write_index(tmp_path / "i", manifest=manifest(), files={"a.bin": killed})
    (tmp_path / "i" / ("data-" + "a" * 32)).mkdir()  # what a hard kill would have left as well
    with pytest.raises(IndexFormatError, match=r"no manifest\.json"):
        read_index(tmp_path / "i")
    write_index(tmp_path / "i", manifest=manifest(), files={"a.bin": b"a"})
    assert read_index(tmp_path / "i").files == {"a.bin": b"a"}
    assert len(list((tmp_path / "i").glob("data-*"))) == 1


@pytest.mark.parametrize("names", ["ab", "abcd"])
def test_savers_at_the_same_time_and_readers_beside_them(tmp_path: Path, names: str) -> None:
    folder = tmp_path / "index"
    assert finish(start_saver(folder, "zero", 1)) == 0
    savers = [start_saver(folder, name, 40 // len(names)) for name in names]
    seen = set()
    while any(saver.poll() is None for saver in savers):
        stored = read_index(folder)
        assert_whole(stored)
        seen.add(stored.manifest.embedder)
    assert [finish(saver) for saver in savers] == [0] * len(names)
    assert read_index(folder).manifest.embedder in {f"{name}-{40 // len(names) - 1}" for name in names}
    assert len(seen) > 1
    assert len(list(folder.iterdir())) == 3


def test_savers_in_threads_take_turns(tmp_path: Path, manifest: Make) -> None:
    faults: list[BaseException] = []

    def save(name: str) -> None:
        try:
            for _ in range(10):
                write_index(tmp_path, manifest=manifest(embedder=name), files={"a.bin": name.encode() * 1000})
        except BaseException as fault:
            faults.append(fault)

    savers = [threading.Thread(target=save, args=(name,)) for name in "abcd"]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert not faults
    stored = read_index(tmp_path)
    assert stored.files == {"a.bin": str(stored.manifest.embedder).encode() * 1000}


def test_a_reader_starts_again_when_the_index_is_replaced_under_it(
    saved: Path, manifest: Make, small_files: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from semantic_toolsearch.index import storage

    real, calls = storage.read_verified, []

    def replaced_meanwhile(path: Path, entry: Any) -> bytes:
        calls.append(path)
        if len(calls) == 2:
            write_index(saved, manifest=manifest(embedder="model@2"), files=small_files(b"new"))
        return real(path, entry)

    monkeypatch.setattr(storage, "read_verified", replaced_meanwhile)
    stored = read_index(saved)
    assert stored.files == small_files(b"new")
    assert stored.manifest.embedder == "model@2"


def test_a_lock_is_waited_for_and_then_given_up_with_a_message(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        exclusive(path),
        pytest.raises(IndexFileError, match="another process has been saving"),
        exclusive(path, wait_seconds=0.05),
    ):
        raise AssertionError("two holders")
    with exclusive(path, wait_seconds=0):
        pass


def test_a_lock_is_free_after_its_holder_failed(tmp_path: Path) -> None:
    with pytest.raises(KeyError), exclusive(tmp_path / "lock"):
        raise KeyError
    with exclusive(tmp_path / "lock", wait_seconds=0):
        pass
