"""What happens inside a ``ToolSearch``, as small records for a hook of the user's: metrics, traces, alarms.

    def hook(event: events.Event) -> None: ...

    search = ToolSearch(tools, on_event=hook)

The hook is called in the thread in which the thing happened, in order, once a search has let go of its inner locks. It
must be quick: whoever searches waits for it. What it raises is logged once and changes nothing, save for a
``ToolChanged``: there it stops the replacement. No event holds the text of a query, unless
``SearchConfig.event_queries`` asks for it, or prints that of a description. With OpenTelemetry:

    meter = opentelemetry.metrics.get_meter("toolsearch")
    seconds = meter.create_histogram("toolsearch.search.duration", unit="s")

    def hook(event: events.Event) -> None:
        if isinstance(event, events.Searched):
            seconds.record(event.seconds, {"outcome": event.outcome, "degraded": event.degraded, "by": event.by})
        else:
            opentelemetry.trace.get_current_span().add_event(f"toolsearch.{type(event).__name__}")
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from semantic_toolsearch.changes import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from semantic_toolsearch.definitions import ToolDefinition
    from semantic_toolsearch.results import Outcome, SearchResult

__all__ = [
    "CallChecked",
    "CatalogReplaced",
    "Change",
    "Degraded",
    "Event",
    "EventHook",
    "Recovered",
    "Searched",
    "ToolChanged",
]

logger = logging.getLogger("semantic_toolsearch")


@dataclass(frozen=True, slots=True)
class Searched:
    """A search was answered.

    Attributes:
        outcome: ``matched``, ``no_match`` or ``browse``, as in ``SearchResult``.
        tools: Wire names of the tools returned, best first, those included that the conversation had already.
        hints: Number of tools named as hints.
        degraded: Whether the ranking was worse than it should be.
        seconds: Time that the answer took.
        generation: Number of the catalog snapshot that answered.
        total: Number of tools that the caller could see.
        by: Who asked: the ``application`` by ``search``, or the ``model`` in a turn.
        query: What was asked, where ``SearchConfig.event_queries`` is set; else None.
    """

    outcome: Outcome
    tools: tuple[str, ...]
    hints: int
    degraded: bool
    seconds: float
    generation: int
    total: int
    by: Literal["application", "model"]
    query: str | None = None

    @classmethod
    def of(
        cls, result: SearchResult, seconds: float, by: Literal["application", "model"], *, with_query: bool
    ) -> Searched:
        """The event of one result."""
        return cls(
            outcome=result.outcome,
            tools=tuple(hit.name for hit in result.tools),
            hints=len(result.hints),
            degraded=result.degraded is not None,
            seconds=seconds,
            generation=result.generation,
            total=result.total,
            by=by,
            query=result.query if with_query else None,
        )


@dataclass(frozen=True, slots=True)
class CallChecked:
    """A model's call was checked: it may run, or was answered with what is wrong with it.

    Whether the tool then succeeds is the application's to know.

    Attributes:
        outcome: ``run``; ``unknown`` where no visible tool has the name; ``arguments`` where they do not fit the
            schema; ``refused`` where the tool was not loaded and must be.
        tool: Wire name of the tool; None where there is none.
        loaded: Whether the model had the tool's schema.
        generation: Number of the catalog snapshot.
    """

    outcome: Literal["run", "unknown", "arguments", "refused"]
    tool: str | None
    loaded: bool
    generation: int


@dataclass(frozen=True, slots=True)
class Degraded:
    """The embedding model or the vector index failed; until it recovers, words alone decide.

    Attributes:
        part: Which of the two.
        reason: What it said, cut; a remote endpoint may quote what it was sent.
    """

    part: Literal["embedding model", "vector index"]
    reason: str


@dataclass(frozen=True, slots=True)
class Recovered:
    """What had failed works again.

    Attributes:
        part: The ``part`` of its ``Degraded``.
    """

    part: Literal["embedding model", "vector index"]


@dataclass(frozen=True, slots=True)
class CatalogReplaced:
    """Namespaces have other tools now, by ``replace`` or ``approve``: the next searches see them.

    Attributes:
        namespaces: Whose tools; None among them for those without a namespace.
        added: Wire names that can be found now and could not be before.
        removed: Wire names that cannot be found any more, held ones among them.
        changed: Wire names that stand for other content now.
        generation: Number of the catalog snapshot.
    """

    namespaces: tuple[str | None, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    generation: int


@dataclass(frozen=True, slots=True)
class ToolChanged:
    """A tool is not what was pinned, or what was last offered under its name; nobody can find, load or call it yet.

    Raise from the hook to stop the replacement (or the construction, or the loading) that brings it.

    Attributes:
        name: Wire name.
        accepted: Hash of the content that was pinned or last offered; None for a new name that is held.
        found: Hash of the content that is offered now.
        changes: What differs; empty where the earlier definition is not at hand, only its hash.
        held: Whether the tool is left out of the catalog until ``ToolSearch.approve``.
        before: The earlier definition, where it is at hand.
        after: The definition that is offered now.
    """

    name: str
    accepted: str | None
    found: str
    changes: tuple[Change, ...]
    held: bool
    before: ToolDefinition | None = field(repr=False)
    after: ToolDefinition = field(repr=False)


Event: TypeAlias = Searched | CallChecked | Degraded | Recovered | CatalogReplaced | ToolChanged
"""Anything that a hook is told."""


class EventHook:
    """Hands events to a user's function; safe to share between threads.

    Args:
        function: Called with each event; what it returns is ignored.
    """

    def __init__(self, function: Callable[[Event], object]) -> None:
        self._function = function
        self._waiting = threading.local()
        self._complained = False

    def ask(self, event: ToolChanged) -> None:
        """Hand on an event at which the function may object: what it raises comes out."""
        self.flush()
        self._function(event)

    def tell(self, event: Event) -> None:
        """Hand on an event, after those of this thread that wait."""
        self.later(event)
        self.flush()

    def later(self, event: Event) -> None:
        """Keep an event of this thread for its next ``flush``: for places that hold a lock."""
        waiting: list[Event] | None = getattr(self._waiting, "events", None)
        if waiting is None:
            waiting = self._waiting.events = []
        waiting.append(event)

    def flush(self) -> None:
        """Hand on what waits."""
        waiting: list[Event] = getattr(self._waiting, "events", [])
        while waiting:
            try:
                self._function(waiting.pop(0))
            except Exception:  # anybody's code: what it raises is no reason to fail a search
                if not self._complained:
                    self._complained = True
                    logger.warning(
                        "The on_event hook raised; searches go on, and further faults of it are not logged.",
                        exc_info=True,
                    )
