"""`toolsearch pin`: the file it writes, what a check says, and the exit codes."""

from __future__ import annotations

import json

import pytest

from semantic_toolsearch import Catalog


def test_the_file_holds_the_pins_that_a_search_takes(toolsearch, shop, tmp_path, shop_tools):
    file = tmp_path / "pins.json"
    result = toolsearch("pin", shop, "--out", file)
    assert result.exit_code == 0
    assert "Pinned 4 tools" in result.stdout
    assert "1 of 5 definitions cannot be used" in result.stderr
    assert json.loads(file.read_text()) == Catalog(shop_tools).pins()


def test_a_check_lists_what_is_changed_new_and_gone(toolsearch, write, shop_tools, tmp_path):
    file = tmp_path / "pins.json"
    before = write("before.json", shop_tools[:3])
    toolsearch("pin", before, "--out", file)
    same = toolsearch("pin", before, "--check", file)
    assert (same.exit_code, same.stdout) == (0, "All 3 tools are as pinned.\n")
    changed = [{**shop_tools[0], "description": "Give it to me."}, shop_tools[1], shop_tools[3]]
    now = write("now.json", changed)
    result = toolsearch("pin", now, "--check", file)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "changed: shop__create_refund", "new: mail__send_message", "gone: weather__get_forecast", "3 differences",
    ]  # fmt: skip
    listed = toolsearch("pin", now, "--check", file, "--json")
    assert listed.exit_code == 1
    assert json.loads(listed.stdout) == {
        "changed": ["shop__create_refund"],
        "new": ["mail__send_message"],
        "gone": ["weather__get_forecast"],
    }


@pytest.mark.parametrize("words", [[], ["--out", "a.json", "--check", "b.json"], ["--check", "missing.json"]])
def test_what_makes_no_sense_is_an_error(toolsearch, shop, words):
    result = toolsearch("pin", shop, *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("toolsearch: ")


def test_a_file_that_cannot_be_written_is_an_error(toolsearch, shop, tmp_path):
    result = toolsearch("pin", shop, "--out", tmp_path / "missing" / "pins.json")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_json_writes_the_pins(toolsearch, shop, tmp_path):
    result = toolsearch("pin", shop, "--out", tmp_path / "pins.json", "--json")
    assert json.loads(result.stdout) == json.loads((tmp_path / "pins.json").read_text())
