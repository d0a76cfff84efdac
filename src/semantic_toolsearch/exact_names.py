"""A query in, the tools it names out: the whole query, or identifiers inside a sentence.

Models ask for a tool they know by its name, in quotes, in backticks, as ``name()``, ``server.name`` or
``server__name``, in any case style. No ranker finds those reliably; a rule does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.tokens import MAX_QUERY_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semantic_toolsearch.catalog import Catalog

__all__ = ["NamedTools", "named_tools"]

_WRAPPING: Final = "\"'`“”‘’«»「」『』()[]{}<>.,;:!?。、，；：！？*…"
_CALL: Final = re.compile(r"(?<=\w)\(.*\)$", re.DOTALL)
_QUOTED: Final = re.compile(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|“([^”]{1,200})”|「([^」]{1,200})」")
_PIECE: Final = re.compile(r"[^\s\"'`“”‘’«»「」『』\[\]{}<>,;!?。、，；！？()]+(\(\s*\))?")
_IDENTIFIER_SIGN: Final = re.compile(r"[^\W_][_./:\-]+[^\W_]|[a-z0-9][A-Z]|\(\s*\)$")
_MOST_MENTIONS: Final = 20


class NamedTools(NamedTuple):
    """Catalog positions: ``whole`` where the query is the name, ``mentioned`` where it only holds it."""

    whole: tuple[int, ...]
    mentioned: tuple[int, ...]


def named_tools(catalog: Catalog, query: str) -> NamedTools:
    """Find the tools that a query names.

    A query that reads as one identifier, or that is a name in full, names its tools as a whole. Words with a
    space between them that spell a name ("add guest") count as mentioning it, as does an identifier in a sentence
    (``load read_file please``); a plain word in a sentence counts only when it is quoted, since "search the
    wiki" asks for no tool called ``search``.
    """
    query = query[:MAX_QUERY_CHARACTERS]
    spelling = _unwrapped(query)
    found = catalog.find(spelling) if spelling else ()
    if found and not any(char.isspace() for char in spelling):
        return NamedTools(found, ())
    if found:
        literal = tuple(
            place for place in found if catalog[place].name.strip().casefold() == spelling.casefold()
        )
        if literal:
            return NamedTools(literal, ())
        if len(split_identifier(spelling)) > 1:
            return NamedTools((), found)
    mentioned: dict[int, None] = {}
    for name in _identifiers(query):
        mentioned.update(dict.fromkeys(catalog.find(name)))
        if len(mentioned) >= _MOST_MENTIONS:
            break
    return NamedTools((), tuple(mentioned)[:_MOST_MENTIONS])


def _unwrapped(text: str) -> str:
    """The text without white space, punctuation and call brackets around it."""
    before = None
    while text != before:
        before = text
        text = _CALL.sub("", text.strip().rstrip("\"'`“”‘’«»「」『』.,;:!?。、，；：！？*…")).strip()
    return text.strip(_WRAPPING).strip()


def _identifiers(query: str) -> Iterator[str]:
    """What a sentence marks as a name: by quotes, or by the look of an identifier."""
    for match in _QUOTED.finditer(query):
        quoted = _unwrapped(next(filter(None, match.groups())))
        if quoted and not any(char.isspace() for char in quoted):
            yield quoted
    for match in _PIECE.finditer(query):
        piece = match[0].rstrip(".:…")
        if _IDENTIFIER_SIGN.search(piece):
            yield _unwrapped(piece)
