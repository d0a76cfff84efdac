"""`toolsearch lint`: what is shown, the JSON form, and the exit codes."""

from __future__ import annotations

import json

import pytest

from semantic_toolsearch.embedding import OnnxEmbedder
from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.lint import KINDS

CLEAN = [
    {
        "name": "create_refund",
        "description": "Give a customer the money for an order back.",
        "parameters": {
            "type": "object",
            "properties": {"order": {"type": "string", "description": "Number"}},
        },
    },
    {
        "name": "get_forecast",
        "description": "Weather of the next days at a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string", "description": "Town"}}},
    },
]
TWIN = {**CLEAN[0], "name": "create_refunds", "description": "Give a customer back the money for an order."}


def test_clean_tools_pass_even_strictly(toolsearch, write):
    result = toolsearch("lint", write("clean.json", CLEAN), "--strict")
    assert result.exit_code == 0
    assert "2 tools of 2 definitions: 2 ok, 0 repaired, 0 quarantined" in result.stdout
    assert "Nothing found." in result.stdout


def test_findings_fail_only_a_strict_check(toolsearch, write):
    file = write("twins.json", [*CLEAN, TWIN])
    assert toolsearch("lint", file).exit_code == 0
    strict = toolsearch("lint", file, "--strict")
    assert strict.exit_code == 1
    assert "near-duplicate (1): Keep one of them" in strict.stdout
    assert "create_refund, create_refunds: " in strict.stdout
    assert toolsearch("lint", file, "--strict", "--ignore", "near-duplicate").exit_code == 0


def test_a_broken_definition_is_shown_with_file_position_path_and_reason(toolsearch, shop):
    result = toolsearch("lint", shop)
    assert "4 tools of 5 definitions" in result.stdout
    assert "no_schema_at_all" in result.stdout
    assert f"{shop} [4]: $.parameters: " in result.stdout
    assert result.stderr == ""


def test_json_has_counts_and_every_finding(toolsearch, shop):
    content = json.loads(toolsearch("lint", shop, "--json").stdout)
    assert (content["tools"], content["quarantined"]) == (4, 1)
    assert {finding["kind"] for finding in content["findings"]} <= set(KINDS)
    for finding in content["findings"]:
        assert set(finding) == {"kind", "tools", "message", "advice"}
        assert finding["tools"]
        assert finding["advice"]


def test_long_lists_are_cut_and_say_how_to_see_all(toolsearch, write):
    bare = [{"name": f"tool_{number}"} for number in range(12)]
    words = ["lint", write("bare.json", bare), "--ignore", "near-duplicate"]
    assert "... and 2 more (--show 12)" in toolsearch(*words).stdout
    assert "more (--show" not in toolsearch(*words, "--show", 12).stdout


def test_an_unknown_kind_is_an_error_that_lists_the_kinds(toolsearch, shop):
    result = toolsearch("lint", shop, "--ignore", "duplicates")
    assert result.exit_code == 2
    assert "near-duplicate" in result.stderr


@pytest.fixture
def failing_model(monkeypatch, tmp_path):
    def fail(self, texts):
        raise EmbedderError("the disk is on fire")

    monkeypatch.setattr(OnnxEmbedder, "encode_document", fail)
    monkeypatch.setenv("TOOLSEARCH_CACHE_DIR", str(tmp_path / "fresh"))


def test_without_a_model_all_else_is_still_checked(toolsearch, write, failing_model):
    result = toolsearch(
        "lint", write("bare.json", [{"name": "thin", "parameters": {"type": "object"}}]), "--json"
    )
    assert [finding["kind"] for finding in json.loads(result.stdout)["findings"]] == ["thin-description"]
    assert "the disk is on fire" in result.stderr


def test_near_duplicates_are_all_that_lint_embeds_for(toolsearch, write, failing_model):
    result = toolsearch("lint", write("clean.json", CLEAN), "--ignore", "near-duplicate")
    assert "Nothing found." in result.stdout
    assert result.stderr == ""
