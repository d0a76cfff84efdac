"""Sets in ToolRet's format: from files, and end to end from a hub on loopback."""

from __future__ import annotations

import importlib
import io
import json
import sys

import pytest
from local_hub import LocalHub, serving

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import DatasetError, MissingExtraError
from semantic_toolsearch.evaluation.data.sources import find_datasets
from semantic_toolsearch.evaluation.data.toolret import parse_hub_spec, read_hub, read_toolret
from semantic_toolsearch.evaluation.data.toolret_tools import definition_of
from semantic_toolsearch.evaluation.dataset import Query

GROWTH = {
    "name": "bacterial_growth",
    "description": "Population after a time.",
    "parameters": {
        "start": {"description": "Bacteria at first.", "type": "int", "default": 20},
        "time": {"description": "In minutes.", "type": "float, optional"},
    },
}
TOOLS = {
    "code": [{"id": "t1", "documentation": json.dumps(GROWTH)}],
    "web": [
        {"id": "t2", "documentation": "Counts words in a text."},
        {"id": "t3", "documentation": json.dumps({"name": " ", "api_name": "", "description": "odd"})},
    ],
}
QUERIES = {
    "apigen": [
        {"id": "q1", "query": "How many after 45 minutes?", "instruction": "Given a task, retrieve", "category": "code",
         "labels": json.dumps([{"id": "t1", "doc": GROWTH, "relevance": 1}, {"id": "t2", "relevance": 0}])},
        {"id": "q2", "query": " ", "instruction": "", "category": "code",
         "labels": json.dumps([{"id": "t1", "relevance": 1}])},
    ],
    "other": [
        {"id": "q3", "query": "How long is it?", "instruction": "", "category": "web",
         "labels": json.dumps([{"id": "t2", "relevance": 2}, {"id": "t9", "doc": {"name": "new"}, "relevance": 1}])},
        {"id": "q4", "query": "nothing", "instruction": "", "category": "web", "labels": "[]"},
    ],
}  # fmt: skip


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(rows):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra hub is not installed")
    buffer = io.BytesIO()
    importlib.import_module("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def written(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def repositories():
    return {
        "org/Set-Queries": {
            "README.md": b"# A set",
            **{f"{name}/queries-00000-of-00001.parquet": parquet(rows) for name, rows in QUERIES.items()},
        },
        "org/Set-Tools": {
            f"{name}/tools-00000-of-00001.parquet": parquet(rows) for name, rows in TOOLS.items()
        },
        "org/Both": {"queries.jsonl": lines(QUERIES["other"]), "tools.jsonl": lines(TOOLS["web"])},
    }


@pytest.fixture
def hub(monkeypatch):
    pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")
    with serving(LocalHub(repositories())) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def check_whole(dataset):
    assert dataset.ids == ("t1", "t2", "t3", "t9")
    assert dataset.tools[1] == ToolDefinition(name="t2", description="Counts words in a text.")
    assert dataset.queries == (
        Query("q1", "How many after 45 minutes?", part="apigen"),
        Query("q3", "How long is it?", part="other"),
    )
    assert dataset.gold == {"q1": {"t1": 1}, "q3": {"t2": 2, "t9": 1}}
    assert "2 queries without words or relevant tools left out" in dataset.description


def test_s23_files_of_either_kind_are_read(tmp_path):
    files = {f"{name}/queries-0.jsonl": lines(rows) for name, rows in QUERIES.items()}
    files |= {f"tools/{name}/tools.jsonl": lines(rows) for name, rows in TOOLS.items()}
    dataset = read_toolret(written(tmp_path / "lines", files))
    check_whole(dataset)
    assert dataset.name == "lines"
    assert set(dataset.sha256) == set(files)
    files = {f"{name}/queries-0.parquet": parquet(rows) for name, rows in QUERIES.items()}
    files |= {f"tools/{name}/tools.parquet": parquet(rows) for name, rows in TOOLS.items()}
    check_whole(read_toolret(written(tmp_path / "parquet", files), "named"))


def test_s23_a_set_is_fetched_from_a_hub_once(hub, tmp_path):
    commits = {name: hub.commit(name) for name in hub.repositories}
    dataset = read_hub(parse_hub_spec("hub:org/Set-Queries"), tmp_path)
    check_whole(dataset)
    assert dataset.name == "Set"
    assert f"org/Set-Queries@{commits['org/Set-Queries']}" in dataset.description
    assert f"org/Set-Tools@{commits['org/Set-Tools']}/web/tools-00000-of-00001.parquet" in dataset.sha256
    fetched = [each for each in hub.asked if each.startswith("GET") and "/resolve/" in each]
    assert len(fetched) == 4
    assert all(any(commit in each for commit in commits.values()) for each in fetched)
    assert read_hub(parse_hub_spec("hub:org/Set-Queries"), tmp_path) == dataset
    assert [each for each in hub.asked if each.startswith("GET") and "/resolve/" in each] == fetched


def test_a_subset_a_revision_and_a_tools_repository_can_be_named(hub, tmp_path):
    dataset = read_hub(parse_hub_spec("hub:org/Set-Queries/apigen@v1+org/Set-Tools/code@main"), tmp_path)
    assert (dataset.name, dataset.ids, len(dataset.queries)) == ("Set/apigen", ("t1",), 1)
    dataset = read_hub(parse_hub_spec("hub:org/Both"), tmp_path)
    assert (dataset.ids, [query.part for query in dataset.queries]) == (("t2", "t3", "t9"), [None])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("hub:org/None", "no answer for the dataset repository 'org/None'"),
        ("hub:org/Both@v9", "no answer for the dataset repository 'org/Both'"),
        ("hub:org/Set-Queries/none", r"subset 'none' of org/Set-Queries holds no queries\*.*apigen, other"),
        ("hub:org/Set-Tools", r"org/Set-Tools holds no queries\*"),
    ],
)
def test_what_a_hub_does_not_have_is_named(hub, tmp_path, spec, words):
    with pytest.raises(DatasetError, match=words):
        read_hub(parse_hub_spec(spec), tmp_path)


