"""Tools go in; ``documents.jsonl``, which people and other programs can read, comes out, and back.

One line a tool, in catalog order. It is all that is needed to load an index without the original definitions,
and its text hashes tell which tools must be embedded again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json

from semantic_toolsearch.errors import IndexCorruptError
from semantic_toolsearch.index.manifest import MEND

_FIELDS: Final = ("wire_name", "namespace", "text_sha256", "definition")


@dataclass(frozen=True, slots=True)
class StoredTool:
    """One line of ``documents.jsonl``.

    Attributes:
        wire_name: The name that models see.
        namespace: Server or category, or None.
        text_sha256: Hash of the text that was embedded.
        definition: The whole tool definition as plain JSON.
    """

    wire_name: str
    namespace: str | None
    text_sha256: str
    definition: dict[str, Any]


def encode_tools(tools: Iterable[StoredTool]) -> bytes:
    """Write tools as JSON lines in UTF-8, other scripts unescaped so that people can read them."""
    return b"".join(_line({name: getattr(tool, name) for name in _FIELDS}) for tool in tools)


def decode_tools(data: bytes, *, size: int) -> tuple[StoredTool, ...]:
    """Read what `encode_tools` wrote.

    Args:
        data: The whole file.
        size: Number of tools that the manifest states.

    Raises:
        IndexCorruptError: A line is no tool (the message tells which), or there are more or fewer lines.
    """
    lines = data.split(b"\n")
    if lines.pop() or len(lines) != size:
        raise IndexCorruptError(
            f"documents.jsonl has {len(lines)} lines, its manifest states {size} tools: {MEND}"
        )
    return tuple(_tool(line, number) for number, line in enumerate(lines, start=1))


def _line(fields: dict[str, Any]) -> bytes:
    try:
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8 form, only an escaped one
        return json.dumps(fields, ensure_ascii=True).encode() + b"\n"


def _tool(line: bytes, number: int) -> StoredTool:
    try:
        fields = _parse(line)
        if tuple(fields) != _FIELDS:
            raise ValueError(f"its fields are {list(fields)}")
        tool = StoredTool(**fields)
        for name, kinds in (
            ("wire_name", str),
            ("namespace", str | None),
            ("text_sha256", str),
            ("definition", dict),
        ):
            if not isinstance(getattr(tool, name), kinds):
                raise TypeError(f"{name} is a {type(getattr(tool, name)).__name__}")
    except (TypeError, ValueError, RecursionError) as error:
        raise IndexCorruptError(f"documents.jsonl line {number} is no tool ({error}): {MEND}") from error
    return tool


def _parse(line: bytes) -> Any:
    try:
        return from_json(line)  # twice as fast as json.loads, and stricter about depth and surrogates
    except ValueError:
        return json.loads(line)
