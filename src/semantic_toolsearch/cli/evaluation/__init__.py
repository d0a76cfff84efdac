"""`toolsearch eval`: the commands of the evaluation suite put together."""

from __future__ import annotations

import typer

from semantic_toolsearch.cli.evaluation import baseline, compare, mine, report, run

__all__ = ["evaluation"]

evaluation = typer.Typer(
    no_args_is_help=True,
    help="Measure tool search: compare rankers and hosted searches on your data or on the sets that come along.",
)

evaluation.command(epilog="Example: toolsearch eval run --data library")(run.run)
evaluation.command(epilog="Example: toolsearch eval report evaluation/results.json")(report.report)
evaluation.command(epilog="Example: toolsearch eval compare before.json after.json")(compare.compare)
evaluation.command(epilog="Example: toolsearch eval baseline --folder eval/baselines")(baseline.baseline)
evaluation.command(epilog="Example: toolsearch eval mine --catalog tools.json --queries phrasings.txt")(
    mine.mine
)
