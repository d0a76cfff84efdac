"""The wheel holds what it needs to search offline, and nothing that may not be shipped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PACKED_MODELS = {"toolsearch-small": 25_000_000, "toolsearch-nano": 8_000_000}
"""Models that the wheel holds, and the most bytes that one may load."""

SEARCH = """
import sys
sys.path.insert(0, sys.argv[1])
import semantic_toolsearch
assert semantic_toolsearch.__file__.startswith(sys.argv[1]), semantic_toolsearch.__file__
from semantic_toolsearch import ToolSearch
tools = [{"name": "object_persist", "description": "Write an object to durable storage"},
         {"name": "vm_halt", "description": "Shut down a virtual machine"}]
print(ToolSearch(tools, cache=False).search("save data").tools[0].name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_the_models_whole_and_without_their_recipes(wheel):
    folder = "semantic_toolsearch/models/"
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist() if folder in entry.filename}
        listed = {
            name: json.loads(archive.read(f"{folder}{name}/manifest.json"))["files"] for name in PACKED_MODELS
        }
    papers = ("manifest.json", "LICENSE", "NOTICE", "README.md")
    assert set(sizes) == {f"{folder}{name}/{file}" for name in listed for file in (*listed[name], *papers)}
    for name, files in listed.items():
        assert {file: sizes[f"{folder}{name}/{file}"] for file in files} == {
            file: stated["bytes"] for file, stated in files.items()
        }
        assert sum(stated["bytes"] for stated in files.values()) <= PACKED_MODELS[name]


def test_the_wheel_has_the_types_and_the_own_datasets(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = "semantic_toolsearch"
    assert f"{package}/py.typed" in names
    for file in ("report/report.html", "report/report.css", "report/report.js", "datasets/library/qrels.tsv"):
        assert f"{package}/evaluation/{file}" in names
    outside = {name.split("/")[0] for name in names} - {package}
    assert all(name.endswith(".dist-info") for name in outside)


def test_s17_the_wheel_alone_finds_a_tool_by_meaning(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "object_persist"), done.stderr
