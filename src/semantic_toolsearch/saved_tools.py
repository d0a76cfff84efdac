"""Tool definitions in, lines of text out, and back, each one only when it is looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import IndexCorruptError

__all__ = ["SavedTools", "tool_line"]

_ABSENT: Final = object()

_DEFAULTS: Final[dict[str, Any]] = {
    name: field.default
    for name, field in ToolDefinition.model_fields.items()
    if isinstance(field.default, str | bool | tuple | None)
}
"""Left out of a line. Without those that can be changed in place: loaded tools must not share them."""


def tool_line(wire_name: str, text_hash: str | None, tool: ToolDefinition) -> str:
    """One tool as one line of JSON, without the fields that have their default.

    Args:
        wire_name: Its name in the catalog.
        text_hash: Hash of its embedded text; None where there is no vector.
        tool: The definition.
    """
    fields = {name: value for name, value in tool.__dict__.items() if value != _DEFAULTS.get(name, _ABSENT)}
    return json.dumps({"name": wire_name, "text": text_hash, "tool": fields}, ensure_ascii=False)


class SavedTools(Sequence[ToolDefinition]):
    """The definitions of many lines; reading them all at once would take longer than a first search.

    Args:
        lines: What ``tool_line`` wrote, UTF-8. The bytes must have been verified: they are not checked here.
    """

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._read: dict[int, ToolDefinition] = {}

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, key: int) -> ToolDefinition: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[ToolDefinition, ...]: ...
    def __getitem__(self, key: int | slice) -> ToolDefinition | tuple[ToolDefinition, ...]:
        if isinstance(key, slice):
            return tuple(self[place] for place in range(len(self))[key])
        place = range(len(self))[key]
        tool = self._read.get(place)
        if tool is None:
            # Two threads may both make it; whoever comes second takes the first one's.
            tool = self._read.setdefault(place, _tool(self._lines[place], place))
        return tool

    def __iter__(self) -> Iterator[ToolDefinition]:
        return map(self.__getitem__, range(len(self)))


def _tool(line: bytes, place: int) -> ToolDefinition:
    try:
        fields = _DEFAULTS | json.loads(line)["tool"]
        for name in ("aliases", "tags"):
            fields[name] = tuple(fields[name])
        return ToolDefinition.model_construct(**fields)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise IndexCorruptError(
            f"line {place + 1} of the saved catalog is no tool definition ({type(fault).__name__}: {fault}): "
            "it was not written by save(); save the index again"
        ) from fault
