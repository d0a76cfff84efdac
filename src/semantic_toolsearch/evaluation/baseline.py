"""A folder of baselines and the own datasets in; what became worse since they were written out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.compare import Comparison, compare
from semantic_toolsearch.evaluation.files import read_results, write_results
from semantic_toolsearch.evaluation.results import Evaluation, TaskResult
from semantic_toolsearch.evaluation.writing import file_name

__all__ = ["ARMS", "check_baselines", "write_baselines"]

ARMS: Final = ("keyword", "bm25", "semantic", "hybrid")
"""The arms that baselines hold."""


def write_baselines(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write one file a task, without what differs from machine to machine. Nothing is written where an arm has failed.

    Args:
        evaluation: The results.
        folder: Where the files go, each called by its task.

    Returns:
        The files.

    Raises:
        DatasetError: An arm has no figures, or a file cannot be written.
    """
    _check_complete(evaluation)
    written = []
    for task in evaluation.tasks:
        arms = tuple(arm.model_copy(update={"times": {}}) for arm in task.arms)
        alone = evaluation.model_copy(
            update={
                "tasks": (task.model_copy(update={"arms": arms}),),
                "sizes": (),
                "conversations": (),
                "times": {},
            }
        )
        path = _file(folder, task)
        write_results(alone, path)
        written.append(path)
    return written


def check_baselines(evaluation: Evaluation, folder: Path, *, seed: int = 7) -> Comparison:
    """Compare an evaluation with the baselines of its tasks.

    Args:
        evaluation: The new results.
        folder: Where ``write_baselines`` wrote.
        seed: As for ``compare``.

    Raises:
        DatasetError: An arm has no figures, a task has no baseline, or the file cannot be used; or as for ``compare``.
    """
    _check_complete(evaluation)
    older: list[TaskResult] = []
    for task in evaluation.tasks:
        path = _file(folder, task)
        if not path.exists():
            raise DatasetError(
                "there is no baseline; write it with `toolsearch eval baseline --write`.", path
            )
        older += read_results(path).tasks
    return compare(Evaluation(tasks=tuple(older)), evaluation, seed=seed)


def _file(folder: Path, task: TaskResult) -> Path:
    return folder / f"{file_name(task.name)}.json"


def _check_complete(evaluation: Evaluation) -> None:
    """Refuse what would hold fewer figures than it should: a check must not pass because an arm has failed.

    Raises:
        DatasetError: An arm has no figures.
    """
    for task in evaluation.tasks:
        for arm in task.arms:
            if arm.failed is not None:
                raise DatasetError(f"{task.name}: {arm.arm} has failed: {arm.failed}")
