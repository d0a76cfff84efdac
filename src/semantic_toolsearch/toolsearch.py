"""``ToolSearch``: tool definitions in; an object that searches, explains, replaces, saves and loads out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from semantic_toolsearch.asking import find, watched
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.config import DEFAULT_THRESHOLD, SearchConfig
from semantic_toolsearch.dense import Unavailable
from semantic_toolsearch.embedding import DEFAULT_MODEL, EmbeddingCache
from semantic_toolsearch.embedding.cache import open_cache
from semantic_toolsearch.embedding.resolve import embedder_of_search
from semantic_toolsearch.errors import ConfigError, EmbedderError
from semantic_toolsearch.events import EventHook
from semantic_toolsearch.exact_names import VisibleNames
from semantic_toolsearch.generations import Generations, prepared
from semantic_toolsearch.pins import read_pins
from semantic_toolsearch.results import Stats
from semantic_toolsearch.review import Review
from semantic_toolsearch.snapshot import RankerSpec, Snapshot, check_ranker
from semantic_toolsearch.visible import visible_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from os import PathLike

    from semantic_toolsearch.agent import Agent
    from semantic_toolsearch.embedding import Embedder
    from semantic_toolsearch.events import Event, ToolChanged
    from semantic_toolsearch.exchange import Api, Mode
    from semantic_toolsearch.loaded import SessionStore
    from semantic_toolsearch.rankers.protocol import Visible
    from semantic_toolsearch.report import CatalogReport
    from semantic_toolsearch.results import Explanation, SearchResult
    from semantic_toolsearch.turn import Turn
    from semantic_toolsearch.visible import VisibleTools

__all__ = ["Pins", "ToolSearch"]

Pins: TypeAlias = "Mapping[str, str] | str | PathLike[str] | None"
"""Accepted content: hashes by wire name, the path of a JSON file of them, or None."""


class ToolSearch:
    """Searches tools by meaning, with exact-name and result-cap rules on top.

    Nothing is built before the first search (or ``prepare``). One object may be shared by threads: a search
    sees one generation of the catalog from end to end.

    Args:
        tools: Definitions for OpenAI, Anthropic or MCP, Python functions, or a ``Catalog``; mixed freely.
        ranker: ``hybrid`` (default), ``semantic``, ``bm25``, ``keyword``, ``regex``; an object with
            ``rank(query, *, limit, visible)``; or a callable that makes one from a ``Catalog``, and is
            called again for each replacement.
        embedder: Name of a shipped model, ``small`` (default) or ``nano``, or any ``Embedder``. When it fails,
            words alone decide, results say so, and it is asked again later. One of your own is called on threads
            of its own and waited for no longer than ``SearchConfig.embedder_timeout``.
        config: The numbers of the rules; ``ranker`` wins over ``config.ranker``.
        cache: Where embeddings are kept between processes: None for the user's cache folder, a path for a
            file of your own, False for nowhere.
        strict: Raise at the first malformed definition instead of leaving it out and listing it in
            ``report``.
        pins: Content that was reviewed, as ``pins`` gave it: a mapping of wire names to hashes, or the path of a
            JSON file of one. What differs is told to ``on_event`` before it can be used, and left out where
            ``SearchConfig.changed_tools`` is ``hold``.
        on_event: Called with what happens; see ``events``. Raising at a ``ToolChanged`` stops what brings the tool.

    Raises:
        ConfigError: An unknown ranker or embedder, or an argument of the wrong type.
        CatalogError: ``strict`` and a malformed definition; or ``tools`` is no collection of tools.
    """

    def __init__(
        self,
        tools: Any = (),
        *,
        ranker: RankerSpec | None = None,
        embedder: str | Embedder = DEFAULT_MODEL,
        config: SearchConfig | None = None,
        cache: EmbeddingCache | str | PathLike[str] | bool | None = None,
        strict: bool = False,
        pins: Pins = None,
        on_event: Callable[[Event], object] | None = None,
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
        hook = None if on_event is None else EventHook(on_event)
        empty = Snapshot(Catalog(), spec, config, embedder_of_search(embedder), open_cache(cache), hook=hook)
        review = Review.first(config, None if pins is None else read_pins(pins), has_hook=hook is not None)
        self._generations = Generations(empty, review, catalog)
        self.sessions: SessionStore | None = None
        if config.session_store is not None:
            from semantic_toolsearch.loaded import SessionStore

            self.sessions = SessionStore(config.session_store)

    @property
    def _snapshot(self) -> Snapshot:
        return self._generations.current

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
        snapshot, mask = self.seen_by(visible)
        with watched(snapshot, "application") as tell:
            return tell(
                find(snapshot.retriever, query=query, queries=queries, names=names, limit=limit, visible=mask)
            )

    def turn(
        self,
        messages: Iterable[Any],
        *,
        model: str | None = None,
        api: Api | None = None,
        visible: VisibleTools = None,
        tool_choice: Any = None,
        transport: str | None = None,
        base_url: Any = None,
        prefer: Literal["hosted", "client"] | None = None,
        mode: Mode | None = None,
        session: str | None = None,
        window: int | None = None,
        never_defer: Collection[str] = (),
        deferred_tools: Collection[str] = (),
        hot: Collection[str] = (),
        extra: Iterable[dict[str, Any]] = (),
        cache_breakpoint: bool = False,
        validate: bool = False,
    ) -> Turn:
        """Plan one model call: what its request carries, who searches, and why.

        Nothing is sent and nothing is kept: a conversation's state is its messages.

        Args:
            messages: The conversation so far, in any provider's form; an empty list at its start.
            model: Model id as the request has it; None for a model that is not known.
            api: Wire format of the request: ``anthropic``, ``responses``, ``chat`` or ``gemini``; None for the one that
                the model id suggests.
            visible: The tools that this caller may see; as in ``search``.
            tool_choice: The request's ``tool_choice``, or the bare name of the tool that it forces; that tool is sent
                in full.
            transport: Name of the way to the model (``first_party``, ``bedrock_converse``, ``openrouter``, ...), where
                ``base_url`` does not tell.
            base_url: Address that the client talks to; one that is not the vendor's own carries no hosted search.
            prefer: ``client`` for our ranker where the provider would search.
            mode: The mode to use once something is deferred, such as ``bridge``; None to choose.
            session: Whose loads to keep, for hosts that do not pass their history; see ``SearchConfig.session_store``.
            window: The model's context window in tokens, for thresholds that are a share of it.
            never_defer: Names of tools to send in full in this turn.
            deferred_tools: Names of tools to defer in this turn.
            hot: At most 5 names of tools used so often that they are sent in full.
            extra: Entries of the caller's own for the tools list, passed through in front.
            cache_breakpoint: Whether to mark the last tool that may carry a prompt-cache marker (Anthropic).
            validate: Whether to check the tools list against every published rule of the provider.

        Raises:
            ConfigError: Options that contradict each other or that this provider cannot carry; or, with ``validate``,
                a request that the provider would refuse.
            UnknownToolError: ``tool_choice`` names no tool, or several.
        """
        return self.agent().turn(
            messages,
            model=model,
            api=api,
            visible=visible,
            tool_choice=tool_choice,
            transport=transport,
            base_url=base_url,
            prefer=prefer,
            mode=mode,
            session=session,
            window=window,
            never_defer=never_defer,
            deferred_tools=deferred_tools,
            hot=hot,
            extra=extra,
            cache_breakpoint=cache_breakpoint,
            validate=validate,
        )

    def agent(
        self,
        *,
        never_defer: Collection[str] = (),
        deferred_tools: Collection[str] = (),
        hot: Collection[str] = (),
        visible: VisibleTools = None,
    ) -> Agent:
        """A view of these tools for one agent: its own lists and permissions, the same index.

        Args:
            never_defer: Names of tools that this agent always sends in full.
            deferred_tools: Names of tools that it defers, without any change to the tools.
            hot: At most 5 names of tools that it uses so often that they are sent in full.
            visible: The tools that it may see; as in ``search``.

        Raises:
            ConfigError: A list is a single text or too long.
        """
        from semantic_toolsearch.agent import Agent
        from semantic_toolsearch.policies import PolicyLists

        return Agent(self, PolicyLists(never_defer, deferred_tools, hot), visible)

    @classmethod
    def harness(cls, *, core: Any, tools: Any, threshold: int = DEFAULT_THRESHOLD, **options: Any) -> Agent:
        """An agent whose core tools stay in full and whose user's tools are deferred once there are many.

        Args:
            core: The harness's own tools.
            tools: The user's tools.
            threshold: Number of tools, the harness's own among them, from which the user's are deferred.
            options: As for ``ToolSearch``.
        """
        own, user = Catalog(core), Catalog(tools)
        search = cls(Catalog([*own, *user]), **options)
        places = [place for name in own.wire_names for place in search.catalog.exact(name)]
        named = [search.catalog.wire_names[place] for place in places]
        others = [name for name in search.catalog.wire_names if name not in named]
        if len(search.catalog) < threshold:
            return search.agent(never_defer=search.catalog.wire_names)
        return search.agent(never_defer=named, deferred_tools=others)

    def seen_by(self, visible: VisibleTools) -> tuple[Snapshot, Visible | None]:
        """The current generation, and the mask of what a caller may see of it; one moment's view of both."""
        snapshot = self._snapshot
        return snapshot, visible_mask(snapshot.catalog, visible)

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
            ConfigError: As in ``search``.
            RankerError: As in ``search``.
            UnknownToolError: No tool of the catalog has this name.
        """
        snapshot, mask = self.seen_by(visible)
        names = VisibleNames(snapshot.catalog, mask)
        found = names.exact(tool) or snapshot.catalog.exact(tool)
        position = found[0] if len(found) == 1 else names.position(tool)
        try:
            told = snapshot.retriever.explain(query, position, limit, mask)
            return replace(told, name=tool) if told.verdict == "not visible" else told
        finally:
            self._generations.flush()

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
            Exception: Whatever the hook ``on_event`` raises at a ``ToolChanged``; nothing was replaced.
        """
        try:
            return self._generations.replace(namespace, tools, strict=strict).catalog.report
        finally:
            self._generations.flush()

    def pins(self) -> dict[str, str]:
        """The content that counts as accepted, by wire name: pins, and what was offered without one.

        Keep it with ``json.dump`` and give its file as ``pins`` to the next process. A tool that was only reported
        as changed keeps the pin it had; ``approve`` gives it a new one.
        """
        return self._generations.review.accepted()

    def approve(self, *tools: str | ToolChanged) -> CatalogReport:
        """Pin tools as they are offered now; those that were held can be found by every later search.

        Args:
            tools: Names, or the events that told of them; an event approves the content it tells of and no other.

        Returns:
            The report of the catalog.

        Raises:
            UnknownToolError: No tool that is offered has this name.
            CatalogError: The tool has changed again since the event.
        """
        try:
            return self._generations.approve(tools).catalog.report
        finally:
            self._generations.flush()

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> ToolSearch:
        """Build the index now instead of at the first search; that a model failed is reported by searches.

        Args:
            progress: Called with (texts done, texts in all) while embedding.

        Returns:
            This object.
        """
        prepared(self._snapshot, progress)
        self._generations.flush()
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

        snapshot, review = self._generations.together()
        try:
            snapshot.prepare(progress)
        except Unavailable as reason:
            raise EmbedderError(f"The index cannot be saved: {reason}") from reason
        finally:
            self._generations.flush()
        write_snapshot(path, snapshot, review.accepted() if review.kept else None)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        tools: Any = None,
        *,
        ranker: RankerSpec | None = None,
        embedder: str | Embedder = DEFAULT_MODEL,
        config: SearchConfig | None = None,
        cache: EmbeddingCache | str | PathLike[str] | bool | None = None,
        strict: bool = False,
        pins: Pins = None,
        on_event: Callable[[Event], object] | None = None,
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
            pins: As for ``ToolSearch``; None takes those that were saved along. Without any, ``tools`` are compared
                with the saved ones.
            on_event: As for ``ToolSearch``.

        Raises:
            IndexFormatError: The folder is no index of this format.
            IndexCorruptError: Bytes are missing, added or changed.
            IndexMismatchError: The vectors were made by another embedder or document recipe.
            EmbedderError: The embedder cannot tell its id, so that nobody knows whose vectors these are.
        """
        from semantic_toolsearch.saved import read_snapshot

        search = cls((), ranker=ranker, embedder=embedder, config=config, cache=cache, on_event=on_event)
        empty = search._snapshot
        opened = read_snapshot(path, tools, empty, strict=strict)
        accepted = opened.pins if pins is None else read_pins(pins)
        has_hook = empty.hook is not None
        review = Review.first(empty.config, accepted, has_hook=has_hook)
        if accepted is None and review.compares and tools is not None:
            review = Review.first(empty.config, None, has_hook=has_hook, offered=opened.saved())
        catalog = opened.snapshot.catalog
        search._generations = Generations(empty, review, catalog, opened.snapshot)
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
            held=len(snapshot.catalog.report.held),
        )
