"""An installation whose shipped model is missing or damaged: everything but meaning works, also once it is repaired."""

from __future__ import annotations

import shutil

import pytest

from faulty_parts import QUERY, TOOLS, warnings_of
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.embedding import resolve_embedder, shipped, shipped_model
from semantic_toolsearch.errors import ConfigError, EmbedderError


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The folder where the static model is looked for, with a copy of it."""
    source = shipped_model("nano")
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "package")
    folder = tmp_path / "package" / "models" / source.name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("recipe"))
    return folder


DAMAGE = {
    "no folder": lambda folder: folder.rename(folder.with_name("away")),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: (folder / "manifest.json").write_bytes(
        (folder / "manifest.json").read_bytes()[:200]
    ),
    "half a tokenizer": lambda folder: (folder / "tokenizer.json").write_bytes(
        (folder / "tokenizer.json").read_bytes()[:1000]
    ),
    "no vectors": lambda folder: (folder / "vectors.npy").unlink(),
}


@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_bc54_a_search_goes_on_by_words_and_uses_the_model_once_it_is_there(
    installed, ranker, damage, caplog
):
    whole = installed.parent.parent.parent / "whole"
    shutil.copytree(installed, whole)
    DAMAGE[damage](installed)
    search = ToolSearch(TOOLS, ranker=ranker, embedder="nano", cache=False)
    result = search.search(QUERY)
    assert [hit.name for hit in result.tools] == ["flux_list"]
    assert "nstall" in result.degraded
    assert search.search("").names
    (warning,) = warnings_of(caplog)
    assert warning.name == "semantic_toolsearch"
    shutil.rmtree(installed, ignore_errors=True)
    shutil.copytree(whole, installed)
    assert search.search(QUERY).degraded is None


def test_lexical_rankers_need_no_model_at_all(installed, caplog):
    DAMAGE["no folder"](installed)
    for ranker in ("bm25", "keyword", "regex"):
        search = ToolSearch(TOOLS, ranker=ranker, embedder="nano", cache=False)
        assert search.search("deployments").tools[0].name == "flux_list"
    assert not warnings_of(caplog)


def test_what_asks_for_the_model_itself_is_told_at_once(installed, tmp_path):
    DAMAGE["no folder"](installed)
    with pytest.raises(EmbedderError, match="not part of this installation"):
        resolve_embedder("nano")
    with pytest.raises(EmbedderError, match=r"cannot be saved: .*not part of this installation"):
        ToolSearch(TOOLS, embedder="nano", cache=False).save(tmp_path / "index")
    with pytest.raises(ConfigError, match="no embedding model named"):
        ToolSearch(TOOLS, embedder="bge-small")
