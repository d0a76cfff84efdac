"""What servers offer and what was accepted before in; what may be used, what is held, and what to tell, out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.changes import changes_between
from semantic_toolsearch.errors import CatalogError
from semantic_toolsearch.events import ToolChanged
from semantic_toolsearch.pins import content_hash

if TYPE_CHECKING:
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["Review"]

MOST_REMEMBERED: Final = 10_000
"""Tools of one namespace that are gone and whose content is remembered, so that names made up anew each time cannot
fill the memory; the longest gone are forgotten first."""

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Review:
    """One generation of what is offered, and by what it was accepted. Immutable.

    Attributes:
        config: Its ``changed_tools`` and ``new_tools`` count.
        compares: Whether anybody wants to know of changes; without, everything that is offered is used unseen.
        offered: Everything that servers offer now; None before the first list.
        used: The part of it that can be found, loaded and called.
        pins: Content that was pinned or approved, by wire name.
        pinned: Whether there are pins at all, so that a tool without one is new even in the first list.
        remembered: Accepted content of tools without a pin that are held or gone now: (namespace, hash) by wire name.
        held: Why each tool is left out, by wire name.
    """

    config: SearchConfig
    compares: bool
    offered: Catalog | None = None
    used: Catalog = field(default_factory=Catalog)
    pins: Mapping[str, str] = field(default_factory=dict)
    pinned: bool = False
    remembered: Mapping[str, tuple[str | None, str]] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def first(
        cls,
        config: SearchConfig,
        pins: Mapping[str, str] | None,
        *,
        has_hook: bool,
        offered: Catalog | None = None,
    ) -> Review:
        """The review before the first list of tools.

        Args:
            config: The settings.
            pins: Accepted content by wire name, or None where nothing was pinned.
            has_hook: Whether somebody is told of changes.
            offered: What an earlier process last offered; None where that is not remembered.
        """
        compares = has_hook or pins is not None or "hold" in (config.changed_tools, config.new_tools)
        return cls(
            config,
            compares,
            offered,
            Catalog() if offered is None else offered,
            pins or {},
            pinned=pins is not None,
        )

    @property
    def kept(self) -> bool:
        """Whether a saved index has to hold what was accepted, so that a later process holds to it."""
        return self.pinned or bool(self.pins) or "hold" in (self.config.changed_tools, self.config.new_tools)

    def next(self, offered: Catalog, *, again: bool = False) -> tuple[Review, tuple[ToolChanged, ...]]:
        """Return the following generation, and each tool whose content is another than the accepted one.

        Args:
            offered: All tools of all namespaces, as they are offered now.
            again: Whether to tell of tools, too, that were offered with this very content before.
        """
        if not self.compares or (self.offered is None and not self.pinned):
            return dataclasses.replace(self, offered=offered, used=offered), ()
        before = {} if self.offered is None else dict(zip(self.offered.wire_names, self.offered, strict=True))
        remembered, held, told = dict(self.remembered), {}, []
        for name, tool in zip(offered.wire_names, offered, strict=True):
            was = before.pop(name, None)
            if tool is was:  # of a namespace that was not replaced
                if name in self.held:
                    held[name] = self.held[name]
                continue
            found = content_hash(tool)
            event = self._judge(name, tool, found, was)
            if event is not None and (again or was is None or content_hash(was) != found):
                told.append(event)
            if event is not None and event.held:
                held[name] = _reason(event)
                if event.accepted is not None:
                    remembered[name] = (tool.namespace, event.accepted)
            else:
                remembered.pop(name, None)
        for name, tool in before.items():
            if name not in self.held:
                remembered.pop(name, None)  # so that the latest to go stands last
                remembered[name] = (tool.namespace, content_hash(tool))
        remembered = {name: row for name, row in _bounded(remembered) if name not in self.pins}
        used = offered.without(held) if held else offered
        return dataclasses.replace(self, offered=offered, used=used, remembered=remembered, held=held), tuple(
            told
        )

    def approve(self, tools: Iterable[str | ToolChanged]) -> Review:
        """Return a review in which the content that these tools have now is pinned and in use.

        Raises:
            CatalogError: A tool given as its ``ToolChanged`` is offered with other content by now.
            UnknownToolError: No tool that is offered has this name.
        """
        offered = Catalog() if self.offered is None else self.offered
        pins = dict(self.pins)
        for each in tools:
            position = offered.position(each.name if isinstance(each, ToolChanged) else each)
            name, found = offered.wire_names[position], content_hash(offered[position])
            if isinstance(each, ToolChanged) and each.found != found:
                raise CatalogError(
                    f"{name!r} has changed again since this event: look at its latest definition first."
                )
            pins[name] = found
        held = {name: reason for name, reason in self.held.items() if pins.get(name) == self.pins.get(name)}
        used = self.used if len(held) == len(self.held) else offered.without(held) if held else offered
        remembered = {name: row for name, row in self.remembered.items() if name not in pins}
        return dataclasses.replace(
            self, compares=True, used=used, pins=pins, remembered=remembered, held=held
        )

    def accepted(self) -> dict[str, str]:
        """The content that counts as unchanged, by wire name: pins, and what else is used, held or was offered once."""
        hashes = {name: found for name, (_, found) in self.remembered.items()}
        return {**self.used.pins(), **hashes, **self.pins}

    def _judge(
        self, name: str, tool: ToolDefinition, found: str, was: ToolDefinition | None
    ) -> ToolChanged | None:
        """The event of a tool that is not as it was accepted; None where there is nothing to say."""
        accepted = self.pins.get(name) or (self.remembered[name][1] if name in self.remembered else None)
        if accepted is None and was is not None and name not in self.held:
            accepted = content_hash(was)
        if accepted == found:
            return None
        if accepted is None:
            if self.config.new_tools == "use":
                return None
            return ToolChanged(name, None, found, (), True, None, tool)
        before = was if was is not None and content_hash(was) == accepted else None
        parts = changes_between(before, tool) if before is not None else ()
        return ToolChanged(name, accepted, found, parts, self.config.changed_tools == "hold", before, tool)


def _reason(event: ToolChanged) -> str:
    if event.accepted is None:
        why = "it is new and has no pin"
    else:
        shown = ", ".join(map(str, event.changes[:_SHOWN]))
        more = f" and {len(event.changes) - _SHOWN} more" if len(event.changes) > _SHOWN else ""
        why = f"its content is not the accepted one{f' ({shown}{more})' if shown else ''}"
    return f"held, because {why}: look at it, then ToolSearch.approve({event.name!r})"


def _bounded(
    remembered: Mapping[str, tuple[str | None, str]],
) -> Iterator[tuple[str, tuple[str | None, str]]]:
    """The latest ``MOST_REMEMBERED`` of each namespace, in order."""
    counts: dict[str | None, int] = {}
    for namespace, _ in remembered.values():
        counts[namespace] = counts.get(namespace, 0) + 1
    for name, row in remembered.items():
        if counts[row[0]] > MOST_REMEMBERED:
            counts[row[0]] -= 1
        else:
            yield name, row
