"""``ToolSearch``: tool definitions in, an object that searches, explains, replaces, saves and loads them out."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.dense import Unavailable
from semantic_toolsearch.embedding import EmbeddingCache, resolve_embedder
from semantic_toolsearch.errors import ConfigError, EmbedderError
from semantic_toolsearch.snapshot import RankerSpec, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike
    from typing import TypeAlias

    from semantic_toolsearch.definitions import ToolDefinition
    from semantic_toolsearch.embedding import Embedder
    from semantic_toolsearch.rankers.protocol import Visible
    from semantic_toolsearch.report import CatalogReport
    from semantic_toolsearch.results import Explanation, SearchResult

    VisibleTools: TypeAlias = Iterable[str] | Callable[[ToolDefinition], bool] | None

__all__ = ["Stats", "ToolSearch"]

logger = logging.getLogger("semantic_toolsearch")


@dataclass(frozen=True, slots=True)
class Stats:
    """What a ``ToolSearch`` holds.

    Attributes:
        registered: Usable tools.
        quarantined: Definitions that could not be used.
        indexed: Tools in the vector index; 0 before the first search, and where the ranker needs none.
        embedded: Texts that the model embedded for this generation.
        from_cache: Texts whose vectors were known already.
        generation: Number of the catalog snapshot.
    """

    registered: int
    quarantined: int
    indexed: int
    embedded: int
    from_cache: int
    generation: int


class ToolSearch:
    """Searches tools by meaning, with exact-name and result-cap rules on top.

    Nothing is built before the first search (or ``prepare``). One object may be shared by threads: a search
    sees one generation of the catalog from end to end.

    Args:
        tools: Definitions for OpenAI, Anthropic or MCP, Python functions, or a ``Catalog``; mixed as you like.
        ranker: ``hybrid`` (default), ``semantic``, ``bm25``, ``keyword``, ``regex``; an object with
            ``rank(query, *, limit, visible)``; or a callable that makes one from a ``Catalog``.
        embedder: Name of a shipped model, or any ``Embedder``.
        config: The numbers of the rules; ``ranker`` wins over ``config.ranker``.
        cache: Where embeddings are kept between processes: None for the user's cache folder, a path for a file
            of your own, False for nowhere.
        strict: Raise at the first malformed definition instead of leaving it out and listing it in ``report``.

    Raises:
        ConfigError: An unknown ranker or embedder.
        CatalogError: ``strict`` and a malformed definition; or ``tools`` is no collection of tools.
    """

    def __init__(
        self,
        tools: Any = (),
        *,
        ranker: RankerSpec | None = None,
        embedder: str | Embedder = "minilm-l6",
        config: SearchConfig | None = None,
        cache: EmbeddingCache | str | PathLike[str] | bool | None = None,
        strict: bool = False,
    ) -> None:
        catalog = tools if isinstance(tools, Catalog) else Catalog(tools, strict=strict)
        config = config or SearchConfig()
        spec: RankerSpec = ranker if ranker is not None else config.ranker
        if isinstance(spec, str):
            config = config.but(ranker=spec)
        self._snapshot = Snapshot(catalog, spec, config, resolve_embedder(embedder), _cache(cache))
        self._replacing = threading.Lock()

    @property
    def catalog(self) -> Catalog:
        """The tools of the current generation."""
        return self._snapshot.catalog

    @property
    def report(self) -> CatalogReport:
        """Which definitions were used, repaired and left out, and why."""
        return self._snapshot.catalog.report

    @property
    def config(self) -> SearchConfig:
        """The numbers of the rules."""
        return self._snapshot.config

    @property
    def ranker(self) -> Any:
        """The ranker of the current generation."""
        return self._snapshot.retriever.ranker

    def search(
        self,
        query: Any = None,
        *,
        queries: Iterable[str] = (),
        names: Iterable[str] = (),
        limit: Any = None,
        visible: VisibleTools = None,
    ) -> SearchResult:
        """Find the tools that fit a need.

        Arguments may come straight from a model: whatever it sends becomes a result that it can act on.

        Args:
            query: A need, a word or a tool's name; empty, ``*`` or missing lists the names instead.
            queries: Further needs, answered together: the best of each, no tool twice.
            names: Tools wanted by name: in the order asked, never cut at the limit, unknown ones reported.
            limit: The most tools to return, save those asked for by name.
            visible: The tools that this caller may see: names, or a function of a definition. None is all, an empty
                collection is none.

        Raises:
            ConfigError: ``visible`` is a single string.
            RankerError: A custom ranker broke its contract.
        """
        snapshot = self._snapshot
        mask = _mask(snapshot.catalog, visible)
        asked = [*_texts(query), *_texts(queries)]
        wanted = _texts(names)
        if not wanted:
            return snapshot.retriever.search(asked, limit, mask)
        selected = snapshot.retriever.select(wanted, mask)
        if not any(text.strip() for text in asked):
            return selected
        found = snapshot.retriever.search(asked, limit, mask)
        return _together(selected, found)

    def explain(
        self, query: str, tool: str, *, limit: Any = None, visible: VisibleTools = None
    ) -> Explanation:
        """Say where a tool stands for a query, and which rule kept or removed it.

        Args:
            query: What was searched for.
            tool: The tool's wire name, raw name, or any spelling of them.
            limit: As in ``search``.
            visible: As in ``search``.

        Raises:
            UnknownToolError: No tool of the catalog has this name.
        """
        snapshot = self._snapshot
        position = snapshot.catalog.position(tool)
        return snapshot.retriever.explain(query, position, limit, _mask(snapshot.catalog, visible))

    def replace(self, namespace: str | None, tools: Any, *, strict: bool = False) -> CatalogReport:
        """Swap all tools of one namespace for others, at once for every later search.

        Only texts that were not embedded before are embedded, and before the swap, so that no search waits.
        An empty ``tools`` removes the namespace.

        Args:
            namespace: The server or category; None for tools without one.
            tools: As for ``ToolSearch``.
            strict: As for ``ToolSearch``.

        Returns:
            The report of the new catalog.
        """
        with self._replacing:
            current = self._snapshot
            following = current.next(current.catalog.replace(namespace, tools, strict=strict))
            if current.started:
                _prepare(following)
            self._snapshot = following
        return following.catalog.report

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> ToolSearch:
        """Build the index now instead of at the first search; a failing embedding model is reported by searches.

        Args:
            progress: Called with (texts done, texts in all) while embedding.

        Returns:
            This object.
        """
        _prepare(self._snapshot, progress)
        return self

    def save(self, path: str | PathLike[str], progress: Callable[[int, int], None] | None = None) -> None:
        """Write the index to a folder, so that ``load`` needs no embedding.

        Args:
            path: The folder; an index that is there is replaced in one step.
            progress: As in ``prepare``.

        Raises:
            EmbedderError: The embedding model failed, so there is nothing complete to save.
            IndexFileError: The folder cannot be written.
        """
        from semantic_toolsearch.saved import write_snapshot

        snapshot = self._snapshot
        try:
            snapshot.prepare(progress)
        except Unavailable as reason:
            raise EmbedderError(f"The index cannot be saved: {reason}") from reason
        write_snapshot(path, snapshot)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        tools: Any = None,
        *,
        ranker: RankerSpec | None = None,
        embedder: str | Embedder = "minilm-l6",
        config: SearchConfig | None = None,
        cache: EmbeddingCache | str | PathLike[str] | bool | None = None,
        strict: bool = False,
    ) -> ToolSearch:
        """Open a saved index.

        Args:
            path: The folder that ``save`` wrote.
            tools: The current tools; only those whose text changed are embedded. None takes the saved ones.
            ranker: As for ``ToolSearch``; likewise ``embedder``, ``config``, ``cache`` and ``strict``.
            embedder: Must be the one that made the vectors.
            config: See ``ranker``.
            cache: See ``ranker``.
            strict: See ``ranker``.

        Raises:
            IndexFormatError: The folder is no index of this format.
            IndexCorruptError: Bytes are missing, added or changed.
            IndexMismatchError: The vectors were made by another embedder or document recipe.
        """
        from semantic_toolsearch.saved import read_snapshot

        search = cls((), ranker=ranker, embedder=embedder, config=config, cache=cache)
        search._snapshot = read_snapshot(path, tools, search._snapshot, strict=strict)
        return search

    def stats(self) -> Stats:
        """Counts that should agree: what is registered is what is indexed."""
        snapshot = self._snapshot
        embedding = snapshot.dense.stats if snapshot.uses_dense and snapshot.started else None
        indexed = snapshot.dense.size if snapshot.uses_dense and snapshot.started else 0
        return Stats(
            registered=len(snapshot.catalog),
            quarantined=len(snapshot.catalog.report.quarantined),
            indexed=indexed,
            embedded=embedding.embedded if embedding else 0,
            from_cache=embedding.from_cache if embedding else 0,
            generation=snapshot.generation,
        )


def _prepare(snapshot: Snapshot, progress: Callable[[int, int], None] | None = None) -> None:
    try:
        snapshot.prepare(progress)
    except Unavailable:
        # The dense half has logged it and will try again; until then searches say that they are degraded.
        return


def _cache(cache: EmbeddingCache | str | PathLike[str] | bool | None) -> EmbeddingCache | None:
    if cache is False:
        return None
    if isinstance(cache, EmbeddingCache):
        return cache
    return EmbeddingCache() if cache is None or cache is True else EmbeddingCache(str(cache))


def _mask(catalog: Catalog, visible: VisibleTools) -> Visible | None:
    """bool ``[n]`` from names or a predicate; a name that means no tool, or several, allows nothing."""
    if visible is None:
        return None
    if isinstance(visible, str):
        raise ConfigError(f"visible is the single text {visible!r}; pass a collection of tool names.")
    if callable(visible):
        return np.fromiter((bool(visible(tool)) for tool in catalog), dtype=np.bool_, count=len(catalog))
    mask = np.zeros(len(catalog), dtype=np.bool_)
    for name in visible:
        places = catalog.exact(name)
        if len(places) == 1:
            mask[places[0]] = True
        elif places:
            choices = ", ".join(catalog.wire_names[place] for place in places)
            logger.warning(
                "visible names %r, which %d tools bear; none was allowed. Use one of: %s",
                name,
                len(places),
                choices,
            )
    return mask


def _texts(value: Any) -> list[str]:
    """One text or several, as a model may send either; what is no text is written as one."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple, set, frozenset)) or hasattr(value, "__next__"):
        return [text for item in value for text in _texts(item)]
    return [str(value)]


def _together(selected: SearchResult, found: SearchResult) -> SearchResult:
    """Tools asked for by name first, then what the queries found besides."""
    taken = {hit.position for hit in selected.tools}
    tools = (*selected.tools, *(hit for hit in found.tools if hit.position not in taken))
    return replace(
        found,
        query=" | ".join(filter(None, (selected.query, found.query))),
        outcome="matched" if tools else found.outcome,
        tools=tools,
        hints=tuple(hit for hit in found.hints if hit.position not in taken),
        names=() if tools else found.names,
        namespaces=() if tools else found.namespaces,
        unknown=selected.unknown,
    )
