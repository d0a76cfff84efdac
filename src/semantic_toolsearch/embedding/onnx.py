"""A model folder and texts come in; unit vectors computed by onnxruntime on this machine go out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semantic_toolsearch.embedding.checks import checked
from semantic_toolsearch.embedding.protocol import Matrix
from semantic_toolsearch.embedding.shipped import shipped_model
from semantic_toolsearch.embedding.texts import as_texts
from semantic_toolsearch.embedding.tokenizer_file import CHARACTERS_PER_TOKEN, open_tokenizer
from semantic_toolsearch.errors import ConfigError, EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# model_folder is imported where it is used: building pydantic models is a tenth of this package's import.

BATCH_TOKENS = 256
"""Tokens of one run, padding included. Larger runs leave the processor's caches: at 8,192 tokens a run,
documents take more than twice the time."""


class OnnxEmbedder:
    """Embeds with an ONNX model from a folder, by default the one that comes with this library.

    Needs no network, ever. The files are compared with the manifest's sizes and hashes before onnxruntime
    sees them. Construction reads only the manifest; model and tokenizer are loaded at the first call, once,
    whichever thread comes first. Instances may be shared by threads.

    A text's vector does not depend on the texts beside it, except for rounding in the last digits.

    Args:
        folder: Model folder (``manifest.json``, ``model.onnx``, ``tokenizer.json``); None is the shipped
            model.
        threads: Threads that work on one run. One is fastest on a busy machine and nearly so on an idle one.
        batch_size: Most texts of one run.

    Attributes:
        id: The manifest's id and the first 12 digits of the model file's hash.
        dimension: Columns of every matrix.
        folder: Where the model was found.

    Raises:
        EmbedderError: The folder has no usable manifest; at the first encode, a file is missing or damaged.
        ConfigError: ``threads`` or ``batch_size`` is below 1.
    """

    id: str
    dimension: int

    def __init__(self, folder: Path | str | None = None, *, threads: int = 1, batch_size: int = 32) -> None:
        from semantic_toolsearch.embedding.model_folder import MODEL, read_manifest

        for name, value in (("threads", threads), ("batch_size", batch_size)):
            if value < 1:
                raise ConfigError(f"OnnxEmbedder: {name} must be at least 1, not {value!r}")
        self.folder = shipped_model() if folder is None else Path(folder)
        self._manifest = read_manifest(self.folder, kind="onnx")
        self.id = f"{self._manifest.id}-{self._manifest.files[MODEL].sha256[:12]}"
        self.dimension = self._manifest.dimension
        self._threads = threads
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, Any] | None = None

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that are searched; see `Embedder.encode_document`."""
        return self._encode(texts, self._manifest.document_prefix)

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that search; see `Embedder.encode_query`."""
        return self._encode(texts, self._manifest.query_prefix)

    def _encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        clean = as_texts(texts, prefix=prefix, limit=self._manifest.max_tokens * CHARACTERS_PER_TOKEN)
        out = np.empty((len(clean), self.dimension), dtype=np.float32)
        if not clean:
            return out
        tokenizer, session = self._load()
        try:
            tokens = [encoding.ids for encoding in tokenizer.encode_batch_fast(clean)]
            for rows in _batches([len(ids) for ids in tokens], self._batch_size):
                out[rows] = _run(session, [tokens[row] for row in rows])
        except (
            Exception
        ) as error:  # tokenizers and onnxruntime raise types of their own, some of them bare Exception
            raise EmbedderError(f"embedder {self.id!r} failed: {error}") from error
        return checked(out, len(clean), self.dimension, self.id)

    def _load(self) -> tuple[Tokenizer, Any]:
        """Verify and open the model once; a failure is not remembered, so a repaired folder works."""
        from semantic_toolsearch.embedding.model_folder import MODEL, TOKENIZER, read_verified

        if self._loaded is not None:
            return self._loaded
        with self._lock:
            if self._loaded is None:
                model = read_verified(self.folder, self._manifest, MODEL)
                vocabulary = read_verified(self.folder, self._manifest, TOKENIZER)
                try:
                    self._loaded = (
                        open_tokenizer(vocabulary, self._manifest.max_tokens),
                        _session(model, self._threads),
                    )
                except Exception as error:  # as above: the libraries' own exception types
                    raise EmbedderError(
                        f"{self.folder}: intact, but it cannot be loaded ({error}). Install what reads it again "
                        f"(pip install --force-reinstall onnxruntime tokenizers), or export the model anew."
                    ) from error
            return self._loaded


def _session(model: bytes, threads: int) -> Any:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A waiting thread that spins takes the core from the one that works.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Runs differ in length, so a memory plan per shape would only grow.
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield row numbers, shortest texts first, so that a run pads little and stays within `BATCH_TOKENS`."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if rows and (len(rows) == batch_size or (len(rows) + 1) * lengths[row] > BATCH_TOKENS):
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _run(session: Any, tokens: Sequence[Sequence[int]]) -> Matrix:
    """One forward pass over padded token ids."""
    width = max(map(len, tokens))
    ids = np.zeros((len(tokens), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, entry in enumerate(tokens):
        ids[row, : len(entry)] = entry
        mask[row, : len(entry)] = 1
    result: Matrix = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    return result
