"""Texts in groups and a few words in; the groups that hold one of the words out, without a loop over all."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["BETWEEN", "JoinedTexts"]

BETWEEN: Final = "\n"
"""Stands between the texts: a word that holds it may be found across two of them."""


class JoinedTexts:
    """All texts of all groups in one.

    Args:
        groups: The texts of each group, as they are to be compared: nothing is folded here.
    """

    def __init__(self, groups: Iterable[Sequence[str]]) -> None:
        # As UTF-8, where one character that is not ASCII does not make all others take two or four bytes.
        parts = [_bytes(BETWEEN.join(texts) + BETWEEN) for texts in groups]
        self._starts = [0, *accumulate(map(len, parts))]
        self._joined = b"".join(parts)

    def having(self, word: str) -> list[int]:
        """Places of the groups with a text that holds the word, in their order.

        Args:
            word: Not empty, without ``BETWEEN`` in it.
        """
        places = []
        find, starts, sought = self._joined.find, self._starts, _bytes(word)
        found = find(sought)
        while found >= 0:
            place = bisect_right(starts, found) - 1
            places.append(place)
            found = find(sought, starts[place + 1])
        return places

    def holding(self, words: Iterable[str]) -> Iterator[int]:
        """Places of the groups with a text that holds one of the words, in their order, found as they are asked for.

        Args:
            words: None empty, none with ``BETWEEN`` in it.
        """
        ahead = {word: self._joined.find(word) for word in map(_bytes, words)}
        while ahead := {word: found for word, found in ahead.items() if found >= 0}:
            place = bisect_right(self._starts, min(ahead.values())) - 1
            yield place
            end = self._starts[place + 1]
            for word, found in ahead.items():
                if found < end:
                    ahead[word] = self._joined.find(word, end)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
