"""A schema in, the same with argument names that Anthropic accepts out; a call's arguments back under their own names.

Anthropic refuses a request, and every later one, when one of its tools has an argument called ``$filter``,
``filter[name]`` or ``日付``. It looks at the top of a schema only, so such arguments travel together inside one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from semantic_toolsearch.schema_walk import walk

__all__ = ["TOGETHER", "opened", "sendable"]

TOGETHER: Final = "all_arguments"
"""The one argument that holds all others of such a tool."""

_LEGAL: Final = re.compile("[a-zA-Z0-9_.-]{1,64}")


def sendable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema itself, or one whose only argument is an object of that schema; alters what it is given."""
    properties = schema.get("properties", {})
    if all(_LEGAL.fullmatch(name) for name in properties) and TOGETHER not in properties:
        return schema
    for node in walk(schema):
        reference = node.schema.get("$ref", "")
        if reference == "#" or reference.startswith("#/"):
            node.schema["$ref"] = f"#/properties/{TOGETHER}{reference[1:]}"
    return {
        "type": "object",
        "properties": {TOGETHER: schema},
        "required": [TOGETHER],
        "additionalProperties": False,
    }


def opened(arguments: Any) -> Any:
    """Return a call's arguments as the tool's owner names them."""
    if isinstance(arguments, Mapping) and list(arguments) == [TOGETHER]:
        return arguments[TOGETHER]
    return arguments
