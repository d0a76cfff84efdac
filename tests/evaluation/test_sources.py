"""What users name as data, and the datasets that it means."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
from pathlib import Path

import pytest
from dataset_folders import QRELS, write_folder

from semantic_toolsearch.errors import CatalogError, DatasetError
from semantic_toolsearch.evaluation.data import sources
from semantic_toolsearch.evaluation.data.folder import read_dataset
from semantic_toolsearch.evaluation.data.sources import find_datasets, own_datasets


def archive(path, *folders):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as members:
        for folder in folders:
            members.add(folder, arcname=f"eval/{folder.name}")
    return path


def test_s26_the_own_sets_are_the_default():
    names = [folder.name for folder in sorted(own_datasets().iterdir()) if folder.is_dir()]
    assert (
        [source.name for source in find_datasets()]
        == names
        == [source.name for source in find_datasets(["own"])]
    )
    (first,) = find_datasets([names[0]])
    assert first.load() == read_dataset(own_datasets() / names[0])


def test_a_folder_is_a_dataset_or_holds_some(tmp_path):
    for name in ("b", "a"):
        write_folder(tmp_path / name, lenient=[*QRELS, ("q1", "mail/list", 1)])
    (tmp_path / "notes").mkdir()
    found = find_datasets([str(tmp_path)])
    assert [(source.name, source.origin, source.note) for source in found] == [
        ("a", str(tmp_path / "a"), ""),
        ("b", str(tmp_path / "b"), ""),
    ]
    assert found[0].load() == read_dataset(tmp_path / "a")
    assert find_datasets([str(tmp_path / "b")])[0].load().copies == {"q1": {"mail/list": "mail/send"}}
    assert find_datasets([str(tmp_path / "b")], strict=True)[0].load().copies == {}


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    folder = write_folder(tmp_path / "late")
    (folder / "qrels.tsv").unlink()
    (source,) = find_datasets([str(folder)])
    with pytest.raises(DatasetError, match=r"qrels.tsv: is missing"):
        source.load()


def test_equal_names_are_told_apart_and_one_folder_counts_once(tmp_path):
    one = write_folder(tmp_path / "here" / "x", meta={"name": "same"})
    two = write_folder(tmp_path / "there" / "y", meta={"name": "same"})
    found = find_datasets([str(one), f"{one}/../x", str(two)])
    assert [source.name for source in found] == ["here/same", "there/same"]
    assert [source.load().name for source in found] == ["here/same", "there/same"]
    three = write_folder(tmp_path / "here" / "z", meta={"name": "same"})
    with pytest.raises(DatasetError, match="are both called 'here/same'"):
        find_datasets([str(one), str(three)])


def test_an_archive_of_datasets_is_unpacked_beside_the_embeddings(tmp_path):
    original = write_folder(tmp_path / "made" / "office")
    packed = archive(tmp_path / "shared" / "eval.tar.gz", original)
    (source,) = find_datasets([str(tmp_path / "shared")])
    root = Path(os.environ["TOOLSEARCH_CACHE_DIR"]) / "datasets"
    (unpacked,) = root.iterdir()
    assert source.note == f"{packed} was unpacked; the datasets are read from {unpacked}."
    assert source.load() == read_dataset(original)
    times = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    assert find_datasets([str(tmp_path / "shared")])[0].origin == source.origin
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == times
    archive(packed, original, write_folder(tmp_path / "made" / "second"))
    assert [each.name for each in find_datasets([str(tmp_path / "shared")])] == ["office", "second"]
    assert len(list(root.iterdir())) == 2


def test_an_archive_that_cannot_be_used_says_how_to_unpack_it(tmp_path):
    packed = tmp_path / "eval.tar.gz"
    packed.write_bytes(b"no archive at all")
    with pytest.raises(DatasetError, match=r"cannot be unpacked .*tar xzf eval.tar.gz -C FOLDER"):
        find_datasets([str(tmp_path)])
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    for member in (tarfile.TarInfo("../outside"), tarfile.TarInfo("/absolute"), link):
        with tarfile.open(packed, "w:gz") as members:
            members.addfile(member, io.BytesIO())
        with pytest.raises(DatasetError, match="is no file inside of the folder"):
            find_datasets([str(tmp_path)])
    cache = Path(os.environ["TOOLSEARCH_CACHE_DIR"])
    assert list((cache / "datasets").iterdir()) == []
    archive(packed)
    with pytest.raises(DatasetError, match=r"eval.tar.gz holds no datasets"):
        find_datasets([str(tmp_path)])


def test_s31_a_catalog_and_phrasings_are_found(tmp_path):
    first, second = tmp_path / "shop.json", tmp_path / "wiki.json"
    first.write_text(json.dumps({"shop": [{"name": "track"}]}), encoding="utf-8")
    second.write_text(json.dumps([{"name": "find"}]), encoding="utf-8")
    said = tmp_path / "desk.txt"
    said.write_text("where is it? -> track\n", encoding="utf-8")
    (source,) = find_datasets([f"{first}+{said}"])
    dataset = source.load()
    assert (source.name, dataset.name, dataset.ids) == ("desk", "desk", ("shop__track",))
    assert set(dataset.sha256) == {"shop.json", "desk.txt"}
    assert find_datasets([f"{first}+{second}+{said}"])[0].load().ids == ("shop__track", "find")
    with pytest.raises(
        DatasetError, match=r"absent.txt' is no file. Expected is CATALOG.json\+PHRASINGS.txt"
    ):
        find_datasets([f"{first}+{tmp_path / 'absent.txt'}"])
    second.write_text("oops", encoding="utf-8")
    with pytest.raises(CatalogError, match=r"wiki.json, line 1"):
        find_datasets([f"{second}+{said}"])[0].load()


def test_other_sources_are_found_by_their_names(tmp_path):
    (tmp_path / "set").mkdir()
    specs = ["bfcl", "hub:org/Some-Queries/one", f"toolret:{tmp_path / 'set'}"]
    assert [source.name for source in find_datasets(specs)] == ["Some/one", "bfcl", "set"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("bfc", "Nearest: bfcl"),
        ("no such thing", r"and no folder. Data can be:\nown "),
        ("toolret:nowhere", "no folder"),
        ("hub:one", "names no dataset of a hub"),
        (__file__, "is a file, and no folder"),
    ],
)
def test_what_names_nothing_is_told_with_what_could_be(spec, words):
    with pytest.raises(DatasetError, match=words):
        find_datasets([spec])


def test_an_empty_folder_says_what_was_looked_for(tmp_path):
    with pytest.raises(
        DatasetError, match=r"tools.jsonl, queries.jsonl and qrels.tsv.* holds no eval.tar.gz"
    ):
        find_datasets([str(tmp_path)])


def test_own_sets_that_were_left_out_of_an_installation_are_missed_only_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_OWN", (tmp_path / "a", tmp_path / "b"))
    assert [source.name for source in find_datasets([str(write_folder(tmp_path / "set"))])] == ["set"]
    with pytest.raises(DatasetError, match="install the package again"):
        find_datasets(["own"])


@pytest.mark.parametrize(
    "spec", ["", "toolret:", "x" * 5_000, "x" * 5_000 + "+y", "~nobody_of_this_name/x", "a\0b"]
)
def test_s26_what_cannot_even_be_looked_for_is_one_error(spec, tmp_path, monkeypatch):
    write_folder(tmp_path / "set")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=r"cannot be looked into|is no dataset that is known"):
        find_datasets([spec])


def test_a_folder_without_rights_is_named(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DatasetError, match="cannot be looked into: Permission denied"):
        find_datasets([str(tmp_path)])


def test_a_set_without_a_usable_tool_says_why(tmp_path):
    tools = [{"id": "a", "name": "x", "unusable": "its server is down"}]
    write_folder(tmp_path / "set", tools=tools, queries=[{"id": "q", "text": "x"}], qrels=[("q", "a", 1)])
    (source,) = find_datasets([str(tmp_path / "set")])
    with pytest.raises(DatasetError, match="no definition of a tool can be used: its server is down"):
        source.load()


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names of files are always Unicode there")
def test_a_name_that_is_no_unicode_can_be_shown_and_written(tmp_path):
    folder = write_folder(Path(os.fsdecode(os.fsencode(tmp_path) + b"/set\xff")))
    (source,) = find_datasets([str(folder)])
    assert source.name == source.load().name == "set\ufffd"
