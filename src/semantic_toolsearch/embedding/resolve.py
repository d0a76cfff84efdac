"""A model's short name or an object comes in; an embedder goes out."""

from __future__ import annotations

from semantic_toolsearch.embedding.onnx import OnnxEmbedder
from semantic_toolsearch.embedding.protocol import Embedder
from semantic_toolsearch.embedding.shipped import SHIPPED_MODELS, shipped_model
from semantic_toolsearch.errors import ConfigError


def resolve_embedder(spec: str | Embedder = SHIPPED_MODELS[0]) -> Embedder:
    """Turn what a user may write for "embedder" into an embedder.

    Args:
        spec: Name of a shipped model, or any object that follows `Embedder`; an object is returned as it is.

    Returns:
        The embedder. Nothing is loaded yet.

    Raises:
        ConfigError: No shipped model has that name, or the object lacks part of the protocol.
        EmbedderError: The shipped model is missing from this installation.
    """
    if isinstance(spec, str):
        if spec not in SHIPPED_MODELS:
            raise ConfigError(
                f"no embedding model named {spec!r} is shipped; there is: {', '.join(SHIPPED_MODELS)}. "
                f"For any other model pass an object: SentenceTransformerEmbedder({spec!r}) for a folder or "
                f"a hub name, OpenAICompatibleEmbedder(base_url, {spec!r}) for an endpoint."
            )
        return OnnxEmbedder(shipped_model(spec))
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
