"""Names in; what they look like to a reader, and which of them are a slip of the keyboard apart, out.

The skeleton of a name is what it looks like: decomposed, without marks and hidden characters, each character
replaced by the plain one it resembles. The idea is that of Unicode's UTS 39; the table here is a small one of
its own, for the scripts whose letters are known to be used against Latin names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final

from semantic_toolsearch.cleaning import has_hidden, strip_hidden
from semantic_toolsearch.names import squash

__all__ = ["describe_characters", "mixed_scripts", "neighbours", "skeleton"]

LONGEST_COMPARED: Final = 64
"""Characters of a key that are compared for a single typing error; nobody reads longer ones by letter."""

SHORTEST_COMPARED: Final = 5
"""Shorter keys, such as get and set, are too often one letter apart for it to mean anything."""

# fmt: off
_RESEMBLES: Final = str.maketrans({
    # ASCII: which of these is meant depends on the font
    "I": "l", "1": "l", "|": "l", "0": "o", "O": "o",
    # Latin that does not decompose
    "ı": "i", "ɑ": "a", "ɡ": "g", "ɩ": "i", "ʟ": "l", "ß": "b", "ƅ": "b", "ł": "l", "Ł": "l", "ø": "o",
    "Ø": "o",
    # Cyrillic
    "а": "a", "в": "b", "е": "e", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p", "с": "c", "т": "t",
    "у": "y",
    "х": "x", "і": "i", "ј": "j", "ѕ": "s", "ԁ": "d", "һ": "h", "ԛ": "q", "ԝ": "w", "ь": "b", "ӏ": "l",
    "г": "r",
    "А": "a", "В": "b", "Е": "e", "К": "k", "М": "m", "Н": "h", "О": "o", "Р": "p", "С": "c", "Т": "t",
    "У": "y",
    "Х": "x", "І": "l", "Ј": "j", "Ѕ": "s", "Ӏ": "l", "З": "3", "з": "3",
    # Greek
    "α": "a", "β": "b", "γ": "y", "ε": "e", "η": "n", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p",
    "τ": "t",
    "υ": "u", "χ": "x", "Α": "a", "Β": "b", "Ε": "e", "Ζ": "z", "Η": "h", "Ι": "l", "Κ": "k", "Μ": "m",
    "Ν": "n",
    "Ο": "o", "Ρ": "p", "Τ": "t", "Υ": "y", "Χ": "x",
    # Armenian
    "օ": "o", "ս": "u", "հ": "h", "ո": "n", "ց": "g", "ք": "p", "յ": "j",
})
# fmt: on

_MIXED: Final = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
"""Scripts whose letters resemble each other; a word of two of them is written by mistake or to deceive."""

_UNITS: Final = frozenset("μΩ")
"""Greek letters that stand before or for units (μmol, kΩ) in any script."""

_WORDS: Final = re.compile(r"[^\W\d_]+")


def skeleton(name: str) -> str:
    """Return the letters and digits that a name seems to consist of; two names that look alike have the same.

    `paypaI` and `pаypal` (with a Cyrillic а) both give `paypal`, and so do `pay-pal` and `PayPal`.
    """
    text = unicodedata.normalize("NFKD", strip_hidden(name))
    text = "".join(_digit(char) for char in text if unicodedata.category(char) != "Mn").translate(_RESEMBLES)
    return squash(text).replace("rn", "m").replace("vv", "w")


def _digit(char: str) -> str:
    """The ASCII digit for a digit of any script."""
    return char if char.isascii() or not char.isdecimal() else str(unicodedata.decimal(char))


def mixed_scripts(name: str) -> tuple[str, ...]:
    """Return the scripts that are mixed within one word of the name, such as LATIN and CYRILLIC, or ()."""
    if name.isascii():
        return ()
    for word in _WORDS.findall(strip_hidden(name)):
        scripts = {unicodedata.name(char, "").split(" ")[0] for char in word if char not in _UNITS}
        found = tuple(script for script in _MIXED if script in scripts)
        if len(found) > 1:
            return found
    return ()


def describe_characters(name: str) -> str:
    """Name the characters outside of ASCII, hidden ones included: `U+0430 CYRILLIC SMALL LETTER A`."""
    odd = [char for char in dict.fromkeys(name) if not char.isascii() or has_hidden(char)]
    return ", ".join(f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}" for char in odd[:5])


def neighbours(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each pair of keys that are one inserted, missing, changed or swapped character apart, once.

    A difference in digits tells versions apart and counts for nothing. The cost grows with the
    characters of all keys, not with the number of pairs.
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for key in dict.fromkeys(keys):
        if SHORTEST_COMPARED <= len(key) <= LONGEST_COMPARED:
            for shorter in dict.fromkeys((key, *_shortened(key))):
                groups[shorter].append(key)
    seen = set()
    for group in groups.values():
        for pair in combinations(group, 2):
            if pair not in seen:
                seen.add(pair)
                if _one_error(*pair):
                    yield pair


def _shortened(key: str) -> Iterable[str]:
    return (key[:at] + key[at + 1 :] for at in range(len(key)))


def _one_error(first: str, second: str) -> bool:
    """Whether one edit or one swap leads from one key to the other, and letters are concerned."""
    start = 0
    shortest = min(len(first), len(second))
    while start < shortest and first[start] == second[start]:
        start += 1
    end = 0
    while end < shortest - start and first[-1 - end] == second[-1 - end]:
        end += 1
    rest = first[start : len(first) - end], second[start : len(second) - end]
    if any(character.isdigit() for character in "".join(rest)) or rest == ("", ""):
        return False
    if max(map(len, rest)) == 1:
        return True
    return len(rest[0]) == len(rest[1]) == 2 and rest[0] == rest[1][::-1]
