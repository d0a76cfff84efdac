"""`toolsearch bench`: the figures are there and have a sense; none of them is a time that must be met."""

from __future__ import annotations

import json
import sys

import pytest

from semantic_toolsearch import Catalog, bench, throughput
from semantic_toolsearch.synthetic import synthetic_queries, synthetic_tools

NAMES = [
    "import semantic_toolsearch",
    "import ToolSearch",
    "heavy packages loaded by that",
    "build and save an index of 20 tools",
    "peak memory while building",
    "process start to first answer, 20 tools saved",
    "peak memory, load and search",
    "one query: the embedding",
    "one query: all else, 20 tools",
]


@pytest.fixture(scope="module")
def figures():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "ROUNDS", 1)
        patch.setattr(bench, "QUERIES", 5)
        return {figure.name: figure for figure in bench.measure(20)}


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell a process's peak memory")
def test_every_figure_is_measured(figures):
    assert list(figures) == NAMES
    for name, figure in figures.items():
        assert figure.value > 0 or name == "heavy packages loaded by that", name
        assert figure.high is None or figure.high >= figure.value


def test_s22_the_package_loads_no_heavy_package(figures):
    assert figures["heavy packages loaded by that"].value == 0
    assert figures["heavy packages loaded by that"].note == "none"


def test_a_figure_as_json_leaves_out_what_is_empty():
    assert bench.Figure("x", 0, "s").as_dict() == {"name": "x", "value": 0, "unit": "s"}


def test_the_command_shows_targets_and_writes_json(toolsearch, monkeypatch, figures):
    monkeypatch.setattr(bench, "measure", lambda tools, progress, *, embedder: list(figures.values()))
    shown = toolsearch("bench", "--tools", 20).stdout
    assert all(name in shown for name in NAMES[2:])
    assert ">= 100" in shown
    content = json.loads(toolsearch("bench", "--json").stdout)
    assert content == [figure.as_dict() for figure in figures.values()]


def test_the_model_that_was_measured_is_named(figures):
    for name in ("build and save an index of 20 tools", "one query: the embedding"):
        assert "toolsearch-small" in figures[name].note


def test_x22_readers_at_once_are_compared_with_one_thread(toolsearch, monkeypatch):
    """The figures have a sense; none of them is a speed that must be reached."""
    monkeypatch.setattr(throughput, "ROUNDS", 2)
    monkeypatch.setattr(throughput, "QUERIES", 40)
    rows = throughput.measure_throughput(30, embedder="nano")
    readers = ["1 thread", "2 threads", "4 threads", "8 threads", "32 threads", "200 tasks"]
    assert [(row.readers, row.replacing) for row in rows] == [
        (each, replacing) for replacing in (False, True) for each in readers
    ]
    assert rows[0].ratio == 1
    for row in rows:
        assert row.per_second > 0 < row.ratio
        assert row.cores > 0
        assert row.replacing or not row.replacements
    assert sum(row.replacements for row in rows) > 0
    monkeypatch.setattr(throughput, "measure_throughput", lambda tools, progress, *, embedder: rows)
    shown = toolsearch("bench", "threads").stdout
    assert all(each in shown for each in (*readers, "replaced", "ratio"))
    assert json.loads(toolsearch("bench", "threads", "--json").stdout) == [row.as_dict() for row in rows]


def test_every_query_is_asked_once_by_all_readers_together():
    class Counting:
        def __init__(self):
            self.asked = []

        def search(self, query):
            self.asked.append(query)

    for readers in (1, 7, throughput.TASKS):
        search = Counting()
        throughput.ask(search, iter([f"query {number}" for number in range(50)]), readers)
        assert sorted(search.asked) == sorted(f"query {number}" for number in range(50))


def test_an_unknown_model_is_an_error(toolsearch):
    result = toolsearch("bench", "--embedder", "large")
    assert result.exit_code == 2
    assert "there is: small" in result.stderr


def test_a_process_that_fails_tells_what_it_wrote():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bench._child("1 / 0")


def test_at_least_one_tool_is_needed(toolsearch):
    assert toolsearch("bench", "--tools", 0).exit_code == 2
    with pytest.raises(ValueError, match="at least 1"):
        bench.measure(0)


def test_synthetic_tools_are_usable_different_and_the_same_every_time():
    tools = synthetic_tools(2000)
    catalog = Catalog(tools)
    assert len(catalog.report.ok) == 2000
    assert tools[:500] == synthetic_tools(500)
    assert len({tool.description for tool in catalog}) > 1800
    assert all(tool.parameters["properties"] for tool in catalog)


def test_synthetic_queries_are_different():
    assert len(set(synthetic_queries(300))) == 300
    assert synthetic_queries(20) == synthetic_queries(300)[:20]


def test_more_tools_than_there_are_names_is_refused():
    with pytest.raises(ValueError, match="there are 0 to"):
        synthetic_tools(10**9)
