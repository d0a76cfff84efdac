"""`toolsearch eval report`: a results file in; its tables, its Markdown or its page out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semantic_toolsearch.cli.output import console, plain

__all__ = ["BEGIN", "END", "report"]

BEGIN = "<!-- results: begin -->"
END = "<!-- results: end -->"


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
        typer.Option("--title", metavar="TEXT", help="Heading of the report.", show_default=False),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="FILE",
            help=f"Put the report, without slices, between the lines {BEGIN} and {END} of this Markdown file.",
            show_default=False,
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            metavar="FILE",
            help="Write the results without single queries and times, to be published.",
            show_default=False,
        ),
    ] = None,
    times: Annotated[bool, typer.Option("--times", help="With times, which differ from run to run.")] = False,
) -> None:
    """Show a results file again, or write it in another form.

    Exit code: 0; 2 on an error.
    """
    from semantic_toolsearch.evaluation.files import read_results, without_queries, write_results
    from semantic_toolsearch.evaluation.report.html import to_html
    from semantic_toolsearch.evaluation.report.markdown import to_markdown
    from semantic_toolsearch.evaluation.report.table import show
    from semantic_toolsearch.evaluation.writing import write_text

    evaluation = read_results(results)
    if markdown is not None:
        write_text(markdown, to_markdown(evaluation, title=title, times=times))
    if html is not None:
        write_text(html, to_html(evaluation, title=title))
    if into is not None:
        write_text(into, _filled(into, to_markdown(evaluation, times=times, brief=True)))
    if summary is not None:
        write_results(without_queries(evaluation), summary)
    written = [path for path in (markdown, html, into, summary) if path is not None]
    for path in written:
        console().print(plain(f"Wrote {path}"))
    if not written:
        show(evaluation, console())


def _filled(path: Path, report: str) -> str:
    """The file's text with the report between its two lines.

    Raises:
        DatasetError: It cannot be read, or the lines are not there once each and in order.
    """
    from semantic_toolsearch.errors import DatasetError

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"cannot be read: {error}.", path) from error
    before, begin, rest = text.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(f"{END}\n")
    if not begin or not end:
        raise DatasetError(f"needs the lines {BEGIN} and {END}, where the report is to stand.", path)
    return f"{before}{begin}\n{report}\n{end}{after}"
