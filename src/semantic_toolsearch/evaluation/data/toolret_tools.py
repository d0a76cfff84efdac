"""The documentation of one tool, JSON of any make or free text, in; a tool definition out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from semantic_toolsearch.evaluation.data.schema_types import schema_of_parameters
from semantic_toolsearch.reading import Reading, read_definition

__all__ = ["definition_of"]

_NAMES: Final = ("name", "api_name", "tool_name", "func_name")
_DESCRIPTIONS: Final = ("description", "api_description", "func_description", "desc", "tool_description")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "api_arguments", "arguments", "args", "input")
_NOT_SAID: Final = frozenset(
    {
        "id",
        *_NAMES,
        *_SCHEMAS,
        "required_parameters",
        "optional_parameters",
        "required",
        "template_response",
        "example",
    }
)


def definition_of(each: str, documentation: Any) -> Reading:
    """Read what a collection says about a tool.

    Of a JSON object the usual fields are taken. The name is ``name``, ``api_name``, ``tool_name``, else the id;
    the description is ``description`` and the like, else all other texts with their keys before them; parameters
    are ``parameters`` and the like, or ``required_parameters`` and ``optional_parameters``, in any form that
    ``schema_of_parameters`` knows. Free text is the description of a tool that is called by its id.

    Args:
        each: The tool's id.
        documentation: A JSON object, as it is or as text, or free text.
    """
    if isinstance(documentation, str):
        try:
            documentation = json.loads(documentation)
        except (ValueError, RecursionError):
            return read_definition({"name": each, "description": documentation})
    if isinstance(documentation, Mapping) and isinstance(documentation.get("function"), Mapping):
        documentation = documentation["function"]
    if not isinstance(documentation, Mapping):
        text = json.dumps(documentation, ensure_ascii=False)
        return read_definition({"name": each, "description": text})
    return read_definition(
        {
            "name": _first(documentation, _NAMES) or each,
            "description": _first(documentation, _DESCRIPTIONS) or _said(documentation),
            "parameters": _parameters(documentation),
        }
    )


def _first(documentation: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    texts = (documentation.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _said(documentation: Mapping[str, Any]) -> str:
    texts = (
        f"{key.replace('_', ' ')}: {value}"
        for key, value in documentation.items()
        if key not in _NOT_SAID and isinstance(value, str) and value.strip()
    )
    return ". ".join(texts)


def _parameters(documentation: Mapping[str, Any]) -> dict[str, Any]:
    for key in _SCHEMAS:
        if documentation.get(key):
            schema = schema_of_parameters(documentation[key])
            names = documentation.get("required")
            if "required" not in schema and isinstance(names, list):
                schema["required"] = [name for name in names if name in schema["properties"]]
            return schema
    needed = schema_of_parameters(documentation.get("required_parameters"))
    further = schema_of_parameters(documentation.get("optional_parameters"))
    schema = {"type": "object", "properties": {**needed["properties"], **further["properties"]}}
    return schema | ({"required": list(needed["properties"])} if needed["properties"] else {})
