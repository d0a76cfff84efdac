"""One function's parameters in, the rules of OpenAI for schemas that they break out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.providers.openai_schemas import loose_parts, open_arrays
from semantic_toolsearch.providers.violations import Violation

__all__ = ["RULES", "check"]

RULES: Final[Mapping[str, str]] = {
    "schema_object": "Parameters are null or an object schema without a union at the top.",
    "schema_properties": "An object schema at the top has properties, if empty ones.",
    "schema_items": "An array says what its items are.",
    "strict_schema": "A strict function's objects are closed, and all their properties required.",
}

_UNIONS: Final = ("anyOf", "oneOf", "allOf", "enum", "not")


def check(path: str, schema: Any, *, strict: bool) -> Iterator[Violation]:
    """Check parameters; `path` is where they stand."""
    if schema is None:
        return
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        yield Violation("schema_object", path, "a JSON Schema of type 'object', or null.")
        return
    for union in (key for key in _UNIONS if key in schema):
        yield Violation("schema_object", f"{path}.{union}", f"no {union} at the top of parameters.")
    if not isinstance(schema.get("properties"), Mapping):
        yield Violation(
            "schema_properties", f"{path}.properties", "write properties, as {} where there are none."
        )
    for where, _ in open_arrays(schema):
        yield Violation("schema_items", path + where[1:], "an array needs items, as {} for any.")
    if strict:
        for where, reason in loose_parts(schema):
            yield Violation("strict_schema", path + where[1:], f"{reason}.")
