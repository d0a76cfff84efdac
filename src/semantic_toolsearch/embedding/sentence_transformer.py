"""The name or folder of any sentence-transformers model and texts come in; unit vectors go out."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semantic_toolsearch.embedding.checks import checked
from semantic_toolsearch.embedding.protocol import Matrix
from semantic_toolsearch.embedding.texts import as_texts
from semantic_toolsearch.errors import ConfigError, EmbedderError, MissingExtraError

MAX_CHARACTERS = 100_000
"""Texts are cut here before they are tokenised; no model reads as many."""


class SentenceTransformerEmbedder:
    """Embeds with any model that sentence-transformers can load, from a folder or from the hub.

    Needs the extra ``sentence-transformers``. The model is loaded at first use (for a hub model that may mean
    a download), once, whichever thread comes first. A model's own prompts for queries and documents are used.

    Args:
        model: Folder, or name on the hub.
        id: What stands for these vectors in indexes and caches. None hashes the loaded weights, prompts and
            sequence length, which reads all weights once.
        query_prompt: Put before every query instead of the model's own prompt; "" puts nothing.
        document_prompt: Likewise for documents.
        device: Where to compute, for instance "cpu" or "cuda"; None lets sentence-transformers choose.
        batch_size: Texts of one forward pass.
        options: Passed to the constructor of ``SentenceTransformer``, for instance ``{"revision": "..."}``,
            ``{"truncate_dim": 256}`` or ``{"local_files_only": True}``.

    Raises:
        MissingExtraError: At first use, when sentence-transformers is not installed.
        EmbedderError: At first use, when the model cannot be loaded; later, when it fails.
        ConfigError: ``batch_size`` is below 1.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        id: str | None = None,  # noqa: A002 - the protocol's name for it
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if batch_size < 1:
            raise ConfigError(
                f"SentenceTransformerEmbedder: batch_size must be at least 1, not {batch_size!r}"
            )
        self.name = str(model)
        self._id = id
        self._query_prompt = query_prompt
        self._document_prompt = document_prompt
        self._device = device
        self._batch_size = batch_size
        self._options = dict(options or {})
        self._lock = threading.RLock()
        self._model: Any = None

    @property
    def id(self) -> str:
        """Name and hash of what the vectors depend on; loads the model unless an id was given."""
        with self._lock:
            if self._id is None:
                self._id = self._fingerprint(self._load())
            return self._id

    @property
    def dimension(self) -> int:
        """Columns of every matrix; loads the model."""
        model = self._load()
        # Renamed in version 5.2; the old name warns from then on.
        measure = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        found = measure()
        if not isinstance(found, int):
            raise EmbedderError(f"model {self.name!r} does not say how long its vectors are")
        return found

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that are searched; see `Embedder.encode_document`."""
        return self._encode("encode_document", texts, self._document_prompt)

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """Embed texts that search; see `Embedder.encode_query`."""
        return self._encode("encode_query", texts, self._query_prompt)

    def _encode(self, method: str, texts: Sequence[str], prompt: str | None) -> Matrix:
        clean = as_texts(texts, limit=MAX_CHARACTERS)
        model = self._load()
        if not clean:
            return np.empty((0, self.dimension), dtype=np.float32)
        try:
            with self._lock:  # fast tokenizers and some model modules keep state between calls
                matrix = getattr(model, method)(
                    clean,
                    prompt=prompt,
                    batch_size=self._batch_size,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                    normalize_embeddings=True,
                )
        except Exception as error:  # a model may run anybody's code: any exception is its failure
            raise EmbedderError(f"model {self.name!r} failed: {type(error).__name__}: {error}") from error
        return checked(matrix, len(clean), self.dimension, self.name)

    def _load(self) -> Any:
        with self._lock:
            if self._model is None:
                try:
                    from sentence_transformers import SentenceTransformer
                except ImportError as error:
                    raise MissingExtraError("SentenceTransformerEmbedder", "sentence-transformers") from error
                try:
                    self._model = SentenceTransformer(self.name, device=self._device, **self._options)
                except (
                    Exception
                ) as error:  # the hub, the disk, torch and the model's own code each raise their own
                    raise EmbedderError(
                        f"model {self.name!r} cannot be loaded: {type(error).__name__}: {error}. Give the "
                        f"folder of a saved model, or a hub name while the hub can be reached."
                    ) from error
            return self._model

    def _fingerprint(self, model: Any) -> str:
        digest = hashlib.sha256()
        settings = {
            "prompts": dict(model.prompts),
            "query_prompt": self._query_prompt,
            "document_prompt": self._document_prompt,
            "max_seq_length": model.max_seq_length,
            "dimension": self.dimension,
            "modules": [type(module).__name__ for module in model],
            "configurations": [_configuration(module) for module in model],
        }
        digest.update(json.dumps(settings, sort_keys=True, default=str).encode())
        for name, tensor in sorted(model.state_dict().items()):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().float().contiguous().numpy())
        return f"{Path(self.name).name}-{digest.hexdigest()[:12]}"


def _configuration(module: Any) -> Any:
    """A module's own saved settings (pooling mode, for instance), for modules that have such."""
    read = getattr(module, "get_config_dict", None)
    return read() if callable(read) else None
