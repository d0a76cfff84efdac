"""A tool definition in, its search documents out: tokens for the lexical rankers, one text for the embedder.

What is indexed matters more than the ranking formula: names whole and split, the namespace, the author's
aliases and tags, the description, and every parameter's name, description and enum values, nested ones and
those in ``$defs`` included.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.schemas import schema_fields
from semantic_toolsearch.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["RECIPE", "dense_text", "lexical_tokens", "readable_name"]

RECIPE: Final = "1"
"""Names the way documents are written; an index stores it and refuses to be read under another one."""

NAME_WEIGHT: Final = 3
"""How often a name's words count: the name is what the tool's owner thought it is."""

MOST_REPEATS: Final = 3
"""How often one word counts within one field, so that stuffing a description with words gains nothing."""

DENSE_DESCRIPTION_CHARACTERS: Final = 1_200
"""Descriptions are cut here in the embedded text, so that parameters still fit the model's 256 word pieces."""

_TRANSPORT_PREFIX: Final = "mcp__"


def lexical_tokens(tool: ToolDefinition) -> list[str]:
    """The index tokens of one tool, over all of its fields.

    Returns:
        Tokens with repeats that carry weight; never shortened, so that the last word of a long description
        is found too.
    """
    name = _own_name(tool)
    name_words = tokenize(name, keep_stop_words=True)
    tokens = name_words * NAME_WEIGHT
    for alias in (*tool.aliases, *tool.tags):
        tokens += tokenize(alias, keep_stop_words=True) * NAME_WEIGHT
    if tool.namespace:
        tokens += [word for word in tokenize(tool.namespace, keep_stop_words=True) if word not in name_words]
    tokens += _saturated(tokenize(tool.description))
    parameter_words: list[str] = []
    for field in schema_fields(tool.parameters):
        parameter_words += tokenize(field.name)
        parameter_words += tokenize(field.description)
        for value in field.values:
            parameter_words += tokenize(value)
    return tokens + _saturated(parameter_words)


def dense_text(tool: ToolDefinition) -> str:
    """The text of one tool that is embedded: the most telling parts first, since models cut the end."""
    parts = [readable_name(tool)]
    if tool.aliases or tool.tags:
        parts.append(f" ({', '.join((*tool.aliases, *tool.tags))})")
    if tool.description:
        parts.append(f": {tool.description[:DENSE_DESCRIPTION_CHARACTERS]}")
    fields = [
        _field_text(field.name, field.description, field.values) for field in schema_fields(tool.parameters)
    ]
    if fields:
        parts.append(f" Parameters: {'; '.join(filter(None, fields))}")
    return "".join(parts)


def readable_name(tool: ToolDefinition) -> str:
    """The name as words, led by the namespace where the name does not say it already."""
    words = " ".join(split_identifier(_own_name(tool)))
    if not tool.namespace:
        return words
    owner = " ".join(split_identifier(tool.namespace))
    return words if owner in words else f"{owner} {words}"


def _own_name(tool: ToolDefinition) -> str:
    """The name without the prefix that a transport puts before every tool, which tells tools apart from none."""
    return tool.name.removeprefix(_TRANSPORT_PREFIX)


def _field_text(name: str, description: str, values: Iterable[str]) -> str:
    text = " ".join(split_identifier(name))
    if description:
        text = f"{text}: {description}"
    listed = ", ".join(values)
    return f"{text} ({listed})" if listed else text


def _saturated(tokens: list[str]) -> list[str]:
    """At most ``MOST_REPEATS`` of each token, in order."""
    if len(tokens) <= MOST_REPEATS:
        return tokens
    seen: Counter[str] = Counter()
    kept: list[str] = []
    for token in tokens:
        seen[token] += 1
        if seen[token] <= MOST_REPEATS:
            kept.append(token)
    return kept
