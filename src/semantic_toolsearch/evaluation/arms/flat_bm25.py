"""A catalog in; a textbook BM25 ranker over plain words out, to compare the library's own ranker with.

It is what most projects would write in an afternoon, and its figures agree with a published column of BM25 figures:
one text a tool, every word of equal weight, no rule for names. Of the library it shares the splitting of identifiers,
the list of function words and the formula (Lucene's BM25, k1 = 1.2, b = 0.75; Kamphuis et al., "Which BM25 Do You
Mean?", ECIR 2020). All else is its own: words, light stems, character pairs, and a query's words counted once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.rankers.bm25 import TEXTBOOK_B, TEXTBOOK_K1, LexicalIndex
from semantic_toolsearch.rankers.protocol import Ranking, Visible, best
from semantic_toolsearch.schemas import schema_fields
from semantic_toolsearch.tokens import STOP_WORDS

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["FlatBm25Ranker", "flat_words"]

# fmt: off
_ASKING: Final = frozenset((
    "get", "give", "hello", "help", "hi", "make", "need", "needs", "per", "tell", "thank", "thanks", "use",
    "using", "without",
))
# fmt: on
_DROPPED: Final = STOP_WORDS | _ASKING
"""Function words and words of asking."""

_SUFFIXES: Final = ("ings", "ing", "ers", "ies", "ed", "es", "s", "e", "y")
"""Endings of which the first that fits is cut off."""

_SHORTEST_STEM: Final = 3
_SHORTEST_WORD: Final = 2

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED: Final = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


class FlatBm25Ranker:
    """Ranks the tools of a catalog by BM25 over name, namespace, description and parameters, joined.

    Args:
        catalog: The tools. Of parameters, nested ones included, names and descriptions count, enum values do not.
    """

    name = "flat-bm25"

    def __init__(self, catalog: Catalog) -> None:
        self._index = LexicalIndex.build(map(_document, catalog), k1=TEXTBOOK_K1, b=TEXTBOOK_B)

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Rank the tools that share a word with the query."""
        return best(self._index.scores(dict.fromkeys(flat_words(query))), limit, visible)


def flat_words(text: str, *, identifiers: bool = False) -> list[str]:
    """Split a text into stemmed words, without function words, bare numbers and single letters.

    Args:
        text: A query, a description or a name.
        identifiers: Whether ``createInvoice`` is two words, as in names; else it is one.
    """
    folded = unicodedata.normalize("NFKC", text)
    return [
        word
        for run in _WORD.findall(folded)
        for part in (split_identifier(run) if identifiers else (run,))
        for word in _words(part.lower())
    ]


def _words(run: str) -> Iterator[str]:
    """The words of a run of letters and digits; pairs of characters where a script puts no spaces."""
    for unspaced in _UNSPACED.findall(run):
        yield from (unspaced[at : at + 2] for at in range(len(unspaced) - 1))
        if len(unspaced) == 1:
            yield unspaced
    for word in filter(None, _UNSPACED.split(run)):
        told = word.replace("'", "").replace("’", "") not in _DROPPED  # don't, which is dont there
        if told and len(word) >= _SHORTEST_WORD and not word.isdigit():
            yield _stem(word)


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word.removesuffix(suffix)
    return word


def _document(tool: ToolDefinition) -> list[str]:
    words = [
        *flat_words(tool.name, identifiers=True),
        *flat_words(tool.namespace or "", identifiers=True),
        *flat_words(tool.description),
    ]
    for field in schema_fields(tool.parameters):
        words += flat_words(field.name, identifiers=True)
        words += flat_words(field.description)
    return words
