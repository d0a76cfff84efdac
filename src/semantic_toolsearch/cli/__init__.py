"""Command lines come in; tables, JSON and exit codes go out: the program `toolsearch`."""

from __future__ import annotations

from semantic_toolsearch.cli.application import app

__all__ = ["app"]
