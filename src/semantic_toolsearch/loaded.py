"""A conversation's messages in; the tools that it has loaded out, in the order in which it first did.

State is the conversation: names are read from it at every turn, so a resumed, forked, handed-over or stored
conversation knows its tools. ``SessionStore`` is for hosts that do not pass history.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.history import Called, Event, Found, Noted, read
from semantic_toolsearch.names import wire_namespaces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.search_records import WireName

__all__ = ["Resolver", "SessionStore", "loaded_names", "missing", "named"]


def loaded_names(
    messages: Iterable[Any],
    catalog: Catalog,
    *,
    store: SessionStore | None = None,
    session: str | None = None,
    visible: Sequence[bool] | NDArray[np.bool_] | None = None,
) -> tuple[str, ...]:
    """Return the wire names of the catalog's tools that a conversation loaded, in first-seen order.

    A tool is loaded by an answered search, by a compaction note, or by being called, answered or not. Calls
    of tools that are sent in full anyway count as well: the names say what the model may rely on, not what
    was deferred.

    Args:
        messages: The conversation, in any mix of wire formats.
        catalog: The tools that exist now; others are left out (see `missing`) and count again when they are
            back.
        store: Loads of earlier turns, for hosts that do not pass history. They follow those of the
            conversation.
        session: Whose loads to take from the store; None takes none.
        visible: Mask of shape [n_tools]; tools outside it are left out.

    Raises:
        ConfigError: `visible` has another length than the catalog.
    """
    if visible is not None and len(visible) != len(catalog):
        raise ConfigError(f"The visibility mask has {len(visible)} entries for {len(catalog)} tools.")
    resolve = Resolver(catalog)
    positions: dict[int | None, None] = {}
    for event in read(messages):
        positions.update((resolve(name), None) for name in named(event))
    if store is not None:
        positions.update((resolve((None, name)), None) for name in store.names(session))
    kept = (at for at in positions if at is not None and (visible is None or visible[at]))
    return tuple(catalog.wire_names[at] for at in kept)


def missing(messages: Iterable[Any], catalog: Catalog) -> tuple[str, ...]:
    """Return the names that the conversation loaded and that no tool of the catalog has, as they stand there.

    Names that were only called are not among them: a model may call what never existed.
    """
    resolve = Resolver(catalog)
    gone: dict[str, None] = {}
    for event in read(messages):
        for owner, name in () if isinstance(event, Called) else named(event):
            if resolve((owner, name)) is None and (owner not in (None, name) or not catalog.exact(name)):
                gone[name if owner is None or owner == name else f"{owner}.{name}"] = None
    return tuple(gone)


def named(event: Event) -> tuple[WireName, ...]:
    """Return the tools that an event makes known to the model."""
    if isinstance(event, (Found, Noted)):
        return event.names
    return ((event.namespace, event.name),) if isinstance(event, Called) else ()


class Resolver:
    """Says which tool of a catalog a name in a conversation means; calls take (namespace, name).

    Names are taken literally, in this case style only: wire names, raw names, qualified names, and names
    within an OpenAI namespace. What could mean several tools means none.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[WireName, int | None] = {}
        self._namespaces: dict[str, str] | None = None

    def __call__(self, name: WireName) -> int | None:
        """Return the tool's position, or None."""
        if name not in self._known:
            owner, inner = name
            found = self._flat(inner) if owner is None else self._owned(owner, inner)
            self._known[name] = found
        return self._known[name]

    def _flat(self, name: str) -> int | None:
        found = self._catalog.exact(name)
        if len(found) > 1:
            found = tuple(at for at in found if self._catalog.identities[at] == (None, name))
        return found[0] if len(found) == 1 else None

    def _owned(self, owner: str, name: str) -> int | None:
        catalog = self._catalog
        for at in catalog.exact(f"{owner}.{name}"):
            if catalog.identities[at] == (owner, name):
                return at
        if owner == name:  # how OpenAI gives back a flat tool
            return self._flat(name)
        spellings = ((at, catalog.wire_names[at], catalog.identities[at][1]) for at in catalog.find(name))
        literal = [at for at, *names in spellings if name in names]
        same = [at for at in literal if self._is_namespace(catalog.identities[at][0], owner)]
        if len(same) == 1:
            return same[0]
        # A wire name that is not the raw name carries its own namespace, whatever group it was declared in.
        own = [at for at in literal if catalog.wire_names[at] == name != catalog.identities[at][1]]
        return own[0] if not same and own else None

    def _is_namespace(self, label: str | None, owner: str) -> bool:
        if label is None:
            return False
        if self._namespaces is None:
            labels = tuple(self._catalog.namespaces)
            self._namespaces = dict(zip(labels, wire_namespaces(labels), strict=True))
        wire = self._namespaces[label]
        # A large namespace is declared in numbered parts: CRM, CRM_2, CRM_3.
        return owner in (label, wire) or re.fullmatch(rf"{re.escape(wire)}_\d+", owner) is not None


class SessionStore:
    """Loaded names per session, bounded, for hosts that do not pass history; safe between threads.

    A dropped session is not an error: its model searches again.

    Args:
        max_sessions: Most sessions kept; the one that first loaded something longest ago is dropped first.

    Raises:
        ConfigError: `max_sessions` is not a positive whole number.
    """

    def __init__(self, max_sessions: int = 4096) -> None:
        if not isinstance(max_sessions, int) or isinstance(max_sessions, bool) or max_sessions < 1:
            raise ConfigError(f"max_sessions is a whole number of at least 1, not {max_sessions!r}.")
        self.max_sessions = max_sessions
        self._lock = threading.Lock()
        self._sessions: dict[str, dict[str, None]] = {}

    def add(self, session: str | None, names: Collection[str]) -> None:
        """Remember that a session loaded tools.

        Args:
            session: Its id; None remembers nothing.
            names: Wire names, in order; none of them leaves the store as it is.

        Raises:
            ConfigError: `names` is one text instead of a collection of names.
        """
        if isinstance(names, str):
            raise ConfigError(f"names is a collection of names; write [{names[:100]!r}] for one.")
        fresh = dict.fromkeys(names)
        if session is None or not fresh:
            return
        with self._lock:
            if session not in self._sessions and len(self._sessions) >= self.max_sessions:
                del self._sessions[next(iter(self._sessions))]
            self._sessions.setdefault(session, {}).update(fresh)

    def names(self, session: str | None) -> tuple[str, ...]:
        """Return the session's names in first-loaded order; () for None and for a session it does not hold."""
        with self._lock:
            return tuple(self._sessions.get(session, ())) if session is not None else ()

    def __contains__(self, session: object) -> bool:
        return session in self._sessions

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(tuple(self._sessions))

    def __len__(self) -> int:
        return len(self._sessions)

    def __repr__(self) -> str:
        return f"SessionStore({len(self)} of {self.max_sessions} sessions)"
