"""Texts of tools in; what Anthropic's hosted search would find for a query or a pattern out. Emulated.

The service does not publish how it ranks. What is documented is kept: the searched texts are name, description,
argument names and argument descriptions; at most five results unless the call asks for another number; no result is
padded in; patterns are Python's, with case ignored; queries and patterns are limited in length. The rest is a choice:
BM25 over one joined text a tool, a pattern that matches within one field, ties in the order of the tools.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.joined_texts import JoinedTexts
from semantic_toolsearch.names import split_identifier
from semantic_toolsearch.rankers.bm25 import TEXTBOOK_B, TEXTBOOK_K1, LexicalIndex
from semantic_toolsearch.word_patterns import folded, listed_words

__all__ = [
    "DEFAULT_RESULTS",
    "MAX_PATTERN",
    "MAX_QUERY",
    "Bm25Documents",
    "EmulatedSearch",
    "SearchFailure",
    "results_asked",
    "searched_texts",
]

MAX_QUERY: Final = 500
"""Characters of a query (documented)."""

MAX_PATTERN: Final = 200
"""Characters of a pattern (documented)."""

DEFAULT_RESULTS: Final = 5
"""Results of a search that asks for no number (documented)."""

MOST_RESULTS: Final = 20
"""Results of a search that asks for more (a choice)."""

_SECONDS: Final = 0.5
"""What a pattern may take over all tools (a choice; that there is a bound is documented)."""

_WORD: Final = re.compile(r"[^\W_]+")


class SearchFailure(Exception):  # noqa: N818 - it is an answer of the search
    """The search answers with an error code, at HTTP status 200.

    Args:
        code: The provider's name for the error.
        message: The sentence beside it.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class EmulatedSearch:
    """Both variants over one list of tools. What a variant needs is built when it is first asked.

    Args:
        tools: The searched texts of each tool, as ``searched_texts`` gives them.
    """

    def __init__(self, tools: Iterable[Sequence[str]]) -> None:
        self._tools = [tuple(texts) for texts in tools]

    def by_bm25(self, query: str) -> list[int]:
        """Places of all tools that share a word with the query, best first.

        Raises:
            SearchFailure: The query is longer than 500 characters.
        """
        if len(query) > MAX_QUERY:
            raise SearchFailure("invalid_tool_input", f"Query exceeds {MAX_QUERY} characters")
        return self.documents.ranked(query)

    def by_regex(self, pattern: str) -> Iterator[int]:
        """Places of the tools with a text that the pattern matches, in their order, found as they are asked for.

        Raises:
            SearchFailure: The pattern is too long, or none; while places are taken: it takes too long.
        """
        if len(pattern) > MAX_PATTERN:
            raise SearchFailure("invalid_tool_input", f"Pattern exceeds {MAX_PATTERN} characters")
        if words := listed_words(pattern):
            return self._texts.holding(map(folded, words))
        try:
            re.compile(pattern, re.IGNORECASE)
        except (re.error, OverflowError, RecursionError) as error:
            raise _no_pattern(error) from None
        return self._matching(pattern)

    @cached_property
    def documents(self) -> Bm25Documents:
        """What ``by_bm25`` ranks."""
        return Bm25Documents(" ".join(texts) for texts in self._tools)

    @cached_property
    def _texts(self) -> JoinedTexts:
        return JoinedTexts([tuple(map(folded, texts)) for texts in self._tools])

    def _matching(self, pattern: str) -> Iterator[int]:
        import regex

        try:
            compiled = regex.compile(pattern, regex.IGNORECASE | regex.VERSION0)
        except regex.error as error:
            raise _no_pattern(error) from None
        until = time.monotonic() + _SECONDS
        for place, texts in enumerate(self._tools):
            try:
                left = max(until - time.monotonic(), 1e-3)
                matches = any(compiled.search(text, timeout=left) for text in texts)
            except TimeoutError:
                raise SearchFailure("execution_time_exceeded", "The search took too long") from None
            if matches:
                yield place


class Bm25Documents:
    """BM25 over texts, with the weights of words per text computed once.

    Words are runs of letters and digits, split like identifiers, each of a query's once; nothing is stemmed and no
    word is left out.

    Args:
        documents: The texts.
    """

    def __init__(self, documents: Iterable[str]) -> None:
        self._index = LexicalIndex.build(map(_words, documents), k1=TEXTBOOK_K1, b=TEXTBOOK_B)

    def ranked(self, query: str) -> list[int]:
        """Places with a score above zero, best first, equal scores in their order."""
        scores = self.scores(query)
        positions = np.flatnonzero(scores > 0)
        ordered: list[int] = positions[np.argsort(-scores[positions], kind="stable")].tolist()
        return ordered

    def scores(self, query: str) -> npt.NDArray[np.float32]:
        """float32 ``[n]`` in [0, 1): the share of the query's weight that each text holds, 0 without a shared word."""
        return self._index.scores(dict.fromkeys(_words(query)))


def searched_texts(name: str, description: str, parameters: Any) -> tuple[str, ...]:
    """The texts of a tool that are searched, one for each field; the name also as words.

    Args:
        name: The tool's name on the wire.
        description: Its description.
        parameters: Its JSON Schema, or anything else, which has no texts.
    """
    return (name, " ".join(split_identifier(name)), description, *_argument_texts(parameters))


def results_asked(limit: Any) -> int:
    """How many results a search gives whose input has this ``limit``."""
    if not isinstance(limit, int) or isinstance(limit, bool):
        return DEFAULT_RESULTS
    return max(1, min(limit, MOST_RESULTS))


def _argument_texts(schema: Any) -> Iterator[str]:
    pending = [schema]
    while pending:
        node = pending.pop(0)
        if not isinstance(node, Mapping):
            continue
        properties = node.get("properties")
        for name, child in (properties if isinstance(properties, Mapping) else {}).items():
            yield str(name)
            if isinstance(child, Mapping) and isinstance(child.get("description"), str):
                yield child["description"]
            pending.append(child)
        pending.append(node.get("items"))
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = node.get(keyword)
            pending.extend(branches if isinstance(branches, list) else ())
        definitions = node.get("$defs")
        pending.extend(definitions.values() if isinstance(definitions, Mapping) else ())


def _words(text: str) -> list[str]:
    return [word for run in _WORD.findall(text) for word in _split(run)]


@lru_cache(maxsize=65_536)
def _split(run: str) -> tuple[str, ...]:
    return split_identifier(run)


def _no_pattern(error: Exception) -> SearchFailure:
    return SearchFailure("invalid_tool_input", f"Invalid regular expression pattern: {error}")
