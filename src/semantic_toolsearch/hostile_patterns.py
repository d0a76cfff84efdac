"""A regular expression of a stranger in; why it must not even be compiled, or None, out.

The time that a compiled pattern takes can be bounded, see `rankers.regex` and `bounded_rules`; the memory that the
engine takes for some patterns cannot, so those are refused by their text.
"""

from __future__ import annotations

import re
from math import prod
from typing import Final

__all__ = ["unusable"]

_REPEAT: Final = re.compile(r"\{\s*(\d*)\s*,?\s*(\d*)\s*\}")
_RECURSION: Final = re.compile(r"\(\?(?:[R&|]|P>|[+-]?\d)")
"""What the engine knows beyond Python's syntax: recursion eats memory as fast as it eats time."""

_LONGEST_COUNT: Final = 9
"""Digits of a count; Python itself counts no further than ten of them."""


def unusable(pattern: str, most_repeats: int) -> str | None:
    """Return what forbids to compile a pattern, as a sentence for who wrote it; None where nothing does.

    Args:
        pattern: Python's syntax.
        most_repeats: What all counted repeats may multiply to: the engine unrolls ``(a{1000}){1000}`` into memory.
    """
    counts = [number for pair in _REPEAT.findall(pattern) for number in pair]
    repeats = (
        max(int(number or 1) for number in pair) for pair in zip(counts[::2], counts[1::2], strict=True)
    )
    too_many = any(len(number) > _LONGEST_COUNT for number in counts)
    if too_many or prod(max(1, repeat) for repeat in repeats) > most_repeats:
        return f"The pattern's counted repeats multiply to over {most_repeats}; use * or + instead."
    if _RECURSION.search(pattern):
        return "The pattern is not a valid regular expression: recursion and branch reset are unknown."
    return None
