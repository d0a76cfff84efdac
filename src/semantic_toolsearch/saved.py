"""A snapshot in, a folder on disk out, and back: what is saved, and how it is put together again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.documents import RECIPE
from semantic_toolsearch.errors import ConfigError, IndexCorruptError, ToolSearchError
from semantic_toolsearch.index.manifest import MEND, IndexManifest
from semantic_toolsearch.index.storage import TOOLS, VECTORS, StoredIndex, read_index, write_index
from semantic_toolsearch.pins import pins_text, read_pins
from semantic_toolsearch.rankers.bm25 import Bm25Ranker, LexicalIndex
from semantic_toolsearch.saved_tools import SavedTools, tool_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from semantic_toolsearch.index.faiss import FaissIndex
    from semantic_toolsearch.snapshot import Snapshot

__all__ = ["Opened", "read_snapshot", "write_snapshot"]

PINS: Final = "pins.json"
NAMES: Final = "names.json"


class Opened(NamedTuple):
    """A saved snapshot as it was opened.

    Attributes:
        snapshot: The snapshot, over the current tools where some were given.
        saved: Gives the tools that were saved.
        pins: What was accepted when it was saved, by wire name; None where that was not kept.
    """

    snapshot: Snapshot
    saved: Callable[[], Catalog]
    pins: dict[str, str] | None


def write_snapshot(
    path: str | PathLike[str], snapshot: Snapshot, pins: Mapping[str, str] | None = None
) -> None:
    """Save a prepared snapshot; see ``write_index`` for what it survives.

    Args:
        path: The folder.
        snapshot: The snapshot.
        pins: What was accepted, by wire name, to be kept beside it; None for nothing.

    Raises:
        IndexFileError: The folder cannot be written.
    """
    catalog = snapshot.catalog
    dense = snapshot.dense if snapshot.uses_dense and len(catalog) else None
    hashes: Sequence[str | None] = dense.hashes() if dense else [None] * len(catalog)
    names = {
        "identities": catalog.identities,
        "wire_names": catalog.wire_names,
        "texts": hashes,
        "namespaces": list(catalog.namespaces.items()),
    }
    lines = map(tool_line, catalog.wire_names, hashes, catalog)

    def write_tools(path: Path) -> None:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)

    # Large files are made when their turn comes: together they would be as much memory as the whole search.
    files: dict[str, bytes | Callable[[Path], None]] = {
        TOOLS: write_tools,
        NAMES: json.dumps(names, ensure_ascii=False).encode(),
    }
    if pins is not None:
        files[PINS] = pins_text(pins).encode()
    if snapshot.uses_words:
        files |= snapshot.words.index.to_files()
    if dense:
        index: FaissIndex = dense.index()  # type: ignore[assignment]  # the only kind that snapshots build or load
        files[VECTORS] = index.write
    manifest = IndexManifest(
        embedder=snapshot.embedder.id if dense else None,
        dimension=index.dimension if dense else None,
        recipe=RECIPE,
        catalog=catalog.fingerprint,
        tools=len(catalog),
    )
    write_index(path, manifest=manifest, files=files)


def read_snapshot(path: str | PathLike[str], tools: Any, empty: Snapshot, *, strict: bool) -> Opened:
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
    names = _names(stored)
    index = _index(stored, empty) if empty.uses_dense else None
    hashes = names["texts"] if index is not None else None
    pins = _pins(stored)

    def saved() -> Catalog:
        return _catalog(stored, names)

    if tools is None:
        catalog = saved()
    else:
        catalog = tools if isinstance(tools, Catalog) else Catalog(tools, strict=strict)
        if catalog.fingerprint != stored.manifest.catalog:
            known = None
            if index is not None and hashes is not None:
                known = dict(zip(hashes, index.vectors(), strict=True))
            return Opened(empty.of(catalog, known=known), saved, pins)
    words = _words(stored) if empty.uses_words else None
    return Opened(empty.of(catalog, words=words, index=index, hashes=hashes), saved, pins)


def _names(stored: StoredIndex) -> dict[str, list[Any]]:
    """Names, wire names and text hashes, one a tool: all that a search needs of tools it does not find."""
    try:
        names: dict[str, list[Any]] = json.loads(stored.file(NAMES))
        names["identities"] = [(_maybe(owner), _text(name)) for owner, name in names["identities"]]
        names["wire_names"] = [_text(name) for name in names["wire_names"]]
        names["texts"] = [_maybe(text_hash) for text_hash in names["texts"]]
        names["namespaces"] = [(_text(key), _text(owner)) for key, owner in names["namespaces"]]
        complete = all(
            len(names[key]) == stored.manifest.tools for key in ("identities", "wire_names", "texts")
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        complete = False
    if not complete:
        raise IndexCorruptError(
            f"{NAMES} in {stored.folder} does not list the manifest's {stored.manifest.tools} tools: {MEND}"
        )
    return names


def _catalog(stored: StoredIndex, names: dict[str, list[Any]]) -> Catalog:
    """The saved catalog. Its bytes are those that were written, so its definitions are not checked again."""
    lines = stored.file(TOOLS).split(b"\n")[:-1]
    if len(lines) != stored.manifest.tools:
        raise IndexCorruptError(
            f"{stored.folder} lists {len(lines)} tools, its manifest states {stored.manifest.tools}: {MEND}"
        )
    return Catalog.restored(
        SavedTools(lines), names["identities"], names["wire_names"], dict(names["namespaces"])
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} in the place of a text")
    return value


def _maybe(value: Any) -> str | None:
    return None if value is None else _text(value)


def _pins(stored: StoredIndex) -> dict[str, str] | None:
    if PINS not in stored.files:
        return None
    try:
        return read_pins(json.loads(stored.file(PINS)))
    except (ValueError, ConfigError) as error:
        raise IndexCorruptError(f"{PINS} in {stored.folder} holds no pins ({error}): {MEND}") from error


def _words(stored: StoredIndex) -> Bm25Ranker | None:
    """The saved lexical half; None when it was saved for a ranker without one, or written another way."""
    if stored.manifest.recipe != RECIPE or LexicalIndex.FILES - stored.files.keys():
        return None
    try:
        return Bm25Ranker(LexicalIndex.from_files(stored.manifest.tools, stored.files))
    except ValueError as error:
        raise IndexCorruptError(
            f"the words saved in {stored.folder} are damaged ({error}): {MEND}"
        ) from error


def _index(stored: StoredIndex, empty: Snapshot) -> FaissIndex | None:
    """The saved vectors; None when it was saved for a ranker without any, or without tools."""
    dimension = stored.manifest.dimension
    if dimension is None:
        return None
    from semantic_toolsearch.index.faiss import FaissIndex
    from semantic_toolsearch.index.runtime import load_faiss

    # The embedder's own dimension is not asked for: a remote one may have to be called for it.
    stored.require(embedder=empty.embedder.id, dimension=dimension, recipe=RECIPE)
    try:
        load_faiss()
    except ToolSearchError:  # words answer without it, and every search that would need it says so
        return None
    return FaissIndex.from_bytes(stored.file(VECTORS), size=stored.manifest.tools, dimension=dimension)
