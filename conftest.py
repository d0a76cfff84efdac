"""Runs the Python blocks of the README and the docs as tests, in a folder of their own and without a cache."""

from __future__ import annotations

import os
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

_before: dict[str, str] = {}


def _enter(namespace: dict[str, Any]) -> None:
    import tempfile

    folder = tempfile.TemporaryDirectory()
    namespace["_folder"], namespace["_back"] = folder, os.getcwd()
    os.environ["TOOLSEARCH_CACHE_DIR"] = folder.name
    os.chdir(folder.name)


def _leave(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_back"])
    del os.environ["TOOLSEARCH_CACHE_DIR"]
    namespace["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
