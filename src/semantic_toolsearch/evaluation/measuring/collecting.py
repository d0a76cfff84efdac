"""A prepared arm and queries in; one answer a query, or why there is none, and how long answers took, out."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from semantic_toolsearch.cleaning import clean_prose
from semantic_toolsearch.errors import ToolSearchError
from semantic_toolsearch.evaluation.answers import Answer

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.answers import PreparedArm
    from semantic_toolsearch.evaluation.dataset import Query

__all__ = ["FAULTS", "all_failed", "collected", "latency", "one_line", "reason_of"]

FAULTS: Final = (Exception, SystemExit, CancelledError)
"""What rankers and embedders of a user's own may raise: they may end the program that they were written for, not a
run over others. An interruption from the keyboard is none of these."""

_LONGEST_REASON: Final = 500


def collected(
    prepared: PreparedArm,
    queries: Sequence[Query],
    hidden: Mapping[str, Collection[int]] | None = None,
    tell: Callable[[int], None] = lambda done: None,
) -> dict[str, Answer]:
    """Ask every query, and wait for all answers.

    Args:
        prepared: What is asked; whatever it raises is raised.
        queries: What to ask.
        hidden: As for ``PreparedArm.answers``.
        tell: Told the number of answers so far.

    Returns:
        By query id, in the order of the queries, an answer; one that the arm passed over has failed.
    """
    found: dict[str, Answer] = {}
    for query, answer in prepared.answers(queries, hidden):
        found[query.id] = answer
        tell(len(found))
    missing = Answer(failed="the arm gave no answer")
    return {query.id: found.get(query.id, missing) for query in queries}


def all_failed(answers: Mapping[str, Answer]) -> str | None:
    """Why the first query has no answer, where no query has one; else None."""
    reasons = [answer.failed for answer in answers.values()]
    return reasons[0] if reasons and None not in reasons else None


def reason_of(fault: BaseException) -> str:
    """What an arm's exception says; a foreign one with its type, as its message alone may say nothing."""
    return one_line(str(fault) if isinstance(fault, ToolSearchError) else f"{type(fault).__name__}: {fault}")


def one_line(text: str) -> str:
    """A text of foreign code as results and terminals can hold it: one line, bounded, without hidden characters."""
    line = " ".join(clean_prose(text[: 2 * _LONGEST_REASON])[0].split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]} [...]"


def latency(seconds: Iterable[float]) -> dict[str, float]:
    """Median and 95th percentile of the times of queries, at least one.

    Args:
        seconds: One time a query.

    Returns:
        ``p50_ms`` and ``p95_ms``, in milliseconds with three decimals.
    """
    times = 1_000 * np.fromiter(seconds, np.float64)
    return {f"p{part}_ms": round(float(np.percentile(times, part)), 3) for part in (50, 95)}
