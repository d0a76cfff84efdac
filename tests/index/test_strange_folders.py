"""Folders put together from others, names that lead elsewhere, and manifests that lie: never a wrong answer."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from saved_folders import ANSWERED, COUNT, DIMENSION, SavedFolder, answers, build, load, seal

from semantic_toolsearch.errors import IndexFileError

FILES = (
    "documents.jsonl", "names.json", "vectors.faiss", "words-lengths.npy", "words-positions.npy", "words-starts.npy",
    "words-weights.npy", "words.json",
)  # fmt: skip
EVERY = (*FILES, "manifest.json")
NAMED = {"IndexCorruptError", "IndexFormatError", "IndexFileError"}


@pytest.fixture
def broken(tmp_path: Path) -> SavedFolder:
    return SavedFolder(tmp_path / "index")


@pytest.fixture
def other(tmp_path: Path) -> SavedFolder:
    """An index of the same shape and of other tools."""
    return SavedFolder(tmp_path / "other", "new")


def mended(broken: SavedFolder) -> bool:
    """Do what the messages advise, save again, and see that it was good advice."""
    build(broken.which).save(broken.folder)
    return broken.outcome() == "equal" and len(list(broken.folder.glob("data-*"))) == 1


def test_these_are_all_the_files(broken: SavedFolder) -> None:
    assert set(broken.paths) == set(EVERY)


def test_any_files_of_an_equal_looking_index_are_named(broken: SavedFolder, other: SavedFolder) -> None:
    """Each file alone, each pair, and all but one: only a whole set is an index."""
    assert {name: len(data) for name, data in broken.content.items()}.keys() == other.content.keys()
    mixtures = [set(some) for size in (1, 2, len(EVERY) - 1) for some in itertools.combinations(EVERY, size)]
    for mixture in mixtures:
        for name in mixture:
            broken.paths[name].write_bytes(other.content[name])
        changed = {name for name in mixture if other.content[name] != broken.content[name]}
        assert broken.outcome() == "IndexCorruptError" if changed else "equal"
        broken.restore()


def test_a_data_folder_under_the_name_of_another_is_named(broken: SavedFolder, other: SavedFolder) -> None:
    shutil.rmtree(broken.data)
    shutil.copytree(other.data, broken.data)
    assert broken.outcome() == "IndexCorruptError"
    assert mended(broken)


def test_a_whole_other_index_is_that_index(broken: SavedFolder, other: SavedFolder) -> None:
    shutil.copytree(other.folder, broken.folder, dirs_exist_ok=True)
    assert answers(load(broken.folder)) == ANSWERED["new"]


def remove(path: Path, elsewhere: Path) -> None:
    path.unlink()


def rename(path: Path, elsewhere: Path) -> None:
    path.rename(path.with_name("renamed-" + path.name))


def empty(path: Path, elsewhere: Path) -> None:
    path.write_bytes(b"")


def folder(path: Path, elsewhere: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path, elsewhere: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def local_socket(path: Path, elsewhere: Path) -> None:
    path.unlink()
    here = Path.cwd()
    os.chdir(path.parent)  # its path may not be longer than about 100 bytes
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def link_to(target: str) -> Callable[[Path, Path], None]:
    def link(path: Path, elsewhere: Path) -> None:
        path.unlink()
        path.symlink_to(target.format(path=path, elsewhere=elsewhere))

    link.__name__ = f"link to {target}"
    return link


REPLACEMENTS = (
    remove, rename, empty, folder, pipe, local_socket,
    *map(link_to, ("nowhere", "{path}", "/dev/zero", "/dev/null", "/proc/self/mem", "{elsewhere}", "/", ".")),
)  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="needs pipes, sockets, links and /proc")
@pytest.mark.parametrize("replace", REPLACEMENTS, ids=lambda replace: replace.__name__)
def test_what_is_no_longer_the_file_is_named_and_can_be_saved_over(
    broken: SavedFolder, tmp_path: Path, replace: Callable[[Path, Path], None]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"{}")
    for name in EVERY:
        replace(broken.paths[name], elsewhere)
        assert broken.outcome() in NAMED, name
        if broken.manifest.is_dir() and not broken.manifest.is_symlink():
            with pytest.raises(IndexFileError, match=r"manifest\.json"):
                build("old").save(broken.folder)
            broken.manifest.rmdir()  # as the message says
        if name in ("vectors.faiss", "manifest.json"):
            assert mended(broken), name
        assert elsewhere.read_bytes() == b"{}"  # saving writes through no link
        broken.restore()


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_links_to_the_same_bytes_are_the_same_index(broken: SavedFolder, tmp_path: Path) -> None:
    for path in (*broken.paths.values(), broken.data, broken.folder):
        away = tmp_path / f"away-{path.name}"
        path.rename(away)
        path.symlink_to(away)
        assert broken.outcome() == "equal"
    assert mended(broken)


LIES = {
    "tools": (0, 1, COUNT - 1, COUNT + 1, 10**9, 10**18, 10**300),
    "dimension": (1, DIMENSION - 1, DIMENSION + 1, 2 * DIMENSION, 10**9, 2**31, 2**63, 10**18),
    "embedder": ("", "hashing-17", "x" * 900_000),
    "recipe": ("", "another", "\ud800", "x" * 900_000),
    "library": (None, 7),
    "format": (2, 0, -1, 10**40, True, 1.0, "1", [], "x" * 900_000, [[[["x" * 900_000]]]]),
    "kind": ("another", None, []),
    "data": ("data-" + "0" * 32, "..", "/", "data-../../x", "\0", "x" * 900_000),
    "unknown": (1, {"deeper": [1]}),
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param(name, value, id=f"{name}-{number}")
        for name, values in LIES.items()
        for number, value in enumerate(values)
    ],
)
def test_a_sealed_manifest_that_lies_is_named(broken: SavedFolder, field: str, value: object) -> None:
    broken.reseal(**{field: value})
    assert broken.outcome() in {*NAMED, "IndexMismatchError"}
    assert mended(broken)


@pytest.mark.parametrize(("one", "two"), list(itertools.combinations(FILES, 2)))
def test_files_under_each_others_names_are_named(broken: SavedFolder, one: str, two: str) -> None:
    """With a manifest that is true of them, so that only what they are can tell."""
    broken.paths[one].write_bytes(broken.content[two])
    broken.paths[two].write_bytes(broken.content[one])
    broken.reseal()
    assert broken.outcome() == "IndexCorruptError"
    assert broken.outcome(tools=build("old").catalog) in {
        "IndexCorruptError",
        "equal",
    }  # it reads no definitions


@pytest.mark.parametrize("name", FILES)
def test_a_manifest_without_one_of_the_files_is_named_or_does_without(broken: SavedFolder, name: str) -> None:
    broken.paths[name].unlink()
    broken.reseal()
    # Words can be counted again, as they are when an older version saved fewer files of them.
    assert broken.outcome() == ("equal" if name.startswith("words") else "IndexCorruptError")


@pytest.mark.parametrize("depth", [100, 900, 990, 2000, 100_000])
@pytest.mark.parametrize("field", ["format", "sha256", "unknown", "files", "tools"])
def test_a_deeply_nested_manifest_is_named(broken: SavedFolder, depth: int, field: str) -> None:
    fields = json.loads(broken.manifest.read_bytes()) | {field: 0}
    text = json.dumps(fields).replace(f'"{field}": 0', f'"{field}": ' + "[" * depth + "]" * depth)
    broken.manifest.write_text(text)
    assert broken.outcome() in NAMED


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"tools":', '"tools": 1,\n "tools":'),
        lambda text: text.replace('"tools": 6', '"tools": ' + "9" * 5000),
        lambda text: text.replace('"tools": 6', '"tools": 6.0'),
        lambda text: text.replace('"tools": 6', '"tools": 1e400'),
        lambda text: text.replace('"tools": 6', '"tools": NaN'),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text * 2,
    ],
)
def test_a_manifest_of_another_spelling_is_named(broken: SavedFolder, change: Callable[[str], str]) -> None:
    changed = change(broken.manifest.read_text()).encode()
    assert changed != broken.content["manifest.json"]
    broken.manifest.write_bytes(changed)
    assert broken.outcome() == "IndexCorruptError"


BOUNDED = """
import resource, sys
from pathlib import Path
from saved_folders import build, load
from semantic_toolsearch.errors import IndexFileError
build("old").prepare()  # everything is loaded that loading an index needs
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (256 << 20),) * 2)
for folder in sys.argv[1:]:
    try:
        load(folder)
    except IndexFileError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory and /proc")
def test_a_terabyte_that_is_claimed_and_there_is_named(tmp_path: Path) -> None:
    folders = []
    for name in FILES:
        broken = SavedFolder(tmp_path / name)
        folders.append(str(broken.folder))
        fields = json.loads(broken.manifest.read_bytes())
        fields.pop("sha256")
        fields["files"][name]["bytes"] = 10**12
        seal(broken.manifest, fields)
        try:
            os.truncate(broken.paths[name], 10**12)  # one hole, which takes no room on the disk
        except OSError:
            pytest.skip("the file system has no such files")
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED, *folders],
        capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["IndexFileError"] * len(FILES)
    assert all(name in line for name, line in zip(FILES, lines, strict=True))


@pytest.mark.parametrize(
    "path", ["a\0b", "\ud800", "x" * 5000, "a/" * 3000], ids=["null", "no-character", "long", "deep"]
)
def test_a_path_that_no_folder_can_have_is_named(path: str) -> None:
    with pytest.raises(IndexFileError):
        load(Path(path))
    with pytest.raises(IndexFileError):
        build("old").save(path)
