"""A query in, the tools it names out: the whole query, or identifiers inside a sentence.

Models ask for a tool they know by its name: in quotes, in backticks, as ``name()``, ``server.name`` or
``server__name``, in any case style. No ranker finds those reliably; a rule does. Names are looked up among
the visible tools alone, so that an invisible tool neither answers nor stands in the way of a visible one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from semantic_toolsearch.lookup import NameTable
from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.tokens import WRAPPING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.rankers.protocol import Visible

__all__ = ["NamedTools", "named_tools", "tools_called", "unwrapped"]

_CALL: Final = re.compile(r"(?<=\w)\(.*\)$", re.DOTALL)
_BEHIND_CALL: Final = "".join(char for char in WRAPPING if char not in "()")
_BETWEEN_PIECES: Final = "".join(char for char in WRAPPING if char not in ".:…*")
_QUOTED: Final = re.compile(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|“([^”]{1,200})”|「([^」]{1,200})」")
_PIECE: Final = re.compile(rf"[^\s{re.escape(_BETWEEN_PIECES)}]+(\(\s*\))?")
_IDENTIFIER_SIGN: Final = re.compile(r"[^\W_][_./:\-]+[^\W_]|[a-z0-9][A-Z]|\(\s*\)$")
_MOST_MENTIONS: Final = 20


class NamedTools(NamedTuple):
    """Catalog positions: ``whole`` where the query is the name, ``mentioned`` where it only holds it.

    ``literal`` is the one of ``whole`` whose wire name the query is letter for letter, or None.
    """

    whole: tuple[int, ...] = ()
    mentioned: tuple[int, ...] = ()
    literal: int | None = None


def named_tools(catalog: Catalog, query: str, visible: Visible | None = None) -> NamedTools:
    """Find the visible tools that a query names.

    A query that reads as one identifier, or that is a name in full, names its tools as a whole. Words with a
    space between them that spell a name ("add guest") count as mentioning it, as does an identifier in a
    sentence (``load read_file please``); a plain word in a sentence counts only when it is quoted, since
    "search the wiki" asks for no tool called ``search``.
    """
    spelling = unwrapped(query)
    found = tools_called(catalog, spelling, visible)
    literal = next((place for place in found if catalog.wire_names[place] == spelling), None)
    if found and not _has_space(spelling):
        return NamedTools(whole=found, literal=literal)
    if bearers := _bearers(catalog, found, spelling):
        return NamedTools(whole=bearers, literal=literal)
    if found and len(split_identifier(spelling)) > 1:
        return NamedTools(mentioned=found)
    mentioned: dict[int, None] = {}
    for name in _marked_names(query):
        found = tools_called(catalog, name, visible)
        mentioned |= dict.fromkeys(_bearers(catalog, found, name) if _has_space(name) else found)
    return NamedTools(mentioned=tuple(mentioned))


def tools_called(catalog: Catalog, spelling: str, visible: Visible | None = None) -> tuple[int, ...]:
    """The positions that a spelling may mean, as ``Catalog.find`` tells them of the visible tools alone."""
    found = catalog.find(spelling)
    if visible is None or not found:
        return found
    seen = tuple(place for place in found if visible[place])
    if seen:
        return seen
    # Only invisible tools are spelled as closely as this: look again in a table without them.
    places = np.flatnonzero(visible).tolist()
    table = NameTable(
        [catalog.identities[place] for place in places], [catalog.wire_names[place] for place in places]
    )
    return tuple(places[row] for row in table.find(spelling))


def unwrapped(text: str) -> str:
    """The text without white space, punctuation and call brackets around it."""
    before = None
    while text != before:
        before = text
        text = _CALL.sub("", text.strip().rstrip(_BEHIND_CALL))
    return text.strip(WRAPPING).strip()


def _bearers(catalog: Catalog, found: tuple[int, ...], name: str) -> tuple[int, ...]:
    """Those of ``found`` whose raw name this is, but for upper and lower case."""
    return tuple(
        place for place in found if catalog.identities[place][1].strip().casefold() == name.casefold()
    )


def _has_space(text: str) -> bool:
    return any(map(str.isspace, text))


def _marked_names(query: str) -> Iterator[str]:
    """What a sentence marks as a name, by quotes or by the look of an identifier; a bounded number."""
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(query))
    pieces = (match[0].rstrip(".:…*") for match in _PIECE.finditer(query))
    marked = [*quoted, *(piece for piece in pieces if _IDENTIFIER_SIGN.search(piece))]
    names = dict.fromkeys(filter(None, map(unwrapped, marked)))
    yield from list(names)[:_MOST_MENTIONS]
