"""A snapshot in, a folder on disk out, and back: what of a search is saved, and how it is put together again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.dense import DenseSearcher, KnownVectors
from semantic_toolsearch.documents import RECIPE, dense_text
from semantic_toolsearch.errors import IndexCorruptError
from semantic_toolsearch.index.manifest import IndexManifest
from semantic_toolsearch.index.storage import TOOLS, VECTORS, StoredIndex, read_index, write_index
from semantic_toolsearch.rankers.bm25 import Bm25Ranker, LexicalIndex
from semantic_toolsearch.snapshot import Snapshot

if TYPE_CHECKING:
    from os import PathLike

    from semantic_toolsearch.index.faiss import FaissIndex

__all__ = ["read_snapshot", "write_snapshot"]


def write_snapshot(path: str | PathLike[str], snapshot: Snapshot) -> None:
    """Save a prepared snapshot; see ``write_index`` for what it survives."""
    catalog = snapshot.catalog
    dense = snapshot.dense if snapshot.uses_dense and len(catalog) else None
    hashes: list[str | None] = list(dense.hashes()) if dense else [None] * len(catalog)
    files: dict[str, bytes] = {
        TOOLS: b"".join(
            _line(wire_name, text_hash, tool)
            for wire_name, text_hash, tool in zip(catalog.wire_names, hashes, catalog, strict=True)
        )
    }
    if snapshot.uses_words:
        files |= snapshot.words.index.to_files()
    if dense:
        index: FaissIndex = dense.index()  # type: ignore[assignment]  # a snapshot that was built here holds this class
        files[VECTORS] = index.to_bytes()
    manifest = IndexManifest(
        embedder=snapshot.embedder.id if dense else None,
        dimension=snapshot.embedder.dimension if dense else None,
        recipe=RECIPE,
        catalog=catalog.fingerprint,
        tools=len(catalog),
    )
    write_index(path, manifest=manifest, files=files)


def read_snapshot(path: str | PathLike[str], tools: Any, empty: Snapshot, *, strict: bool) -> Snapshot:
    """Open a saved snapshot with the settings of ``empty``.

    Args:
        path: The folder.
        tools: The current tools, or None for the saved ones.
        empty: A snapshot without tools, with the ranker, embedder and numbers to use.
        strict: Whether a malformed definition among ``tools`` raises.

    Raises:
        IndexFileError: The folder must not be used; the subclass says why.
    """
    stored = read_index(path)
    entries = [json.loads(line) for line in stored.file(TOOLS).splitlines()]
    if len(entries) != stored.manifest.tools:
        raise IndexCorruptError(
            f"{stored.folder} lists {len(entries)} tools, its manifest states {stored.manifest.tools}."
        )
    if empty.uses_dense and stored.manifest.tools:
        stored.require(embedder=empty.embedder.id, dimension=empty.embedder.dimension, recipe=RECIPE)
    if tools is None:
        catalog = Catalog(ToolDefinition.model_construct(**_restored(entry["tool"])) for entry in entries)
    else:
        catalog = tools if isinstance(tools, Catalog) else Catalog(tools, strict=strict)
    same = catalog.fingerprint == stored.manifest.catalog if tools is not None else True
    index = _index(stored) if empty.uses_dense and stored.manifest.tools else None
    if same:
        return _snapshot(
            empty,
            catalog,
            words=_words(stored) if empty.uses_words else None,
            dense=None
            if index is None
            else DenseSearcher(
                lambda: [dense_text(tool) for tool in catalog],
                empty.embedder,
                KnownVectors(None, empty.cache),
                index=index,
            ),
        )
    known = None
    if index is not None:
        known = dict(zip((entry["text"] for entry in entries), index.vectors(), strict=True))
    return _snapshot(empty, catalog, known=known)


def _snapshot(empty: Snapshot, catalog: Catalog, **parts: Any) -> Snapshot:
    return Snapshot(catalog, empty.ranker, empty.config, empty.embedder, empty.cache, **parts)


def _line(wire_name: str, text_hash: str | None, tool: ToolDefinition) -> bytes:
    entry = {
        "name": wire_name,
        "text": text_hash,
        "tool": tool.model_dump(mode="json", exclude_defaults=True),
    }
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _restored(fields: dict[str, Any]) -> dict[str, Any]:
    for name in ("aliases", "tags"):
        if name in fields:
            fields[name] = tuple(fields[name])
    return fields


def _words(stored: StoredIndex) -> Bm25Ranker | None:
    """The saved lexical half; None when it was saved for a ranker without one, or written another way."""
    if "words.json" not in stored.files or stored.manifest.recipe != RECIPE:
        return None
    return Bm25Ranker(LexicalIndex.from_files(stored.manifest.tools, stored.files))


def _index(stored: StoredIndex) -> FaissIndex:
    from semantic_toolsearch.index.faiss import FaissIndex

    return FaissIndex.from_bytes(
        stored.file(VECTORS), size=stored.manifest.tools, dimension=stored.manifest.dimension or 0
    )
