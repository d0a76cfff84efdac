"""A ``ToolSearch`` and one agent's lists and permissions in; its view of the same index out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from semantic_toolsearch.conversation import TurnOptions, make_turn
from semantic_toolsearch.policies import PolicyLists

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from semantic_toolsearch.exchange import Api, Mode
    from semantic_toolsearch.results import SearchResult
    from semantic_toolsearch.toolsearch import ToolSearch
    from semantic_toolsearch.turn import Turn
    from semantic_toolsearch.visible import VisibleTools

__all__ = ["Agent"]


class Agent:
    """An agent over shared tools; made by ``ToolSearch.agent``.

    Nothing is copied and no definition is changed: other agents over the same tools send them as before, and what
    this agent hands on to is not bound by its lists.

    Args:
        search: The tools and their index.
        lists: Names that this agent defers or keeps.
        visible: The tools that it may see; None for all.
    """

    def __init__(self, search: ToolSearch, lists: PolicyLists, visible: VisibleTools = None) -> None:
        self._search = search
        self._lists = lists
        self._visible = visible

    def search(self, query: Any = None, **options: Any) -> SearchResult:
        """``ToolSearch.search`` among the tools that this agent may see."""
        return self._search.search(query, **{"visible": self._visible, **options})

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
        """Plan one model call; see ``ToolSearch.turn``."""
        options = TurnOptions(
            model=model,
            api=api,
            tool_choice=tool_choice,
            transport=transport,
            base_url=base_url,
            prefer=prefer,
            mode=mode,
            session=session,
            window=window,
            lists=PolicyLists(never_defer, deferred_tools, hot),
            agent=self._lists,
            extra=tuple(extra),
            cache_breakpoint=cache_breakpoint,
            validate=validate,
        )
        snapshot, mask = self._search.seen_by(self._visible if visible is None else visible)
        return make_turn(snapshot, messages, options, mask, self._search.sessions)
