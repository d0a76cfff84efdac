"""What a ranker is: a query and a mask of visible tools in, positions and scores out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog

__all__ = ["Ranker", "RankerFactory", "Ranking", "Visible", "best"]

Visible: TypeAlias = npt.NDArray[np.bool_]
"""Shape ``[n]``: which of the catalog's n tools the caller may see."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best tools of one query, best first.

    Attributes:
        positions: int64 ``[k]``, places in the catalog, none twice.
        scores: float32 ``[k]``, in [0, 1]; 0 means that query and tool have nothing in common.
        strong: bool ``[k]``, which tools the ranker is confident to answer the query; None for all.
        degraded: Why the ranking is less than it should be (a failed embedding model), or None.
        notes: What the model should be told about its query (a pattern that does not parse).
    """

    positions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]
    strong: npt.NDArray[np.bool_] | None = None
    degraded: str | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.positions)


@runtime_checkable
class Ranker(Protocol):
    """Anything that orders a catalog's tools for a query.

    Rules that hold for every ranker (visibility, exact names, the cut-offs) are applied after it, so a ranker
    need not know them. ``testing.check_ranker`` checks a ranker of your own. It may also have

    - ``name: str``;
    - ``explain(query, position) -> Mapping[str, float]``, the parts of one tool's score in its own units;
    - ``takes_patterns = True`` when a query without letters and digits, such as ``.+``, asks for something.
    """

    def rank(self, query: str, *, limit: int, visible: Visible | None = None) -> Ranking:
        """Return the best of the visible tools, best first.

        Args:
            query: What is asked, as it came.
            limit: The most tools to return.
            visible: bool ``[n]``, one entry a tool; those with False are not returned. None is all.

        Returns:
            The ranking; empty where nothing fits.
        """
        ...


RankerFactory: TypeAlias = Callable[["Catalog"], Ranker]
"""Makes the ranker of one catalog; called again whenever a live catalog is replaced."""


def best(scores: npt.NDArray[np.float32], limit: int, visible: Visible | None = None) -> Ranking:
    """The ``limit`` best of one score per tool, without zeros and without invisible tools.

    Args:
        scores: float32 ``[n]``, one a tool, 0 where query and tool have nothing in common.
        limit: The most positions to return.
        visible: bool ``[n]``, or None for all.

    Returns:
        A ranking whose ties stand in catalog order.
    """
    eligible = scores > 0 if visible is None else (scores > 0) & visible
    positions = np.flatnonzero(eligible)
    if len(positions) > limit:
        # Everything that ties with the last place stays until the stable sort has decided.
        kept = scores[positions]
        floor = np.partition(kept, len(kept) - limit)[len(kept) - limit]
        positions = positions[kept >= floor]
    order = np.argsort(-scores[positions], kind="stable")[:limit]
    positions = positions[order]
    return Ranking(positions.astype(np.int64), scores[positions].astype(np.float32))
