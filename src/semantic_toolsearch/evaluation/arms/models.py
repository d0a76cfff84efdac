"""What a user writes for an embedding model in; an embedder, one for all arms that name the same model, out."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.embedding import (
    MODEL_NAMES,
    SHIPPED_MODELS,
    OpenAICompatibleEmbedder,
    SentenceTransformerEmbedder,
    resolve_embedder,
    shipped_name,
)
from semantic_toolsearch.errors import ConfigError, MissingExtraError
from semantic_toolsearch.evaluation.arms.import_paths import code_of, imported
from semantic_toolsearch.evaluation.measuring.collecting import FAULTS, reason_of
from semantic_toolsearch.names import nearest

if TYPE_CHECKING:
    from semantic_toolsearch.embedding import Embedder

__all__ = ["MODEL_FORMS", "model_code", "named_embedder"]

MODEL_FORMS: Final = {
    **dict.fromkeys(MODEL_NAMES, "shipped with the library"),
    "st:FOLDER_OR_NAME": "any sentence-transformers model, from a folder or a hub",
    "openai:BASE_URL|MODEL": "an OpenAI-compatible endpoint; an empty BASE_URL is OpenAI's own",
    "package.module:Name": "an embedder of your own, or what makes one without arguments",
}
"""How a model may be written, with what it means."""


@lru_cache(maxsize=8)
def named_embedder(spec: str) -> Embedder:
    """The embedder of this name; the same object for the same model, so that none is loaded twice.

    Args:
        spec: One of ``MODEL_FORMS``, or a shipped model's folder name.

    Raises:
        ConfigError: It is none of them, cannot be imported, or is no embedder.
        MissingExtraError: The package that runs it is not installed.
    """
    if folder := shipped_name(spec):
        return resolve_embedder(folder) if spec == folder else named_embedder(folder)
    form, _, rest = spec.partition(":")
    if form == "st":
        if not rest:
            raise ConfigError(f"{spec!r} names no model; write st:FOLDER or st:ORGANISATION/NAME.")
        _require("sentence_transformers", "SentenceTransformerEmbedder", "sentence-transformers")
        return SentenceTransformerEmbedder(rest)
    if form == "openai":
        address, _, model = rest.rpartition("|")
        if not model or "|" not in rest:
            raise ConfigError(f"{spec!r} is incomplete; write openai:http://localhost:11434/v1|MODEL.")
        _require("openai", "OpenAICompatibleEmbedder", "openai")
        return OpenAICompatibleEmbedder(address or None, model)
    if rest:
        return _own(spec)
    similar = nearest(spec, (*MODEL_NAMES, *SHIPPED_MODELS))
    hint = f" Did you mean {similar[0]}?" if similar else ""
    forms = ", ".join(f"{form} ({meaning})" for form, meaning in MODEL_FORMS.items())
    raise ConfigError(f"There is no embedding model {spec!r}.{hint} Write one of: {forms}.")


def model_code(spec: str) -> str:
    """What tells a shipped model's weights, or the code of an embedder of the user's own, from what they were."""
    if shipped_name(spec):
        return named_embedder(spec).id
    form, _, rest = spec.partition(":")
    return code_of(spec) if rest and form not in ("st", "openai") else ""


def _own(path: str) -> Embedder:
    found: Any = imported(path)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "encode_query")):
        try:
            found = found()
        except FAULTS as fault:  # anybody's code
            raise ConfigError(f"{path}() failed with {reason_of(fault)}") from fault
    try:
        return resolve_embedder(found)
    except ConfigError as fault:
        raise ConfigError(f"{path}: {fault}") from fault


def _require(package: str, feature: str, extra: str) -> None:
    """Say at once that a package is missing, rather than when the first arm is built."""
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(feature, extra)
