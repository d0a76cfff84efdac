"""`python -m semantic_toolsearch.cli` is `toolsearch`."""

from __future__ import annotations

from semantic_toolsearch.cli.application import app

if __name__ == "__main__":
    app(prog_name="toolsearch")
