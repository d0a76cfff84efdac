"""``ToolSearch``: tool definitions in; an object that searches, explains, replaces, saves and loads out."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.dense import Unavailable
from semantic_toolsearch.embedding import EmbeddingCache, resolve_embedder
from semantic_toolsearch.errors import ConfigError, EmbedderError
from semantic_toolsearch.search_input import as_texts
from semantic_toolsearch.snapshot import RankerSpec, Snapshot, check_ranker
from semantic_toolsearch.visible import visible_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from semantic_toolsearch.embedding import Embedder
    from semantic_toolsearch.report import CatalogReport
    from semantic_toolsearch.results import Explanation, SearchResult
    from semantic_toolsearch.visible import VisibleTools

__all__ = ["Stats", "ToolSearch"]


@dataclass(frozen=True, slots=True)
class Stats:
    """What a ``ToolSearch`` holds.

    Attributes:
        registered: Usable tools.
        quarantined: Definitions that could not be used.
        indexed: Tools that the ranker can find: those in the vector index (0 before it is built, and while
            the embedding model fails), or all where the ranker uses no vectors.
        embedded: Texts that the model had to embed to build this generation.
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
        tools: Definitions for OpenAI, Anthropic or MCP, Python functions, or a ``Catalog``; mixed freely.
        ranker: ``hybrid`` (default), ``semantic``, ``bm25``, ``keyword``, ``regex``; an object with
            ``rank(query, *, limit, visible)``; or a callable that makes one from a ``Catalog``, and is
            called again for each replacement.
        embedder: Name of a shipped model, or any ``Embedder``. When it fails, words alone decide, results say
            so, and it is asked again later. A search waits for it, so a remote one needs its own timeout.
        config: The numbers of the rules; ``ranker`` wins over ``config.ranker``.
        cache: Where embeddings are kept between processes: None for the user's cache folder, a path for a
            file of your own, False for nowhere.
        strict: Raise at the first malformed definition instead of leaving it out and listing it in
            ``report``.

    Raises:
        ConfigError: An unknown ranker or embedder, or an argument of the wrong type.
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
        if config is None:
            config = SearchConfig()
        elif not isinstance(config, SearchConfig):
            raise ConfigError(
                f"config is a {type(config).__name__}; pass a SearchConfig, such as SearchConfig(**values)."
            )
        spec: RankerSpec = ranker if ranker is not None else config.ranker
        check_ranker(spec)
        if isinstance(spec, str):
            config = config.but(ranker=spec)
        catalog = tools if isinstance(tools, Catalog) else Catalog(tools, strict=strict)
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
            visible: The tools that this caller may see: names, or a function of a definition. None is all, an
                empty collection is none; a name that no tool has, or several have, allows nothing.

        Raises:
            ConfigError: ``visible`` is neither a function nor a collection of names.
            RankerError: A custom ranker broke its contract.
        """
        snapshot = self._snapshot
        mask = visible_mask(snapshot.catalog, visible)
        asked = [*as_texts(query), *as_texts(queries)]
        wanted = as_texts(names)
        if wanted and not any(text.strip() for text in asked):
            return snapshot.retriever.select(wanted, mask)
        found = snapshot.retriever.search(asked, limit, mask)
        return _together(snapshot.retriever.select(wanted, mask), found) if wanted else found

    def explain(
        self, query: str, tool: str, *, limit: Any = None, visible: VisibleTools = None
    ) -> Explanation:
        """Say where a tool stands for a query, and which rule kept or removed it.

        Args:
            query: What was searched for.
            tool: The tool's wire name, its raw name where that is unique, or ``server.name``.
            limit: As in ``search``.
            visible: As in ``search``.

        Raises:
            ConfigError, RankerError: As in ``search``.
            UnknownToolError: No tool of the catalog has this name.
        """
        snapshot = self._snapshot
        position = snapshot.catalog.position(tool)
        return snapshot.retriever.explain(query, position, limit, visible_mask(snapshot.catalog, visible))

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

        Raises:
            CatalogError: As for ``ToolSearch``; nothing was replaced.
        """
        with self._replacing:
            current = self._snapshot
            following = current.next(current.catalog.replace(namespace, tools, strict=strict))
            if current.started:
                _prepare(following)
            self._snapshot = following
        return following.catalog.report

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> ToolSearch:
        """Build the index now instead of at the first search; that a model failed is reported by searches.

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
            ranker: As for ``ToolSearch``, whatever the index was saved with: what it lacks is built at the
                first search. Likewise ``config``, ``cache`` and ``strict``.
            embedder: Must be the one that made the vectors, where the ranker uses them.
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
        embedding = snapshot.dense.stats
        return Stats(
            registered=len(snapshot.catalog),
            quarantined=len(snapshot.catalog.report.quarantined),
            indexed=snapshot.dense.size if snapshot.uses_dense else len(snapshot.catalog),
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
    if cache is None or cache is True:
        return EmbeddingCache()
    if isinstance(cache, EmbeddingCache):
        return cache
    try:
        return EmbeddingCache(Path(cache))
    except TypeError:
        raise ConfigError(
            f"cache is a {type(cache).__name__}; pass a path, an EmbeddingCache, False for none, or nothing."
        ) from None


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
        notes=(*selected.notes, *found.notes),
    )
