"""A dataset in; the arm that searches nothing and gives the model every tool out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from semantic_toolsearch.evaluation.answers import Answer, Build, How, Why

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset, Query

__all__ = ["FullArm"]


@dataclass(frozen=True)
class FullArm:
    """What to beat: all definitions in every request.

    Attributes:
        name, how, ranks, hides, notes: See ``Arm``.
    """

    name: str = "full"
    how: ClassVar[How] = "local"
    ranks: ClassVar[bool] = False
    hides: ClassVar[bool] = False
    notes: ClassVar[tuple[str, ...]] = (
        "full: nothing is searched; the model gets every tool, in no order, and has to choose itself.",
    )

    def prepare(self, dataset: Dataset) -> _EveryTool:
        """Nothing has to be built."""
        return _EveryTool(len(dataset.tools))


@dataclass(frozen=True)
class _EveryTool:
    size: int
    build: Build = field(default_factory=Build)

    def answers(
        self, queries: Sequence[Query], hidden: Mapping[str, Collection[int]] | None = None
    ) -> Iterator[tuple[Query, Answer]]:
        """See ``PreparedArm.answers``; ``hidden`` is left alone."""
        everything = Answer(returned=tuple(range(self.size)))
        for query in queries:
            yield query, everything

    def explain(self, query: Query, places: Collection[int]) -> list[Why]:
        """Nothing was decided about any tool."""
        return []
