"""Parameters as tool collections describe them in; JSON Schema out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["json_schema", "json_type", "schema_of_parameters"]

_NAMES: Final = {
    "object": "dict dictionary hashmap hashtable map mapping struct object json",
    "array": "list tuple arraylist array set vector sequence",
    "number": "float double number decimal numeric",
    "integer": "int integer long short byte bigint",
    "boolean": "bool boolean",
    "string": "str string char character text varchar date datetime time enum url uri email uuid file path",
    "null": "null none",
}
_TYPES: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_ANY: Final = frozenset({"any", "union", "mixed"})
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_SCHEMAS: Final = frozenset(
    {"items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf", "not"}
)
_WORD = re.compile(r"[a-z]+")


def json_type(name: object) -> str | None:
    """Return the JSON Schema type of a type's name in another notation; None for any type and for what is none.

    ``dict``, ``ArrayList``, ``List[str]``, ``float, optional``: the first word that is a type decides.
    """
    words = _WORD.findall(name.lower()) if isinstance(name, str) else []
    if not _ANY.isdisjoint(words):
        return None
    return next((_TYPES[word] for word in words if word in _TYPES), None)


def json_schema(value: Any) -> Any:
    """Return a copy of a schema whose types are JSON Schema's; a type without counterpart allows anything."""
    if not isinstance(value, Mapping):
        return value
    copy: dict[Any, Any] = {}
    for key, each in value.items():
        if key == "type":
            kinds = [json_type(kind) for kind in (each if isinstance(each, list) else [each])]
            if all(kinds):
                copy[key] = kinds if isinstance(each, list) else kinds[0]
        elif key in _MAPS and isinstance(each, Mapping):
            copy[key] = {name: json_schema(schema) for name, schema in each.items()}
        elif key in _SCHEMAS:
            copy[key] = [json_schema(one) for one in each] if isinstance(each, list) else json_schema(each)
        else:
            copy[key] = each
    return copy


def schema_of_parameters(given: Any) -> dict[str, Any]:
    """Return the schema of a call from a description of its parameters in any of the usual forms.

    Args:
        given: A JSON Schema of an object; a mapping of names to schemas, type names or descriptions; or a list of
            mappings with a ``name``. Anything else says that there are none.
    """
    if isinstance(given, Mapping) and isinstance(given.get("properties"), Mapping):
        return {**json_schema(given), "type": "object"}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, said in _named(given):
        properties[name] = _property(said)
        if isinstance(said, Mapping) and said.get("required") is True:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | {"required": required} if required else schema


def _named(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        return [(str(name), said) for name, said in given.items()]
    if not isinstance(given, list):
        return []
    named: list[tuple[str, Any]] = []
    for said in given:
        if isinstance(said, str):
            named.append((said, {}))
        elif isinstance(said, Mapping) and isinstance(said.get("name"), str):
            named.append((said["name"], {key: value for key, value in said.items() if key != "name"}))
    return named


def _property(said: Any) -> dict[str, Any]:
    if isinstance(said, Mapping):
        schema = json_schema({key: value for key, value in said.items() if key != "required"})
        if isinstance(said.get("required"), list):
            schema["required"] = said["required"]
        return dict(schema)
    kind = json_type(said)
    if kind is not None and len(str(said).split()) == 1:
        return {"type": kind}
    return {"description": said} if isinstance(said, str) and said.strip() else {}
