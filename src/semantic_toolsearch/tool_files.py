"""A JSON file of tool definitions in any known form in; a catalog out."""

from __future__ import annotations

import json
from json import JSONDecodeError, detect_encoding
from os import PathLike
from pathlib import Path
from typing import Any

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import CatalogError

__all__ = ["catalog_of_json", "named_catalog", "read_tool_file"]


def read_tool_file(path: str | PathLike[str]) -> Catalog:
    """Read a file of definitions: a list, a `tools/list` result, a mapping of servers, one tool, or one a line.

    Raises:
        CatalogError: The file is missing, is no JSON, or holds no tool definitions; the message names it, and the
            line where it is known.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CatalogError(f"{path} cannot be read: {error.strerror or error}.") from error
    return catalog_of_json(data, str(path))


def catalog_of_json(data: bytes, label: str) -> Catalog:
    """Read the bytes of such a file.

    Args:
        data: JSON, or one JSON value a line, in UTF-8, -16 or -32.
        label: What to call it in messages.

    Raises:
        CatalogError: As for ``read_tool_file``.
    """
    content = _parsed(data, label)
    if isinstance(content, dict) and "mcpServers" in content:
        raise CatalogError(f"{label} lists MCP servers, not tools. Start each one with --mcp 'COMMAND'.")
    return named_catalog([content] if _is_one_tool(content) else content, label)


def named_catalog(content: Any, label: str) -> Catalog:
    """Return ``Catalog(content)``; an error names the source.

    Raises:
        CatalogError: As for ``Catalog``.
    """
    try:
        return Catalog(content)
    except CatalogError as error:
        raise CatalogError(f"{label}: {error}") from error


def _parsed(data: bytes, label: str) -> Any:
    try:
        text = data.decode(detect_encoding(data))
    except UnicodeDecodeError as error:
        raise CatalogError(f"{label} is no text in UTF-8, -16 or -32 ({error.reason}).") from error
    text = text.removeprefix("\ufeff")
    try:
        return json.loads(text)
    except JSONDecodeError as error:
        lines = _json_lines(text, label)
        if lines is not None:
            return lines
        raise _not_json(label, error.lineno, error.colno, error.msg) from error
    except RecursionError as error:
        raise CatalogError(f"{label} nests too deep to be read as JSON.") from error
    except ValueError as error:
        raise CatalogError(f"{label} holds a number of more digits than can be read.") from error


def _json_lines(text: str, label: str) -> list[Any] | None:
    """The values of a file with one JSON value a line; None where the first line is not one."""
    values: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            if not values:
                return None
            column, reason = (
                getattr(error, "colno", 1),
                getattr(error, "msg", "nested too deep, or a number too long"),
            )
            raise _not_json(label, number, column, reason) from error
    return values or None


def _not_json(label: str, line: int, column: int, reason: str) -> CatalogError:
    return CatalogError(f"{label}, line {line}, column {column}: not JSON ({reason}).")


def _is_one_tool(content: Any) -> bool:
    if not isinstance(content, dict) or any(key in content for key in ("tools", "result")):
        return False
    return isinstance(content.get("name"), str) or isinstance(content.get("function"), dict)
