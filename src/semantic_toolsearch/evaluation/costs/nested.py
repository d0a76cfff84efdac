"""A dataset and its queries in; groups of queries, each with the order in which tools join its catalogs, out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset, Query

__all__ = ["Group", "groups_of"]


@dataclass(frozen=True, slots=True)
class Group:
    """Queries that share their catalogs.

    Attributes:
        queries: The queries, in the order of the dataset.
        order: Places of all tools: what is right for one of the queries first, then all others in random order.
    """

    queries: tuple[Query, ...]
    order: tuple[int, ...]

    def places(self, size: int) -> tuple[int, ...]:
        """Places of the first tools of ``order``, in the dataset's order; a smaller catalog lies in a larger one."""
        return tuple(sorted(self.order[:size]))


def groups_of(dataset: Dataset, queries: Sequence[Query], room: int, seed: int) -> list[Group]:
    """Spread queries over as few groups as one pass finds.

    Gold tools of other groups are tools like all others here, and may come anywhere in an order.

    Args:
        dataset: The tools and judgements.
        queries: Each with at most ``room`` right tools.
        room: Right tools of one group at most, counted once each.
        seed: Of every order.
    """
    filled: list[tuple[list[Query], dict[int, None]]] = []
    for query in queries:
        right = dict.fromkeys(dataset.right_places(query.id))
        group = next((each for each in filled if len(each[1] | right) <= room), None)
        if group is None:
            group = ([], {})
            filled.append(group)
        group[0].append(query)
        group[1].update(right)
    groups = []
    for number, (members, right) in enumerate(filled):
        others = [place for place in range(len(dataset.tools)) if place not in right]
        random.Random(f"{seed} {number}").shuffle(others)
        groups.append(Group(tuple(members), (*right, *others)))
    return groups
