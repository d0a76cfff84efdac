"""Datasets, arms and settings in; the results with their report and page, as one object or one folder, out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from semantic_toolsearch.errors import ToolSearchError
from semantic_toolsearch.evaluation.answers import Arm, PreparedArm
from semantic_toolsearch.evaluation.arms.models import model_code, named_embedder
from semantic_toolsearch.evaluation.costs.conversations import conversation_costs
from semantic_toolsearch.evaluation.costs.sizes import size_curve
from semantic_toolsearch.evaluation.files import write_results
from semantic_toolsearch.evaluation.measuring.collecting import FAULTS, reason_of
from semantic_toolsearch.evaluation.parts import Parts
from semantic_toolsearch.evaluation.report.details import TaskDetails
from semantic_toolsearch.evaluation.report.drilldown import task_details
from semantic_toolsearch.evaluation.report.html import to_html
from semantic_toolsearch.evaluation.report.markdown import to_markdown
from semantic_toolsearch.evaluation.results import Evaluation, TaskResult
from semantic_toolsearch.evaluation.running import Step, Watch, arm_key, run_tasks, task_key
from semantic_toolsearch.evaluation.settings import RunSettings
from semantic_toolsearch.evaluation.writing import write_text

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.data.sources import DatasetSource
    from semantic_toolsearch.evaluation.dataset import Dataset

__all__ = ["Suite", "run_suite"]

RESULTS: Final = "results.json"
REPORT: Final = "report.md"
PAGE: Final = "report.html"

MOST_IN_AGENT: Final = 500
"""Tools of the largest catalog that conversations are held over: what a large agent carries."""

_FREE: Final = ("local", "emulated")
"""How arms run that cost nothing to ask again."""


@dataclass(frozen=True)
class Suite:
    """What a run of the suite found.

    Attributes:
        evaluation: The figures.
        details: Queries to look at, with their texts, which belong to the datasets and are no part of the figures.
        missing: What was asked for and could not be measured, and why.
    """

    evaluation: Evaluation
    details: tuple[TaskDetails, ...] = ()
    missing: tuple[str, ...] = ()

    def write(self, folder: str | Path) -> Path:
        """Write ``results.json``, ``report.md`` and the page ``report.html``, and return the page's path.

        Raises:
            DatasetError: The folder cannot be written.
        """
        target = Path(folder)
        write_results(self.evaluation, target / RESULTS)
        write_text(target / REPORT, to_markdown(self.evaluation, times=True))
        write_text(target / PAGE, to_html(self.evaluation, self.details))
        return target / PAGE


def run_suite(
    sources: Sequence[DatasetSource],
    arms: Sequence[Arm],
    settings: RunSettings | None = None,
    *,
    parts: Parts | None = None,
    watch: Watch = lambda step: None,
    details: int = 60,
) -> Suite:
    """Ask every arm every dataset's queries, and whatever else the settings want.

    Args:
        sources: The datasets, as ``find_datasets`` gives them.
        arms: The arms, as ``parse_arm`` gives them.
        settings: What is asked; None for the defaults.
        parts: Where finished pieces are kept; None for nowhere.
        watch: Told how far the run is.
        details: Queries of each dataset that the page explains.

    Raises:
        DatasetError: A dataset cannot be used; names file and line.
        ConfigError: Conversations are wanted, and there is no such embedding model.
    """
    settings = settings or RunSettings()
    if settings.conversations:
        named_embedder(settings.embedder)
    parts = parts or Parts(None)
    explained: list[TaskDetails] = []
    kept: dict[str, Dataset] = {}

    def keep(dataset: Dataset, result: TaskResult, prepared: Mapping[str, PreparedArm]) -> None:
        if details:
            explained.append(_details(dataset, result, arms, prepared, parts, settings, details))
        if settings.sizes:
            kept["sizes"] = _larger(kept.get("sizes"), dataset)
        if settings.conversations and len(dataset.tools) <= MOST_IN_AGENT:
            kept["conversations"] = _larger(kept.get("conversations"), dataset)

    evaluation = run_tasks(sources, arms, settings, parts=parts, watch=watch, after_task=keep)
    missing: list[str] = []
    curve = held = Evaluation()
    if "sizes" in kept:
        curve = _or_none(
            "no figures by catalog size",
            lambda: _sizes(kept["sizes"], arms, settings, parts, watch),
            missing,
        )
    if "conversations" in kept:
        held = _or_none(
            "no conversations",
            lambda: _conversations(kept["conversations"], settings, parts, watch),
            missing,
        )
    elif settings.conversations:
        missing.append(f"There are no conversations: each dataset has more than {MOST_IN_AGENT:,} tools.")
    whole = evaluation.model_copy(update={"sizes": curve.sizes, "conversations": held.conversations})
    return Suite(whole, tuple(explained), tuple(missing))


def _or_none(what: str, make: Callable[[], Evaluation], missing: list[str]) -> Evaluation:
    """What is made; nothing, and a reason, where it cannot be: the figures so far are worth more than the rest."""
    try:
        return make()
    except FAULTS as fault:
        missing.append(f"There are {what}: {reason_of(fault)}")
        return Evaluation()


def _details(
    dataset: Dataset,
    result: TaskResult,
    arms: Sequence[Arm],
    prepared: Mapping[str, PreparedArm],
    parts: Parts,
    settings: RunSettings,
    most: int,
) -> TaskDetails:
    """The queries to look at, explained by every arm that can be prepared for nothing."""
    name = f"{dataset.name}--details"
    key = {
        **task_key(dataset, settings),
        "arms": [arm_key(arm) for arm in arms],
        "failed": [arm.arm for arm in result.arms if arm.failed is not None],
        "most": most,
    }
    found = parts.find(name, key, TaskDetails)
    if found is None:
        ready = dict(prepared)
        failed = {arm.arm for arm in result.arms if arm.failed is not None}
        for arm in arms:  # those whose figures were kept from an earlier, interrupted run
            if arm.name not in ready and arm.name not in failed and arm.how in _FREE:
                with contextlib.suppress(ToolSearchError):
                    ready[arm.name] = arm.prepare(dataset)
        found = task_details(dataset, result, ready, most=most, seed=settings.seed)
        parts.keep(name, key, found)
    return found


def _larger(one: Dataset | None, other: Dataset) -> Dataset:
    return one if one is not None and len(one.tools) >= len(other.tools) else other


def _sizes(
    dataset: Dataset, arms: Sequence[Arm], settings: RunSettings, parts: Parts, watch: Watch
) -> Evaluation:
    """The curve of the arms that cost nothing to ask."""
    free = [arm for arm in arms if arm.ranks and arm.how in _FREE]
    key = {**task_key(dataset, settings), "arms": [arm_key(arm) for arm in free], "sizes": settings.sizes}

    def made() -> Evaluation:
        curve = size_curve(
            dataset,
            free,
            sizes=settings.sizes,
            seed=settings.seed,
            progress=lambda done, total: watch(Step(dataset.name, "catalog sizes", done, total)),
        )
        return Evaluation(sizes=tuple(curve))

    return _once(parts, f"{dataset.name}--sizes", key, made)


def _conversations(dataset: Dataset, settings: RunSettings, parts: Parts, watch: Watch) -> Evaluation:
    code = model_code(settings.embedder)
    key = {**task_key(dataset, settings), "turns": settings.conversations, "code": code}

    def made() -> Evaluation:
        held = conversation_costs(
            dataset,
            lengths=settings.conversations,
            seed=settings.seed,
            embedder=named_embedder(settings.embedder),
            config=settings.config,
            progress=lambda done, total: watch(Step(dataset.name, "conversations", done, total)),
        )
        return Evaluation(conversations=tuple(held))

    return _once(parts, f"{dataset.name}--conversations", key, made)


def _once(parts: Parts, name: str, key: object, make: Callable[[], Evaluation]) -> Evaluation:
    """A piece of the results: the one that an interrupted run has kept, else made and kept."""
    found = parts.find(name, key, Evaluation)
    if found is None:
        found = make()
        parts.keep(name, key, found)
    return found
