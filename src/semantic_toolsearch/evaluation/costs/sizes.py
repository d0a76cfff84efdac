"""A dataset and arms in; the same queries over catalogs that grow, measured and counted, out.

A query gets harder to answer the more tools there are. To see how much, each query keeps its right tools while random
other tools of the dataset are added, a larger catalog holding all of a smaller one. Queries are asked in groups, so
that few catalogs serve many of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.accounting import TokenCounter, default_counter
from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation.costs.nested import Group, groups_of
from semantic_toolsearch.evaluation.costs.ways import tokens_by_mode
from semantic_toolsearch.evaluation.dataset import drawn
from semantic_toolsearch.evaluation.measuring.collecting import (
    FAULTS,
    all_failed,
    collected,
    latency,
    reason_of,
)
from semantic_toolsearch.evaluation.measuring.measures import per_query
from semantic_toolsearch.evaluation.results import SizeResult

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.answers import Arm
    from semantic_toolsearch.evaluation.dataset import Dataset, Query

__all__ = ["SIZES", "size_curve"]

SIZES: Final[tuple[int | None, ...]] = (50, 500, 5_000, None)
"""Tools of the catalogs; None stands for all that there are."""

_PLACES: Final = 6
"""Decimals of figures."""

logger = logging.getLogger("semantic_toolsearch")


@dataclass(slots=True)
class _Found:
    """What one arm found with one number of tools.

    Attributes:
        values: By measure, one value for each query so far.
        seconds: Time of each query that has an answer.
    """

    values: dict[str, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def size_curve(
    dataset: Dataset,
    arms: Sequence[Arm],
    *,
    sizes: Sequence[int | None] = SIZES,
    queries: int = 200,
    seed: int = 7,
    counter: TokenCounter | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[SizeResult]:
    """Ask the same queries over catalogs of several sizes.

    Args:
        dataset: Tools, queries and judgements.
        arms: The arms. One that shows no order has no measures and is passed over; one that fails with some number of
            tools is left out there, and a warning is logged.
        sizes: Numbers of tools, None for all. Larger ones than there are tools are passed over.
        queries: Queries at most, drawn from those with a usable gold tool whose right tools fill no more than half of
            the smallest catalog.
        seed: Of the draw and of the catalogs.
        counter: How to count tokens; by default as ``accounting.default_counter`` says.
        progress: Called with (arms done, arms in all), where each catalog counts anew.

    Returns:
        One result a size, smallest first. Figures are means over all queries, tokens over the catalogs.

    Raises:
        ConfigError: A size is below 2, or no query is wanted.
        DatasetError: No query can be asked.
        MissingExtraError: ir-measures is not installed.
    """
    if queries < 1 or any(size is not None and size < 2 for size in sizes):
        raise ConfigError("A curve needs at least 1 query, and catalogs of at least 2 tools.")
    counter = counter or default_counter()
    total = len(dataset.tools)
    wanted = sorted({total if size is None else size for size in sizes if size is None or size <= total})
    if not wanted:
        return []
    room = total if wanted[0] == total else wanted[0] // 2
    asked = _asked(dataset, queries, room, seed)
    groups = groups_of(dataset, asked, room, seed)
    ranked = [arm for arm in arms if arm.ranks]
    steps = sum(1 if size == total else len(groups) for size in wanted) * len(ranked)
    results, done = [], 0
    for size in wanted:
        catalogs = [Group(tuple(asked), tuple(range(total)))] if size == total else groups
        found: dict[str, _Found] = {arm.name: _Found() for arm in ranked}
        tokens: list[dict[str, int]] = []
        for part in _datasets(dataset, catalogs, size):
            tokens.append(tokens_by_mode(part.catalog, counter))
            for arm in ranked:
                if arm.name in found and not _measure(arm, part, found[arm.name]):
                    del found[arm.name]
                done += 1
                if progress is not None:
                    progress(done, steps)
        results.append(_result(dataset, size, len(asked), found, tokens))
    return results


def _asked(dataset: Dataset, most: int, room: int, seed: int) -> Sequence[Query]:
    """Draw the queries; they keep their order."""
    usable = [
        query
        for query in dataset.queries
        if dataset.gold_places(query.id) and len(set(dataset.right_places(query.id))) <= room
    ]
    if not usable:
        raise DatasetError(
            f"{dataset.name}: no query has a usable gold tool and fits into the smallest catalog, of which the right "
            f"tools may fill {room:,}. Ask for larger catalogs."
        )
    return drawn(usable, most, seed)


def _datasets(dataset: Dataset, groups: Sequence[Group], size: int) -> Iterator[Dataset]:
    """Give one dataset after another, so that only one is held."""
    for group in groups:
        part = dataset.only(group.queries)
        yield part if size == len(dataset.tools) else part.with_tools(group.places(size))


def _measure(arm: Arm, part: Dataset, found: _Found) -> bool:
    """Add an arm's figures for one catalog; return whether there are any."""
    try:
        answers = collected(arm.prepare(part), part.queries)
        reason = all_failed(answers)
    except FAULTS as fault:  # a user's ranker or embedder may raise anything; the other arms go on
        reason = reason_of(fault)
    if reason:
        logger.warning("%s has no figures with %d tools: %s", arm.name, len(part.tools), reason)
        return False
    for measure, values in per_query(part, answers).items():
        found.values.setdefault(measure, []).extend(values)
    found.seconds += [answer.seconds for answer in answers.values() if answer.failed is None]
    return True


def _result(
    dataset: Dataset, size: int, queries: int, found: dict[str, _Found], tokens: Sequence[dict[str, int]]
) -> SizeResult:
    return SizeResult(
        task=dataset.name,
        tools=size,
        queries=queries,
        catalogs=len(tokens),
        arms={
            arm: {measure: round(fmean(values), _PLACES) for measure, values in each.values.items()}
            for arm, each in found.items()
        },
        tokens={mode: round(fmean(each[mode] for each in tokens), 1) for mode in tokens[0]},
        times={arm: latency(each.seconds) for arm, each in found.items()},
    )
