"""Two definitions of one tool in; where they differ, as JSON paths, out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

from semantic_toolsearch.json_values import json_path

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["CONTENT", "MOST_CHANGES", "Change", "changes_between"]

CONTENT: Final = (
    "name",
    "namespace",
    "description",
    "parameters",
    "aliases",
    "tags",
    "provider_fields",
    "defer",
)
"""Fields that say what a tool is; whether somebody would run it just now (``registered``) is no part of that."""

MOST_CHANGES: Final = 100
"""Changes that are listed: a schema may have 100,000 values, and nobody reads so many."""


@dataclass(frozen=True, slots=True)
class Change:
    """One place at which a definition is not what it was.

    Attributes:
        path: JSON path in this library's field names, such as ``$.parameters.properties.to``.
        kind: What happened there.
    """

    path: str
    kind: Literal["added", "removed", "changed"]

    def __str__(self) -> str:
        return f"{self.path} {self.kind}"


def changes_between(before: ToolDefinition, after: ToolDefinition) -> tuple[Change, ...]:
    """Return where two definitions differ, the first ``MOST_CHANGES`` places.

    The order of an object's keys is no difference, that of a list is.
    """
    found = (
        change
        for field in CONTENT
        for change in _changes(f"$.{field}", _plain(getattr(before, field)), _plain(getattr(after, field)))
    )
    return tuple(islice(found, MOST_CHANGES))


def _changes(path: str, before: Any, after: Any) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*after, *before)):
            below = json_path(path, key)
            if key not in before:
                yield Change(below, "added")
            elif key not in after:
                yield Change(below, "removed")
            else:
                yield from _changes(below, before[key], after[key])
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _changes(json_path(path, place), old, new)
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):  # where 1 is not true
        yield Change(path, "changed")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
