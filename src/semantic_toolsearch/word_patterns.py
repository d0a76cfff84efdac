"""A regular expression in; the words that it lists, if it is no more than a list, and how their case compares, out."""

from __future__ import annotations

from typing import Final

from semantic_toolsearch.joined_texts import BETWEEN

__all__ = ["folded", "listed_words"]

_SYNTAX: Final = frozenset(".^$*+?{}[]()")

_ALSO_SAME: Final = {"İ": "i", "ı": "i", "\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}
"""Letters that ``re.IGNORECASE`` takes for the same although their folded forms differ."""


def listed_words(pattern: str) -> list[str]:
    r"""The texts that a pattern means letter by letter (``mail|e\-mail``); empty for any other pattern.

    Such a pattern matches where a text holds one of them, so that no regular expression is needed to run it.
    """
    words = [""]
    escaped = False
    for char in pattern:
        if escaped:
            if char.isalnum():  # a class, a group's number, or a control character
                return []
            words[-1] += char
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "|":
            words.append("")
        elif char in _SYNTAX:
            return []
        else:
            words[-1] += char
    usable = not escaped and all(word and BETWEEN not in word for word in words)
    return words if usable else []


def folded(text: str) -> str:
    """The text with each letter replaced by one that stands for all its cases, as ``re.IGNORECASE`` compares them."""
    return text.lower() if text.isascii() else text.translate(_FOLDS)


class _Folds(dict[int, int]):
    """Code point -> the one that stands for its cases, for ``str.translate``; found out once each."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        single = next((form for form in (char.casefold(), char.lower()) if len(form) == 1), char)
        self[code] = ord(_ALSO_SAME.get(single, single))
        return self[code]


_FOLDS: Final = _Folds()
