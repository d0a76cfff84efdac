"""A model's short name or an object comes in; an embedder goes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from semantic_toolsearch.embedding.onnx import OnnxEmbedder
from semantic_toolsearch.embedding.protocol import Embedder, Matrix
from semantic_toolsearch.embedding.shipped import DEFAULT_MODEL, shipped_choices, shipped_model, shipped_name
from semantic_toolsearch.embedding.static import StaticEmbedder
from semantic_toolsearch.errors import ConfigError, EmbedderError


def resolve_embedder(spec: str | Embedder = DEFAULT_MODEL) -> Embedder:
    """Turn what a user may write for "embedder" into an embedder.

    Args:
        spec: Name of a shipped model (``small``, ``nano``, or its folder's name), or any object that follows
            `Embedder`; an object is returned as it is.

    Returns:
        The embedder. Nothing is loaded yet.

    Raises:
        ConfigError: No shipped model has that name, or the object lacks part of the protocol.
        EmbedderError: The shipped model is missing from this installation, or its manifest is unusable.
    """
    if isinstance(spec, str):
        if shipped_name(spec) is None:
            raise ConfigError(
                f"no embedding model named {spec!r} is shipped; there is: {shipped_choices()}. "
                f"For any other model pass an object: SentenceTransformerEmbedder({spec!r}) for a folder or "
                f"a hub name, OpenAICompatibleEmbedder(base_url, {spec!r}) for an endpoint."
            )
        return _open(shipped_model(spec))
    # Looked up on the class: reading `id` or `dimension` of an instance may load a model or ask an endpoint.
    methods = [
        name for name in ("encode_document", "encode_query") if not callable(getattr(spec, name, None))
    ]
    fields = [
        name
        for name in ("id", "dimension")
        if name not in getattr(spec, "__dict__", {}) and not hasattr(type(spec), name)
    ]
    if missing := fields + methods:
        raise ConfigError(
            f"an embedder must be a shipped model's name or an object with id, dimension, "
            f"encode_document and encode_query; {type(spec).__name__} lacks {', '.join(missing)}"
        )
    return spec


def embedder_of_search(spec: str | Embedder) -> Embedder:
    """Like `resolve_embedder`, but a shipped model that cannot be opened fails when it is used, not before.

    A search does not need it for everything, and tells by itself that a model fails.

    Raises:
        ConfigError: As in `resolve_embedder`.
    """
    try:
        return resolve_embedder(spec)
    except EmbedderError:
        if not isinstance(spec, str):
            raise
        return _Unopened(spec)


class _Unopened:
    """A shipped model that is missing or damaged; every use looks again, so that a repaired one works."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._opened: Embedder | None = None

    @property
    def id(self) -> str:
        return self._open().id

    @property
    def dimension(self) -> int:
        return self._open().dimension

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        return self._open().encode_document(texts)

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        return self._open().encode_query(texts)

    def _open(self) -> Embedder:
        if self._opened is None:
            self._opened = resolve_embedder(self._name)
        return self._opened


def _open(folder: Path) -> Embedder:
    """The embedder that reads a folder of this kind."""
    from semantic_toolsearch.embedding.model_folder import read_manifest  # as in the embedders themselves

    static = read_manifest(folder).kind == "static"
    return StaticEmbedder(folder) if static else OnnxEmbedder(folder)
