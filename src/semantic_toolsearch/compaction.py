"""Messages to drop and to keep in; the one system message that keeps their tools loaded out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exchange import BRIDGE_TOOL_NAME, SEARCH_TOOL_NAME
from semantic_toolsearch.facts import Called
from semantic_toolsearch.history import SYSTEM_ROLES, plain, read
from semantic_toolsearch.linking import links, role
from semantic_toolsearch.loaded import Resolver, named
from semantic_toolsearch.search_records import canonical, note_names, note_text
from semantic_toolsearch.visible import visible_mask

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.search_records import WireName
    from semantic_toolsearch.visible import VisibleTools

__all__ = ["compact", "compaction_note", "is_compaction_note"]


def compaction_note(
    dropped: Iterable[Any],
    kept: Iterable[Any],
    catalog: Catalog | None = None,
    *,
    visible: VisibleTools = None,
) -> dict[str, Any] | None:
    """Return the system message that keeps tools loaded when messages are dropped; None if none is needed.

    It lists the tools that the dropped messages had loaded or called and the kept ones do not, and those before
    them, so that the order of loaded tools holds. It folds in every earlier note: a note in `kept` is to be
    removed (see `is_compaction_note`) when a new one is returned. `compact` does all of it.

    Args:
        dropped: The messages that go, in order.
        kept: The messages that stay, in order.
        catalog: Where given, tools are noted by their wire names, and calls of what is not a tool of it, or
            of a tool that is never deferred, are not noted.
        visible: The tools that the caller may see, as in ``ToolSearch.search``; with a catalog only. The others
            are no tools of it.
    """
    gone, left = list(dropped), list(kept)
    old = [message for message in left if is_compaction_note(message)]
    rest = [message for message in left if not is_compaction_note(message)]
    naming, head = _Naming(catalog, visible), _head(left)
    # Both orders, because either half of a call and its answer may be the one that is dropped.
    order = naming.names([*left[:head], *gone, *left[head:]]) | naming.names([*left, *gone])
    if len(old) < 2 and list(order) == list(naming.names(left)):
        return None
    return _note(order, naming.names(rest))


def is_compaction_note(message: Any) -> bool:
    """Whether a message is a note as `compaction_note` writes it."""
    return role(message) in SYSTEM_ROLES and bool(note_names(plain(message).get("content")))


def compact(
    messages: Sequence[Any],
    drop: Iterable[int],
    catalog: Catalog | None = None,
    *,
    visible: VisibleTools = None,
) -> list[Any]:
    """Return the conversation without some messages, and with the tools that it had loaded.

    Where a call goes, its answers go as well, and the reverse; reasoning goes with what it led to. One note
    is put behind the leading system messages if tools would be forgotten, or change their order, without it;
    earlier notes are folded into it.

    Args:
        messages: The conversation; it is not changed.
        drop: Indices of messages to remove; negative ones count from the end.
        catalog: As for `compaction_note`.
        visible: As for `compaction_note`.

    Raises:
        ConfigError: An index is outside the conversation.
    """
    items = list(messages)
    going = _whole(items, drop)
    kept = [message for at, message in enumerate(items) if at not in going]
    naming = _Naming(catalog, visible)
    order = naming.names(items)
    old = sum(is_compaction_note(message) for message in kept)
    if old < 2 and list(order) == list(naming.names(kept)):
        return kept
    kept = [message for message in kept if not is_compaction_note(message)]
    note, head = _note(order, naming.names(kept)), _head(kept)
    return kept if note is None else [*kept[:head], note, *kept[head:]]


class _Naming:
    """Collects the names that messages load, one spelling each, in first-seen order."""

    def __init__(self, catalog: Catalog | None, visible: VisibleTools) -> None:
        self._catalog = catalog
        self._resolve = None if catalog is None else Resolver(catalog, visible_mask(catalog, visible))

    def names(self, messages: Iterable[Any]) -> dict[str, WireName]:
        found: dict[str, WireName] = {}
        for fact in read(messages):
            for name in named(fact):
                resolved = self._resolved(name, called=isinstance(fact, Called))
                if resolved is not None:
                    found.setdefault(canonical(resolved), resolved)
        return found

    def _resolved(self, name: WireName, *, called: bool) -> WireName | None:
        if self._resolve is None or self._catalog is None:
            return None if name[1] in (SEARCH_TOOL_NAME, BRIDGE_TOOL_NAME) and name[0] is None else name
        at = self._resolve(name)
        if at is None:
            return None if called else name
        return None if called and self._catalog[at].defer == "never" else (None, self._catalog.wire_names[at])


def _head(messages: Sequence[Any]) -> int:
    """Return the number of leading system messages."""
    return next(
        (at for at, message in enumerate(messages) if role(message) not in SYSTEM_ROLES), len(messages)
    )


def _note(order: Mapping[str, WireName], kept: Mapping[str, WireName]) -> dict[str, Any] | None:
    """Write the beginning of the order, as far as what follows is not what the kept messages give anyway."""
    keys, place = list(order), {key: at for at, key in enumerate(kept)}
    end, following = len(keys), len(kept)
    while end and place.get(keys[end - 1], following) < following:
        end -= 1
        following = place[keys[end]]
    names = [order[key] for key in keys[:end]]
    return {"role": "system", "content": note_text(names)} if names else None


def _whole(messages: Sequence[Any], drop: Iterable[int]) -> set[int]:
    """Return the indices to drop, and those of all messages that cannot stay without them."""
    going: set[int] = set()
    for at in drop:
        if not -len(messages) <= at < len(messages):
            raise ConfigError(f"There is no message {at} in a conversation of {len(messages)}.")
        going.add(at % len(messages))
    bound: dict[int, list[int]] = {}
    for first, second in links(messages):
        bound.setdefault(first, []).append(second)
        bound.setdefault(second, []).append(first)
    todo = list(going)
    while todo:
        fresh = set(bound.get(todo.pop(), ())) - going
        going |= fresh
        todo += fresh
    return going
