"""Parts of a provider's response in; what is read from them alike for both providers out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from semantic_toolsearch.evaluation.answers import SEARCHED, Answer
from semantic_toolsearch.evaluation.hosted.faults import NoAnswer, redacted

__all__ = ["NO_SEARCH", "parts_of", "told", "usage_of", "without_search"]

NO_SEARCH: Final = "the model did not search"

_CUT: Final = {
    "max_tokens": "the response was cut at its most output tokens before any search",
    "max_output_tokens": "the response was cut at its most output tokens before any search",
    "model_context_window_exceeded": "the request is longer than the model's context window",
    "refusal": "the model refused",
    "content_filter": "the provider's filter stopped the response",
}
"""Stops before which a model had no chance to search."""


def parts_of(response: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The blocks or items of a response.

    Args:
        response: The response.
        key: The field that holds them.

    Raises:
        NoAnswer: They are no list of objects with a type.
    """
    parts = response.get(key)
    if not isinstance(parts, list) or not all(
        isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in parts
    ):
        raise NoAnswer(f"the response cannot be read: its {key!r} is no list of typed parts")
    return parts


def without_search(
    stop: str | None, strange: Sequence[str], responses: Sequence[Mapping[str, Any]], *, refused: bool = False
) -> Answer:
    """The answer where the model did not search although it could: nothing is loaded.

    Args:
        stop: Why the response ended.
        strange: Types of parts that this version does not know, and that may have held a search.
        responses: The parts of the response.
        refused: Whether it holds a refusal.

    Raises:
        NoAnswer: It could not search, or nobody can tell whether it did.
    """
    if strange:
        raise NoAnswer(f"the response holds nothing but unknown parts: {', '.join(dict.fromkeys(strange))}")
    reason = _CUT["refusal"] if refused else _CUT.get(stop or "")
    if reason:
        raise NoAnswer(reason, final=True)
    return Answer(usage=usage_of(responses, 0), notes=(NO_SEARCH,))


def told(searches: Sequence[Any]) -> str:
    """A note of what a model wrote: the text of each search, or its whole input where there is more to it."""
    return SEARCHED + "; ".join(_written(given) for given in searches)


def usage_of(responses: Sequence[Mapping[str, Any]], searches: int) -> dict[str, int]:
    """What the provider counted, under its own names, summed over the parts of a response.

    Args:
        responses: The parts.
        searches: Number of searches in them.

    Returns:
        Tokens by the provider's names, ``requests`` (one a part) and ``searches``.
    """
    total: dict[str, int] = {}
    for response in responses:
        usage = response.get("usage")
        for name, count in _counts(usage if isinstance(usage, Mapping) else {}):
            total[name] = total.get(name, 0) + count
    return {**total, "requests": len(responses), "searches": searches}


def _counts(usage: Mapping[str, Any]) -> list[tuple[str, int]]:
    found = []
    for name, value in usage.items():
        if isinstance(value, int) and not isinstance(value, bool):
            found.append((name, value))
        elif name.endswith("_details") and isinstance(value, Mapping):
            found += _counts(value)
    return found


def _written(given: Any) -> str:
    if isinstance(given, Mapping) and len(given) == 1:
        (given,) = given.values()
    return redacted(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False), None)
