"""`toolsearch index`: an index that is saved, searched and brought up to date."""

from __future__ import annotations

import json
import re

import pytest

from model_folders import write_static_model
from semantic_toolsearch.embedding import shipped

NEED = "a buyer wants his cash returned"


def figure(output, name):
    return re.search(rf"^{name} +([\d,.]+)$", output, re.MULTILINE)[1]


def test_an_index_answers_like_the_files_it_was_made_of(toolsearch, shop):
    made = toolsearch("index", shop, "--out", "saved")
    assert made.exit_code == 0
    assert figure(made.stdout, "tools") == "4"
    assert figure(made.stdout, "quarantined") == "1"
    assert int(figure(made.stdout, "bytes on disk").replace(",", "")) > 4 * 384 * 4
    from_files = json.loads(toolsearch("search", NEED, shop, "--json").stdout)
    from_index = json.loads(toolsearch("search", NEED, "--index", "saved", "--json").stdout)
    assert from_index == from_files
    assert "create_refund" in toolsearch("explain", NEED, "create_refund", "--index", "saved").stdout


def test_texts_are_embedded_once(toolsearch, write, shop_tools, monkeypatch, tmp_path):
    monkeypatch.setenv("TOOLSEARCH_CACHE_DIR", str(tmp_path / "fresh"))
    file = write("two.json", shop_tools[2:4])
    first, second = (toolsearch("index", file, "--out", folder).stdout for folder in ("one", "two"))
    assert (figure(first, "embedded"), figure(first, "from cache")) == ("2", "0")
    assert (figure(second, "embedded"), figure(second, "from cache")) == ("0", "2")


def test_an_index_beside_files_gives_its_vectors_to_their_tools(
    toolsearch, shop, shop_tools, write, monkeypatch, tmp_path
):
    toolsearch("index", shop, "--out", "saved")
    monkeypatch.setenv("TOOLSEARCH_CACHE_DIR", str(tmp_path / "fresh"))
    new = {"name": "cancel_order", "description": "Call off an order that was not sent yet."}
    changed = write("changed.json", [*shop_tools[:4], new])
    made = toolsearch("index", changed, "--index", "saved", "--out", "next").stdout
    assert figure(made, "tools") == "5"
    assert figure(made, "embedded") == "1"


def test_a_damaged_index_is_one_line_that_says_how_to_mend_it(toolsearch, shop, tmp_path):
    toolsearch("index", shop, "--out", "saved")
    (vectors,) = (tmp_path / "saved").rglob("vectors.faiss")
    vectors.write_bytes(vectors.read_bytes()[:-1] + b"?")
    result = toolsearch("search", NEED, "--index", "saved")
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert "vectors.faiss" in line


def test_a_folder_that_is_no_index_is_told(toolsearch, tmp_path):
    result = toolsearch("search", NEED, "--index", tmp_path)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def two_models(tmp_path, monkeypatch):
    """An installation whose nano model is one that the tests have drawn."""
    (tmp_path / "package" / "models").mkdir(parents=True)
    (tmp_path / "package" / "models" / "toolsearch-small").symlink_to(shipped.shipped_model())
    write_static_model(tmp_path / "package" / "models" / "toolsearch-nano")
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "package")


@pytest.mark.usefixtures("two_models")
def test_an_index_is_made_and_searched_with_the_model_that_is_named(toolsearch, shop):
    small = toolsearch("index", shop, "--out", "small").stdout
    nano = toolsearch("index", shop, "--out", "nano", "--embedder", "nano").stdout
    assert int(figure(nano, "bytes on disk").replace(",", "")) < int(
        figure(small, "bytes on disk").replace(",", "")
    )
    options = ["customer order", "--index", "nano", "--embedder", "toolsearch-nano"]
    assert json.loads(toolsearch("search", *options, "--json").stdout)["tools"]
    assert toolsearch("explain", options[0], "list_orders", *options[1:]).exit_code == 0
    other = toolsearch("search", "customer order", "--index", "nano")
    assert other.exit_code == 2
    assert "drawn-" in other.stderr
    assert "toolsearch-small" in other.stderr
    unknown = toolsearch("search", "customer order", shop, "--embedder", "large")
    assert unknown.exit_code == 2
    assert "small (toolsearch-small), nano (toolsearch-nano)" in unknown.stderr
