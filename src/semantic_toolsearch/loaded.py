"""A conversation's messages in; the tools that it has loaded out, in the order in which it first did.

State is the conversation: names are read from it at every turn, so a resumed, forked, handed-over or stored
conversation knows its tools. ``SessionStore`` is for hosts that do not pass history.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exact_names import VisibleNames
from semantic_toolsearch.facts import Called, Fact, Found, Noted
from semantic_toolsearch.history import read
from semantic_toolsearch.names import MAX_WIRE_NAME, wire_names, wire_namespaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.search_records import WireName

__all__ = ["Resolver", "SessionStore", "loaded_names", "missing", "named"]


_GROUP_SUFFIX: Final = re.compile(r"(?:_tools[0-9]*)?(?:_[0-9]+)?\Z")
"""What follows a namespace's name where a tool has that name, or where it is declared in parts (CRM_2)."""


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
    resolve = Resolver(catalog, visible)
    positions: dict[int | None, None] = {}
    for fact in read(messages):
        positions.update((resolve(name), None) for name in named(fact))
    if store is not None:
        positions.update((resolve((None, name)), None) for name in store.names(session))
    return tuple(catalog.wire_names[at] for at in positions if at is not None)


def missing(
    messages: Iterable[Any], catalog: Catalog, visible: Sequence[bool] | NDArray[np.bool_] | None = None
) -> tuple[str, ...]:
    """Return the names that the conversation loaded and that no visible tool has, as they stand there.

    Names that were only called are not among them: a model may call what never existed.
    """
    resolve = Resolver(catalog, visible)
    gone: dict[str, None] = {}
    for fact in read(messages):
        for owner, name in () if isinstance(fact, Called) else named(fact):
            if resolve((owner, name)) is None and (
                owner not in (None, name) or not resolve.names.exact(name)
            ):
                gone[name if owner is None or owner == name else f"{owner}.{name}"] = None
    return tuple(gone)


def named(fact: Fact) -> tuple[WireName, ...]:
    """Return the tools that an fact makes known to the model."""
    if isinstance(fact, (Found, Noted)):
        return fact.names
    return ((fact.namespace, fact.name),) if isinstance(fact, Called) else ()


class Resolver:
    """Says which tool of a catalog a name in a conversation means; calls take (namespace, name).

    Names are taken literally, in this case style only: wire names, raw names, qualified names, and names
    within a namespace, as its owner or as OpenAI's format writes them. What could mean several tools means
    none. A tool that is not visible is none.
    """

    def __init__(self, catalog: Catalog, visible: Sequence[bool] | NDArray[np.bool_] | None = None) -> None:
        self.names = VisibleNames(catalog, None if visible is None else np.asarray(visible, dtype=np.bool_))
        self._catalog = catalog
        self._visible = visible
        self._known: dict[WireName, int | None] = {}

    def __call__(self, name: WireName) -> int | None:
        """Return the tool's position, or None."""
        if name not in self._known:
            owner, inner = name
            self._known[name] = self._flat(inner) if owner is None else self._owned(owner, inner)
        return self._known[name]

    def _flat(self, name: str) -> int | None:
        found = self.names.exact(name)
        if len(found) > 1:
            found = tuple(at for at in found if self._catalog.identities[at] == (None, name))
        return found[0] if len(found) == 1 else None

    def _owned(self, owner: str, name: str) -> int | None:
        exact = self.names.exact(name)
        wire = exact[0] if exact and self._catalog.wire_names[exact[0]] == name else None
        if owner == name and wire is not None:  # how OpenAI gives back a flat tool
            return wire
        label = self._label(owner)
        if label is not None and (inside := self._inside[label].get(name)) is not None:
            return inside
        # A wire name that is not the raw name holds its own namespace, whatever group it was declared in.
        return wire if wire is not None and self._catalog[wire].name != name else None

    def _label(self, owner: str) -> str | None:
        """Return the namespace that a provider, or the catalog, writes like this."""
        exact = self._labels.get(owner) or (owner if self._inside.get(owner) else None)
        if exact is not None:
            return exact
        stem = _GROUP_SUFFIX.sub("", owner)
        cut = len(owner) == MAX_WIRE_NAME  # then the suffix took the place of the name's end
        found = [
            label for wire, label in self._labels.items() if wire == stem or (cut and wire.startswith(stem))
        ]
        return found[0] if stem != owner and len(found) == 1 else None

    @cached_property
    def _labels(self) -> dict[str, str]:
        labels = tuple(self._inside)
        written = zip(wire_namespaces(labels), labels, strict=True)
        return {wire: label for wire, label in written if self._inside[label]}

    @cached_property
    def _inside(self) -> dict[str, dict[str, int]]:
        """Visible positions in each namespace by legal form of the raw name, else raw name, else wire name."""
        catalog = self._catalog
        members: dict[str, list[int]] = {}
        for at, (label, _) in enumerate(catalog.identities):
            if label is not None:
                members.setdefault(label, []).append(at)
        tables = {}
        for label, places in members.items():
            raw = [catalog[at].name for at in places]
            legal = wire_names([(None, name) for name in raw])
            wire = [catalog.wire_names[at] for at in places]
            written = zip((*wire, *raw, *legal), places * 3, strict=True)
            tables[label] = {name: at for name, at in written if self._visible is None or self._visible[at]}
        return tables


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
        self._sessions: dict[str, tuple[str, ...]] = {}  # replaced as wholes, so that reading needs no lock

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
        if session is None or not names:
            return
        with self._lock:
            if session not in self._sessions and len(self._sessions) >= self.max_sessions:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[session] = tuple(dict.fromkeys((*self._sessions.get(session, ()), *names)))

    def names(self, session: str | None) -> tuple[str, ...]:
        """Return the session's names in first-loaded order; () for None and for sessions not held."""
        return () if session is None else self._sessions.get(session, ())

    def __contains__(self, session: object) -> bool:
        return session in self._sessions

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(tuple(self._sessions))

    def __len__(self) -> int:
        return len(self._sessions)

    def __repr__(self) -> str:
        return f"SessionStore({len(self)} of {self.max_sessions} sessions)"
