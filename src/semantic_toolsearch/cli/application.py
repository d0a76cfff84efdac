"""The program's commands put together: an argument list in, the command's own exit code out.

Whatever a command does is imported when it runs, so that help and completion cost next to nothing.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from semantic_toolsearch import __version__
from semantic_toolsearch.cli import bench, demo, explain, index, lint, pin, search, serve
from semantic_toolsearch.cli.evaluation import evaluation
from semantic_toolsearch.cli.output import warn, warnings_told
from semantic_toolsearch.errors import ToolSearchError

__all__ = ["FAILED", "app"]

FAILED = 2
"""Exit code of usage errors and of every error of the library: unreadable files, servers that fail."""


class _Program(TyperGroup):
    """Turns the library's errors into one line on standard error."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            with warnings_told():
                return super().invoke(ctx)
        except ToolSearchError as error:
            if ctx.params.get("debug"):
                raise
            warn(str(error))
            raise typer.Exit(FAILED) from None


app = typer.Typer(
    cls=_Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"toolsearch {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Find tools by what they do: search, explain, check and index tool definitions and MCP servers."""


app.command(epilog="Example: toolsearch search 'refund a customer' tools.json")(search.search)
app.command(epilog="Example: toolsearch explain 'refund a customer' create_refund tools.json")(
    explain.explain
)
app.command(epilog="Example: toolsearch lint tools.json --strict")(lint.lint)
app.command(epilog="Example: toolsearch pin tools.json --out pins.json")(pin.pin)
app.command(epilog="Example: toolsearch index tools.json --out tools.index")(index.index)
app.command(epilog="Example: toolsearch serve --config mcp.json")(serve.serve)
app.command(epilog="Example: toolsearch bench --tools 500")(bench.bench)
app.command(epilog="Example: toolsearch demo")(demo.demo)
app.add_typer(evaluation, name="eval")
