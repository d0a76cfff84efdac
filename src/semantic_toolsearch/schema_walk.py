"""A JSON Schema in, each of its subschemas out once: iterative, cycle-safe, bounded in size and depth."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from semantic_toolsearch.json_values import MAP_KEYWORDS, MAX_DEPTH, MAX_VALUES

__all__ = ["LIST_KEYWORDS", "SINGLE_KEYWORDS", "Node", "Path", "References", "subschemas", "walk"]

LIST_KEYWORDS: Final = ("prefixItems", "items", "allOf", "anyOf", "oneOf")
SINGLE_KEYWORDS: Final = (
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "if",
    "then",
    "else",
    "not",
)
DEFINITIONS: Final = ("$defs", "definitions")
_APPLICATORS = frozenset((*MAP_KEYWORDS, *LIST_KEYWORDS, *SINGLE_KEYWORDS))

_INDEX = re.compile("0|[1-9][0-9]{0,6}")

Path = tuple[str | int, ...]


class Node(NamedTuple):
    """One subschema: where it stands, the property it describes ("" when it is none), and itself."""

    path: Path
    name: str
    schema: dict[str, Any]


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """Yield the subschemas directly below one schema: (relative path, property name or "", subschema)."""
    for keyword, value in schema.items():
        if keyword not in _APPLICATORS:
            continue
        if isinstance(value, dict):
            if keyword in MAP_KEYWORDS:
                yield from _named(keyword, value)
            elif keyword in SINGLE_KEYWORDS:
                yield (keyword,), "", value
        elif isinstance(value, list) and keyword in LIST_KEYWORDS:
            yield from (((keyword, i), "", child) for i, child in enumerate(value) if isinstance(child, dict))


def _named(keyword: str, schemas: dict[str, Any]) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    for name, child in schemas.items():
        if isinstance(child, dict) and isinstance(name, str):
            yield (keyword, name), name if keyword == "properties" else "", child


class References:
    """Resolves a root schema's local references; never looks outside of it."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._anchors: dict[str, Node] | None = None

    def resolve(self, reference: Any) -> tuple[Path, Any] | None:
        """Return path and value that a `$ref` points at; None when it is not local or points at nothing."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if fragment == "":
            return (), self._root
        if not fragment.startswith("/"):
            node = self._anchor(fragment)
            return None if node is None else (node.path, node.schema)
        return self._pointer(fragment)

    def _pointer(self, fragment: str) -> tuple[Path, Any] | None:
        value: Any = self._root
        path: list[str | int] = []
        for part in fragment[1:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
                path.append(key)
            elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
                value = value[int(key)]
                path.append(int(key))
            else:
                return None
        return tuple(path), value

    def _anchor(self, name: str) -> Node | None:
        if self._anchors is None:
            self._anchors = {}
            for node in walk(self._root):
                for keyword in ("$anchor", "$dynamicAnchor"):
                    anchor = node.schema.get(keyword)
                    if isinstance(anchor, str):
                        self._anchors.setdefault(anchor, node)
        return self._anchors.get(name)


def walk(root: Any, *, follow: bool = False) -> Iterator[Node]:
    """Yield the root and every subschema in it, each object once, level by level, definitions last.

    Works on any value: what is no schema is passed over, cyclic objects are entered once, and the walk stops
    below 2 x `MAX_DEPTH` levels or after `MAX_VALUES` nodes.

    Args:
        root: A JSON Schema, repaired or not.
        follow: Enter the targets of local references where they are referred to, ahead of the definitions
            that nothing refers to. Without it they come at their own place.
    """
    if not isinstance(root, dict):
        return
    references = References(root) if follow else None
    seen: set[int] = set()
    queue = deque([Node((), "", root)])
    later: deque[Node] = deque()
    while queue or later:
        node = queue.popleft() if queue else later.popleft()
        if len(node.path) > 2 * MAX_DEPTH or id(node.schema) in seen:
            continue
        seen.add(id(node.schema))
        yield node
        if len(seen) >= MAX_VALUES:
            return
        if references is not None and "$ref" in node.schema:
            target = references.resolve(node.schema["$ref"])
            if target is not None and isinstance(target[1], dict):
                queue.append(_node(*target))
        for relative, name, child in subschemas(node.schema):
            if id(child) not in seen:
                below = later if relative[0] in DEFINITIONS else queue
                below.append(Node(node.path + relative, name, child))


def _node(path: Path, schema: dict[str, Any]) -> Node:
    name = path[-1] if len(path) > 1 and path[-2] == "properties" else ""
    return Node(path, str(name), schema)
