"""The facts of a saved index go in; the exact bytes of ``manifest.json`` come out, and back.

The manifest carries the hash of its own text. FAISS, JSON and pydantic all accept a changed digit in silence;
with the hash no byte of a saved index can change unnoticed, not even in a version string.
"""

from __future__ import annotations

import hashlib
import json
import reprlib
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from semantic_toolsearch._version import __version__
from semantic_toolsearch.errors import IndexCorruptError, IndexFormatError

FORMAT: Final = 1
"""The layout this version writes and reads; raised by every change that older code would misread."""

KIND: Final = "semantic-toolsearch-index"
MANIFEST: Final = "manifest.json"
MAX_MANIFEST_BYTES: Final = 1 << 20
"""A manifest names a handful of files; anything larger is not one, and is not read."""

MEND: Final = "build the index again with save(), or restore the folder from a backup"

_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200

FileName = Annotated[str, StringConstraints(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,99}\z")]
Sha256 = Annotated[str, StringConstraints(pattern=r"\A[0-9a-f]{64}\z")]
DataFolder = Annotated[str, StringConstraints(pattern=r"\Adata-[0-9a-f]{32}\z")]


class FileEntry(BaseModel):
    """Size and hash of one file of the index."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    bytes: int = Field(ge=0)
    sha256: Sha256


class IndexManifest(BaseModel):
    """What a saved index is, what it was built from, and which files it consists of.

    `write_index` fills in ``data`` and ``files``; everything else is the caller's.

    Attributes:
        embedder: Id of the embedder that made the vectors; None when the index holds no vectors.
        dimension: Columns of every vector; None when the index holds no vectors.
        recipe: Id of the recipe that turned a tool into the text that was embedded.
        catalog: Fingerprint of the catalog.
        tools: Number of tools, which is the number of vectors.
        format: Layout of the folder.
        library: Version of this library that wrote the folder.
        data: Name of the folder beside the manifest that holds the files.
        files: Each file's name, size and SHA-256.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: Literal["semantic-toolsearch-index"] = KIND
    format: Literal[1] = FORMAT
    library: str = __version__
    embedder: str | None
    dimension: int | None = Field(ge=1)
    recipe: str
    catalog: str
    tools: int = Field(ge=0)
    data: DataFolder = "data-" + "0" * 32
    files: dict[FileName, FileEntry] = Field(default_factory=dict)


def manifest_bytes(manifest: IndexManifest) -> bytes:
    """The one true spelling of a manifest: indented JSON whose last field is the hash of all before it."""
    fields = manifest.model_dump(mode="json")
    return _render(fields | {"sha256": hashlib.sha256(_render(fields)).hexdigest()})


def parse_manifest(data: bytes, path: Path) -> IndexManifest:
    """Read the bytes of a manifest.

    Args:
        data: The whole file.
        path: Where it came from, for messages.

    Raises:
        IndexFormatError: This is some other JSON file, or an index of another format.
        IndexCorruptError: It is no JSON, or any byte of it differs from what was written.
    """
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise IndexCorruptError(f"{path} is not readable JSON ({error}): {MEND}") from error
    if not isinstance(fields, dict) or fields.get("kind") != KIND:
        raise IndexFormatError(f"{path} does not describe a tool-search index: check the path, or {MEND}")
    found = fields.get("format")
    if found != FORMAT or type(found) is not int:
        raise IndexFormatError(
            f"{path} has format {shown(found)} and this version ({__version__}) reads format {FORMAT}: "
            "install the version that wrote it, or build the index again with save()"
        )
    stated = fields.pop("sha256", None)
    try:
        actual = hashlib.sha256(_render(fields)).hexdigest()
        changed = stated != actual or _render(fields | {"sha256": stated}) != data
    except RecursionError as error:  # what can be read can be too deep to be written
        raise IndexCorruptError(f"{path} is nested deeper than any manifest: {MEND}") from error
    if changed:
        raise IndexCorruptError(
            f"{path} was changed after it was written (sha256 {actual} instead of {shown(stated)}): {MEND}"
        )
    try:
        return IndexManifest.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise IndexCorruptError(f"{path} is invalid at {where!r} ({first['msg']}): {MEND}") from error


def shown(value: Any) -> str:
    """A value that stands in a file, as a message can show it: not longer than a line, whatever it is."""
    return _SHORT.repr(value)


def _render(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, indent=1, ensure_ascii=True).encode("ascii") + b"\n"
