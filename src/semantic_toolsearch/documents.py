"""A tool definition in, its search documents out: tokens for the lexical rankers, one text for the embedder.

What is indexed matters more than the ranking formula: names whole and split, the namespace, the author's
aliases and tags, the description, and every parameter's name, description and enum values, nested ones and
those in ``$defs`` included.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.names import MCP_PREFIX, split_identifier
from semantic_toolsearch.schemas import schema_fields
from semantic_toolsearch.tokens import tokenize

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["RECIPE", "dense_text", "lexical_tokens", "readable_name", "shared_words"]

RECIPE: Final = "5"
"""Names the way documents are written; an index stores it and refuses to be read under another one."""

NAME_WEIGHT: Final = 3
"""How often the words of a name, an alias or a tag count: there an owner says what the tool is."""

MOST_REPEATS: Final = 3
"""How often one word counts within one field, so that stuffing a description gains nothing."""

STUFFED: Final = 5
"""A field whose words stand there more often than this on average says nothing by repeating: each counts once."""

DENSE_DESCRIPTION_CHARACTERS: Final = 1_200
"""Descriptions are cut here in the embedded text, so that parameters still fit the model's 256 pieces."""

DENSE_CHARACTERS: Final = 2_000
"""The embedded text is cut here, for an endpoint refuses a whole request for one text with too many tokens: at four
bytes a character it has fewer than 8,192 of them by any tokenizer. Of 28,346 public tools none is longer."""


def lexical_tokens(tool: ToolDefinition) -> list[str]:
    """The index tokens of one tool, over all of its fields.

    Returns:
        Tokens with repeats that carry weight; never shortened, so that the last word of a long description
        is found too.
    """
    fields = _field_tokens(tool)
    return [
        *fields["name"] * NAME_WEIGHT,
        *fields["aliases"] * NAME_WEIGHT,
        *fields["namespace"],
        *_saturated(fields["description"]),
        *_saturated(fields["parameters"]),
    ]


def shared_words(tool: ToolDefinition, query: str) -> dict[str, tuple[str, ...]]:
    """The index tokens that each field of a tool shares with a query, in the query's order."""
    asked = dict.fromkeys(tokenize(query))
    shared = {
        field: tuple(token for token in asked if token in tokens)
        for field, tokens in _field_tokens(tool).items()
    }
    return {field: tokens for field, tokens in shared.items() if tokens}


def dense_text(tool: ToolDefinition) -> str:
    """The text of one tool that is embedded: the most telling parts first, since models cut the end.

    Of parameters it has the names alone: what they say in detail, and their values, is for the words. Mixed into one
    vector, it drowns what the tool does (models/EXPERIMENTS.md has the figures).
    """
    parts = [readable_name(tool)]
    if tool.aliases or tool.tags:
        parts.append(f" ({', '.join((*tool.aliases, *tool.tags))})")
    if tool.description:
        parts.append(f": {tool.description[:DENSE_DESCRIPTION_CHARACTERS]}")
    names = dict.fromkeys(
        " ".join(split_identifier(field.name)) for field in schema_fields(tool.parameters) if field.name
    )
    if names:
        parts.append(f" Parameters: {', '.join(names)}")
    return "".join(parts)[:DENSE_CHARACTERS]


def readable_name(tool: ToolDefinition) -> str:
    """The name as words, led by the namespace where the name does not say it already."""
    words = " ".join(split_identifier(_own_name(tool)))
    if not tool.namespace:
        return words
    owner = " ".join(split_identifier(tool.namespace))
    return words if owner in words else f"{owner} {words}"


def _field_tokens(tool: ToolDefinition) -> dict[str, list[str]]:
    """Tokens by field, each as often as it stands there; names keep their function words."""
    name = tokenize(_own_name(tool), keep_stop_words=True)
    namespace = tokenize(tool.namespace or "", keep_stop_words=True)
    parameters = [
        token
        for field in schema_fields(tool.parameters)
        for text in (field.name, field.description, *field.values)
        for token in tokenize(text)
    ]
    return {
        "name": name,
        "aliases": [
            token for alias in (*tool.aliases, *tool.tags) for token in tokenize(alias, keep_stop_words=True)
        ],
        "namespace": [token for token in namespace if token not in name],
        "description": tokenize(tool.description),
        "parameters": parameters,
    }


def _own_name(tool: ToolDefinition) -> str:
    """The name without the prefix that a client puts before every tool, which tells no two tools apart."""
    return tool.name.removeprefix(MCP_PREFIX)


def _saturated(tokens: list[str]) -> list[str]:
    """At most ``MOST_REPEATS`` of each token, in order; one of each where the field is stuffed."""
    most = 1 if len(tokens) > STUFFED * len(set(tokens)) else MOST_REPEATS
    seen: Counter[str] = Counter()
    kept: list[str] = []
    for token in tokens:
        seen[token] += 1
        if seen[token] <= most:
            kept.append(token)
    return kept
