"""A ranker and a query in; an answer that can be relied on, or a ``RankerError`` naming its class, out."""

from __future__ import annotations

import math
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.errors import RankerError, ToolSearchError, described
from semantic_toolsearch.rankers.protocol import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.rankers.protocol import Ranker, RankerFactory, Visible

__all__ = ["checked_parts", "checked_rank", "cleaned", "ranker_made", "takes_patterns"]

_ROUNDING: Final = 1e-4
"""How far above 1 rounding may carry a score."""


def checked_rank(ranker: Ranker, query: str, limit: int, size: int, visible: Visible | None) -> Ranking:
    """Ask a ranker, and check its answer.

    Args:
        ranker: Anything with ``rank``.
        query: What is asked.
        limit: As for ``Ranker.rank``.
        size: Number of tools in the catalog.
        visible: As for ``Ranker.rank``.

    Returns:
        The ranking with positions as int64 and scores as float32. It may still hold invisible tools, tools
        twice, more tools than asked for, and any order: ``cleaned`` mends those.

    Raises:
        RankerError: The ranker raised, or its positions or scores cannot be used.
    """
    who = f"{type(ranker).__name__}.rank"
    seen = None if visible is None else visible.copy()  # what is visible is not for a ranker to change
    with _blamed(f"{who} raised"):
        ranking = ranker.rank(query, limit=limit, visible=seen)
    with _blamed(f"{who} must return a Ranking of positions and scores:"):
        positions = np.asarray(ranking.positions)
        scores = _numbers(ranking.scores)
        strong = None if ranking.strong is None else np.asarray(ranking.strong)
        degraded = None if ranking.degraded is None else str(ranking.degraded)
        if isinstance(ranking.notes, str):
            raise TypeError("notes are one text; give a tuple of texts")
        notes = tuple(map(str, ranking.notes))
    if positions.ndim != 1 or positions.shape != scores.shape:
        raise RankerError(
            f"{who} returned {_shape(positions)} positions for {_shape(scores)} scores; give one each."
        )
    if strong is not None and (strong.shape != scores.shape or (len(strong) and strong.dtype != np.bool_)):
        raise RankerError(
            f"{who} returned 'strong' as {strong.dtype} {_shape(strong)} for {_shape(scores)} scores; "
            f"give one truth value a position, or None."
        )
    if len(positions) and not np.issubdtype(positions.dtype, np.integer):
        raise RankerError(f"{who} returned positions of type {positions.dtype}; give whole numbers.")
    outside = positions[(positions < 0) | (positions >= size)]
    if len(outside):
        raise RankerError(f"{who} returned positions {outside[:3].tolist()} for a catalog of {size} tools.")
    wrong = scores[~((scores >= 0) & (scores <= 1 + _ROUNDING))]  # NaN fails every comparison
    if len(wrong):
        raise RankerError(f"{who} returned scores {wrong[:3].tolist()}; give numbers from 0 to 1.")
    return Ranking(
        positions.astype(np.int64),
        scores.astype(np.float32),
        None if strong is None else strong.astype(np.bool_),
        degraded,
        notes,
    )


def cleaned(ranking: Ranking, visible: Visible | None) -> Ranking:
    """The ranking best first, each tool once, without zeros and without invisible tools."""
    order = np.argsort(-ranking.scores, kind="stable")
    _, first = np.unique(ranking.positions[order], return_index=True)
    order = order[np.sort(first)]
    keep = ranking.scores[order] > 0
    if visible is not None:
        keep &= visible[ranking.positions[order]]
    order = order[keep]
    strong = None if ranking.strong is None else ranking.strong[order]
    return Ranking(ranking.positions[order], ranking.scores[order], strong, ranking.degraded, ranking.notes)


def checked_parts(
    ranker: Ranker, query: str, position: int, visible: Visible | None = None
) -> dict[str, float]:
    """The parts of one tool's score as the ranker tells them; empty when it tells none.

    Args:
        ranker: Anything that may have ``explain``; it gets ``visible`` where it takes it.
        query: What was asked.
        position: The tool.
        visible: As for ``Ranker.rank``.

    Raises:
        RankerError: Its ``explain`` raised, or told something else than numbers by name.
    """
    who = f"{type(ranker).__name__}.explain"
    with _blamed(f"{who} must return numbers by name:"):
        explain: Any = getattr(ranker, "explain", None)
        if explain is None:
            return {}
        seen: dict[str, Any] = {}
        if "visible" in signature(explain).parameters:
            seen["visible"] = None if visible is None else visible.copy()  # as in `checked_rank`
        parts = {str(name): float(part) for name, part in dict(explain(query, position, **seen)).items()}
    if wrong := [name for name, part in parts.items() if not math.isfinite(part)]:
        raise RankerError(f"{who} must return numbers by name: {wrong[0]!r} is {parts[wrong[0]]}.")
    return parts


def takes_patterns(ranker: Ranker) -> bool:
    """Whether a query without letters and digits asks this ranker for something.

    Raises:
        RankerError: It cannot be told.
    """
    with _blamed(f"{type(ranker).__name__}.takes_patterns raised"):
        return bool(getattr(ranker, "takes_patterns", False))


def ranker_made(factory: RankerFactory, catalog: Catalog) -> Ranker:
    """What a factory makes of a catalog.

    Raises:
        RankerError: It raised; the message names it.
    """
    with _blamed(f"{getattr(factory, '__name__', type(factory).__name__)} raised"):
        return factory(catalog)


@contextmanager
def _blamed(who: str) -> Iterator[None]:
    """Turn what a user's own code raises inside into an error of this library that begins with these words."""
    try:
        yield
    except ToolSearchError:
        raise
    except Exception as fault:
        raise RankerError(f"{who} {described(fault)}") from fault


def _numbers(values: Any) -> npt.NDArray[np.float64]:
    numbers = np.asarray(values)
    if len(numbers) and numbers.dtype.kind not in "fiu":
        raise TypeError(f"scores of type {numbers.dtype}")
    return numbers.astype(np.float64)


def _shape(array: npt.NDArray[Any]) -> str:
    return "x".join(map(str, array.shape)) or "single"
