"""A search's answer, or a compaction note, as it stands on the wire in; the tool names that it loads out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from semantic_toolsearch.exchange import as_dict
from semantic_toolsearch.names import MAX_WIRE_NAME, wire_name

__all__ = [
    "MAX_NAME",
    "Form",
    "WireName",
    "canonical",
    "decoded",
    "definition_names",
    "note_names",
    "note_text",
    "read_record",
    "reference_names",
]

WireName: TypeAlias = tuple[str | None, str]
"""(namespace, name) as they stand in a message; the namespace is None where the format has none."""

Form: TypeAlias = Literal["references", "definitions", "record"]

MAX_NAME: Final = 2_048
"""Characters; longer text is no tool's name."""

_WRAPPERS: Final = ("output", "result", "content", "response")
"""Keys under which a function response carries what the function returned."""

_LEGAL: Final = rf"[A-Za-z0-9_-]{{1,{MAX_WIRE_NAME}}}"
_ENTRY: Final = rf"(?:{_LEGAL}\.)?{_LEGAL}"
_LEGAL_NAME: Final = re.compile(_LEGAL)
_NOTE: Final = re.compile(rf"\[tool_search loaded: ({_ENTRY}(?:, {_ENTRY})*)\]")


def read_record(content: Any) -> tuple[tuple[WireName, ...], Form, Mapping[str, Any] | None]:
    """Return the names that a search's answer loads, how they came, and its record when it holds one.

    Args:
        content: Blocks with tool references; or a record as JSON text, in text blocks, as an object, or as an
            object's ``output``.
    """
    if isinstance(content, (list, tuple)):
        plain = [as_dict(block) for block in content]
        mappings = [block for block in plain if isinstance(block, Mapping)]
        if any(block.get("type") == "tool_reference" for block in mappings):
            return reference_names(mappings), "references", None
        texts = [block.get("text") for block in mappings]
        content = "".join(text for text in texts if isinstance(text, str))
    content = decoded(content)
    if isinstance(content, Mapping) and not _is_record(content):
        inner = (decoded(content[key]) for key in _WRAPPERS if key in content)
        content = next((value for value in inner if _is_record(value)), content)
    if not isinstance(content, Mapping):
        return (), "record", None
    return _record_names(content), "record", content


def reference_names(references: Iterable[Mapping[str, Any]]) -> tuple[WireName, ...]:
    """Return the names of Anthropic ``tool_reference`` blocks, each once."""
    found = (block.get("tool_name") for block in references if block.get("type") == "tool_reference")
    return _distinct((None, name) for name in found)


def definition_names(tools: Any) -> tuple[WireName, ...]:
    """Return the names of the functions in an OpenAI search output, each once."""
    found: list[tuple[Any, Any]] = []
    for entry in _mappings(tools):
        if entry.get("type") == "namespace":
            owner = entry.get("name")
            found += [(owner, _definition(tool).get("name")) for tool in _mappings(entry.get("tools"))]
        else:
            found.append((None, _definition(entry).get("name")))
    return _distinct(found)


def note_names(content: Any) -> tuple[WireName, ...]:
    """Return what a system message notes as loaded; () unless it is such a note and nothing else."""
    if isinstance(content, (list, tuple)) and len(content) == 1:
        block = as_dict(content[0])
        content = block.get("text") if isinstance(block, Mapping) else None
    note = _NOTE.fullmatch(content) if isinstance(content, str) else None
    if note is None:
        return ()
    entries = (entry.rpartition(".") for entry in note[1].split(", "))
    return _distinct((owner or None, name) for owner, _, name in entries)


def note_text(names: Sequence[WireName]) -> str:
    """Return the note for these names, which `note_names` reads back.

    A name with characters that a note has no room for is written as its wire name, which means the same tool.
    """
    return f"[tool_search loaded: {', '.join(_entry(name) for name in names)}]"


def canonical(name: WireName) -> str:
    """Return one spelling for a tool, whichever way a provider writes its name."""
    owner, inner = name
    return inner if owner is None or owner == inner else wire_name(owner, inner)


def decoded(value: Any) -> Any:
    """Return the JSON object that a text holds; any other value as it is."""
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return read if isinstance(read, dict) else value
    return value


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping) and ("loaded" in value or "tools" in value)


def _record_names(record: Mapping[str, Any]) -> tuple[WireName, ...]:
    loaded = record.get("loaded")
    if isinstance(loaded, (list, tuple)):
        return _distinct((None, name) for name in loaded)
    return _distinct((tool.get("namespace"), tool.get("name")) for tool in _mappings(record.get("tools")))


def _definition(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = tool.get("function", tool.get("custom"))
    return inner if isinstance(inner, Mapping) else tool


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, (list, tuple)):
        return []
    plain = (as_dict(entry) for entry in value)
    return [entry for entry in plain if isinstance(entry, Mapping)]


def _distinct(names: Iterable[tuple[Any, Any]]) -> tuple[WireName, ...]:
    kept: dict[WireName, None] = {}
    for owner, name in names:
        if _is_name(name):
            kept[owner if _is_name(owner) else None, name] = None
    return tuple(kept)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME


def _entry(name: WireName) -> str:
    owner, inner = name
    if owner is None:
        return inner if _LEGAL_NAME.fullmatch(inner) else wire_name(None, inner)
    if _LEGAL_NAME.fullmatch(owner) and _LEGAL_NAME.fullmatch(inner):
        return f"{owner}.{inner}"
    return wire_name(owner, inner)
