"""A static model of the tests' own: sums of token vectors, nothing for what is unknown, and exact about its files."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_folders import DIMENSION, VOCABULARY, vouch_for, write_static_model
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.embedding import Embedder, OnnxEmbedder, StaticEmbedder
from semantic_toolsearch.errors import EmbedderError
from semantic_toolsearch.testing import check_embedder

UNKNOWN = ["", "   ", "\x00", "明日の天気", "الطقس", "😀" * 50, "[CLS]", "[UNK] [SEP]", "!"]
"""Texts of which the model knows no token; the special ones are spelled out, as a user might."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_static_model(tmp_path_factory.mktemp("static") / "model")


@pytest.fixture
def folder(model: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(model, tmp_path / "model"))


@pytest.fixture(scope="module")
def embedder(model: Path) -> StaticEmbedder:
    return StaticEmbedder(model)


def by_hand(folder: Path, *tokens: str) -> Any:
    """The vector of these tokens, as the layout's description says."""
    rows = [VOCABULARY[token] for token in tokens]
    scales = np.load(folder / "scales.npy").astype(np.float64)
    summed = (np.load(folder / "vectors.npy").astype(np.float64) * scales[:, None])[rows].sum(axis=0)
    return summed / np.linalg.norm(summed)


def test_s18_a_static_model_keeps_the_contract(embedder: StaticEmbedder) -> None:
    assert isinstance(embedder, Embedder)
    check_embedder(embedder)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Bill the Customer", ["bill", "the", "customer"]),
        ("bill bill customer", ["bill", "bill", "customer"]),
        ("a_1", ["a", "_", "1"]),
        ("Restarts", ["restart", "##s"]),
        ("bill 天 customer!", ["bill", "customer"]),
        ("[CLS] bill [SEP]", ["bill"]),
    ],
)
def test_a_vector_is_the_sum_of_the_tokens_rows(
    embedder: StaticEmbedder, model: Path, text: str, tokens: list[str]
) -> None:
    for matrix in (embedder.encode_document([text]), embedder.encode_query([text])):
        assert matrix.dtype == np.float32
        assert np.allclose(matrix[0], by_hand(model, *tokens), atol=1e-6)


def test_what_is_unknown_has_one_vector_as_a_document_and_another_as_a_query(
    embedder: StaticEmbedder,
) -> None:
    documents, queries = embedder.encode_document(UNKNOWN), embedder.encode_query(UNKNOWN)
    for matrix in (documents, queries):
        assert np.array_equal(matrix, np.tile(matrix[0], (len(UNKNOWN), 1)))
        assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-6)
    assert float(queries[0] @ documents[0]) == pytest.approx(0, abs=1e-6)


def test_what_is_unknown_is_near_to_nothing(embedder: StaticEmbedder) -> None:
    words = [token for token in VOCABULARY if token.isalpha()]
    known = [" ".join(five) for five in itertools.combinations(words[:12], 5)]
    documents, queries = embedder.encode_document(known), embedder.encode_query(known)
    usual = (documents @ queries.T).mean()
    for cosines in (documents @ embedder.encode_query([""])[0], queries @ embedder.encode_document([""])[0]):
        assert abs(cosines.mean()) < 0.1 < usual
        assert np.abs(cosines).mean() < usual / 2


def test_a_query_in_an_unknown_script_loads_no_tool_by_meaning(embedder: StaticEmbedder) -> None:
    tools = [{"name": "送信", "description": "メールを送る"}, {"name": "天気", "description": "明日の天気"}]
    found = ToolSearch(tools, ranker="semantic", embedder=embedder, cache=False).search("請求書")
    assert found.outcome == "no_match"
    assert not found.tools


