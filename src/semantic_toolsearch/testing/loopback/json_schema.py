"""A tool's argument schema in, the reason why a provider refuses it out, or None."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["UNIONS", "openai_reason", "strict_reason", "structure_reason"]

UNIONS: Final = ("oneOf", "allOf", "anyOf")
_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_MAPS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_ONE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY: Final = ("anyOf", "oneOf", "allOf", "prefixItems")

Path = tuple[str, ...]


def structure_reason(schema: Any) -> str | None:
    """What makes a schema no valid JSON Schema of draft 2020-12, as far as its structure shows."""
    for path, node in _nodes(schema, ()):
        where = "/".join(path) or "the top level"
        if isinstance(node, bool):
            continue
        if not isinstance(node, Mapping):
            return f"{where} is neither an object nor a boolean"
        reason = _node_reason(node)
        if reason:
            return f"{where}: {reason}"
    return None


def _node_reason(node: Mapping[str, Any]) -> str | None:
    kinds = node.get("type", "object")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind not in _TYPES:
            return f"{kind!r} is not a type"
    required = node.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return "required is not a list of names"
    if "enum" in node and not isinstance(node["enum"], list):
        return "enum is not a list"
    for keyword in _MAPS:
        if keyword in node and not isinstance(node[keyword], Mapping):
            return f"{keyword} is not an object"
    for keyword in _MANY:
        if keyword in node and not (isinstance(node[keyword], list) and node[keyword]):
            return f"{keyword} is not a list of schemas"
    if isinstance(node.get("exclusiveMinimum", 0), bool) or isinstance(node.get("exclusiveMaximum", 0), bool):
        return "exclusive bounds are numbers"
    return None


def openai_reason(schema: Mapping[str, Any], *, strict: bool) -> str | None:
    """What OpenAI says of a function's parameters, after ``Invalid schema for function 'x': ``."""
    if schema.get("type") != "object":
        given = schema.get("type")
        shown = "None" if given is None else given
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{shown}\"'."
    if any(keyword in schema for keyword in (*UNIONS, "enum", "not")):
        return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    if "properties" not in schema:
        return "In context=(), object schema missing properties."
    reason = structure_reason(schema)
    if reason:
        return f"{reason}."
    for path, node in _nodes(schema, ()):
        if (
            isinstance(node, Mapping)
            and node.get("type") == "array"
            and not ({"items", "prefixItems"} & set(node))
        ):
            return f"In context={path!r}, array schema missing items."
    return strict_reason(schema) if strict else None


def strict_reason(schema: Mapping[str, Any]) -> str | None:
    """What OpenAI's strict mode demands of every object."""
    for path, node in _nodes(schema, ()):
        if not isinstance(node, Mapping) or "object" not in _kinds(node):
            continue
        if node.get("additionalProperties") is not False:
            return f"In context={path!r}, 'additionalProperties' is required to be supplied and to be false."
        required = node.get("required", [])
        missing = [name for name in node.get("properties", {}) if name not in required]
        if missing:
            return (
                f"In context={path!r}, 'required' is required to be supplied and to be an array including every key "
                f"in properties. Missing '{missing[0]}'."
            )
    return None


def _kinds(node: Mapping[str, Any]) -> list[Any]:
    kinds = node.get("type")
    return kinds if isinstance(kinds, list) else [kinds]


def _nodes(schema: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every schema inside a schema, the outer ones first."""
    pending: list[tuple[Path, Any]] = [(path, schema)]
    while pending:
        here, node = pending.pop(0)
        yield here, node
        if not isinstance(node, Mapping):
            continue
        for keyword in _MAPS:
            children = node.get(keyword)
            if isinstance(children, Mapping):
                pending.extend(((*here, keyword, str(name)), child) for name, child in children.items())
        pending.extend(((*here, keyword), node[keyword]) for keyword in _ONE if keyword in node)
        for keyword in _MANY:
            branches = node.get(keyword)
            if isinstance(branches, list):
                pending.extend(((*here, keyword, str(i)), child) for i, child in enumerate(branches))
