"""A snapshot in, a folder on disk out, and back: what is saved, and how it is put together again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.documents import RECIPE
from semantic_toolsearch.errors import IndexCorruptError
from semantic_toolsearch.index.manifest import MEND, IndexManifest
from semantic_toolsearch.index.storage import TOOLS, VECTORS, StoredIndex, read_index, write_index
from semantic_toolsearch.rankers.bm25 import Bm25Ranker, LexicalIndex
from semantic_toolsearch.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from semantic_toolsearch.index.faiss import FaissIndex

__all__ = ["read_snapshot", "write_snapshot"]

NAMESPACES: Final = "namespaces.json"
WORDS: Final = "words.json"

_DEFAULTS: Final = {
    name: field.get_default(call_default_factory=True) for name, field in ToolDefinition.model_fields.items()
}


def write_snapshot(path: str | PathLike[str], snapshot: Snapshot) -> None:
    """Save a prepared snapshot; see ``write_index`` for what it survives.

    Raises:
        IndexFileError: The folder cannot be written.
    """
    catalog = snapshot.catalog
    dense = snapshot.dense if snapshot.uses_dense and len(catalog) else None
    hashes: Sequence[str | None] = dense.hashes() if dense else [None] * len(catalog)
    lines = map(_line, catalog.wire_names, hashes, catalog)
    files: dict[str, bytes] = {
        TOOLS: "".join(lines).encode("utf-8"),
        NAMESPACES: json.dumps(dict(catalog.namespaces), ensure_ascii=False).encode("utf-8"),
    }
    if snapshot.uses_words:
        files |= snapshot.words.index.to_files()
    if dense:
        index: FaissIndex = dense.index()  # type: ignore[assignment]  # the only kind that snapshots build or load
        files[VECTORS] = index.to_bytes()
    manifest = IndexManifest(
        embedder=snapshot.embedder.id if dense else None,
        dimension=index.dimension if dense else None,
        recipe=RECIPE,
        catalog=catalog.fingerprint,
        tools=len(catalog),
    )
    write_index(path, manifest=manifest, files=files)


def read_snapshot(path: str | PathLike[str], tools: Any, empty: Snapshot, *, strict: bool) -> Snapshot:
    """Open a saved snapshot with the settings of ``empty``.

    Vectors are used where the ranker needs some and the folder has them; where it has none, they are computed
    at the first search, as they are for tools that were not saved.

    Args:
        path: The folder.
        tools: The current tools, or None for the saved ones.
        empty: A snapshot without tools, with the ranker, embedder and numbers to use.
        strict: Whether a malformed definition among ``tools`` raises.

    Raises:
        IndexFileError: The folder must not be used; the subclass says why.
    """
    stored = read_index(path)
    entries = _entries(stored)
    index = _index(stored, empty) if empty.uses_dense else None
    hashes = [entry["text"] for entry in entries] if index is not None else None
    if tools is None:
        catalog = _catalog(stored, entries)
    else:
        catalog = tools if isinstance(tools, Catalog) else Catalog(tools, strict=strict)
        if catalog.fingerprint != stored.manifest.catalog:
            known = None
            if index is not None and hashes is not None:
                known = dict(zip(hashes, index.vectors(), strict=True))
            return Snapshot(catalog, empty.ranker, empty.config, empty.embedder, empty.cache, known=known)
    return Snapshot(
        catalog,
        empty.ranker,
        empty.config,
        empty.embedder,
        empty.cache,
        words=_words(stored) if empty.uses_words else None,
        index=index,
        hashes=hashes,
    )


def _line(wire_name: str, text_hash: str | None, tool: ToolDefinition) -> str:
    fields = {name: value for name, value in tool.__dict__.items() if value != _DEFAULTS[name]}
    return json.dumps({"name": wire_name, "text": text_hash, "tool": fields}, ensure_ascii=False) + "\n"


def _entries(stored: StoredIndex) -> list[dict[str, Any]]:
    lines = stored.file(TOOLS).decode("utf-8").split("\n")[:-1]
    entries: list[dict[str, Any]] = [json.loads(line) for line in lines]
    if len(entries) != stored.manifest.tools:
        raise IndexCorruptError(
            f"{stored.folder} lists {len(entries)} tools, its manifest states {stored.manifest.tools}: {MEND}"
        )
    return entries


def _catalog(stored: StoredIndex, entries: Sequence[dict[str, Any]]) -> Catalog:
    """The saved catalog. Its bytes are those that were written, so its definitions are not checked again."""
    tools = []
    for entry in entries:
        fields = entry["tool"]
        for name in ("aliases", "tags"):
            if name in fields:
                fields[name] = tuple(fields[name])
        tools.append(ToolDefinition.model_construct(**fields))
    return Catalog.restored(tools, [entry["name"] for entry in entries], json.loads(stored.file(NAMESPACES)))


def _words(stored: StoredIndex) -> Bm25Ranker | None:
    """The saved lexical half; None when it was saved for a ranker without one, or written another way."""
    if WORDS not in stored.files or stored.manifest.recipe != RECIPE:
        return None
    return Bm25Ranker(LexicalIndex.from_files(stored.manifest.tools, stored.files))


def _index(stored: StoredIndex, empty: Snapshot) -> FaissIndex | None:
    """The saved vectors; None when it was saved for a ranker without any, or without tools."""
    from semantic_toolsearch.index.faiss import FaissIndex

    dimension = stored.manifest.dimension
    if VECTORS not in stored.files or dimension is None:
        return None
    # The embedder's own dimension is not asked for: a remote one may have to be called for it.
    stored.require(embedder=empty.embedder.id, dimension=dimension, recipe=RECIPE)
    return FaissIndex.from_bytes(stored.file(VECTORS), size=stored.manifest.tools, dimension=dimension)
