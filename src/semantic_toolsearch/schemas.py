"""A tool's JSON Schema in; its searchable fields out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from semantic_toolsearch.json_values import json_path
from semantic_toolsearch.names import squash
from semantic_toolsearch.schema_walk import walk

__all__ = ["SchemaField", "schema_fields"]

MAX_FIELD_VALUES: Final = 1_000
"""Enum values of one property that are indexed."""

MAX_VALUE_CHARACTERS: Final = 200
"""Longer enum values are data, not words that anybody searches for."""


@dataclass(frozen=True, slots=True)
class SchemaField:
    """What one subschema contributes to search.

    Attributes:
        path: JSON path within the schema, such as `$.properties.guest.properties.mail`.
        name: Name of the property, or "" for the parts of one (array items, union branches, definitions).
        description: Title and description; the title only where it says more than the name.
        values: Allowed values (enum, const) as text; null is left out.
    """

    path: str
    name: str
    description: str
    values: tuple[str, ...] = ()


def schema_fields(parameters: Any) -> tuple[SchemaField, ...]:
    """Return the searchable parts of a schema, each subschema once.

    Parameters of the call come first, nested ones later; what local references point at comes where it is
    first referred to, and definitions that nothing refers to come last. Never raises, whatever the value.
    """
    fields = []
    for node in walk(parameters, follow=True):
        description = _description(node.schema, node.name) if node.path else ""
        values = _values(node.schema)
        if node.name or description or values:
            fields.append(SchemaField(json_path("$", *node.path), node.name, description, values))
    return tuple(fields)


def _description(schema: dict[str, Any], name: str) -> str:
    title, description = schema.get("title"), schema.get("description")
    parts = []
    if isinstance(title, str) and title and name and squash(title) != squash(name):
        parts.append(title)
    if isinstance(description, str) and description:
        parts.append(description)
    return ". ".join(parts)


def _values(schema: dict[str, Any]) -> tuple[str, ...]:
    allowed = schema.get("enum")
    candidates = list(allowed[:MAX_FIELD_VALUES]) if isinstance(allowed, list) else []
    if "const" in schema:
        candidates.append(schema["const"])
    texts = []
    for value in candidates:
        if isinstance(value, bool):
            texts.append("true" if value else "false")
        elif isinstance(value, str | float) or (isinstance(value, int) and value.bit_length() < 128):
            texts.append(str(value))
    return tuple(text for text in texts if text and len(text) <= MAX_VALUE_CHARACTERS)