def test_a_hub_that_fails_or_cannot_be_reached_is_an_error_that_says_so(hub, tmp_path, monkeypatch):
    (source,) = find_datasets(["hub:org/Both"])
    hub.status = 500
    with pytest.raises(DatasetError, match=r"no answer for the dataset repository 'org/Both'.*500"):
        source.load()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DatasetError, match=r"cannot be reached .* need a network; without one, use 'own'"):
        source.load()


def test_missing_packages_are_named(tmp_path, monkeypatch):
    path = written(tmp_path, {"queries.parquet": b"", "tools.jsonl": lines(TOOLS["web"])})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[hub\]"):
        read_toolret(path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[hub\]"):
        read_hub(parse_hub_spec("hub:org/Both"), tmp_path)


def row(**changes):
    return {"id": "q", "query": "x", "labels": [{"id": "t2"}]} | changes


@pytest.mark.parametrize(
    ("file", "rows", "line", "words"),
    [
        ("tools.jsonl", [*TOOLS["web"], TOOLS["web"][0]], 3, "the tool id 't2' occurs twice"),
        ("tools.jsonl", [{"documentation": "x"}], 1, "'id' is missing"),
        ("queries.jsonl", [row(), row()], 2, "the query id 'q' occurs twice"),
        ("queries.jsonl", [row(labels="[oops")], 1, "'labels' is not JSON"),
        ("queries.jsonl", [row(labels=["t2"])], 1, "'labels' is no list of objects with ids"),
        ("queries.jsonl", [row(labels=None)], 1, "'labels' is no list of objects with ids"),
        ("queries.jsonl", [row(labels=[{"id": "t2", "relevance": "yes"}])], 1, "the relevance 'yes'"),
        ("queries.jsonl", [row(labels=[{"id": "t2", "relevance": 0.5}])], 1, "the relevance 0.5"),
        ("queries.jsonl", [row(labels=[{"id": "t2", "relevance": float("inf")}])], 1, "the relevance inf"),
        ("queries.jsonl", [row(labels=[{"id": "t7"}])], 1, "'t7' is in no file of tools"),
        ("queries.jsonl", [row(query=3)], 1, "'query' is a number"),
    ],
)
def test_s26_a_bad_row_is_named(tmp_path, file, rows, line, words):
    files = {"tools.jsonl": lines(TOOLS["web"]), "queries.jsonl": lines([row()]), file: lines(rows)}
    with pytest.raises(DatasetError, match=words) as caught:
        read_toolret(written(tmp_path, files))
    assert (caught.value.path, caught.value.line) == (tmp_path / file, line)


def test_s26_files_that_are_missing_or_damaged_are_named(tmp_path):
    with pytest.raises(DatasetError, match=r"holds no file queries\*"):
        read_toolret(tmp_path)
    files = {"tools.jsonl": lines(TOOLS["web"]), "queries.jsonl": lines([row(query="")])}
    with pytest.raises(DatasetError, match="no query has words and a relevant tool"):
        read_toolret(written(tmp_path, files))
    pytest.importorskip("pyarrow", reason="the extra hub is not installed")
    with pytest.raises(DatasetError, match=r"queries.parquet: is no Parquet file"):
        read_toolret(written(tmp_path, {"queries.parquet": b"PAR1 oops PAR1"}))


@pytest.mark.parametrize("spec", ["hub:", "hub:one", "hub:a/b+", "hub:a/b+c/d+e/f", "hub:a b/c", "hub:a/b@"])
def test_what_names_no_repository_is_refused(spec):
    with pytest.raises(DatasetError, match=r"names no dataset of a hub\. Expected is hub:ORG/QUERIES"):
        parse_hub_spec(spec)


NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    ("documentation", "expected"),
    [
        (
            GROWTH,
            {
                "name": "bacterial_growth",
                "description": "Population after a time.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "start": {"description": "Bacteria at first.", "type": "integer", "default": 20},
                        "time": {"description": "In minutes.", "type": "number"},
                    },
                },
            },
        ),
        (
            {
                "api_name": "find",
                "api_description": "Finds it.",
                "required_parameters": [{"name": "q", "type": "STRING", "description": "What"}],
                "optional_parameters": [{"name": "n", "type": "NUMBER", "default": ""}],
            },
            {
                "name": "find",
                "description": "Finds it.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "q": {"type": "string", "description": "What"},
                        "n": {**NUMBER, "default": ""},
                    },
                    "required": ["q"],
                },
            },
        ),
        (
            {
                "domain": "Vision",
                "api_call": "load('x')",
                "functionality": "Image Segmentation",
                "performance": {},
            },
            {
                "name": "t",
                "description": "domain: Vision. api call: load('x'). functionality: Image Segmentation",
            },
        ),
        (
            {
                "type": "function",
                "function": {"name": "f", "parameters": {"type": "dict", "properties": {"a": NUMBER}}},
            },
            {"name": "f", "parameters": {"type": "object", "properties": {"a": NUMBER}}},
        ),
        (
            {"name": "f", "description": "d", "api_arguments": {"size": "int", "text": "The text to read"}},
            {
                "name": "f",
                "description": "d",
                "parameters": {
                    "type": "object",
                    "properties": {"size": {"type": "integer"}, "text": {"description": "The text to read"}},
                },
            },
        ),
        ("Plain words", {"name": "t", "description": "Plain words"}),
        ([1, "x"], {"name": "t", "description": '[1, "x"]'}),
    ],
)
def test_documentation_of_any_make_is_read(documentation, expected):
    wanted = ToolDefinition(**expected)
    assert definition_of("t", documentation).tool == wanted
    if not isinstance(documentation, str):
        assert definition_of("t", json.dumps(documentation)).tool == wanted
