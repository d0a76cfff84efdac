"""Offered tools in; the generation in use out: reviewed, announced, built and swapped in, in that order."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.dense import Unavailable
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.events import CatalogReplaced
from semantic_toolsearch.pins import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.events import EventHook, ToolChanged
    from semantic_toolsearch.review import Review
    from semantic_toolsearch.snapshot import Snapshot

__all__ = ["Generations", "prepared"]

logger = logging.getLogger("semantic_toolsearch")

_SHOWN = 5


class Generations:
    """Holds one generation at a time; readers take ``current`` once and need no lock.

    Args:
        empty: A snapshot without tools, with the settings that all generations have.
        review: What was accepted so far.
        offered: The tools of the first generation.
        opened: The first generation where it was read from disk, used as it is unless some of its tools are held.

    Attributes:
        current: The generation in use.
        review: What is offered and accepted.

    Raises:
        Exception: Whatever the hook raises at a changed tool.
    """

    def __init__(
        self, empty: Snapshot, review: Review, offered: Catalog, opened: Snapshot | None = None
    ) -> None:
        self._hook: EventHook | None = empty.hook
        self._replacing = threading.RLock()  # so that a hook may replace in its turn, after the swap
        self._asking = False
        self.review, changed = review.next(offered, again=True)
        self._announce(changed)
        used = self.review.used
        if opened is None:
            self.current = empty.of(used)
        else:
            self.current = opened if used is opened.catalog else opened.next(used)

    def replace(self, namespace: str | None, tools: Any, *, strict: bool) -> Snapshot:
        """Swap the tools of one namespace; see ``ToolSearch.replace``."""
        with self._replacing:
            before = self._settled()
            offered = before.catalog if self.review.offered is None else self.review.offered
            review, changed = self.review.next(offered.replace(namespace, tools, strict=strict))
            self._announce(changed)
            self._swap(review)
            self._tell(before, (namespace,))
            return self.current

    def approve(self, tools: Iterable[str | ToolChanged]) -> Snapshot:
        """Accept tools as they are offered now; see ``ToolSearch.approve``."""
        with self._replacing:
            before = self._settled()
            review = self.review.approve(tools)
            owners = dict(zip(review.used.wire_names, review.used.identities, strict=True))
            freed = [owners[name][0] for name in self.review.held if name in owners]
            self._swap(review)
            if freed:
                self._tell(before, tuple(dict.fromkeys(freed)))
            return self.current

    def together(self) -> tuple[Snapshot, Review]:
        """The generation in use and its review; waits for a replacement that is under way."""
        with self._replacing:
            return self.current, self.review

    def flush(self) -> None:
        """Hand on the events that wait in this thread."""
        if self._hook is not None:
            self._hook.flush()

    def _settled(self) -> Snapshot:
        if self._asking:
            raise ConfigError(
                "The hook replaces or approves tools while it is told of a changed one. Let it return, or raise to "
                "stop the replacement; with changed_tools='hold' the tool can be approved afterwards."
            )
        return self.current

    def _announce(self, changed: tuple[ToolChanged, ...]) -> None:
        if not changed:
            return
        if self._hook is None:
            names = ", ".join(event.name for event in changed[:_SHOWN])
            more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
            logger.warning("Tools are not what was accepted under their names: %s%s.", names, more)
            return
        self._asking = True
        try:
            for event in changed:
                self._hook.ask(event)
        finally:
            self._asking = False

    def _swap(self, review: Review) -> None:
        following = self.current
        if review.used is not following.catalog:
            following = following.next(review.used)
            if self.current.started:
                prepared(following)
        self.review, self.current = review, following

    def _tell(self, before: Snapshot, namespaces: tuple[str | None, ...]) -> None:
        if self._hook is not None:
            self._hook.tell(_replacement(namespaces, before, self.current))


def prepared(snapshot: Snapshot, progress: Callable[[int, int], None] | None = None) -> Snapshot:
    """Build all that searches of a snapshot need; that a model failed is reported by searches."""
    with contextlib.suppress(Unavailable):  # it is logged and tried again; until then searches say so
        snapshot.prepare(progress)
    return snapshot


def _replacement(namespaces: tuple[str | None, ...], before: Snapshot, after: Snapshot) -> CatalogReplaced:
    """The event of a generation that took another's place."""
    old = dict(zip(before.catalog.wire_names, before.catalog, strict=True))
    new = dict(zip(after.catalog.wire_names, after.catalog, strict=True))
    return CatalogReplaced(
        namespaces=namespaces,
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(
            name
            for name, tool in new.items()
            if name in old and old[name] is not tool and content_hash(old[name]) != content_hash(tool)
        ),
        generation=after.generation,
    )
