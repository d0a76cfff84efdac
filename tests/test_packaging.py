"""The wheel holds what it needs to search offline, and nothing that may not be shipped."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

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


def test_the_wheel_has_the_model_its_licence_the_types_and_the_own_datasets(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = "semantic_toolsearch"
    model = f"{package}/models/minilm-l6"
    for file in ("model.onnx", "tokenizer.json", "manifest.json", "LICENSE", "NOTICE", "README.md"):
        assert f"{model}/{file}" in names
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
