"""Phrasings and the index words of a tool in; which words users say that it lacks, or holds, out."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from semantic_toolsearch.evaluation.mining.records import Word
from semantic_toolsearch.tokens import WRAPPING, telling_tokens

__all__ = ["MOST_WORDS", "Said", "held_words", "missing_words"]

MOST_WORDS: Final = 6
"""Words that one finding names at most: more are no evidence but noise."""

REPEATED_FROM: Final = 3
"""Phrasings of a tool from which a word counts only when two of them hold it."""

TIMES_OTHERS: Final = 3.0
"""How many times as often a word is said for a tool as for others, to be its own: "need" and "help" are nobody's."""

_LETTERS: Final = re.compile(r"[^\W\d_]")
_PIECES: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Said:
    """One phrasing.

    Attributes:
        text: As it was written.
    """

    text: str

    @cached_property
    def words(self) -> Mapping[str, str]:
        """Its index words without function words, each as it is written here, in reading order."""
        written: dict[str, str] = {}
        for chunk in self.text.split():
            bare = chunk.strip(WRAPPING)
            for spelled in (bare, *_PIECES.findall(chunk)):
                tokens = telling_tokens(spelled)
                if len(tokens) == 1:
                    written.setdefault(tokens[0], spelled.casefold())
        return {token: written.get(token, token) for token in telling_tokens(self.text)}

    def holds(self, word: str) -> bool:
        """Whether a word, or two that stand together, is among its words."""
        return set(telling_tokens(word)) <= set(self.words)

    def pair(self, first: str, second: str) -> bool:
        """Whether two written words stand side by side."""
        return f" {first} {second} " in f" {' '.join(_PIECES.findall(self.text.casefold()))} "


def missing_words(own: Sequence[Said], others: Sequence[Said], held: Collection[str]) -> tuple[Word, ...]:
    """The words that users say for a tool, and not for all the others, which stand nowhere in its text.

    Args:
        own: The phrasings that want the tool.
        others: The phrasings that want others.
        held: The tool's index words.

    Returns:
        The most frequent first; two words that always stand together as one. Of three and more phrasings two must
        hold a word; what a single one holds, no phrasing of others may hold. Numbers are no words.
    """
    least = 2 if len(own) >= REPEATED_FROM else 1
    counts = Counter(token for said in own for token in said.words if token not in held)
    elsewhere = Counter(token for said in others for token in said.words)

    def is_own(token: str) -> bool:
        if not _LETTERS.search(token) or counts[token] < least:
            return False
        if counts[token] == 1:
            return token not in elsewhere
        return counts[token] / len(own) >= TIMES_OTHERS * elsewhere[token] / max(1, len(others))

    kept = [token for token in counts if is_own(token)]
    kept.sort(key=lambda token: (-counts[token], elsewhere[token], token))
    return tuple(_joined(own, kept, counts))[:MOST_WORDS]


def held_words(
    phrasings: Sequence[Said],
    fields: Mapping[str, Collection[str]],
    without: Collection[str] = (),
) -> tuple[Word, ...]:
    """The words of phrasings that a tool's text holds.

    Args:
        phrasings: The phrasings.
        fields: By field of the tool, the index words that it shares with any of them.
        without: Index words to leave out.

    Returns:
        The most frequent first.
    """
    where: defaultdict[str, list[str]] = defaultdict(list)
    for field, tokens in fields.items():
        for token in tokens:
            where[token].append(field)
    counts = Counter(token for said in phrasings for token in said.words if token in where)
    kept = sorted(
        (token for token in counts if token not in without), key=lambda token: (-counts[token], token)
    )
    return tuple(
        Word(_written(phrasings, token), counts[token], tuple(where[token])) for token in kept[:MOST_WORDS]
    )


def _joined(phrasings: Sequence[Said], tokens: Iterable[str], counts: Mapping[str, int]) -> Iterable[Word]:
    """Words in their order, neighbours that never part written as one."""
    waiting = {token: _written(phrasings, token) for token in tokens}
    while waiting:
        token, word = next(iter(waiting.items()))
        del waiting[token]
        with_it = [said for said in phrasings if token in said.words]
        for other, written in waiting.items():
            if counts[other] != counts[token]:
                continue
            orders = [(word, written), (written, word)]
            joined = [pair for pair in orders if all(said.pair(*pair) for said in with_it)]
            if joined:
                del waiting[other]
                word = " ".join(joined[0])
                break
        yield Word(word, counts[token])


def _written(phrasings: Sequence[Said], token: str) -> str:
    """A token as it is most often written."""
    spellings = Counter(said.words[token] for said in phrasings if token in said.words)
    return min(spellings, key=lambda spelled: (-spellings[spelled], spelled))
