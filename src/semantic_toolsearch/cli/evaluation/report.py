"""`toolsearch eval report`: a results file in; its tables, its Markdown or its page out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semantic_toolsearch.cli.output import console, plain

__all__ = ["report"]


def report(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A results file of eval run.", show_default=False)
    ],
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="Write the report as Markdown.", show_default=False),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write the page, without the queries, whose texts are no part of the results.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="Heading of the Markdown.", show_default=False),
    ] = None,
    times: Annotated[bool, typer.Option("--times", help="With times, which differ from run to run.")] = False,
) -> None:
    """Show a results file again, or write it in another form.

    Exit code: 0; 2 on an error.
    """
    from semantic_toolsearch.evaluation.files import read_results, write_text
    from semantic_toolsearch.evaluation.report.html import to_html
    from semantic_toolsearch.evaluation.report.markdown import to_markdown
    from semantic_toolsearch.evaluation.report.table import show

    evaluation = read_results(results)
    if markdown is not None:
        write_text(markdown, to_markdown(evaluation, title=title, times=times))
        console().print(plain(f"Wrote {markdown}"))
    if html is not None:
        write_text(html, to_html(evaluation))
        console().print(plain(f"Wrote {html}"))
    if markdown is None and html is None:
        show(evaluation, console())
