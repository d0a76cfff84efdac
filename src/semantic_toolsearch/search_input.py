"""Queries and a limit as a model sent them come in; usable ones, and notes on what was changed, go out.

A model sends blanks, megabytes, numbers as text and truth values. None of that is an error: what can be used
is used, and the notes tell the model about the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.cleaning import clean_prose

if TYPE_CHECKING:
    from semantic_toolsearch.config import SearchConfig

__all__ = ["MAX_QUERIES", "MAX_QUERY_CHARACTERS", "as_texts", "clean_text", "usable_limit", "usable_queries"]

MAX_QUERY_CHARACTERS: Final = 4_000
"""Queries are cut here: what a model asks for stands in the first sentences, and time stays bounded."""

MAX_QUERIES: Final = 20
"""Queries of one search that are answered."""

_NOT_A_PATTERN: Final = frozenset({"", "*", "..."})


def as_texts(value: Any) -> list[str]:
    """One text or several, as a model may send either; what is no text is written as one."""
    if value is None:
        return []
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return [_written(item) for item in value if item is not None]
    return [_written(value)]


def usable_queries(queries: Iterable[str], *, patterns: bool = False) -> tuple[list[str], list[str]]:
    """The queries that ask for something: cleaned, cut, none twice, a bounded number of them.

    Args:
        queries: As the model sent them.
        patterns: Whether punctuation alone asks for something, as it does where queries are patterns.

    Returns:
        The queries, and notes for the model.
    """
    asked: dict[str, None] = {}
    notes: list[str] = []
    for query in queries:
        text = clean_text(query)
        if len(text) < len(query.strip()) and len(text) == MAX_QUERY_CHARACTERS:
            notes.append(f"A query was cut to its first {MAX_QUERY_CHARACTERS:,} characters.")
        if text not in _NOT_A_PATTERN if patterns else any(map(str.isalnum, text)):
            asked[text] = None
    if len(asked) > MAX_QUERIES:
        notes.append(f"Only the first {MAX_QUERIES} of {len(asked)} queries were answered.")
    return list(asked)[:MAX_QUERIES], notes


def usable_limit(limit: object, config: SearchConfig) -> tuple[int, list[str]]:
    """The number of tools to return, from 1 to ``config.max_limit``.

    Args:
        limit: As the model sent it; None for the default.
        config: Its ``default_limit``, ``max_limit`` and ``offer_limit`` count.

    Returns:
        The number, and notes for the model when it is not the one that it sent.
    """
    default, most = config.default_limit, config.max_limit
    if limit is None or not config.offer_limit:
        return default, []
    number = _number(limit)
    if number is None:
        return default, [
            f"The limit {clean_text(_written(limit))[:40]!r} is not a number; {default} was used."
        ]
    if number < 1:
        return 1, [f"The limit {number:g} was raised to 1."]
    if number >= most + 1:
        return most, [f"The limit {number:g} was lowered to {most}, the most that one search returns."]
    whole = int(number)
    return whole, [] if whole == limit else [f"The limit {str(limit)[:40]!r} was read as {whole}."]


def clean_text(text: str) -> str:
    """A text without hidden characters and surrounding white space, of a bounded length."""
    return clean_prose(text.strip()[:MAX_QUERY_CHARACTERS])[0].strip()


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return repr(value)
    except Exception:  # nested too deeply, or a number of thousands of digits
        return ""


def _number(value: object) -> float | None:
    """A number as models write it: 3, "3", 2.7; None for anything else, truth values included."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    except OverflowError:  # an integer beyond what a float holds
        return math.copysign(math.inf, 1 if value > 0 else -1)  # type: ignore[operator]  # no text gets here
    return None if math.isnan(number) else number
