"""A model folder comes in; a small static model is written there, or the manifest is made to agree with its files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

DIMENSION = 32
UNKNOWN = "[UNK]"
SPECIAL = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]")

_WORDS = (
    *("send", "email", "colleague", "invoice", "bill", "customer", "weather", "tomorrow", "undo", "commit"),
    *("last", "lights", "kitchen", "convert", "dollars", "euros", "restart", "database", "server", "backup"),
    *("operator", "the", "of", "to", "in", "text", "long"),
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_:?.,"

VOCABULARY = {
    token: number
    for number, token in enumerate((*SPECIAL, *_WORDS, *_LETTERS, *(f"##{letter}" for letter in _LETTERS)))
}
"""Special tokens, whole words, and letters, so that a text in Latin script is known to its last letter."""


def write_static_model(folder: Path) -> Path:
    """Write a model whose special tokens have loud vectors, which must not be heard; returns the folder."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import BertProcessing

    tokenizer = Tokenizer(WordPiece(VOCABULARY, unk_token=UNKNOWN))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", VOCABULARY["[SEP]"]), ("[CLS]", VOCABULARY["[CLS]"]))
    tokenizer.add_special_tokens(list(SPECIAL))
    draw = np.random.default_rng(7)
    vectors = draw.integers(-127, 128, (len(VOCABULARY), DIMENSION), dtype=np.int8)
    vectors[:, 0] = 60  # what all texts have in common
    scales = draw.uniform(0.001, 0.01, len(VOCABULARY)).astype(np.float16)
    scales[: len(SPECIAL)] = 1
    folder.mkdir()
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "scales.npy", scales)
    tokenizer.save(str(folder / "tokenizer.json"))
    manifest = {
        "format": 1,
        "kind": "static",
        "id": "drawn",
        "dimension": DIMENSION,
        "max_tokens": 64,
        "pooling": "mean",
        "normalized": True,
        "query_prefix": "",
        "document_prefix": "",
        "files": dict.fromkeys(("vectors.npy", "scales.npy", "tokenizer.json")),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    vouch_for(folder)
    return folder


def vouch_for(folder: Path, **changes: object) -> None:
    """Rewrite the manifest so that it agrees with the folder's present files, and with these changes."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    for name in manifest["files"]:
        data = (folder / name).read_bytes()
        manifest["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    path.write_text(json.dumps(manifest))
