"""Datasets and arms in; every arm's figures on every dataset, as an ``Evaluation``, out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from semantic_toolsearch.accounting.catalogs import tool_costs
from semantic_toolsearch.accounting.counting import default_counter
from semantic_toolsearch.evaluation.answers import SEARCHED, Answer, Arm, PreparedArm
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.environment import check_installed, peak_mb, versions
from semantic_toolsearch.evaluation.measuring.collecting import (
    FAULTS,
    all_failed,
    collected,
    latency,
    one_line,
    reason_of,
)
from semantic_toolsearch.evaluation.measuring.measures import means, per_query, recall_at
from semantic_toolsearch.evaluation.measuring.probes import (
    Strangers,
    probe_figures,
    some_queries,
    strangers_to,
)
from semantic_toolsearch.evaluation.measuring.returned import returned_figures
from semantic_toolsearch.evaluation.measuring.significance import beats
from semantic_toolsearch.evaluation.measuring.slices import query_slices, slice_figures
from semantic_toolsearch.evaluation.results import MEASURES, ArmResult, Evaluation, QueryRow, TaskResult

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.data.sources import DatasetSource
    from semantic_toolsearch.evaluation.parts import Parts
    from semantic_toolsearch.evaluation.settings import RunSettings

__all__ = ["AfterTask", "Step", "Watch", "arm_key", "run_tasks", "task_key"]

_KEPT_RANKS: Final = 20
"""Tools of each ranking that the results keep: what the curve of recall against tools returned reads."""

_MOST_NOTES: Final = 20
"""Different notes about single queries that the results keep."""

_PLACES: Final = 6
"""Decimals of every figure in the results."""


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run is.

    Attributes:
        task: Dataset at work.
        arm: Arm at work; empty while the dataset is read.
        done: Queries that are answered.
        total: Queries to answer.
    """

    task: str
    arm: str = ""
    done: int = 0
    total: int = 0


Watch: TypeAlias = Callable[[Step], None]
"""Told how far a run is, often."""

AfterTask: TypeAlias = Callable[[Dataset, TaskResult, Mapping[str, PreparedArm]], None]


def run_tasks(
    sources: Sequence[DatasetSource],
    arms: Sequence[Arm],
    settings: RunSettings,
    *,
    parts: Parts,
    watch: Watch = lambda step: None,
    after_task: AfterTask = lambda dataset, result, prepared: None,
) -> Evaluation:
    """Ask every arm every dataset's queries.

    An arm that cannot run on a dataset is a row that says why; whatever is finished is kept in ``parts`` at once, so
    that a run that stops goes on where it was.

    Args:
        sources: The datasets; each is read when its turn comes, and all are read once before, to find faults early.
        arms: The arms, with different names.
        settings: What is asked.
        parts: Where finished pieces are kept.
        watch: Told how far the run is.
        after_task: Called with each dataset, its results, and the arms that were prepared for it.

    Raises:
        DatasetError: A dataset cannot be used; names file and line.
        MissingExtraError: ir-measures is not installed, and an arm ranks.
    """
    started = time.perf_counter()
    if any(arm.ranks for arm in arms):
        check_installed("ir_measures")
    strangers = [
        some_queries(_loaded(source, settings, watch), settings.strangers, settings.seed)
        for source in sources
    ]
    tasks = []
    for source in sources:
        dataset = _loaded(source, settings, watch)
        result, prepared = _task(dataset, arms, settings, strangers, parts, watch)
        tasks.append(result)
        after_task(dataset, result, prepared)
    return Evaluation(
        config={"arms": [arm.name for arm in arms], **settings.as_dict()},
        versions=versions(),
        tasks=tuple(tasks),
        times={"seconds": round(time.perf_counter() - started, 1), "peak_mb": peak_mb()},
    )


def task_key(dataset: Dataset, settings: RunSettings) -> dict[str, Any]:
    """All that figures about a dataset depend on, but for the arm."""
    return {
        "files": dict(dataset.sha256),
        "tools": [tool.model_dump(mode="json") for tool in dataset.tools]
        if not dataset.sha256
        else len(dataset.tools),
        "queries": [query.id for query in dataset.queries],
        "settings": settings.of_one_arm(),
        "versions": versions(),
    }


def arm_key(arm: Arm) -> dict[str, str]:
    """What tells an arm from others, and from what it was before its code or its model's weights changed."""
    return {"arm": arm.name, "how": arm.how, "code": getattr(arm, "code", "")}


def _loaded(source: DatasetSource, settings: RunSettings, watch: Watch) -> Dataset:
    watch(Step(source.name))
    return source.load().split(settings.split, settings.most, settings.seed)


