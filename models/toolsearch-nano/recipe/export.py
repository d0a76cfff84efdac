"""The trained table comes in; this model folder's vectors, scales, tokenizer and manifest go out.

    python models/toolsearch-nano/recipe/export.py --teacher models/toolsearch-small --work WORK

WORK is the folder that ``train.py`` wrote to. Prints each file's hash and how well the 8-bit rows agree with the table.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from semantic_toolsearch.embedding import Matrix

sys.path.append(str(Path(__file__).resolve().parents[2] / "toolsearch-small" / "recipe"))

from manifest import write_manifest

FOLDER = Path(__file__).resolve().parents[1]
NAME = "toolsearch-nano-v1-int8"
MAX_TOKENS = 256
MOST_BYTES = 8_000_000
LARGEST = 127
"""Of an 8-bit number; -128 is not used, so that both signs reach equally far."""

TYPICAL_SCALE = 0.01
"""The table is multiplied so that its median scale is this: far from where float16 loses digits."""

_UNUSED = re.compile(r"\[unused\d+\]")


def without_unused(tokenizer: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """Take the vocabulary's empty places out of a tokenizer.

    Returns:
        The tokenizer, its tokens numbered anew in the old order, and the old number of each token. It adds no
        special tokens any more, and has neither padding nor truncation settings.
    """
    numbers: dict[str, int] = tokenizer["model"]["vocab"]
    kept = [token for token in sorted(numbers, key=numbers.__getitem__) if not _UNUSED.fullmatch(token)]
    fresh = {token: number for number, token in enumerate(kept)}
    added = [token | {"id": fresh[token["content"]]} for token in tokenizer["added_tokens"]]
    changed = {"added_tokens": added, "post_processor": None, "padding": None, "truncation": None}
    model = tokenizer["model"] | {"vocab": fresh}
    return tokenizer | changed | {"model": model}, [numbers[token] for token in kept]


def rounded(table: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Write each row as 8-bit numbers times one scale; int8 ``[tokens, d]`` and float16 ``[tokens]``."""
    largest = np.abs(table).max(axis=1)
    scales = (largest / LARGEST).astype(np.float16)
    divisors = np.where(scales > 0, scales, 1).astype(np.float32)[:, None]
    vectors = np.clip(np.rint(table / divisors), -LARGEST, LARGEST).astype(np.int8)
    return vectors, scales


def main() -> None:
    """Renumber, round, compare and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--teacher", type=Path, required=True, help="folder of the model that it learned from"
    )
    parser.add_argument("--work", type=Path, required=True, help="the folder that train.py wrote to")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the finished model")
    arguments = parser.parse_args()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)

    source = json.loads((arguments.teacher / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer, kept = without_unused(source)
    table: Matrix = np.load(arguments.work / "table.npy")[kept]
    table[[token["id"] for token in tokenizer["added_tokens"] if token["special"]]] = 0
    largest = np.abs(table).max(axis=1)
    table *= TYPICAL_SCALE * LARGEST / np.median(largest)
    vectors, scales = rounded(table)
    products = (vectors * scales.astype(np.float32)[:, None] * table).sum(axis=1)[largest > 0]
    lengths = np.linalg.norm(table, axis=1)[largest > 0]
    again = (np.linalg.norm(vectors.astype(np.float32), axis=1) * scales.astype(np.float32))[largest > 0]
    cosines = products / lengths / again
    print(f"rows: cosine with the table: mean {cosines.mean():.5f}, least {cosines.min():.5f}")

    np.save(out / "vectors.npy", vectors)
    np.save(out / "scales.npy", scales)
    packed = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (out / "tokenizer.json").write_text(packed, encoding="utf-8")
    teacher = json.loads((arguments.teacher / "manifest.json").read_text(encoding="utf-8"))
    size = write_manifest(
        out,
        ("vectors.npy", "scales.npy", "tokenizer.json"),
        kind="static",
        id=NAME,
        dimension=table.shape[1],
        max_tokens=MAX_TOKENS,
        recipe="recipe/train.py",
        source={
            "teacher": {"id": teacher["id"], "sha256": teacher["files"]["model.onnx"]["sha256"]},
            "settings": json.loads((arguments.work / "settings.json").read_text(encoding="utf-8")),
        },
    )
    if size > MOST_BYTES:
        sys.exit(f"the files have {size} bytes, more than {MOST_BYTES}")


if __name__ == "__main__":
    main()
