"""Fresh processes in which an engine cannot be imported or started: words answer, and the text says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import importlib.abc, json, sys

class Poisoned(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {poisoned!r}:
            raise {fault}

sys.meta_path.insert(0, Poisoned())
TOOLS = [
    {{"name": "flux_list", "description": "List deployments"}},
    {{"name": "lamp_set", "description": "Set a lamp"}},
]
{code}
"""
SEARCHES = """
from semantic_toolsearch import ToolSearch
told = []
for ranker, embedder in (("hybrid", "small"), ("semantic", "nano")):
    search = ToolSearch(TOOLS, ranker=ranker, embedder=embedder, cache=False).prepare()
    result = search.search("list deployments")
    why = search.explain("list deployments", "flux_list")
    told.append([[hit.name for hit in result.tools], why.verdict, result.degraded])
    search.replace("sea", [{"name": "ship", "description": "Sail"}])
    assert search.search("sail").tools[0].name == "sea__ship"
print(json.dumps(told))
"""
LOADS = """
from semantic_toolsearch import ToolSearch
result = ToolSearch.load({folder!r}, cache=False).search("list deployments")
print(json.dumps([[hit.name for hit in result.tools], result.degraded]))
"""
COMMANDS = """
from semantic_toolsearch.cli import app
app(["search", "list deployments", {file!r}])
"""
MISSING = "ImportError('no such module')"
NO_LIBRARY = "OSError('libgomp.so.1: cannot open shared object file')"


def run(code, poisoned, fault=MISSING):
    """What a process writes to both outputs in which these packages cannot be imported."""
    program = PROGRAM.format(poisoned=tuple(poisoned), fault=fault, code=code)
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("poisoned", "fault"),
    [("faiss", MISSING), ("faiss", NO_LIBRARY), ("onnxruntime", NO_LIBRARY), ("tokenizers", MISSING)],
)
def test_searches_by_words_go_on_and_say_what_to_install(poisoned, fault):
    out, err = run(SEARCHES, [poisoned], fault)
    small, nano = json.loads(out)
    for names, verdict, _ in (small, nano):
        assert (names, verdict) == (["flux_list"], "returned")
    if poisoned == "onnxruntime":
        assert nano.pop() is None, "the static model needs no engine"
        nano.append(small[-1])
    for _, _, degraded in (small, nano):
        assert fault[fault.index("'") + 1 : -2] in degraded
        assert "pip install --force-reinstall" in degraded
        assert poisoned in degraded
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved index of both rankers' parts."""
    from semantic_toolsearch import ToolSearch

    folder = tmp_path_factory.mktemp("saved") / "index"
    tools = [{"name": "flux_list", "description": "List deployments"}]
    ToolSearch(tools, cache=False).save(folder)
    return str(folder)


@pytest.mark.parametrize("poisoned", ["faiss", "onnxruntime"])
def test_a_saved_index_is_searched_by_its_words(poisoned, saved):
    out, _ = run(LOADS.format(folder=saved), [poisoned])
    names, degraded = json.loads(out)
    assert names == ["flux_list"]
    assert poisoned in degraded


def test_the_command_line_answers_and_says_once_what_is_wrong(tmp_path):
    file = tmp_path / "tools.json"
    file.write_text('[{"name": "flux_list", "description": "List deployments"}]', encoding="utf-8")
    out, err = run(COMMANDS.format(file=str(file)), ["faiss"])
    assert "flux_list" in out
    (line,) = err.splitlines()
    assert line.startswith(
        "toolsearch: The vector index failed, so words alone decide (FAISS cannot be loaded"
    )
