"""A catalog in; the OpenAI namespace and function name of each tool, and the way back from them, out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from semantic_toolsearch.cleaning import clean_prose
from semantic_toolsearch.names import MAX_WIRE_NAME, wire_names, wire_namespaces
from semantic_toolsearch.providers.base import cut_description

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog

__all__ = ["MAX_FUNCTIONS", "Group", "Namespaces", "namespaces_of"]

MAX_FUNCTIONS: Final = 9
"""Functions of one namespace that the provider recommends at most ("fewer than 10")."""

_LABEL: Final = 200
_DESCRIPTION: Final = 1_024
_PART: Final = re.compile(r"(.+)_[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Group:
    """One namespace entry: a category, or a part of one that has too many tools.

    Attributes:
        name: Name on the wire: legal, unique ignoring case, no tool's wire name.
        label: The category as its owner writes it.
        part: 1 for the first or only part.
        parts: Number of parts.
        positions: Its tools, in catalog order.
    """

    name: str
    label: str
    part: int
    parts: int
    positions: tuple[int, ...]


class Namespaces:
    """The namespaces of one catalog, whatever part of it a request shows.

    Parts are cut from the whole category in catalog order, not from what a turn defers: a tool's namespace
    then stays the same while visibility and policy change, so that calls in the history remain valid.

    Args:
        catalog: The tools.
        most: Most functions of one namespace, or None for no split.
    """

    def __init__(self, catalog: Catalog, most: int | None = MAX_FUNCTIONS) -> None:
        # The catalog itself is not kept: it is the key under which this object is remembered.
        members: dict[str, list[int]] = {}
        for position, tool in enumerate(catalog):
            if tool.namespace is not None:
                members.setdefault(tool.namespace, []).append(position)
        self._wire = catalog.wire_names
        self._descriptions = dict(catalog.namespaces)
        self._inner = {
            label: dict(
                zip(positions, wire_names([(None, catalog[at].name) for at in positions]), strict=True)
            )
            for label, positions in members.items()
        }
        self._bases = _bases(tuple(members), {name.lower() for name in self._wire})
        self.groups = self._cut(members, most)
        """Every namespace, sorted by the category's wire name, then by part."""

    def address(self, position: int) -> tuple[str | None, str]:
        """Return (namespace, function name) under which a deferred tool travels; None for a flat one."""
        group = self._group_of.get(position)
        if group is None:
            return None, self._wire[position]
        return group.name, self._inner[group.label][position]

    def position(self, namespace: str | None, name: str) -> int | None:
        """Return the tool that a call with this namespace and name means, or None.

        A flat tool answers to its wire name, without a namespace or in one of its own name (which is how the
        provider returns a flat deferred function). In a namespace a tool answers to its name there or to its
        wire name. The number behind a split category is not compared: names are unique in all parts of it,
        and a conversation may be older than the present split. A bare name never means a tool of a namespace.
        """
        if namespace is None or namespace == name:
            flat = self._by_wire.get(name)
            if flat is not None or namespace is None:
                return flat
        label = self._label_of.get(namespace)
        if label is None and (part := _PART.fullmatch(namespace)):
            label = self._label_of.get(part[1])
        if label is None:
            return None
        inside = self._by_inner[label].get(name)
        if inside is not None:
            return inside
        flat = self._by_wire.get(name)
        return flat if flat in self._inner[label] else None

    def describe(self, group: Group, functions: Iterable[str]) -> str:
        """Return what the model reads of a namespace: the category, what it is for, and which part of it.

        Args:
            group: The namespace.
            functions: Names of the functions that the request shows in it; the parts of a split category are
                told apart by them, since nothing else of them is seen.
        """
        text = cut_description(" ".join(clean_prose(group.label)[0].split()), _LABEL)
        if group.parts > 1:
            text += f", part {group.part}"
        described = self._descriptions.get(group.label, "").strip()
        if described:
            text += f": {described}"
        if group.parts > 1:
            text += f"{'' if text.endswith('.') else '.'} Functions: {', '.join(functions)}."
        return cut_description(text, _DESCRIPTION)

    @cached_property
    def _group_of(self) -> dict[int, Group]:
        return {position: group for group in self.groups for position in group.positions}

    @cached_property
    def _by_wire(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self._wire)}

    @cached_property
    def _by_inner(self) -> dict[str, dict[str, int]]:
        return {
            label: {name: position for position, name in inner.items()}
            for label, inner in self._inner.items()
        }

    @cached_property
    def _label_of(self) -> dict[str, str]:
        named = {group.name: group.label for group in self.groups}
        return named | {base: label for label, base in self._bases.items()}

    def _cut(self, members: dict[str, list[int]], most: int | None) -> tuple[Group, ...]:
        taken = {name.lower() for name in (*self._wire, *self._bases.values())}
        groups = []
        for base, label in sorted((base, label) for label, base in self._bases.items()):
            positions = members[label]
            size = max(most or len(positions), 1)
            parts = [tuple(positions[start : start + size]) for start in range(0, len(positions), size)]
            number = 1
            for part, chosen in enumerate(parts, start=1):
                name = base
                while part > 1 and name.lower() in taken:
                    number += 1
                    name = _suffixed(base, f"_{number}")
                taken.add(name.lower())
                groups.append(Group(name, label, part, len(parts), chosen))
        return tuple(groups)


_KNOWN: Final[WeakKeyDictionary[Catalog, dict[int | None, Namespaces]]] = WeakKeyDictionary()


def namespaces_of(catalog: Catalog, most: int | None = MAX_FUNCTIONS) -> Namespaces:
    """Return the namespaces of a catalog, computed once while the catalog lives."""
    known = _KNOWN.setdefault(catalog, {})
    if most not in known:
        known[most] = Namespaces(catalog, most)
    return known[most]


def _bases(labels: tuple[str, ...], tools: set[str]) -> dict[str, str]:
    """Return each category's wire name.

    None is a tool's wire name: the provider returns a flat deferred function in a namespace of the function's
    own name, and the two could not be told apart.
    """
    plain = dict(zip(labels, wire_namespaces(labels), strict=True))
    taken = tools | {name.lower() for name in plain.values()}
    bases = {}
    for label, name in sorted(plain.items()):
        number, choice = 0, name
        while choice.lower() in tools or (number and choice.lower() in taken):
            number += 1
            choice = _suffixed(name, "_tools" if number == 1 else f"_tools{number}")
        taken.add(choice.lower())
        bases[label] = choice
    return bases


def _suffixed(name: str, suffix: str) -> str:
    room = MAX_WIRE_NAME - len(suffix)
    return (name if len(name) <= room else name[:room].rstrip("_-")) + suffix
