"""Steps of a run in; a progress bar on a terminal, or a line for each finished arm in a log, out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from semantic_toolsearch.cli.output import console, plain

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.running import Step, Watch

__all__ = ["watching"]


@contextmanager
def watching() -> Iterator[Watch]:
    """Give a function that shows each step of a run on standard error."""
    shown = console(err=True)
    if not shown.is_terminal:
        yield _Lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=shown, transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("Reading", total=None)

        def show(step: Step) -> None:
            text = f"{step.task}: {step.arm}" if step.arm else f"{step.task}: reading"
            bar.update(task, description=plain(text).plain, completed=step.done, total=step.total or None)

        yield show


class _Lines:
    """A line when an arm begins, so that a log shows what takes long."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, step: Step) -> None:
        at_work = f"{step.task}: {step.arm}" if step.arm else ""
        if at_work and at_work != self._last:
            console(err=True).print(plain(f"{at_work} ({step.total:,} queries)"))
        self._last = at_work or self._last
