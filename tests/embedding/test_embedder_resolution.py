"""Names and objects that become embedders, and where a shipped model is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_folders import write_static_model
from semantic_toolsearch.embedding import (
    DEFAULT_MODEL,
    MODEL_NAMES,
    SHIPPED_MODELS,
    OnnxEmbedder,
    SentenceTransformerEmbedder,
    StaticEmbedder,
    resolve_embedder,
    shipped_model,
    shipped_name,
)
from semantic_toolsearch.embedding import shipped as shipped_module
from semantic_toolsearch.errors import ConfigError, EmbedderError
from semantic_toolsearch.testing import HashingEmbedder


def test_the_default_is_the_shipped_model() -> None:
    found = resolve_embedder()
    assert isinstance(found, OnnxEmbedder)
    assert found.folder == shipped_model("toolsearch-small")


def test_every_model_has_a_short_name_and_its_folders_name() -> None:
    assert MODEL_NAMES == {"small": "toolsearch-small", "nano": "toolsearch-nano"}
    assert SHIPPED_MODELS[0] == DEFAULT_MODEL == "toolsearch-small"
    for short, folder in MODEL_NAMES.items():
        assert shipped_name(short) == shipped_name(folder) == folder
    assert shipped_name("Small") is None


@pytest.mark.parametrize("name", ["small", "toolsearch-small"])
def test_both_names_open_the_same_model(name: str) -> None:
    assert resolve_embedder(name).id == resolve_embedder().id


@pytest.mark.parametrize("name", ["nano", "toolsearch-nano"])
def test_the_manifest_decides_what_opens_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(shipped_module, "_PACKAGE", tmp_path)
    (tmp_path / "models").mkdir()
    folder = write_static_model(tmp_path / "models" / "toolsearch-nano")
    found = resolve_embedder(name)
    assert isinstance(found, StaticEmbedder)
    assert found.folder == folder


def test_an_object_is_returned_as_it_is() -> None:
    embedder = HashingEmbedder()
    assert resolve_embedder(embedder) is embedder


def test_resolving_loads_no_model() -> None:
    embedder = SentenceTransformerEmbedder("no/such-model")  # reading its id would try to load it
    assert resolve_embedder(embedder) is embedder


def test_an_unknown_name_lists_the_shipped_ones_and_the_way_to_others() -> None:
    with pytest.raises(
        ConfigError, match=r"'bge-small'.*small.*nano.*SentenceTransformerEmbedder\('bge-small'\)"
    ):
        resolve_embedder("bge-small")


def test_an_object_that_is_no_embedder_is_told_what_it_lacks() -> None:
    class Half:
        id = "half"

        def encode_query(self, texts: list[str]) -> None: ...

    with pytest.raises(ConfigError, match="Half lacks dimension, encode_document"):
        resolve_embedder(Half())  # type: ignore[arg-type]  # the point of the test


def test_an_unknown_shipped_model_is_an_error() -> None:
    with pytest.raises(
        EmbedderError, match=r"no model named 'other' is shipped; there is: small \(toolsearch-small\)"
    ):
        shipped_model("other")


def test_the_installed_model_is_preferred_and_a_missing_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lib" / "src" / "semantic_toolsearch"
    monkeypatch.setattr(shipped_module, "_PACKAGE", package)
    with pytest.raises(EmbedderError, match="not part of this installation"):
        shipped_model()
    for parent in (tmp_path / "lib", package):  # first the checkout's, then the wheel's
        folder = parent / "models" / "toolsearch-small"
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text("{}")
        assert shipped_model() == folder