def _task(
    dataset: Dataset,
    arms: Sequence[Arm],
    settings: RunSettings,
    others: Sequence[Strangers],
    parts: Parts,
    watch: Watch,
) -> tuple[TaskResult, dict[str, PreparedArm]]:
    counter = default_counter()
    tokens = [cost.full for cost in tool_costs(dataset.catalog, counter)]
    slices = query_slices(dataset)
    strangers = strangers_to(dataset, others)
    base = {**task_key(dataset, settings), "strangers": [query.id for query in strangers]}
    results = []
    prepared: dict[str, PreparedArm] = {}
    for arm in arms:
        key = {**base, **arm_key(arm)}
        name = f"{dataset.name}--{arm.name}"
        result = parts.find(name, key, ArmResult)
        if result is None:
            result, ready = _arm(arm, dataset, slices, strangers, tokens, settings, watch)
            if ready is not None:
                prepared[arm.name] = ready
            if result.failed is None and not (result.how == "live" and result.failures):
                parts.keep(name, key, result)  # what a provider failed to answer is asked again
        results.append(result)
    ranked = {result.arm: result.values for result in results if result.ranks and result.failed is None}
    answerable = [place for place, query in enumerate(dataset.queries) if query.answerable]
    of_answerable = {
        arm: {measure: [row[place] for place in answerable] for measure, row in values.items()}
        for arm, values in ranked.items()
    }
    better = beats(of_answerable, MEASURES, seed=settings.seed)
    whole = TaskResult(
        name=dataset.name,
        description=dataset.description,
        split=settings.split,
        tools=len(dataset.tools),
        unusable=len(dataset.unusable),
        full_tokens=sum(tokens),
        counted=counter.label,
        sha256=dataset.sha256,
        queries=tuple(
            QueryRow(
                id=query.id,
                answerable=query.answerable,
                gold=dataset.gold_places(query.id),
                copies=dataset.copy_places(query.id),
                slices=slices.get(query.id, {}),
            )
            for query in dataset.queries
        ),
        arms=tuple(each.model_copy(update={"beats": better.get(each.arm, {})}) for each in results),
    )
    return whole, prepared


def _arm(
    arm: Arm,
    dataset: Dataset,
    slices: Mapping[str, Mapping[str, str]],
    strangers: Sequence[Query],
    tokens: Sequence[int],
    settings: RunSettings,
    watch: Watch,
) -> tuple[ArmResult, PreparedArm | None]:
    """The figures of one arm, and the arm where it can be asked more; a row that says why where there are none."""
    bare = ArmResult(arm=arm.name, how=arm.how, ranks=arm.ranks)

    def tell(done: int) -> None:
        watch(Step(dataset.name, arm.name, done, len(dataset.queries)))

    tell(0)
    try:
        prepared = arm.prepare(dataset)
        answers = collected(prepared, dataset.queries, tell=tell)
        probes: dict[str, float] = {}
        if arm.hides:  # each probe is a request more; where the queries cost money, nobody asked for them
            probes = probe_figures(prepared, dataset, strangers, most=settings.probes, seed=settings.seed)
    except FAULTS as fault:  # a user's ranker or embedder may raise anything; the other arms go on
        return bare.model_copy(update={"failed": reason_of(fault), "notes": arm.notes}), None
    failures = {query: answer.failed for query, answer in answers.items() if answer.failed is not None}
    if reason := all_failed(answers):
        return bare.model_copy(update={"failed": reason, "failures": failures, "notes": arm.notes}), None
    returned = {**returned_figures(dataset, answers, tokens), **probes}
    listed = all(len(answer.returned) < len(dataset.tools) for answer in answers.values())
    said = (note for answer in answers.values() for note in answer.notes if not note.startswith(SEARCHED))
    build = prepared.build
    result = bare.model_copy(
        update={
            **(_rank_figures(dataset, answers, slices) if arm.ranks else {}),
            "notes": (*arm.notes, *_once_each(said, len(answers))),
            "failures": failures,
            "returned": _each_rounded(returned),
            "loaded": tuple(answer.returned for answer in answers.values()) if listed else (),
            "usage": _summed(answer.usage for answer in answers.values()),
            "times": {
                "build_s": round(build.seconds, 3),
                "embedded": build.embedded,
                "from_cache": build.from_cache,
                **latency(answer.seconds for answer in answers.values() if answer.failed is None),
            },
        }
    )
    return result, prepared


def _rank_figures(
    dataset: Dataset, answers: Mapping[str, Answer], slices: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """What an order of tools is measured by, as fields of an ``ArmResult``."""
    values = {measure: _rounded(row) for measure, row in per_query(dataset, answers).items()}
    return {
        "values": values,
        "measures": _each_rounded(means(dataset, values)),
        "recall_at": _rounded(recall_at(dataset, answers)),
        "slices": {
            axis: {value: _each_rounded(row) for value, row in members.items()}
            for axis, members in slice_figures(dataset, slices, values).items()
        },
        "ranked": tuple(answer.ranked[:_KEPT_RANKS] for answer in answers.values()),
    }


def _once_each(notes: Iterable[str], queries: int) -> Iterator[str]:
    """Each note once, with its number of queries; of notes that differ from query to query, a few and a count."""
    told = Counter(map(one_line, notes))
    for note, count in islice(told.items(), _MOST_NOTES):
        yield f"{note} ({count:,} of {queries:,} queries)"
    if len(told) > _MOST_NOTES:
        yield f"... and {len(told) - _MOST_NOTES:,} more notes about single queries"


def _summed(usages: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for usage in usages:
        for name, count in usage.items():
            total[name] = total.get(name, 0) + count
    return total


def _rounded(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(round(value, _PLACES) for value in values)


def _each_rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, _PLACES) for name, value in values.items()}
