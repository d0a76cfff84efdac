"""A dataset, its results and arms that can explain in; some queries with all that a reader asks about them out."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final, TypeVar

from semantic_toolsearch.cleaning import clean_prose
from semantic_toolsearch.errors import ToolSearchError
from semantic_toolsearch.evaluation.answers import PreparedArm, Why
from semantic_toolsearch.evaluation.measuring.measures import gold_found
from semantic_toolsearch.evaluation.report.details import (
    ArmDetails,
    QueryDetails,
    Reason,
    TaskDetails,
    ToolText,
)
from semantic_toolsearch.evaluation.report.task_grids import MAIN_MEASURE
from semantic_toolsearch.evaluation.results import ArmResult, QueryRow, TaskResult

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset, Query

__all__ = ["DECISIVE", "task_details"]

DECISIVE: Final = "complete@5"
"""The measure by which arms are said to differ or to miss."""

_MOST_RANKED: Final = 8
_MOST_LOADED: Final = 20
_EXPLAINED: Final = 3
_MOST_CHARACTERS: Final = 300
_MOST_QUERY_CHARACTERS: Final = 2_000

_Item = TypeVar("_Item")


def task_details(
    dataset: Dataset,
    result: TaskResult,
    prepared: Mapping[str, PreparedArm],
    *,
    most: int = 100,
    seed: int = 7,
) -> TaskDetails:
    """Choose queries of a task and tell what each arm made of them.

    First come queries on which arms differ or that the best arm misses, then the others; among each, kinds of queries
    take turns.

    Args:
        dataset: The dataset with the queries of ``result``.
        result: Its results.
        prepared: By name, arms that can be asked why; others are shown without reasons.
        most: Queries to choose at most.
        seed: Of the choice.
    """
    rows = {row.id: place for place, row in enumerate(result.queries)}
    arms = [arm for arm in result.arms if arm.failed is None]
    queries = [query for query in dataset.queries if query.id in rows]
    telling = [query for query in queries if _tells(result, arms, rows[query.id])]
    told = {query.id for query in telling}
    others = [query for query in queries if query.id not in told]
    rng = random.Random(seed)
    order = [*_in_turn(telling, rng), *_in_turn(others, rng)]
    chosen = [_query(dataset, result, arms, prepared, query, rows[query.id]) for query in order[:most]]
    places = sorted({place for query in chosen for place in _mentioned(query)})
    texts = {place: _tool_text(dataset, place) for place in places}
    return TaskDetails(task=result.name, asked=len(queries), queries=tuple(chosen), tools=texts)


def _tells(result: TaskResult, arms: Sequence[ArmResult], place: int) -> bool:
    row = result.queries[place]
    if _differs(arms, row, place):
        return True
    ranked = [arm for arm in arms if DECISIVE in arm.values]
    if not row.answerable or not ranked:
        return False
    best = max(ranked, key=lambda arm: arm.measures.get(MAIN_MEASURE, 0.0))
    return best.values[DECISIVE][place] == 0


def _differs(arms: Sequence[ArmResult], row: QueryRow, place: int) -> bool:
    if row.answerable:
        return len({arm.values[DECISIVE][place] for arm in arms if DECISIVE in arm.values}) > 1
    return len({bool(arm.loaded[place]) for arm in arms if arm.loaded}) > 1


def _in_turn(queries: Sequence[Query], rng: random.Random) -> list[Query]:
    """Queries in a drawn order in which kinds, or else languages or parts, take turns."""
    kinds: dict[str, list[Query]] = {}
    for query in queries:
        kinds.setdefault(query.kind or query.part or query.language or "", []).append(query)
    for kind in kinds.values():
        rng.shuffle(kind)
    rounds = chain.from_iterable(zip_longest(*(kinds[kind] for kind in sorted(kinds))))
    return [query for query in rounds if query is not None]


def _query(
    dataset: Dataset,
    result: TaskResult,
    arms: Sequence[ArmResult],
    prepared: Mapping[str, PreparedArm],
    query: Query,
    place: int,
) -> QueryDetails:
    row = result.queries[place]
    gold = dataset.gold_places(query.id)
    return QueryDetails(
        id=query.id,
        text=clean_prose(query.text)[0][:_MOST_QUERY_CHARACTERS],
        answerable=query.answerable,
        gold=gold,
        copies=dataset.copy_places(query.id),
        lost=tuple(tool for tool in dataset.gold.get(query.id, {}) if tool in dataset.unusable),
        slices=dict(row.slices),
        differs=_differs(arms, row, place),
        arms=tuple(_arm(dataset, arm, prepared.get(arm.arm), query, row, place, gold) for arm in arms),
    )


def _arm(
    dataset: Dataset,
    arm: ArmResult,
    prepared: PreparedArm | None,
    query: Query,
    row: QueryRow,
    place: int,
    gold: Sequence[int],
) -> ArmDetails:
    ranked = arm.ranked[place] if arm.ranked else ()
    loaded = arm.loaded[place] if arm.loaded else ()
    failed = arm.failures.get(query.id)
    asked = dict.fromkeys((*gold[:_MOST_LOADED], *ranked[:_EXPLAINED], *loaded[:_EXPLAINED]))
    return ArmDetails(
        arm=arm.arm,
        ranked=ranked[:_MOST_RANKED],
        loaded=loaded[:_MOST_LOADED],
        returned=len(loaded) if arm.loaded else None,
        complete=failed is None and _complete(dataset, query, loaded if arm.loaded else None),
        values={measure: round(values[place], 4) for measure, values in arm.values.items()}
        if row.answerable
        else {},
        why=tuple(_reason(why) for why in _explained(prepared, query, list(asked))) if failed is None else (),
        failed=failed,
    )


def _complete(dataset: Dataset, query: Query, loaded: Sequence[int] | None) -> bool:
    """Whether these tools, None standing for all, are what the query needs."""
    if not query.answerable:
        return loaded is not None and not loaded
    found = gold_found(dataset, query.id, range(len(dataset.tools)) if loaded is None else loaded)
    return sum(tool is not None for tool in found) == len(dataset.gold[query.id])


def _explained(prepared: PreparedArm | None, query: Query, places: Sequence[int]) -> list[Why]:
    if prepared is None or not places:
        return []
    try:
        return prepared.explain(query, places)
    except ToolSearchError:  # a report is no place to fail; the arm's figures stand
        return []


def _reason(why: Why) -> Reason:
    return Reason(
        place=why.place,
        rank=why.rank,
        score=round(why.score, 4),
        verdict=why.verdict,
        reason=why.reason,
        parts={name: round(part, 4) for name, part in why.parts.items()},
        words=why.words,
    )


def _mentioned(query: QueryDetails) -> set[int]:
    of_arms = ({*arm.ranked, *arm.loaded, *(reason.place for reason in arm.why)} for arm in query.arms)
    return {*query.gold, *query.copies}.union(*of_arms)


def _tool_text(dataset: Dataset, place: int) -> ToolText:
    tool = dataset.tools[place]
    text = " ".join(clean_prose(tool.description)[0].split())
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[: _MOST_CHARACTERS - 1]}…"
    return ToolText(name=tool.name, namespace=tool.namespace, description=text)
