"""A tool's definition in, its parameters as OpenAI takes them out: stricter in small things than JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.json_values import json_path
from semantic_toolsearch.providers.base import wire_schema
from semantic_toolsearch.schema_walk import walk

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["loose_parts", "open_arrays", "parameters_of"]

_NOT_STRICT: Final = (
    "allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentRequired", "dependentSchemas",
)  # fmt: skip


def parameters_of(tool: ToolDefinition) -> tuple[dict[str, Any], bool]:
    """Return the schema of a function, and whether it is sent as strict.

    An array without a word on its items is refused; it gets items of any kind, which is what it means. Strict
    is what the definition asks for and the schema allows: one schema that does not fit would fail the whole
    request. The schema is the caller's to alter.
    """
    schema = wire_schema(tool)
    for _, part in list(open_arrays(schema)):
        part["items"] = {}
    return schema, tool.provider_fields.get("strict") is True and not any(loose_parts(schema))


def open_arrays(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the JSON path and schema of each array that does not say what it holds."""
    for node in walk(schema):
        if "array" in _kinds(node.schema) and not {"items", "prefixItems"} & node.schema.keys():
            yield json_path("$", *node.path), node.schema


def loose_parts(schema: Any) -> Iterator[tuple[str, str]]:
    """Give the JSON path of each part that strict mode does not take, and the reason in words."""
    for node in walk(schema):
        part, where = node.schema, json_path("$", *node.path)
        for keyword in (keyword for keyword in _NOT_STRICT if keyword in part):
            yield where, f"{keyword} is not allowed in strict mode"
        if "object" not in _kinds(part) and "properties" not in part:
            continue
        if part.get("additionalProperties") is not False:
            yield where, "strict mode needs additionalProperties: false"
        properties, required = part.get("properties"), part.get("required")
        names = list(properties) if isinstance(properties, Mapping) else []
        if missing := [
            name for name in names if name not in (required if isinstance(required, list) else ())
        ]:
            yield where, f"strict mode needs every property in required, and {missing[0]!r} is not"


def _kinds(schema: Mapping[str, Any]) -> list[Any]:
    kinds = schema.get("type")
    return kinds if isinstance(kinds, list) else [kinds]
