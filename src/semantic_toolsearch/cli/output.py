"""Texts and values in; what is written to a terminal, a pipe or a JSON reader out."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "console",
    "embedding_progress",
    "plain",
    "print_json",
    "prints_aside",
    "waiting",
    "warn",
    "warnings_told",
]

_PIPED_WIDTH = 160
"""Columns where no terminal says how many there are, so that files and pipes keep whole lines."""

_PATIENCE = 1.0
"""Seconds of work before a progress bar appears."""


def console(*, err: bool = False) -> Console:
    """Return a console on standard output, or on standard error."""
    from rich.console import Console

    made = Console(stderr=err, highlight=False)
    if not made.is_terminal:
        made.width = _PIPED_WIDTH
    return made


def plain(text: str) -> Text:
    """Return foreign text as it may be shown: one line, without control characters and markup."""
    from rich.text import Text

    from semantic_toolsearch.cleaning import one_line

    return Text(one_line(text))


def warn(text: str) -> None:
    """Write one line to standard error."""
    from semantic_toolsearch.cleaning import one_line

    typer.echo(f"toolsearch: {one_line(text)}", err=True)


def print_json(value: Any) -> None:
    """Write one JSON value to standard output, with escapes only where its encoding lacks a character."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    typer.echo(text)


class _OnStandardError(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


@contextmanager
def warnings_told() -> Iterator[None]:
    """Write what the library logs as a warning to standard error, like this program's own lines."""
    logger, handler = logging.getLogger("semantic_toolsearch"), _OnStandardError(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def prints_aside() -> Iterator[None]:
    """Send what other people's code prints meanwhile to standard error, so that it stands in no JSON."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show on a terminal that something of unknown length is going on."""
    shown = console(err=True)
    if not shown.is_terminal:
        yield
        return
    with shown.status(plain(text)):
        yield


@contextmanager
def embedding_progress(text: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function of (done, total) that draws a bar after a second of work, on a terminal only."""
    shown = console(err=True)
    if not shown.is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=shown, transient=True,
    )  # fmt: skip
    task = bar.add_task(text, total=None)
    started = time.monotonic()

    def show(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if time.monotonic() - started > _PATIENCE:
            bar.start()

    try:
        yield show
    finally:
        bar.stop()
