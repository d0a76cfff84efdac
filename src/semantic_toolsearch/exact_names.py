"""A query in, the tools it names out: the whole query, or identifiers inside a sentence.

Models ask for a tool they know by its name: in quotes, in backticks, as ``name()``, ``server.name`` or
``server__name``, in any case style. No ranker finds those reliably; a rule does. Names are looked up among
the visible tools alone, so that an invisible tool neither answers nor stands in the way of a visible one.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from semantic_toolsearch.errors import UnknownToolError
from semantic_toolsearch.lookup import NameTable
from semantic_toolsearch.names import nearest, split_identifier
from semantic_toolsearch.tokens import WRAPPING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.rankers.protocol import Visible

__all__ = ["NamedTools", "VisibleNames", "named_tools", "unwrapped"]

_CALL: Final = re.compile(r"(?<=\w)\(.*\)$", re.DOTALL)
_BEHIND_CALL: Final = "".join(char for char in WRAPPING if char not in "()")
_BETWEEN_PIECES: Final = "".join(char for char in WRAPPING if char not in ".:…*")
_QUOTED: Final = re.compile(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|“([^”]{1,200})”|「([^」]{1,200})」")
_PIECE: Final = re.compile(rf"[^\s{re.escape(_BETWEEN_PIECES)}]+(\(\s*\))?")
_CODE_SIGN: Final = re.compile(
    r"[^\W_][_.:/]+[^\W_]|(?<![^\W_])[a-z][a-z0-9]*[A-Z]|[a-z0-9][A-Z].*[a-z0-9][A-Z]|\(\s*\)$"
)
"""What nobody writes but in code: ``read_file``, ``a.b``, ``readFile``, ``ReadTextFile``, ``f()``. Not ``YouTube``."""

_HYPHEN: Final = re.compile(r"[^\W_]-+[^\W_]")
_MOST_MENTIONS: Final = 20
_KEPT_TABLES: Final = 4
_TABLES: Final[WeakKeyDictionary[Catalog, dict[bytes, NameTable]]] = WeakKeyDictionary()


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
    sentence (``load read_file please``). A plain word in a sentence counts only when it is quoted, since
    "search the wiki" asks for no tool called ``search``. What people write without thinking of names, words in
    quotation marks and words with hyphens, counts only when it is the name letter for letter: a "Current"
    playlist asks for no tool called ``current``, the car-rental project for none called ``car_rental``.
    """
    names, spelling = VisibleNames(catalog, visible), unwrapped(query)
    found = names.find(spelling)
    literal = next((place for place in found if catalog.wire_names[place] == spelling), None)
    if found and not _has_space(spelling):
        return NamedTools(whole=found, literal=literal)
    if bearers := _bearers(catalog, found, spelling):
        return NamedTools(whole=bearers, literal=literal)
    if found and len(split_identifier(spelling)) > 1:
        return NamedTools(mentioned=found)
    mentioned: dict[int, None] = {}
    for name, to_the_letter in _marked_names(query):
        found = names.find(name)
        if _has_space(name):
            found = _bearers(catalog, found, name)
        elif to_the_letter:
            own = ((catalog.identities[place][1], catalog.wire_names[place]) for place in found)
            found = tuple(place for place, names in zip(found, own, strict=True) if name in names)
        mentioned |= dict.fromkeys(found)
    return NamedTools(mentioned=tuple(mentioned))


class VisibleNames:
    """The names of a catalog's visible tools; an invisible one neither answers nor stands in the way of another.

    Args:
        catalog: All tools.
        visible: bool ``[n]``, or None for all.
    """

    def __init__(self, catalog: Catalog, visible: Visible | None = None) -> None:
        self._catalog = catalog
        self._visible = visible

    def find(self, spelling: str) -> tuple[int, ...]:
        """The positions that a spelling may mean, as ``Catalog.find`` tells them."""
        return self._seen(self._catalog.find(spelling), lambda table: table.find(spelling))

    def exact(self, name: str) -> tuple[int, ...]:
        """The positions that a name means literally, as ``Catalog.exact`` tells them."""

        def look(table: NameTable) -> tuple[int, ...]:
            row = table.wire.get(name)
            return table.exact(name) if row is None else (row,)

        return self._seen(self._catalog.exact(name), look)

    def position(self, name: str) -> int:
        """The position of the tool with this name, as ``Catalog.position`` tells it.

        Raises:
            UnknownToolError: No visible tool has this name, or several have; the message names the nearest.
        """
        if self._visible is None:
            return self._catalog.position(name)
        found, wire = self.exact(name), self._catalog.wire_names
        if len(found) == 1:
            return found[0]
        if found:
            choices = ", ".join(wire[place] for place in found[:10])
            raise UnknownToolError(
                f"{name[:100]!r} is the name of {len(found)} tools; use one of: {choices}."
            )
        similar = tuple(wire[place] for place in self.find(name)[:3])
        known = (text for place in self._places for text in (wire[place], self._catalog.identities[place][1]))
        similar = similar or tuple(nearest(str(name), known))
        hint = f" Nearest: {', '.join(similar)}." if similar else ""
        raise UnknownToolError(f"No tool that is visible here is called {str(name)[:100]!r}.{hint}")

    def _seen(self, found: tuple[int, ...], look: Callable[[NameTable], tuple[int, ...]]) -> tuple[int, ...]:
        if self._visible is None or not found:
            return found
        if seen := tuple(place for place in found if self._visible[place]):
            return seen
        # Only invisible tools are spelled as closely as this: look again in a table without them.
        return tuple(self._places[row] for row in look(self._table))

    @cached_property
    def _places(self) -> list[int]:
        return np.flatnonzero(self._visible).tolist() if self._visible is not None else []

    @cached_property
    def _table(self) -> NameTable:
        """The names of the visible tools, kept for a few masks: a model may ask for one name after another."""
        known = _TABLES.setdefault(self._catalog, {})
        key = np.asarray(self._visible, dtype=np.bool_).tobytes()
        table = known.get(key)
        if table is None:
            if len(known) >= _KEPT_TABLES:
                known.clear()
            table = known[key] = NameTable(
                [self._catalog.identities[place] for place in self._places],
                [self._catalog.wire_names[place] for place in self._places],
            )
        return table


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


def _marked_names(query: str) -> Iterator[tuple[str, bool]]:
    """What a sentence marks as a name, and whether only the name's own spelling will do; a bounded number."""
    marked: dict[str, bool] = {}
    for match in _QUOTED.finditer(query):
        in_code, *in_prose = match.groups()
        _mark(marked, in_code or next(filter(None, in_prose)), in_code is None and match[0][0] in '"“')
    for match in _PIECE.finditer(query):
        piece = match[0].rstrip(".:…*")
        if code := _CODE_SIGN.search(piece) or _HYPHEN.search(piece):
            _mark(marked, piece, code.re is _HYPHEN)
    yield from list(marked.items())[:_MOST_MENTIONS]


def _mark(marked: dict[str, bool], text: str, to_the_letter: bool) -> None:
    """Keep a name; one that is written like code somewhere may be spelled in any style."""
    name = unwrapped(text)
    if name:
        marked[name] = marked.get(name, True) and to_the_letter and not _CODE_SIGN.search(name)
