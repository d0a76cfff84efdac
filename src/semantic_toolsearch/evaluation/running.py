"""Datasets and arms in; every arm's figures on every dataset, as an ``Evaluation``, out."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from semantic_toolsearch import __version__
from semantic_toolsearch.accounting.catalogs import tool_costs
from semantic_toolsearch.accounting.counting import default_counter
from semantic_toolsearch.errors import ToolSearchError
from semantic_toolsearch.evaluation.answers import Answer, Arm, Build, PreparedArm
from semantic_toolsearch.evaluation.dataset import Dataset, Query, drawn
from semantic_toolsearch.evaluation.hosted import SEARCHED
from semantic_toolsearch.evaluation.measuring.measures import means, per_query, recall_at
from semantic_toolsearch.evaluation.measuring.returned import nothing_loaded, returned_figures
from semantic_toolsearch.evaluation.measuring.significance import beats
from semantic_toolsearch.evaluation.measuring.slices import query_slices, slice_figures
from semantic_toolsearch.evaluation.results import MEASURES, ArmResult, Evaluation, QueryRow, TaskResult

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.data.sources import DatasetSource
    from semantic_toolsearch.evaluation.parts import Parts
    from semantic_toolsearch.evaluation.settings import RunSettings

__all__ = ["AfterTask", "Step", "Watch", "run_tasks", "task_key", "versions"]

_KEPT_RANKS: Final = 20
"""Tools of each ranking that the results keep: what the curve of recall against tools returned reads."""

_SMALL_CATALOG: Final = 500
"""Tools below which another task's query is taken to have no answer."""

_PLACES: Final = 6
"""Decimals of every figure in the results."""

_PACKAGES: Final = (
    "numpy",
    "faiss-cpu",
    "onnxruntime",
    "tokenizers",
    "bm25s",
    "PyStemmer",
    "ir-measures",
    "scipy",
)


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

AfterTask: TypeAlias = Callable[[Dataset, TaskResult, Mapping[str, PreparedArm]], None]


@dataclass(frozen=True, slots=True)
class _Strangers:
    """A few queries of one dataset, to be asked of others."""

    task: str
    queries: tuple[tuple[Query, frozenset[str]], ...]


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
    """
    started = time.perf_counter()
    strangers = [_some_queries(source, settings, watch) for source in sources]
    tasks = []
    for source in sources:
        watch(Step(source.name))
        dataset = source.load().split(settings.split, settings.most, settings.seed)
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


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    found = {"semantic_toolsearch": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def peak_mb() -> float:
    """Most memory that this process has held so far, in 10^6 bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 1e6 if sys.platform == "darwin" else peak * 1_024 / 1e6)


def _task(
    dataset: Dataset,
    arms: Sequence[Arm],
    settings: RunSettings,
    strangers: Sequence[_Strangers],
    parts: Parts,
    watch: Watch,
) -> tuple[TaskResult, dict[str, PreparedArm]]:
    counter = default_counter()
    tokens = [cost.full for cost in tool_costs(dataset.catalog, counter)]
    slices = query_slices(dataset)
    foreign = _foreign(dataset, strangers)
    base = {**task_key(dataset, settings), "strangers": [query.id for query in foreign]}
    results = []
    prepared: dict[str, PreparedArm] = {}
    for arm in arms:
        key = {**base, "arm": arm.name, "how": arm.how}
        name = f"{dataset.name}--{arm.name}"
        result = parts.find(name, key, ArmResult)
        if result is None:
            result, ready = _arm(arm, dataset, slices, foreign, tokens, settings, watch)
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
    foreign: Sequence[Query],
    tokens: Sequence[int],
    settings: RunSettings,
    watch: Watch,
) -> tuple[ArmResult, PreparedArm | None]:
    bare = ArmResult(arm=arm.name, how=arm.how, ranks=arm.ranks)
    watch(Step(dataset.name, arm.name, 0, len(dataset.queries)))
    try:
        prepared = arm.prepare(dataset)
        answers = _answers(prepared, dataset.queries, lambda done: watch(_step(dataset, arm, done)))
        probes = _probes(arm, prepared, dataset, foreign, settings)
    except ToolSearchError as fault:
        return bare.model_copy(update={"failed": str(fault), "notes": arm.notes}), None
    except Exception as fault:  # a user's ranker or embedder may raise anything; the other arms go on
        reason = f"{type(fault).__name__}: {fault}"
        return bare.model_copy(update={"failed": reason, "notes": arm.notes}), None
    failures = {query: answer.failed for query, answer in answers.items() if answer.failed is not None}
    if answers and len(failures) == len(answers):
        reason = next(iter(failures.values()))
        return bare.model_copy(update={"failed": reason, "failures": failures, "notes": arm.notes}), None
    figures: dict[str, Any] = {}
    if arm.ranks:
        values = {measure: _rounded(row) for measure, row in per_query(dataset, answers).items()}
        figures = {
            "values": values,
            "measures": _each_rounded(means(dataset, values)),
            "recall_at": _rounded(recall_at(dataset, answers)),
            "slices": {
                axis: {value: _each_rounded(row) for value, row in members.items()}
                for axis, members in slice_figures(dataset, slices, values).items()
            },
            "ranked": tuple(answers[query.id].ranked[:_KEPT_RANKS] for query in dataset.queries),
        }
    returned = {**returned_figures(dataset, answers, tokens), **probes}
    listed = all(len(answer.returned) < len(dataset.tools) for answer in answers.values())
    notes = dict.fromkeys(
        note for answer in answers.values() for note in answer.notes if not note.startswith(SEARCHED)
    )
    result = bare.model_copy(
        update={
            **figures,
            "notes": (*arm.notes, *notes),
            "failures": failures,
            "returned": _each_rounded(returned),
            "loaded": tuple(answers[query.id].returned for query in dataset.queries) if listed else (),
            "usage": _summed(answer.usage for answer in answers.values()),
            "times": _times(prepared.build, list(answers.values())),
        }
    )
    return result, prepared


