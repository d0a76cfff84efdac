"""Any sentence-transformers model as an embedder; loading needs torch, being told so does not."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from semantic_toolsearch.embedding import SentenceTransformerEmbedder
from semantic_toolsearch.errors import ConfigError, EmbedderError, MissingExtraError


def test_without_the_extra_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = SentenceTransformerEmbedder("some/model")
    for use in (lambda: embedder.id, lambda: embedder.dimension, lambda: embedder.encode_query(["a"])):
        with pytest.raises(MissingExtraError, match=r"semantic-toolsearch\[sentence-transformers\]"):
            use()


def test_a_batch_size_out_of_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        SentenceTransformerEmbedder("some/model", batch_size=0)


@pytest.mark.torch
def test_id_follows_the_weights_not_the_place(original_model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(original_model, copy)
    first = SentenceTransformerEmbedder(original_model, device="cpu").id
    assert SentenceTransformerEmbedder(copy, device="cpu").id == first

    from safetensors.numpy import load_file, save_file

    weights = load_file(copy / "model.safetensors")
    name = sorted(weights)[0]
    weights[name] = weights[name] + np.float32(1e-3)
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    assert SentenceTransformerEmbedder(copy, device="cpu").id != first


@pytest.mark.torch
def test_prompts_of_the_model_and_of_the_caller_are_used(original_model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(original_model, copy)
    plain = SentenceTransformerEmbedder(original_model, device="cpu")
    settings = copy / "config_sentence_transformers.json"
    prompts = {"query": "query: ", "document": "passage: "}
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"prompts": prompts}))
    own = SentenceTransformerEmbedder(copy, device="cpu")
    given = SentenceTransformerEmbedder(
        original_model, device="cpu", query_prompt="query: ", document_prompt="passage: "
    )
    off = SentenceTransformerEmbedder(copy, device="cpu", query_prompt="", document_prompt="")
    for embedder in (own, given):
        assert np.allclose(embedder.encode_query(["a b"]), plain.encode_query(["query: a b"]), atol=1e-5)
        assert np.allclose(
            embedder.encode_document(["a b"]), plain.encode_document(["passage: a b"]), atol=1e-5
        )
    assert np.allclose(off.encode_query(["a b"]), plain.encode_query(["a b"]), atol=1e-5)
    assert len({plain.id, own.id, given.id, off.id}) == 4


@pytest.mark.torch
def test_options_reach_the_model_and_its_dimension(original_model: Path) -> None:
    small = SentenceTransformerEmbedder(original_model, device="cpu", options={"truncate_dim": 64})
    assert small.dimension == 64
    assert small.encode_query(["a"]).shape == (1, 64)
    assert small.encode_query([]).shape == (0, 64)
    assert np.linalg.norm(small.encode_query(["a"])) == pytest.approx(1, abs=1e-4)
    assert small.id != SentenceTransformerEmbedder(original_model, device="cpu").id


@pytest.mark.torch
def test_a_given_id_is_kept(original_model: Path) -> None:
    assert SentenceTransformerEmbedder(original_model, id="mine").id == "mine"


@pytest.mark.torch
def test_a_folder_that_is_no_model_is_an_embedder_error(original_model: Path, tmp_path: Path) -> None:
    embedder = SentenceTransformerEmbedder(tmp_path, device="cpu", options={"local_files_only": True})
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        embedder.encode_query(["a"])
