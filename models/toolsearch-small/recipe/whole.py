"""A tool definition comes in; the text that training shows goes out: name, description and all of its parameters.

The library embeds parameters by their names alone, since that ranked better with a model that was trained on this text
(EXPERIMENTS.md has the figures). Training on the shorter text was not tried.
"""

from __future__ import annotations

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.documents import DENSE_DESCRIPTION_CHARACTERS, readable_name
from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.schemas import SchemaField, schema_fields


def whole_text(tool: ToolDefinition) -> str:
    """The text of one tool, parameters with their descriptions and values."""
    parts = [readable_name(tool)]
    if tool.description:
        parts.append(f": {tool.description[:DENSE_DESCRIPTION_CHARACTERS]}")
    fields = [_field_text(field) for field in schema_fields(tool.parameters)]
    if fields:
        parts.append(f" Parameters: {'; '.join(filter(None, fields))}")
    return "".join(parts)


def _field_text(field: SchemaField) -> str:
    text = " ".join(split_identifier(field.name))
    if field.description:
        text = f"{text}: {field.description}"
    listed = ", ".join(field.values)
    return f"{text} ({listed})" if listed else text
