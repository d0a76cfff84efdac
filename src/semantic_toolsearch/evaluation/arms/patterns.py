"""A query in; the regular expression that a model would write to search for the same out.

An assumption, since nobody publishes what models write: vendors advise short alternatives of telling words
(``weather|forecast``), so that is what is written here. A model may do better, by adding words that the user did not
say, or worse. Two words did best for the search on the dev splits of four public sets: with more, tools that hold any
of them fill the first places in catalog order.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.emulated_search import MAX_PATTERN
from semantic_toolsearch.exact_names import unwrapped
from semantic_toolsearch.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["written_pattern"]

_MOST_WORDS: Final = 2
"""Words of a pattern; pairs of ideographs, which are less than words, are not counted."""

_FEWEST_LETTERS: Final = 3
_FEWEST_SYLLABLES: Final = 2
"""The same for Hangul, where a character is a syllable."""

_FUNCTION_CHARACTERS: Final = frozenset("的了吗呢吧我你您他她它们是和与帮给把被这那哪么")
"""A pair of ideographs with one of these says nothing about a tool."""

_IDENTIFIER: Final = re.compile(r"[^\W_][\w\-./:]*")


def written_pattern(query: str) -> str:
    """Write the pattern for a query; never raises.

    A query that is one identifier becomes itself. Another one becomes its words joined by ``|``: without English
    function words, of at least three letters (two in Hangul), each once, the two longest, since long words are rare;
    ideographs in overlapping pairs. Words that do not fit into 200 characters are left out. A query without any such
    word becomes its pieces between white space, as they are.
    """
    name = unwrapped(query)
    if _IDENTIFIER.fullmatch(name) and not _ideographs().search(name):
        return _fitting([name]) or _fitting([name[: MAX_PATTERN // 2]])
    words: dict[str, str] = {}
    for piece in _pieces().findall(query):
        for word in _words(piece):
            words.setdefault(word.lower(), word)
    longest = sorted(words.values(), key=len, reverse=True)
    counted = [word for word in longest if not _ideographs().match(word)][:_MOST_WORDS]
    pattern = _fitting(word for word in longest if word in counted or _ideographs().match(word))
    return pattern or _fitting(query.split()) or _fitting([query.strip()[: MAX_PATTERN // 2]])


def _words(piece: str) -> list[str]:
    """The telling words of one run of ideographs, or of one run of other letters."""
    if _ideographs().match(piece):
        pairs = [piece[place : place + 2] for place in range(len(piece) - 1)] or [piece]
        return [pair for pair in pairs if _FUNCTION_CHARACTERS.isdisjoint(pair)]
    if re.sub("['’]", "", piece).lower() in STOP_WORDS:
        return []
    word = re.split("['’]", piece, maxsplit=1)[0]
    fewest = _FEWEST_SYLLABLES if _hangul().search(word) else _FEWEST_LETTERS
    return [word] if sum(map(str.isalpha, word)) >= fewest and word.lower() not in STOP_WORDS else []


def _fitting(words: Iterable[str]) -> str:
    """The words, escaped, joined by ``|``, as many as fit."""
    pattern = ""
    for word in map(re.escape, words):
        longer = f"{pattern}|{word}" if pattern else word
        if len(longer) <= MAX_PATTERN:
            pattern = longer
    return pattern


@cache
def _ideographs() -> Any:
    import regex

    return regex.compile(r"[\p{Han}々〇]")


@cache
def _hangul() -> Any:
    import regex

    return regex.compile(r"\p{Hangul}")


@cache
def _pieces() -> Any:
    """Runs of ideographs; runs of other letters, marks and digits, which may be joined as in names and ``don't``."""
    import regex

    other = r"[[\p{L}\p{M}\p{N}]--[\p{Han}々〇]]+"
    return regex.compile(rf"(?V1)[\p{{Han}}々〇]+|{other}(?:[_\-.'’]{other})*")
