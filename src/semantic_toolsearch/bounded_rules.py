"""A rule of a schema in; the same rule, with what it takes counted and bounded, out.

A schema comes from a server and a value from a model: together they can be made to take for ever. Every rule that is
applied costs steps of one budget, every match of a pattern gets little time, and rules within rules go so deep only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Final, TypeAlias

from semantic_toolsearch.hostile_patterns import unusable

__all__ = ["MAX_STEPS", "Keyword", "TooMuchWorkError", "compiled", "counted", "matches", "working"]

MAX_STEPS: Final = 300_000
"""Rules and values looked at for one call, over all passes: less than a second of work."""

FINDING_STEPS: Final = 10
"""What a broken rule counts for at each level that it is handed up through: telling of one costs more than a look."""

PATTERN_SECONDS: Final = 0.05
"""Time that one pattern gets for one text; some patterns take for ever on some texts."""

PATTERN_STEPS: Final = MAX_STEPS // 8
"""What a pattern that ran out of time counts for."""

MAX_NESTING: Final = 150
"""Rules applied within each other; some four times as many calls, of which Python allows a thousand in all."""

MAX_REPEATS: Final = 20_000
"""What the counted repeats of a pattern may multiply to."""

LONGEST_PATTERN: Final = 5_000
"""Characters; there is no stopping the compilation of a pattern."""

Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[Any] | None]
"""How `jsonschema` writes a rule: validator, value of the keyword, instance and schema in, what is broken out."""


class _Work:
    """What checking one value may still take."""

    __slots__ = ("nesting", "steps")

    def __init__(self, steps: list[int]) -> None:
        self.steps, self.nesting = steps, 0


_work: ContextVar[_Work] = ContextVar("work")


class TooMuchWorkError(Exception):
    """Checking a value would take longer than is reasonable."""


@contextmanager
def working(steps: list[int]) -> Iterator[None]:
    """Bound what is done inside.

    Args:
        steps: How many steps may be taken; one number, lowered by what was taken.

    Raises:
        TooMuchWorkError: The steps are used up, or rules are nested too deep.
    """
    before = _work.set(_Work(steps))
    try:
        yield
    except RecursionError:
        raise TooMuchWorkError from None
    except BaseException as fault:
        if type(fault).__name__ == "PanicException":  # what a RecursionError becomes inside of Rust
            raise TooMuchWorkError from None
        raise
    finally:
        _work.reset(before)


def counted(check: Keyword) -> Keyword:
    """Return a rule whose every use is counted."""

    def applied(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
        _spend(1 + _size(rule) + _size(value))
        work = _work.get()
        if work.nesting == MAX_NESTING:
            raise TooMuchWorkError
        work.nesting += 1
        try:
            for broken in check(validator, rule, value, schema) or ():
                _spend(FINDING_STEPS)
                yield broken
        finally:
            work.nesting -= 1

    return applied


def _size(value: Any) -> int:
    return len(value) if isinstance(value, dict | list) else 0


def _spend(steps: int) -> None:
    left = _work.get().steps
    left[0] -= steps
    if left[0] < 0:
        raise TooMuchWorkError


@lru_cache(maxsize=1_024)
def compiled(pattern: str) -> Any:
    """Return a pattern ready for use; None where it is none, or may not be used."""
    import warnings

    import regex

    if len(pattern) > LONGEST_PATTERN or unusable(pattern, MAX_REPEATS):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return regex.compile(pattern)
    except Exception:  # a foreign text: whatever is wrong with it, it is no rule
        return None


def matches(pattern: str, text: str) -> bool | None:
    """Return whether a text matches; None where that cannot be told."""
    expression = compiled(pattern)
    if expression is None:
        return None
    try:
        return expression.search(text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        _spend(PATTERN_STEPS)
        return None
