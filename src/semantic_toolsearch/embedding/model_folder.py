"""A model folder comes in; its checked manifest and the exact bytes that the manifest vouches for go out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from semantic_toolsearch.errors import EmbedderError

FORMAT = 1
MANIFEST = "manifest.json"
MODEL = "model.onnx"
VECTORS = "vectors.npy"
SCALES = "scales.npy"
TOKENIZER = "tokenizer.json"

Kind: TypeAlias = Literal["onnx", "static"]

FILES: Final[dict[Kind, tuple[str, ...]]] = {
    "onnx": (MODEL, TOKENIZER),
    "static": (VECTORS, SCALES, TOKENIZER),
}
"""What a folder of each kind holds beside its manifest."""

_CLASSES: Final[dict[Kind, str]] = {"onnx": "OnnxEmbedder", "static": "StaticEmbedder"}


class ModelFile(BaseModel):
    """Size and hash of one file, as the manifest states them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ModelManifest(BaseModel):
    """What a folder says about its model; keys meant for people (source, licence) are kept as given."""

    model_config = ConfigDict(frozen=True, extra="allow")

    format: Literal[1]
    kind: Kind = "onnx"
    id: Annotated[str, Field(min_length=1)]
    dimension: Annotated[int, Field(ge=1)]
    max_tokens: Annotated[int, Field(ge=3)]
    pooling: str
    normalized: Literal[True]
    query_prefix: str
    document_prefix: str
    files: dict[str, ModelFile]


def read_manifest(folder: Path, kind: Kind | None = None) -> ModelManifest:
    """Read and validate a folder's manifest.

    Args:
        folder: The model folder.
        kind: What the model must be; None for any kind.

    Raises:
        EmbedderError: The folder or its manifest is missing, unreadable, of another format or kind, or leaves
            out a file that a model of its kind has.
    """
    path = folder / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EmbedderError(
            f"{folder} is no model folder: {MANIFEST} cannot be read ({error}). A model folder holds "
            f"{MANIFEST}, {TOKENIZER}, and {MODEL} or {VECTORS} and {SCALES}."
        ) from error
    try:
        manifest = ModelManifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=True)[0]
        where = ".".join(str(part) for part in first["loc"]) or "(the whole file)"
        hint = f" This version reads format {FORMAT}." if where == "format" else ""
        raise EmbedderError(
            f"{path}: {where}: {first['msg']}, found {_short(first.get('input'))}.{hint} "
            f"Install the model again or export it anew."
        ) from error
    if kind not in (None, manifest.kind):
        raise EmbedderError(
            f"{path}: kind: the model is of kind {manifest.kind!r}; open it with {_CLASSES[manifest.kind]}."
        )
    if missing := [name for name in FILES[manifest.kind] if name not in manifest.files]:
        raise EmbedderError(f"{path}: files: {', '.join(missing)} is not listed. Export the model anew.")
    return manifest


def read_verified(folder: Path, manifest: ModelManifest, name: str) -> bytes:
    """Read one file whole and compare size and sha256 with the manifest.

    The returned bytes are the ones that were hashed, so a file swapped afterwards is not used.

    Raises:
        EmbedderError: The file is missing, shorter, longer or changed; the message gives both values.
    """
    expected, path = manifest.files[name], folder / name
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size == expected.bytes else b""
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read ({error}). Install the model again.") from error
    if size != expected.bytes:
        raise EmbedderError(
            f"{path} has {size} bytes, its manifest says {expected.bytes}: the copy is incomplete or not the "
            f"same file. Install the model again."
        )
    if (found := hashlib.sha256(data).hexdigest()) != expected.sha256:
        raise EmbedderError(
            f"{path} has sha256 {found}, its manifest says {expected.sha256}: the file was changed. "
            f"Install the model again."
        )
    return data


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "..."
