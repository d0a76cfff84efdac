"""A search and a dataset in; what the search made of each phrasing, tool by tool, out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.answers import DEPTH, Answer
from semantic_toolsearch.evaluation.mining.records import State
from semantic_toolsearch.evaluation.mining.said_words import Said

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset, Query
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["HEAD", "Case", "ask"]

HEAD: Final = 5
"""Tools of a ranking that are looked at, as in recall@5."""


@dataclass(frozen=True)
class Case:
    """One phrasing and its answer.

    Attributes:
        query: The phrasing.
        said: Its words.
        labelled: Whether somebody said what fits, or that nothing does.
        gold: Ids of its gold tools.
        places: The place of each of them; None where its definition cannot be used.
        standing: For each of them, the places that stand for it: its own and those of its copies.
        ranked: Places of the ranking, best first.
        loaded: Places of what a model would get.
        fates: What became of each ranked place.
    """

    query: Query
    said: Said
    labelled: bool
    gold: tuple[str, ...]
    places: tuple[int | None, ...]
    standing: tuple[frozenset[int], ...]
    ranked: tuple[int, ...]
    loaded: tuple[int, ...]
    fates: Mapping[int, str]

    @cached_property
    def right(self) -> frozenset[int]:
        """Every place that is an answer."""
        return frozenset().union(*self.standing)

    @property
    def answer(self) -> Answer:
        """The same as measures read it."""
        return Answer(ranked=self.ranked, returned=self.loaded)

    def loads(self, number: int) -> bool:
        """Whether a gold tool is loaded."""
        return not self.standing[number].isdisjoint(self.loaded)

    def above(self, number: int) -> tuple[int, ...] | None:
        """The wrong places ranked above a gold tool; None where it is not ranked."""
        for rank, place in enumerate(self.ranked):
            if place in self.standing[number]:
                return tuple(other for other in self.ranked[:rank] if other not in self.right)
        return None

    def beating(self, number: int) -> tuple[int, ...]:
        """The wrong ones among the first five that are ranked above a gold tool."""
        head = {place for place in self.ranked[:HEAD] if place not in self.right}
        above = self.above(number)
        return tuple(place for place in (self.ranked if above is None else above) if place in head)

    def fate(self, number: int) -> str:
        """What became of a gold tool."""
        if self.loads(number):
            return "returned"
        if not self.standing[number]:
            return "unusable"
        return next(
            (self.fates[place] for place in self.ranked if place in self.standing[number]), "unranked"
        )

    def lost(self, number: int, magnets: Collection[int] = ()) -> bool:
        """Whether a gold tool is not loaded, or a wrong one other than a magnet is above it."""
        above = self.above(number)
        return not self.loads(number) or above is None or any(place not in magnets for place in above)

    @property
    def state(self) -> State:
        """What became of the phrasing as a whole."""
        if not self.labelled:
            return "unlabelled"
        if not self.gold:
            return "stray" if self.loaded else "nothing"
        numbers = range(len(self.gold))
        loaded = sum(map(self.loads, numbers))
        if loaded == len(numbers):
            return "loaded" if any(self.above(number) for number in numbers) else "first"
        if loaded:
            return "partly loaded"
        return "missed" if any(self.above(number) is None for number in numbers) else "ranked"


def ask(
    search: ToolSearch, dataset: Dataset, unlabelled: Collection[str]
) -> tuple[list[Case], tuple[str, ...]]:
    """Search for every phrasing.

    Args:
        search: The author's tools.
        dataset: The same tools, in the same order, with phrasings.
        unlabelled: Ids of the phrasings of which nobody said what fits.

    Returns:
        One case a phrasing, in the order of the dataset, and what the search says about being degraded.

    Raises:
        DatasetError: Search and dataset hold different tools; a phrasing without a label has gold tools.
        RankerError: The ranker raised or broke its contract.
    """
    if search.catalog.identities != dataset.catalog.identities:
        raise DatasetError(
            f"{dataset.name}: its {len(dataset.tools)} tools are not the {len(search.catalog)} tools of the search; "
            f"build the search from dataset.catalog."
        )
    for query in dataset.queries:
        if query.id in unlabelled and query.answerable:
            raise DatasetError(
                f"{dataset.name}: the query {query.id!r} has gold tools, so it is not unlabelled."
            )
    retriever = search.seen_by(None)[0].retriever
    cases = []
    degraded: dict[str, None] = {}
    for query in dataset.queries:
        judgement = retriever.judge(query.text, depth=DEPTH)
        if judgement.degraded:
            degraded[judgement.degraded] = None
        kept = judgement.candidates[:DEPTH]
        standing = dataset.standing(query.id)
        cases.append(
            Case(
                query=query,
                said=Said(query.text),
                labelled=query.id not in unlabelled,
                gold=tuple(standing),
                places=tuple(map(dataset.places.get, standing)),
                standing=tuple(map(frozenset, standing.values())),
                ranked=tuple(candidate.position for candidate in kept),
                loaded=tuple(candidate.position for candidate in judgement.returned),
                fates={candidate.position: candidate.verdict for candidate in kept},
            )
        )
    return cases, tuple(degraded)
