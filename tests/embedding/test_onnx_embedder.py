"""The shipped model on onnxruntime: offline, lazy, and exact about its files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model_folders import vouch_for
from semantic_toolsearch.embedding import OnnxEmbedder, shipped_model
from semantic_toolsearch.embedding.onnx import BATCH_TOKENS, _batches
from semantic_toolsearch.errors import ConfigError, EmbedderError

MODEL = shipped_model()


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped model that a test may damage."""
    copy = tmp_path / "model"
    copy.mkdir()
    for name in ("manifest.json", "model.onnx", "tokenizer.json"):
        shutil.copy(MODEL / name, copy / name)
    return copy


def test_s22_nothing_heavy_is_loaded_before_the_first_text() -> None:
    script = (
        "import sys; import semantic_toolsearch.embedding as e; m = e.OnnxEmbedder(); "
        "e.SentenceTransformerEmbedder('x'); e.OpenAICompatibleEmbedder('http://127.0.0.1:1/v1', 'x'); "
        "heavy = {'onnxruntime', 'tokenizers', 'torch', 'openai', 'sentence_transformers', 'platformdirs'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules); "
        "m.encode_query(['a']); assert {'onnxruntime', 'tokenizers'} <= set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_id_names_model_and_weights(embedder: OnnxEmbedder) -> None:
    manifest = json.loads((MODEL / "manifest.json").read_text())
    assert embedder.id == f"{manifest['id']}-{manifest['files']['model.onnx']['sha256'][:12]}"
    assert embedder.dimension == manifest["dimension"] == 384


def test_order_is_kept_whatever_the_lengths(embedder: OnnxEmbedder) -> None:
    texts = ["one " * n + str(n) for n in (40, 1, 300, 0, 7, 90, 2, 2, 150)]
    together = embedder.encode_document(texts)
    alone = np.vstack([embedder.encode_document([text]) for text in texts])
    assert np.allclose(together, alone, atol=2e-3)
    assert np.allclose((together * alone).sum(axis=1), 1, atol=1e-4)


def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder: OnnxEmbedder) -> None:
    alone = embedder.encode_query(["undo my last commit"])[0]
    for company in (["Z" * 90], ["請幫我訂一張票"] * 3, ["a b c d e f"] * 30, ["!!!! ???? ####"] * 5):
        beside = embedder.encode_query([*company, "undo my last commit"])[-1]
        assert float(alone @ beside) > 0.9999


def test_no_texts_give_an_empty_matrix(embedder: OnnxEmbedder) -> None:
    for matrix in (embedder.encode_document([]), embedder.encode_query(())):
        assert matrix.shape == (0, 384)
        assert matrix.dtype == np.float32


def test_long_texts_are_cut_at_the_models_limit(embedder: OnnxEmbedder) -> None:
    start = "open the pod bay doors " * 60  # 300 tokens, the model reads 256
    short, long = embedder.encode_document([start, start + "and then something else entirely " * 40_000])
    assert float(short @ long) > 0.9999


@pytest.mark.parametrize(
    "text", [chr(0xD800), f"a {chr(0xDFFF)} b", "\x00", "\ufffd", "\u200b" * 50, "🏳️‍🌈", "x" * 1_000_000]
)
def test_strange_texts_have_unit_vectors(embedder: OnnxEmbedder, text: str) -> None:
    matrix = embedder.encode_document([text])
    assert np.linalg.norm(matrix) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("texts", ["one text", b"bytes", ["a", None], [1]])
def test_what_is_no_list_of_texts_is_refused(embedder: OnnxEmbedder, texts: object) -> None:
    with pytest.raises(TypeError, match="text"):
        embedder.encode_query(texts)  # type: ignore[arg-type]  # the point of the test


def test_runs_stay_within_their_token_and_text_bounds() -> None:
    lengths = [3, 250, 9, 9, 100, 3, 256, 3, 3, 120, 17] * 9
    runs = list(_batches(lengths, 8))
    assert sorted(row for run in runs for row in run) == list(range(len(lengths)))
    for run in runs:
        assert len(run) <= 8
        assert len(run) == 1 or len(run) * max(lengths[row] for row in run) <= BATCH_TOKENS


@pytest.mark.parametrize("settings", [{"threads": 0}, {"batch_size": 0}])
def test_settings_out_of_range_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        OnnxEmbedder(**settings)


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_flipped_bit_is_noticed_and_both_hashes_are_named(folder: Path, name: str) -> None:
    embedder = OnnxEmbedder(folder)
    _flip(folder / name)
    with pytest.raises(
        EmbedderError, match=rf"{name} has sha256 [0-9a-f]{{64}}, its manifest says [0-9a-f]{{64}}"
    ):
        embedder.encode_query(["a"])
    shutil.copy(MODEL / name, folder / name)
    assert embedder.encode_query(["a"]).shape == (1, 384)  # a repaired folder works without a new object


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_cut_file_is_noticed(folder: Path, name: str) -> None:
    size = (folder / name).stat().st_size
    with (folder / name).open("r+b") as file:
        file.truncate(size - 1)
    with pytest.raises(EmbedderError, match=f"{name} has {size - 1} bytes, its manifest says {size}"):
        OnnxEmbedder(folder).encode_query(["a"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_noticed(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(EmbedderError, match=f"{name} cannot be read"):
        OnnxEmbedder(folder).encode_query(["a"])


def test_a_missing_folder_is_noticed_at_once(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="is no model folder"):
        OnnxEmbedder(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format.*reads format 1"),
        ({"format": "1"}, "format"),
        ({"dimension": 0}, "dimension"),
        ({"max_tokens": None}, "max_tokens"),
        ({"files": {}}, r"model.onnx, tokenizer.json is not listed"),
        ({"files": {"model.onnx": {"bytes": 1, "sha256": "no"}}}, "sha256"),
    ],
)
def test_a_manifest_that_cannot_be_right_is_refused_at_once(
    folder: Path, change: dict[str, object], message: str
) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(EmbedderError, match=message):
        OnnxEmbedder(folder)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 1}'])
def test_a_manifest_that_is_no_manifest_is_refused_at_once(folder: Path, data: bytes) -> None:
    (folder / "manifest.json").write_bytes(data)
    with pytest.raises(EmbedderError, match=r"manifest\.json"):
        OnnxEmbedder(folder)


def test_an_intact_file_that_is_no_model_is_an_embedder_error(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")
    vouch_for(folder)
    with pytest.raises(EmbedderError, match="intact, but it cannot be loaded"):
        OnnxEmbedder(folder).encode_query(["a"])


def test_a_wrong_dimension_in_the_manifest_is_an_embedder_error(folder: Path) -> None:
    vouch_for(folder, dimension=100)
    with pytest.raises(EmbedderError, match="384"):
        OnnxEmbedder(folder).encode_query(["a"])


def test_prefixes_of_the_manifest_are_put_before_the_texts(folder: Path, embedder: OnnxEmbedder) -> None:
    vouch_for(folder, query_prefix="query: ", document_prefix="passage: ")
    prefixed = OnnxEmbedder(folder)
    assert np.array_equal(prefixed.encode_query(["a b"]), embedder.encode_query(["query: a b"]))
    assert np.array_equal(prefixed.encode_document(["a b"]), embedder.encode_document(["passage: a b"]))
