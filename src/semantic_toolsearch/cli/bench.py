"""`toolsearch bench`: a number of tools in; a table of what the library costs, and of what it saves, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from semantic_toolsearch.cli.options import AsJson, EmbedderName
from semantic_toolsearch.cli.output import console, plain, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from semantic_toolsearch.bench import Figure
    from semantic_toolsearch.prompt_size import SizeRow
    from semantic_toolsearch.throughput import Throughput

__all__ = ["bench"]


def bench(
    what: Annotated[
        Literal["speed", "threads", "prompt-size"],
        typer.Argument(
            metavar="WHAT",
            help="speed: time and memory; threads: queries in a second by many threads and tasks at once; "
            "prompt-size: the tools list of a general agent with 19 tools, in full and with 18 deferred.",
        ),
    ] = "speed",
    tools: Annotated[
        int, typer.Option("--tools", metavar="N", min=1, help="Synthetic tools to index.")
    ] = 2800,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """Measure import, indexing, first answer, queries and memory in fresh processes; 100 tools take a second.

    Exit code: 0, whatever the figures are.
    """
    if what == "prompt-size":
        _prompt_size(as_json)
        return
    from semantic_toolsearch.bench import measure
    from semantic_toolsearch.embedding import DEFAULT_MODEL
    from semantic_toolsearch.throughput import measure_throughput

    model, progress = DEFAULT_MODEL if embedder is None else embedder, console(err=True)
    with progress.status("Measuring") as status:

        def tell(step: str) -> None:
            status.update(f"Measuring: {step}")

        if what == "threads":
            rows = measure_throughput(tools, tell, embedder=model)
        else:
            figures = measure(tools, tell, embedder=model)
    if as_json:
        print_json([figure.as_dict() for figure in (rows if what == "threads" else figures)])
    elif what == "threads":
        _show_throughput(console(), rows)
    else:
        _show(console(), figures)


def _show_throughput(out: Console, rows: Sequence[Throughput]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("readers")
    table.add_column("tools")
    for title in ("queries/s", "ratio", "cores used", "replacements/s"):
        table.add_column(title, justify="right")
    for row in rows:
        replaced = f"{row.replacements:.1f}" if row.replacing else ""
        numbers = (f"{row.per_second:.0f}", f"{row.ratio:.2f}", f"{row.cores:.2f}", replaced)
        table.add_row(row.readers, "replaced" if row.replacing else "at rest", *numbers)
    out.print(table)


def _prompt_size(as_json: bool) -> None:
    from semantic_toolsearch.prompt_size import measure_surface

    rows = measure_surface()
    if as_json:
        print_json([row.as_dict() for row in rows])
    else:
        _show_sizes(console(), rows)


def _show_sizes(out: Console, rows: Sequence[SizeRow]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("measured")
    for title in ("bytes in full", "deferred", "saved", "tokens in full", "deferred"):
        table.add_column(title, justify="right")
    table.add_column("tokens by")
    for row in rows:
        sizes = (f"{row.full:,}", f"{row.deferred:,}", f"{row.saved:.1%}")
        tokens = (f"{row.full_tokens:,}", f"{row.deferred_tokens:,}")
        table.add_row(row.name, *sizes, *tokens, row.label)
    out.print(table)


def _show(out: Console, figures: Sequence[Figure]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("measured")
    for title in ("median", "95 %", "target"):
        table.add_column(title, justify="right")
    table.add_column("unit")
    table.add_column("note", overflow="fold")
    for figure in figures:
        bound = ">=" if figure.unit == "tools/CPU s" else "<" if figure.target else ""
        values = (_number(value) for value in (figure.value, figure.high))
        target = "" if figure.target is None else f"{bound} {figure.target:g}".strip()
        table.add_row(plain(figure.name), *values, target, figure.unit, plain(figure.note))
    out.print(table)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 or value == 0 else f"{value:.3g}"
