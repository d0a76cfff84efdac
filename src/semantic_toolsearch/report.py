"""What became of tool definitions, position by position: ok, repaired, quarantined or held, and why (records)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from semantic_toolsearch.cleaning import replace_surrogates

__all__ = ["CatalogReport", "Problem", "ReportEntry", "Status"]

Status: TypeAlias = Literal["ok", "repaired", "quarantined", "held"]
"""Whether a definition is used as given, used after a repair, cannot be used, or is held until it is approved."""

_PRINTED_ENTRIES = 50
_PRINTED_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that was wrong with a definition, or that its owner should know.

    Attributes:
        path: JSON path inside the definition, in this library's field names: `$.parameters.properties.x`.
        reason: What was wrong there and what was done about it.
        changed: Whether the definition was changed for it; False for a mere remark.
    """

    path: str
    reason: str
    changed: bool = True

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """What became of one input position.

    Attributes:
        position: Index in the input as it was given (for a mapping of servers: index in that server's list).
        where: The same as text, with the place inside a page or namespace: `[3]`, `[0].tools[2]`, `wiki[1]`.
        name: Raw name, or None when it could not be read.
        namespace: Namespace, or None.
        status: `ok` (used as given), `repaired` (used after a change that `problems` lists), `quarantined`
            (cannot be used) or `held` (left out until it is approved, see `ToolSearch.approve`).
        problems: Repairs, or the reason why the tool is not in the catalog; for an `ok` tool, notes that changed
            nothing.
    """

    position: int
    where: str
    name: str | None
    namespace: str | None
    status: Status
    problems: tuple[Problem, ...] = ()

    @property
    def label(self) -> str:
        """Namespace and name as one readable text."""
        name = "(no name)" if self.name is None else self.name
        return f"{self.namespace}/{name}" if self.namespace else name

    def __str__(self) -> str:
        reasons = "; ".join(map(str, self.problems))
        if len(reasons) > _PRINTED_CHARACTERS:
            reasons = f"{reasons[:_PRINTED_CHARACTERS]}..."
        text = f"{self.status} {self.where} {self.label!r}{': ' if reasons else ''}{reasons}"
        return replace_surrogates(text)[0]  # a report is there to be printed


@dataclass(frozen=True, slots=True)
class CatalogReport:
    """One entry per input position, in input order."""

    entries: tuple[ReportEntry, ...] = ()

    @property
    def ok(self) -> tuple[ReportEntry, ...]:
        """Entries of tools that are used as they were given."""
        return self._with("ok")

    @property
    def repaired(self) -> tuple[ReportEntry, ...]:
        """Entries of tools that are used after a repair."""
        return self._with("repaired")

    @property
    def quarantined(self) -> tuple[ReportEntry, ...]:
        """Entries that gave no tool."""
        return self._with("quarantined")

    @property
    def held(self) -> tuple[ReportEntry, ...]:
        """Entries of tools that are left out until they are approved."""
        return self._with("held")

    def _with(self, status: Status) -> tuple[ReportEntry, ...]:
        return tuple(entry for entry in self.entries if entry.status == status)

    def __str__(self) -> str:
        shown: tuple[Status, ...] = ("ok", "repaired", "quarantined")
        shown = (*shown, "held") if self.held else shown
        counts = ", ".join(f"{len(self._with(status))} {status}" for status in shown)
        lines = [f"{len(self.entries)} tool definition(s): {counts}"]
        told = [
            *self.held,
            *self.quarantined,
            *self.repaired,
            *(entry for entry in self.ok if entry.problems),
        ]
        lines += [f"  {entry}" for entry in told[:_PRINTED_ENTRIES]]
        if len(told) > _PRINTED_ENTRIES:
            lines.append(f"  ... and {len(told) - _PRINTED_ENTRIES} more")
        return "\n".join(lines)
