"""`toolsearch bench prompt-size`: the tools of a general agent, in full and deferred."""

from __future__ import annotations

import json

import pytest

from semantic_toolsearch import Catalog
from semantic_toolsearch.accounting import CHARACTERS, default_counter
from semantic_toolsearch.prompt_size import measure_surface
from semantic_toolsearch.surface import deferred_surface, full_surface


@pytest.fixture(autouse=True)
def _no_tables(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    default_counter.cache_clear()
    yield
    default_counter.cache_clear()


def size(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def test_e94_eighteen_of_nineteen_tools_are_deferred():
    full, deferred = full_surface(), deferred_surface()
    stub = {"type": "object", "additionalProperties": True}
    assert len(full) == len({tool["name"] for tool in full}) == 19
    assert [tool["name"] for tool in deferred] == [tool["name"] for tool in full]
    assert [tool["description"] for tool in deferred] == [tool["description"] for tool in full]
    assert sum(tool["parameters"] == stub for tool in deferred) == 18
    assert deferred[-1] == full[-1]
    assert full[-1]["name"] == "tool_search"
    assert {entry.status for entry in Catalog(full).report.entries} == {"ok"}


def test_e95_the_tools_list_shrinks_by_two_thirds():
    row = measure_surface()[0]
    assert (row.full, row.deferred) == (size(full_surface()), size(deferred_surface()))
    assert 8_600 <= row.full <= 9_600
    assert row.saved >= 0.67


def test_e96_the_parameter_schemas_shrink_by_six_sevenths():
    row = measure_surface()[1]
    assert row.full == sum(size(tool["parameters"]) for tool in full_surface())
    assert row.deferred == 18 * 45 + size(full_surface()[-1]["parameters"])
    assert row.saved >= 0.86


def test_e95_with_our_own_search_tool_the_saving_is_near_as_large():
    row = measure_surface()[2]
    assert row.full == size(full_surface()[:-1])
    assert row.deferred > measure_surface()[0].deferred
    assert row.saved >= 0.6


def test_e94_the_command_prints_bytes_and_tokens(toolsearch):
    result = toolsearch("bench", "prompt-size")
    assert result.exit_code == 0
    for row in measure_surface(CHARACTERS):
        (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"{row.name} ")]
        for figure in (row.full, row.deferred, row.full_tokens, row.deferred_tokens):
            assert f" {figure:,} " in line
        assert f"{row.saved:.1%}" in line
        assert line.rstrip().endswith("chars/4")
    content = json.loads(toolsearch("bench", "prompt-size", "--json").stdout)
    assert content == [row.as_dict() for row in measure_surface(CHARACTERS)]


def test_other_words_are_refused(toolsearch):
    result = toolsearch("bench", "prompt")
    assert result.exit_code == 2
    assert "prompt-size" in result.stderr
