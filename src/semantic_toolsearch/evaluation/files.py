"""An ``Evaluation`` in, its results file out, and back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.results import FORMAT, Evaluation, TaskResult
from semantic_toolsearch.evaluation.writing import write_text

__all__ = ["read_results", "without_queries", "without_times", "write_results"]


def write_results(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Write a results file, whole or not at all; keys are sorted, so that equal results are equal bytes.

    Raises:
        DatasetError: The file cannot be written.
    """
    content = json.dumps(evaluation.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)
    write_text(path, content + "\n")


def read_results(path: str | os.PathLike[str]) -> Evaluation:
    """Read a results file.

    Raises:
        DatasetError: It is missing, no results file, or of another format.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}.", path) from error
    try:
        content = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise DatasetError(
            f"is not JSON ({error}); give a file that `toolsearch eval run` wrote.", path
        ) from error
    told = content.get("format") if isinstance(content, dict) else None
    if told != FORMAT:
        raise DatasetError(f"is no results file of the format {FORMAT!r}; it says {told!r}.", path)
    try:
        evaluation = Evaluation.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DatasetError(
            f"is damaged at {where}: {first['msg']}. Run the evaluation again.", path
        ) from error
    for task in evaluation.tasks:
        if fault := _misfit(task):
            raise DatasetError(f"is damaged at {task.name}: {fault}. Run the evaluation again.", path)
    return evaluation


def _misfit(task: TaskResult) -> str | None:
    """What is said of queries or tools that are not there: somebody has edited the file."""
    size = len(task.queries)
    places = [row.gold + row.copies for row in task.queries]
    for arm in task.arms:
        counts = {what: len(rows) for what, rows in arm.values.items()}
        counts |= {
            "ranked": len(arm.ranked) or size,
            "loaded": len(arm.loaded) or size,
        }  # each may be left out
        for what, count in counts.items():
            if size and count != size:
                return f"{arm.arm} has {count} rows of {what} for {size} queries"
        places += [*arm.ranked, *arm.loaded]
    if any(not 0 <= place < task.tools for row in places for place in row):
        return f"a place is none of the {task.tools} tools"
    return None


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no figure")


def without_queries(evaluation: Evaluation) -> Evaluation:
    """The results without single queries and times: small, and free of ids that belong to a dataset's owner.

    It can be shown and told again, but not compared query by query.
    """
    tasks = []
    for task in evaluation.tasks:
        arms = tuple(
            arm.model_copy(
                update={
                    "values": {},
                    "ranked": (),
                    "loaded": (),
                    "failures": {str(place): why for place, why in enumerate(arm.failures.values())},
                    "times": {},
                }
            )
            for arm in task.arms
        )
        tasks.append(task.model_copy(update={"queries": (), "arms": arms}))
    sizes = tuple(size.model_copy(update={"times": {}}) for size in evaluation.sizes)
    return evaluation.model_copy(update={"tasks": tuple(tasks), "sizes": sizes, "times": {}})


def without_times(evaluation: Evaluation) -> dict[str, Any]:
    """The results as JSON values, without all that differs from run to run."""
    plain: dict[str, Any] = _timeless(evaluation.model_dump(mode="json"))
    return plain


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key != "times"}
    if isinstance(value, list):
        return [_timeless(item) for item in value]
    return value
