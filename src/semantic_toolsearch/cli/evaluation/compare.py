"""`toolsearch eval compare`: two results files in; what became better or worse beyond chance out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semantic_toolsearch.cli.options import AsJson
from semantic_toolsearch.cli.output import console, plain, print_json, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from semantic_toolsearch.evaluation.compare import Comparison, Difference

__all__ = ["WORSE", "compare", "finish"]

WORSE = 1
"""Exit code where a measure dropped beyond noise, or all of an arm is gone."""


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A results file.", show_default=False)],
    after: Annotated[
        Path, typer.Argument(metavar="AFTER", help="A results file of the same queries.", show_default=False)
    ],
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="ARM",
            help="Compare this arm only; OLD=NEW compares two arms, also within one file. May be repeated.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show what did not change beyond chance too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two evaluations query by query; differences carry a paired test.

    Exit code: 0; 1 where a measure dropped beyond noise, or an arm has failed that had figures; 2 on an error.
    """
    from semantic_toolsearch.evaluation.compare import compare as compare_results
    from semantic_toolsearch.evaluation.files import read_results

    pairs = [_pair(text) for text in arm] if arm else None
    finish(compare_results(read_results(before), read_results(after), arms=pairs), every, as_json)


def finish(comparison: Comparison, every: bool, as_json: bool) -> None:
    """Write a comparison to standard output.

    Raises:
        typer.Exit: Something is worse or lost; with the exit code ``WORSE``.
    """
    if as_json:
        print_json(comparison.as_dict())
    else:
        _show(console(), comparison, every)
    if comparison.worse or comparison.lost:
        raise typer.Exit(WORSE)


def _show(out: Console, comparison: Comparison, every: bool) -> None:
    """Print what changed, with a sentence that sums it up."""
    for note in comparison.notes:
        warn(note)
    shown = [each for each in comparison.differences if every or each.verdict != "same"]
    if shown:
        _table(out, shown)
    tasks = len({each.task for each in comparison.differences})
    out.print(
        plain(
            f"{len(comparison.worse)} worse, {len(comparison.better)} better and "
            f"{len(comparison.differences) - len(comparison.worse) - len(comparison.better)} unchanged beyond chance, "
            f"of {len(comparison.differences)} figures on {tasks} {'task' if tasks == 1 else 'tasks'} (paired "
            f"randomisation test, Holm's correction, p < 0.05)."
        )
    )


def _table(out: Console, differences: Sequence[Difference]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("task", "arm", "measure"):
        table.add_column(title, overflow="fold")
    for title in ("queries", "before", "after", "change", "95 % interval", "p"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict")
    for each in differences:
        table.add_row(
            plain(each.task),
            plain(each.arm),
            each.measure,
            f"{each.queries:,}",
            f"{100 * each.before:.1f}",
            f"{100 * each.after:.1f}",
            f"{100 * (each.after - each.before):+.1f}",
            f"{100 * each.low:+.1f} to {100 * each.high:+.1f}",
            f"{each.p:.3f}",
            each.verdict,
            style={"worse": "red", "better": "green"}.get(each.verdict, ""),
        )
    out.print(table)


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition("=")
    return first, second or first
