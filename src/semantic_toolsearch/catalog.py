"""Tool definitions of any form in; an ordered, immutable catalog with wire names and a report out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, overload

from semantic_toolsearch.cleaning import clean_prose, strip_hidden
from semantic_toolsearch.definitions import POLICIES, DeferPolicy, ToolDefinition
from semantic_toolsearch.errors import (
    CatalogError,
    ConfigError,
    DuplicateToolError,
    InvalidToolError,
    UnknownToolError,
)
from semantic_toolsearch.lookup import NameTable
from semantic_toolsearch.names import nearest, wire_names
from semantic_toolsearch.pins import content_hash
from semantic_toolsearch.reading import read_definition
from semantic_toolsearch.report import CatalogReport, Problem, ReportEntry, Status
from semantic_toolsearch.sources import Place, places

__all__ = ["Catalog"]

_ANY_NAMESPACE: Final = object()


class Catalog:
    """An immutable sequence of tools, unique by namespace and name, in the order they were given.

    A definition that cannot be used costs that tool only: `report` tells which, where and why. Of two
    definitions with the same namespace and name the first is kept.

    Args:
        tools: Definitions for OpenAI, Anthropic or MCP, `ToolDefinition` objects and Python functions, mixed
            freely with `tools/list` results and OpenAI namespaces; or one such result; or a mapping of server
            names to lists of tools.
        strict: Raise at the first definition that cannot be used. Repairs are reported, never raised.

    Raises:
        CatalogError: `tools` as a whole is no collection of tools.
        InvalidToolError: Strict, and a definition cannot be used.
        DuplicateToolError: Strict, and a definition has the namespace and name of an earlier one.
    """

    _tools: Sequence[ToolDefinition]
    _report: CatalogReport
    _descriptions: dict[str, str]

    def __init__(self, tools: Iterable[Any] | Mapping[str, Any] = (), *, strict: bool = False) -> None:
        descriptions: dict[str, str] = {}
        if isinstance(tools, Catalog):
            descriptions.update(tools._descriptions)
        self._tools, self._report = _read(places(tools, descriptions), strict, _ANY_NAMESPACE)
        self._descriptions = descriptions

    @classmethod
    def _of(
        cls, tools: Sequence[ToolDefinition], report: CatalogReport, descriptions: dict[str, str]
    ) -> Catalog:
        catalog = cls.__new__(cls)
        catalog._tools, catalog._report, catalog._descriptions = tools, report, descriptions
        return catalog

    @classmethod
    def restored(
        cls,
        tools: Sequence[ToolDefinition],
        identities: Sequence[tuple[str | None, str]],
        wire_names: Sequence[str],
        namespaces: Mapping[str, str],
    ) -> Catalog:
        """Put a catalog together again from its own parts; nothing is checked, mended or computed.

        Args:
            tools: A catalog's `tools`; each one is looked at only when somebody asks for it.
            identities: Its `identities`.
            wire_names: Its `wire_names`.
            namespaces: Its `namespaces`.
        """
        entries = (
            ReportEntry(place, f"[{place}]", name, owner, "ok")
            for place, (owner, name) in enumerate(identities)
        )
        catalog = cls._of(tools, CatalogReport(tuple(entries)), dict(namespaces))
        catalog.__dict__.update(identities=tuple(identities), wire_names=tuple(wire_names))
        return catalog

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The definitions, in order."""
        if not isinstance(self._tools, tuple):
            self._tools = tuple(self._tools)
        return self._tools

    @property
    def report(self) -> CatalogReport:
        """What became of every definition that was given; `print(catalog.report)` is readable."""
        return self._report

    @cached_property
    def identities(self) -> tuple[tuple[str | None, str], ...]:
        """(namespace, raw name) of each tool."""
        return tuple(tool.identity for tool in self._tools)

    @cached_property
    def wire_names(self) -> tuple[str, ...]:
        """Name of each tool towards a provider: legal for all of them, at most 64 characters, unique."""
        return wire_names(self.identities)

    @cached_property
    def namespaces(self) -> Mapping[str, str]:
        """Each namespace in order of its first tool, with its description ("" when none was given)."""
        owners = dict.fromkeys(owner for owner, _ in self.identities if owner is not None)
        return MappingProxyType(
            {owner: clean_prose(self._descriptions.get(owner, ""))[0] for owner in owners}
        )

    @cached_property
    def fingerprints(self) -> tuple[str, ...]:
        """SHA-256 of each definition's canonical JSON, in hex."""
        return tuple(hashlib.sha256(_canonical(tool)).hexdigest() for tool in self._tools)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over all definitions in their order, in hex: equal catalogs have equal fingerprints."""
        return hashlib.sha256("\n".join(self.fingerprints).encode()).hexdigest()

    @cached_property
    def _names(self) -> NameTable:
        return NameTable(self.identities, self.wire_names)

    def find(self, name: str) -> tuple[int, ...]:
        """Return every position that a spelling may mean, in catalog order; () when it means none.

        Only the best kind of match counts: exact, else in another case style, else the bare name behind a
        prefix.
        """
        return self._names.find(name) if isinstance(name, str) else ()

    def exact(self, name: str) -> tuple[int, ...]:
        """Return the positions that a name means when taken literally.

        A wire name means its tool alone; a raw or qualified name means every tool that bears it.
        """
        if not isinstance(name, str):
            return ()
        position = self._names.wire.get(name)
        return self._names.exact(name) if position is None else (position,)

    def position(self, name: str) -> int:
        """Return the position of the tool with this name.

        Args:
            name: Wire name, raw name where it is unique, or `server.name` / `server__name`; spelled exactly.

        Raises:
            UnknownToolError: No tool has this name, or several have; the message names the nearest.
        """
        if not isinstance(name, str):
            raise UnknownToolError(f"A tool's name is text, not {type(name).__name__}.")
        position = self._names.wire.get(name)
        if position is not None:
            return position
        found = self._names.exact(name)
        if len(found) == 1:
            return found[0]
        if found:
            choices = ", ".join(self.wire_names[place] for place in found[:10])
            raise UnknownToolError(
                f"{name[:100]!r} is the name of {len(found)} tools; use one of: {choices}."
            )
        similar = [self.wire_names[place] for place in self.find(name)[:3]]
        similar = similar or list(nearest(name, (*self.wire_names, *(tool.name for tool in self._tools))))
        hint = f" Nearest: {', '.join(similar)}." if similar else ""
        raise UnknownToolError(f"No tool of this catalog is called {name[:100]!r}.{hint}")

    def raw(self, wire_name: str) -> tuple[str | None, str]:
        """Return (namespace, raw name) of the tool with this wire name.

        Raises:
            UnknownToolError: No tool has this wire name.
        """
        position = self._names.wire.get(wire_name)
        return self.identities[self.position(wire_name) if position is None else position]

    def replace(self, namespace: str | None, tools: Iterable[Any], *, strict: bool = False) -> Catalog:
        """Return a catalog in which one namespace holds these tools instead of its present ones.

        The new tools take the place of the namespace's first old tool, or the end; all others keep their
        order.

        Args:
            namespace: The namespace to replace; None for the tools without one.
            tools: As for `Catalog`; definitions without a namespace get this one.
            strict: As for `Catalog`.

        Raises:
            CatalogError: As for `Catalog`, or `namespace` is not text.
        """
        if namespace is not None and not isinstance(namespace, str):
            raise CatalogError(f"A namespace is text or None, not {type(namespace).__name__}.")
        namespace = namespace if namespace and strip_hidden(namespace).strip() else None
        descriptions = dict(self._descriptions)
        if namespace is not None:
            descriptions.pop(namespace, None)
        fresh, report = _read(places(tools, descriptions), strict, namespace)
        start = next(
            (place for place, (owner, _) in enumerate(self.identities) if owner == namespace), len(self)
        )
        before = self._tools[:start]
        after = (tool for tool in self._tools[start:] if tool.namespace != namespace)
        kept = tuple(entry for entry in self._report.entries if entry.namespace != namespace)
        return Catalog._of((*before, *fresh, *after), CatalogReport((*kept, *report.entries)), descriptions)

    def pins(self) -> dict[str, str]:
        """The hash of each tool's content by wire name, for ``ToolSearch(..., pins=...)``; see `pins.content_hash`.

        A plain mapping of texts: keep it with `json.dump`, and give its file as ``pins``.
        """
        return {name: content_hash(tool) for name, tool in zip(self.wire_names, self._tools, strict=True)}

    def without(self, held: Mapping[str, str]) -> Catalog:
        """Return a catalog without some tools, in which all others keep their wire names.

        Args:
            held: Why each tool is left out, by wire name; the report says so.
        """
        reasons = {self.identities[self.position(name)]: reason for name, reason in held.items()}
        kept = [place for place, name in enumerate(self.wire_names) if name not in held]
        entries = tuple(_held(entry, reasons) for entry in self._report.entries)
        catalog = Catalog._of(
            tuple(self._tools[place] for place in kept), CatalogReport(entries), self._descriptions
        )
        # A name does not pass to another tool because its owner is held.
        catalog.__dict__["wire_names"] = tuple(self.wire_names[place] for place in kept)
        return catalog

    def with_policy(self, pattern: str, policy: DeferPolicy) -> Catalog:
        """Return a catalog in which the tools that match a pattern have this deferral policy.

        Args:
            pattern: Shell pattern (`*`, `?`, `[abc]`). With a slash it is `namespace/name` (`wiki/*`);
                without one it is a raw name.
            policy: `never`, `automatic` or `always`.

        Raises:
            ConfigError: The pattern matches no tool, or there is no such policy.
        """
        if not isinstance(pattern, str):
            raise ConfigError(f"A pattern is text such as 'wiki/*', not {type(pattern).__name__}.")
        if policy not in POLICIES:
            raise ConfigError(f"No deferral policy {policy!r}; there are {', '.join(POLICIES)}.")
        tools = tuple(
            tool.model_copy(update={"defer": policy}) if _matches(tool, pattern) else tool
            for tool in self._tools
        )
        if all(new is old for new, old in zip(tools, self._tools, strict=True)):
            known = [f"{owner}/*" for owner in self.namespaces] + [tool.name for tool in self._tools]
            similar = nearest(pattern, known)
            hint = f" Nearest: {', '.join(similar)}." if similar else ""
            raise ConfigError(f"The pattern {pattern!r} matches no tool of this catalog.{hint}")
        return Catalog._of(tools, self._report, self._descriptions)

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self._tools)

    @overload
    def __getitem__(self, key: int | str) -> ToolDefinition: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[ToolDefinition, ...]: ...
    def __getitem__(self, key: int | str | slice) -> ToolDefinition | tuple[ToolDefinition, ...]:
        if isinstance(key, str):
            return self._tools[self.position(key)]
        return tuple(self._tools[key]) if isinstance(key, slice) else self._tools[key]

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return bool(self._names.exact(item))
        return isinstance(item, ToolDefinition) and item in self._tools

    def __repr__(self) -> str:
        return f"Catalog({len(self._tools)} tools, {len(self.namespaces)} namespaces)"


def _read(
    sources: Iterable[Place], strict: bool, namespace: Any
) -> tuple[tuple[ToolDefinition, ...], CatalogReport]:
    """Read definitions; `namespace` is the only one allowed (and the default), or `_ANY_NAMESPACE`."""
    tools: dict[tuple[str | None, str], ToolDefinition] = {}
    entries = []
    for place in sources:
        default = place.namespace
        if default is None and namespace is not _ANY_NAMESPACE:
            default = namespace
        tool, name, owner, problems = read_definition(place.source, default)
        kind: type[CatalogError] = InvalidToolError
        if tool is not None and namespace is not _ANY_NAMESPACE and tool.namespace != namespace:
            reason = f"belongs to {tool.namespace!r}, but {namespace!r} is being replaced"
            tool, problems = None, (*problems, Problem("$.namespace", reason))
        if tool is not None and (first := tools.get(tool.identity)) is not None:
            same = "an identical definition" if first == tool else "another definition"
            reason = f"{same} of this namespace and name came before it and is kept"
            tool, problems, kind = None, (*problems, Problem("$.name", reason)), DuplicateToolError
        if tool is None:
            entry = ReportEntry(place.position, place.where, name, owner, "quarantined", problems)
            if strict:
                raise kind(f"Tool definition {entry}. Mend it, or read without strict=True to leave it out.")
        else:
            tools[tool.identity] = tool
            status: Status = "repaired" if any(problem.changed for problem in problems) else "ok"
            entry = ReportEntry(place.position, place.where, name, owner, status, problems)
        entries.append(entry)
    return tuple(tools.values()), CatalogReport(tuple(entries))


def _held(entry: ReportEntry, reasons: Mapping[tuple[str | None, str], str]) -> ReportEntry:
    reason = None if entry.name is None else reasons.get((entry.namespace, entry.name))
    if reason is None or entry.status == "quarantined":
        return entry
    return replace(entry, status="held", problems=(*entry.problems, Problem("$", reason, changed=False)))


def _matches(tool: ToolDefinition, pattern: str) -> bool:
    if "/" not in pattern or tool.namespace is None:
        return fnmatchcase(tool.name, pattern)
    at = pattern.find("/")
    while at >= 0:  # namespaces and names may hold slashes themselves
        if fnmatchcase(tool.namespace, pattern[:at]) and fnmatchcase(tool.name, pattern[at + 1 :]):
            return True
        at = pattern.find("/", at + 1)
    return False


def _canonical(tool: ToolDefinition) -> bytes:
    return json.dumps(tool.__dict__, sort_keys=True, separators=(",", ":")).encode()
