"""A dataset in; the kinds of queries it holds, query by query, out, and the figures of each kind.

A mean over a whole task hides what differs between them. The axes are told at `query_slices`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.documents import lexical_tokens
from semantic_toolsearch.names import split_identifier, squash
from semantic_toolsearch.tokens import telling_tokens

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset

__all__ = ["AXES", "OVERLAPS", "SCRIPTS", "overlap", "query_slices", "script_of", "slice_figures"]

AXES: Final = ("kind", "overlap", "name", "gold tools", "script", "language")
"""The axes, in the order of tables."""

OVERLAPS: Final = {"<15 %": 0.0, "15-35 %": 0.15, "35-60 %": 0.35, ">=60 %": 0.60}
"""Bins of the overlap, each with the smallest share in it."""

NAMED: Final = ("named", "not named")
GOLD_TOOLS: Final = ("1", "2+")

_SCRIPT_OF_NAME: Final = {
    "LATIN": "latin",
    "CJK": "cjk",
    "IDEOGRAPHIC": "cjk",
    "HIRAGANA": "kana",
    "KATAKANA": "kana",
    "KATAKANA-HIRAGANA": "kana",
    "HANGUL": "hangul",
    "CYRILLIC": "cyrillic",
    "ARABIC": "arabic",
    "DEVANAGARI": "devanagari",
    "THAI": "thai",
    "GREEK": "greek",
    "HEBREW": "hebrew",
}
SCRIPTS: Final = (*dict.fromkeys(_SCRIPT_OF_NAME.values()), "other", "mixed")
"""What `script_of` may say."""

_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
"""A BCP-47 tag such as ``de`` or ``zh-hk``; other labels of two capitals are no languages."""

_HIRAGANA: Final = re.compile("[\u3041-\u309f]")
"""Letters that Japanese sentences hold and Chinese ones do not; katakana may stand in both, in names."""


def query_slices(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Sort the queries of a dataset along each axis.

    - ``kind``, ``language``: what the dataset says. Where it names no language at all but has two parts or more, each
      called by a language tag, as multilingual collections have, these are the languages.
    - ``script``: see `script_of`.
    - ``overlap``: the bin of `overlap`.
    - ``gold tools``: ``1`` or ``2+``; copies of a gold tool are none of their own.
    - ``name``: ``named`` where the name of a gold tool stands in the query, in any case style, else ``not named``.

    Returns:
        By query id, for each axis that applies, the query's value.
    """
    words = cache(lambda place: frozenset(lexical_tokens(dataset.tools[place])))
    names = cache(lambda place: squash(dataset.tools[place].name))
    by_part = _parts_are_languages(dataset)
    slices: dict[str, dict[str, str]] = {}
    for query in dataset.queries:
        language = query.part if by_part else query.language
        values = {"kind": query.kind, "language": language, "script": script_of(query.text)}
        gold = dataset.gold_places(query.id)
        if gold:
            values["overlap"] = _bin(overlap(query.text, [words(place) for place in gold]))
            values["name"] = NAMED[not _names_any(query.text, {names(place) for place in gold})]
        if query.answerable:
            values["gold tools"] = GOLD_TOOLS[len(dataset.gold[query.id]) > 1]
        slices[query.id] = {axis: value for axis in AXES if (value := values.get(axis)) is not None}
    return slices


def slice_figures(
    dataset: Dataset, slices: Mapping[str, Mapping[str, str]], values: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, dict[str, float]]]:
    """Average the values of one arm over each slice.

    Args:
        dataset: The queries; unanswerable ones are no part of a mean.
        slices: What `query_slices` gave for the dataset.
        values: By measure, one value a query, in the dataset's order.

    Returns:
        By axis and value: ``queries``, how many answerable ones there are, and the mean of each measure. Values
        without such a query are left out. Axes stand as in ``AXES``; values in their natural order where there is
        one, languages by the alphabet, kinds as they first occur.
    """
    members: dict[str, dict[str, list[int]]] = {axis: {} for axis in AXES}
    for place, query in enumerate(dataset.queries):
        if query.answerable:
            for axis, value in slices[query.id].items():
                members[axis].setdefault(value, []).append(place)
    natural = {
        "overlap": [*OVERLAPS],
        "name": NAMED,
        "gold tools": GOLD_TOOLS,
        "script": SCRIPTS,
        "language": sorted(members["language"]),
        "kind": [*members["kind"]],
    }
    return {
        axis: {
            value: {
                "queries": len(places),
                **{
                    name: sum(listed[place] for place in places) / len(places)
                    for name, listed in values.items()
                },
            }
            for value in natural[axis]
            if (places := found.get(value))
        }
        for axis, found in members.items()
        if found
    }


def overlap(query: str, tools: Sequence[frozenset[str]]) -> float:
    """The share of a query's content words that stand in a tool's full text.

    Words are index tokens without function words and without bare numbers, which are arguments rather than a name for
    what is wanted; each counts once.

    Args:
        query: The query's text.
        tools: The index tokens of each gold tool. The share is averaged over them, since each of them has to be found.

    Returns:
        0 to 1; 0 for a query without content words.
    """
    words = {token for token in telling_tokens(query) if not token.isdigit()}
    if not words:
        return 0.0
    return sum(len(words & tokens) for tokens in tools) / (len(words) * len(tools))


def script_of(text: str) -> str:
    """The script that most letters of a text are in.

    Ideographs are ``cjk``, but ``kana`` in a Japanese text. ``other`` stands for every script that has no name here and
    for a text without letters, ``mixed`` for one where no script has more than half of the letters.
    """
    counts = Counter(_script(char) for char in text if char.isalpha())
    if _HIRAGANA.search(text):
        counts["kana"] += counts.pop("cjk", 0)
    script, most = max(counts.items(), key=lambda item: item[1], default=("other", 1))
    return script if 2 * most > counts.total() else "mixed"


@cache
def _script(char: str) -> str:
    """The script of one letter, by the first word of its Unicode name."""
    name = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "")
    return _SCRIPT_OF_NAME.get(name.split(" ")[0], "other")


def _parts_are_languages(dataset: Dataset) -> bool:
    if any(query.language for query in dataset.queries):
        return False
    parts = {query.part or "" for query in dataset.queries}
    return len(parts) > 1 and all(map(_LANGUAGE.fullmatch, parts))


def _bin(share: float) -> str:
    return max((least, name) for name, least in OVERLAPS.items() if share >= least)[1]


def _names_any(query: str, names: set[str]) -> bool:
    """Whether neighbouring words of a query, written together, are one of the names."""
    words = [squash(word) for word in split_identifier(query)]
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    joined, ends = "".join(words), set(starts)
    for name in filter(None, names):
        at = joined.find(name)
        while at >= 0:
            if at in ends and at + len(name) in ends:
                return True
            at = joined.find(name, at + 1)
    return False