def test_s17_a_search_with_it_loads_no_engine_for_networks(model: Path) -> None:
    script = (
        "import sys; from semantic_toolsearch import StaticEmbedder, ToolSearch; "
        "tools = [{'name': 'send_invoice', 'description': 'bill a customer'}, "
        "{'name': 'kitchen_lights', 'description': 'lights of the kitchen'}]; "
        "search = ToolSearch(tools, embedder=StaticEmbedder(sys.argv[1]), cache=False); "
        "assert 'tokenizers' not in sys.modules; "
        "assert search.search('the customer a bill').tools[0].name == 'send_invoice'; "
        "assert not {'onnxruntime', 'torch'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(model)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_vectors_are_the_same_to_the_last_bit_in_any_company(embedder: StaticEmbedder) -> None:
    texts = ["one " * n + str(n) for n in (40, 1, 300, 0, 7, 90, 2, 2, 150)] * 30
    together = embedder.encode_document(texts)
    assert np.array_equal(together, np.vstack([embedder.encode_document([text]) for text in texts]))


def test_long_texts_are_cut_at_the_models_limit(embedder: StaticEmbedder) -> None:
    start = "bill the customer of the server " * 20  # 120 tokens, the model reads 64
    short, long = embedder.encode_document([start, start + "undo convert lights " * 40_000])
    assert np.array_equal(short, long)


def test_no_texts_give_an_empty_matrix(embedder: StaticEmbedder) -> None:
    for matrix in (embedder.encode_document([]), embedder.encode_query(())):
        assert matrix.shape == (0, DIMENSION)
        assert matrix.dtype == np.float32


@pytest.mark.parametrize("name", ["vectors.npy", "scales.npy", "tokenizer.json"])
def test_the_id_changes_with_every_file_that_changes_vectors(folder: Path, name: str) -> None:
    before = StaticEmbedder(folder).id
    assert before.startswith("drawn-")
    assert StaticEmbedder(folder).id == before
    data = bytearray((folder / name).read_bytes())
    data[-2] ^= 1
    (folder / name).write_bytes(data)
    vouch_for(folder)
    assert StaticEmbedder(folder).id != before


def test_prefixes_of_the_manifest_are_put_before_the_texts(folder: Path, embedder: StaticEmbedder) -> None:
    vouch_for(folder, query_prefix="to ", document_prefix="of ")
    prefixed = StaticEmbedder(folder)
    assert np.array_equal(prefixed.encode_query(["bill"]), embedder.encode_query(["to bill"]))
    assert np.array_equal(prefixed.encode_document(["bill"]), embedder.encode_document(["of bill"]))


@pytest.mark.parametrize("name", ["vectors.npy", "scales.npy", "tokenizer.json"])
def test_a_flipped_bit_is_noticed_and_a_repaired_folder_works(folder: Path, model: Path, name: str) -> None:
    embedder = StaticEmbedder(folder)
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(
        EmbedderError, match=rf"{name} has sha256 [0-9a-f]{{64}}, its manifest says [0-9a-f]{{64}}"
    ):
        embedder.encode_query(["a"])
    shutil.copy(model / name, folder / name)
    assert embedder.encode_query(["a"]).shape == (1, DIMENSION)


@pytest.mark.parametrize("name", ["vectors.npy", "scales.npy", "tokenizer.json"])
def test_a_cut_or_missing_file_is_noticed(folder: Path, name: str) -> None:
    size = (folder / name).stat().st_size
    with (folder / name).open("r+b") as file:
        file.truncate(size - 1)
    with pytest.raises(EmbedderError, match=f"{name} has {size - 1} bytes, its manifest says {size}"):
        StaticEmbedder(folder).encode_query(["a"])
    (folder / name).unlink()
    with pytest.raises(EmbedderError, match=f"{name} cannot be read"):
        StaticEmbedder(folder).encode_query(["a"])


def _save(folder: Path, name: str, array: Any) -> None:
    np.save(folder / name, array, allow_pickle=True)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("vectors.npy", lambda array: array.astype(np.float32), "holds float32.*expected int8"),
        ("vectors.npy", lambda array: array[:-1], "the tokenizer has 113 tokens"),
        ("vectors.npy", lambda array: array[:, :-1], "the manifest 32 dimensions"),
        ("vectors.npy", lambda array: array.astype(object), "allow_pickle"),
        ("scales.npy", lambda array: array.astype(np.float32), "holds float32.*expected float16"),
        ("scales.npy", lambda array: array[:-1], r"scales of shape \(112,\)"),
        ("scales.npy", lambda array: array.reshape(1, -1), r"scales of shape \(1, 113\)"),
        ("scales.npy", lambda array: -array, "negative"),
        ("scales.npy", lambda array: array * np.float16("nan"), "no finite numbers"),
    ],
)
def test_intact_files_that_are_no_such_model_are_refused(
    folder: Path, name: str, change: Any, message: str
) -> None:
    _save(folder, name, change(np.load(folder / name)))
    vouch_for(folder)
    with pytest.raises(EmbedderError, match=f"intact, but it cannot be loaded.*{message}"):
        StaticEmbedder(folder).encode_query(["a"])


@pytest.mark.parametrize("data", [b"", b"not an array", b"PK\x03\x04"])
def test_intact_bytes_that_are_no_array_are_refused(folder: Path, data: bytes) -> None:
    (folder / "scales.npy").write_bytes(data)
    vouch_for(folder)
    with pytest.raises(EmbedderError, match="intact, but it cannot be loaded"):
        StaticEmbedder(folder).encode_query(["a"])


def test_bytes_after_the_array_are_refused(folder: Path) -> None:
    with (folder / "scales.npy").open("ab") as file:
        file.write(b"x")
    vouch_for(folder)
    with pytest.raises(EmbedderError, match=r"scales\.npy.*more than one array"):
        StaticEmbedder(folder).encode_query(["a"])


def test_a_table_of_zeros_still_gives_unit_vectors(folder: Path) -> None:
    _save(folder, "scales.npy", np.zeros(len(VOCABULARY), dtype=np.float16))
    vouch_for(folder)
    embedder = StaticEmbedder(folder)
    matrix = np.vstack([embedder.encode_document(["bill"]), embedder.encode_query(["bill"])])
    assert np.allclose(matrix @ matrix.T, np.eye(2), atol=1e-6)


def test_one_dimension_is_refused(folder: Path) -> None:
    _save(folder, "vectors.npy", np.load(folder / "vectors.npy")[:, :1])
    vouch_for(folder, dimension=1)
    with pytest.raises(EmbedderError, match="at least 2 dimensions"):
        StaticEmbedder(folder).encode_query(["a"])


@pytest.mark.parametrize("name", ["vectors.npy", "scales.npy", "tokenizer.json"])
def test_a_manifest_that_leaves_a_file_out_is_refused_at_once(folder: Path, name: str) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["files"][name]
    path.write_text(json.dumps(manifest))
    with pytest.raises(EmbedderError, match=f"files: {name} is not listed"):
        StaticEmbedder(folder)


def test_each_kind_names_the_class_that_opens_it(folder: Path) -> None:
    with pytest.raises(EmbedderError, match="of kind 'static'; open it with StaticEmbedder"):
        OnnxEmbedder(folder)
    with pytest.raises(EmbedderError, match="of kind 'onnx'; open it with OnnxEmbedder"):
        StaticEmbedder(OnnxEmbedder().folder)
    vouch_for(folder, kind="other")
    with pytest.raises(EmbedderError, match="kind: Input should be 'onnx' or 'static'"):
        StaticEmbedder(folder)