def _step(dataset: Dataset, arm: Arm, done: int) -> Step:
    return Step(dataset.name, arm.name, done, len(dataset.queries))


def _answers(
    prepared: PreparedArm, queries: Sequence[Query], tell: Callable[[int], None]
) -> dict[str, Answer]:
    """One answer a query, in the order of the queries; one that the arm passed over has failed."""
    found: dict[str, Answer] = {}
    for query, answer in prepared.answers(queries):
        found[query.id] = answer
        tell(len(found))
    missing = Answer(failed="the arm gave no answer")
    return {query.id: found.get(query.id, missing) for query in queries}


def _probes(
    arm: Arm, prepared: PreparedArm, dataset: Dataset, foreign: Sequence[Query], settings: RunSettings
) -> dict[str, float]:
    """What is loaded for queries whose gold tools are hidden or of other datasets, and whether names come first."""
    figures: dict[str, float] = {}
    if not arm.hides:  # each probe is a request more; where the queries cost money, nobody asked for them
        return figures
    hidden = {query.id: dataset.right_places(query.id) for query in dataset.queries if query.answerable}
    asked = drawn(
        [query for query in dataset.queries if hidden.get(query.id)], settings.probes, settings.seed
    )
    if asked:
        figures["nothing_without_gold"] = nothing_loaded(_by_id(prepared.answers(asked, hidden)).values())
    if foreign:
        figures["nothing_for_strangers"] = nothing_loaded(_by_id(prepared.answers(foreign)).values())
    named = drawn(list(enumerate(dataset.tools)), settings.probes, settings.seed)
    if named:
        spelled = [Query(str(place), f"`{tool.name}`") for place, tool in named]
        answers = _by_id(prepared.answers(spelled))
        first = [
            bool(found := answers[str(place)].ranked) and dataset.tools[found[0]].name == tool.name
            for place, tool in named
        ]
        figures["named_first"] = sum(first) / len(first)
    return figures


def _by_id(answers: Iterable[tuple[Query, Answer]]) -> dict[str, Answer]:
    """Answers by query id."""
    return {query.id: answer for query, answer in answers}


def _some_queries(source: DatasetSource, settings: RunSettings, watch: Watch) -> _Strangers:
    """Read a dataset, so that its faults show before hours of work, and keep a few of its queries."""
    watch(Step(source.name))
    dataset = source.load().split(settings.split, settings.most, settings.seed)
    chosen = drawn(
        [query for query in dataset.queries if query.answerable], settings.strangers, settings.seed
    )
    named = [
        (query, frozenset(dataset.tools[place].name for place in dataset.gold_places(query.id)))
        for query in chosen
    ]
    return _Strangers(dataset.name, tuple(named))


def _foreign(dataset: Dataset, strangers: Sequence[_Strangers]) -> list[Query]:
    """Queries of other datasets; none of those whose answer has a namesake here."""
    if len(dataset.tools) >= _SMALL_CATALOG:
        return []
    names = {tool.name for tool in dataset.tools}
    return [
        replace(query, id=f"{other.task}/{query.id}", answerable=False)
        for other in strangers
        if other.task != dataset.name
        for query, answers in other.queries
        if not answers & names
    ]


def _times(build: Build, answers: Sequence[Answer]) -> dict[str, float]:
    seconds = [1_000 * answer.seconds for answer in answers if answer.failed is None] or [0.0]
    return {
        "build_s": round(build.seconds, 3),
        "embedded": build.embedded,
        "from_cache": build.from_cache,
        "p50_ms": round(float(np.percentile(seconds, 50)), 3),
        "p95_ms": round(float(np.percentile(seconds, 95)), 3),
    }


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
