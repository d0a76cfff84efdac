"""`toolsearch eval baseline`: the own datasets and their committed figures in; what dropped since out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semantic_toolsearch.cli.evaluation.compare import finish
from semantic_toolsearch.cli.evaluation.progress import watching
from semantic_toolsearch.cli.options import AsJson
from semantic_toolsearch.cli.output import console, plain

__all__ = ["baseline"]


def baseline(
    folder: Annotated[
        Path, typer.Option("--folder", metavar="FOLDER", help="Where the baselines lie, one file a dataset.")
    ] = Path("eval/baselines"),
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data", metavar="DATA", help="As for run; by default the own sets.", show_default=False
        ),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write new baselines instead of comparing.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show what did not change beyond chance too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the own datasets and compare every measure with the committed baseline.

    Exit code: 0; 1 where a measure dropped beyond noise; 2 on an error.
    """
    from semantic_toolsearch.evaluation.arms.parsing import parse_arm
    from semantic_toolsearch.evaluation.baseline import ARMS, check_baselines, write_baselines
    from semantic_toolsearch.evaluation.data.sources import find_datasets
    from semantic_toolsearch.evaluation.parts import Parts
    from semantic_toolsearch.evaluation.running import run_tasks
    from semantic_toolsearch.evaluation.settings import RunSettings

    with watching() as watch:
        evaluation = run_tasks(
            find_datasets(data or ()),
            [parse_arm(name) for name in ARMS],
            RunSettings(most=None, strangers=0),
            parts=Parts(None),
            watch=watch,
        )
    if write:
        for path in write_baselines(evaluation, folder):
            console().print(plain(f"Wrote {path}"))
        return
    finish(check_baselines(evaluation, folder), every, as_json)
