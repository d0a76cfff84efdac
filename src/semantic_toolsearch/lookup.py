"""A spelling of a tool's name in, the positions it may mean out, in any case style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from semantic_toolsearch.names import MCP_PREFIX, squash

__all__ = ["NameTable"]

MAX_SPELLING: Final = 2_048
"""Characters; a longer text is no spelling of any name (a namespace and a name have at most 1,024 each)."""

_SEPARATORS: Final = ("__", "::", ".", "/", ":")


class NameTable:
    """The spellings of a catalog's names; tables are built on first use, look-ups take constant time.

    Args:
        identities: (namespace, raw name) of each tool.
        wire_names: Wire name of each tool.
    """

    def __init__(self, identities: Sequence[tuple[str | None, str]], wire_names: Sequence[str]) -> None:
        self._identities = identities
        self._wire_names = wire_names

    def find(self, spelling: str) -> tuple[int, ...]:
        """Return the positions of the best kind of match: exact, else any case style, else the bare name.

        Exact are the wire name, the raw name, and `server.name` with `.`, `/`, `:`, `::` or `__` between. A
        bare name is the part of a raw name behind its last separator (`mcp__server__name`).
        """
        if len(spelling) > MAX_SPELLING:
            return ()
        if exact := self.exact(spelling) or self.exact(spelling.strip()):
            return exact
        key = squash(spelling)
        return tuple(self._case_free.get(key) or self._leaves.get(key) or ()) if key else ()

    def exact(self, spelling: str) -> tuple[int, ...]:
        """Return the positions whose wire name, raw name or qualified name is exactly this, in order."""
        found = {*self._raw.get(spelling, ()), *self._qualified(spelling)}
        if (wire := self.wire.get(spelling)) is not None:
            found.add(wire)
        return tuple(sorted(found))

    @cached_property
    def wire(self) -> dict[str, int]:
        """Position of each wire name."""
        return {name: position for position, name in enumerate(self._wire_names)}

    @cached_property
    def identity(self) -> dict[tuple[str | None, str], int]:
        """Position of each (namespace, raw name)."""
        return {identity: position for position, identity in enumerate(self._identities)}

    @cached_property
    def _raw(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = {}
        for position, (_, name) in enumerate(self._identities):
            table.setdefault(name, []).append(position)
        return table

    def _qualified(self, spelling: str) -> Iterator[int]:
        for separator in _SEPARATORS:
            at = spelling.find(separator)
            while at > 0:
                position = self.identity.get((spelling[:at], spelling[at + len(separator) :]))
                if position is not None:
                    yield position
                at = spelling.find(separator, at + 1)

    @cached_property
    def _case_free(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = {}
        for position, (namespace, name) in enumerate(self._identities):
            own = squash(name)
            keys = {own, squash(self._wire_names[position])}
            if namespace is not None and own:
                keys.add(squash(namespace) + own)
            if name.startswith(MCP_PREFIX):
                keys.add(squash(name.removeprefix(MCP_PREFIX)))
            for key in keys - {""}:
                table.setdefault(key, []).append(position)
        return table

    @cached_property
    def _leaves(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = {}
        for position, (_, name) in enumerate(self._identities):
            ends = (name.rfind(separator) + len(separator) for separator in _SEPARATORS if separator in name)
            start = max(ends, default=0)
            leaf = squash(name[start:]) if 0 < start < len(name) else ""
            if leaf and not leaf.isdigit():
                table.setdefault(leaf, []).append(position)
        return table
