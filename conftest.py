"""Runs the code blocks of the README and the docs as tests, each page in a folder of its own.

``python`` blocks run; an ``output`` block holds what the one before it printed. In ``console`` blocks each line after a
``$`` runs, and what stands under it is what it prints; on pages whose commands take minutes or need files of the
reader's they are read by the program's own parser instead. ``...`` stands for anything.
"""

from __future__ import annotations

import atexit
import contextlib
import doctest
import functools
import io
import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sybil import Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser, SkipParser

if TYPE_CHECKING:
    from sybil import Example

ROOT = Path(__file__).parent
READ_ONLY = ("README.md", "docs/evaluation.md", "docs/reliability.md")
"""Pages whose commands are read and not run."""

RUN_ELSEWHERE = ("docs/cli.md",)
"""Pages whose commands another test runs, with the files that the page shows."""

_run_python = PythonEvaluator()


def _name(path: str) -> str:
    return Path(os.path.relpath(path, ROOT)).as_posix()


def _python(example: Example) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        _run_python(example)
    example.namespace["_printed"] = printed.getvalue()


def _output(example: Example) -> None:
    _same(example.parsed, example.namespace.get("_printed", ""))


def _same(wanted: str, printed: str) -> None:
    wanted, printed = ("\n".join(line.rstrip() for line in text.splitlines()) for text in (wanted, printed))
    if not doctest.OutputChecker().check_output(wanted, printed, doctest.ELLIPSIS):
        raise AssertionError(f"The page says:\n{wanted}\nbut this is printed:\n{printed}")


def _console(example: Example) -> None:
    for part in re.split(r"^\$ ", example.parsed, flags=re.MULTILINE)[1:]:
        line, _, wanted = part.partition("\n")
        command, _, code = (text.strip() for text in line.partition("  # exit code "))
        command = command.partition("  # ")[0].strip()
        words = shlex.split(command.rpartition(" | ")[2])
        if words[0] != "toolsearch":
            _known(words)
        elif _name(example.path) in READ_ONLY:
            _readable(words[1:])
        else:
            _same_when_told(wanted, _run(words[1:], int(code or 0)))


def _same_when_told(wanted: str, printed: str) -> None:
    if wanted.strip():
        _same(wanted.strip("\n"), printed.strip("\n"))


def _run(words: list[str], code: int) -> str:
    from typer.testing import CliRunner

    from semantic_toolsearch.cli import app

    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, words)
    if result.exit_code != code:
        raise AssertionError(f"toolsearch {shlex.join(words)}: exit code {result.exit_code}\n{result.output}")
    return result.stdout


def _readable(words: list[str]) -> None:
    """Check that there is such a command with such options."""
    from typer.main import get_command

    from semantic_toolsearch.cli import app

    command: Any = get_command(app)
    context = None
    while hasattr(command, "commands"):
        context = command.make_context(words[0], words, parent=context, resilient_parsing=True)
        _, command, words = command.resolve_command(context, words)
    command.make_parser(context).parse_args(list(words))


def _known(words: list[str]) -> None:
    """Check that a command that is no part of this package refers to what there is."""
    extras = set(re.findall(r"(?:semantic-toolsearch|\.)\[([a-z,-]+)\]", shlex.join(words)))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    unknown = {each for some in extras for each in some.split(",")} - set(project["optional-dependencies"])
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        said = {
            word: rf"^{word.partition('=')[0]} \?=" if "=" in word else rf"^{word}:" for word in words[1:]
        }
        unknown |= {word for word, line in said.items() if not re.search(line, makefile, re.MULTILINE)}
    elif words[0] == "python":
        unknown |= {word for word in words[1:2] if not (ROOT / word).exists() and not word.startswith("-")}
    elif words[0] not in ("pip", "export"):
        unknown.add(words[0])
    if unknown:
        raise AssertionError(f"{shlex.join(words)}: there is no {', '.join(sorted(unknown))}")


@functools.cache
def _embeddings() -> str:
    """The folder of one cache for all pages, since several look at the same 158 tools; it goes with this process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


def _enter(namespace: dict[str, Any]) -> None:
    from semantic_toolsearch.accounting import default_counter

    folder = tempfile.TemporaryDirectory()
    namespace["_folder"], namespace["_back"], namespace["_env"] = folder, os.getcwd(), dict(os.environ)
    namespace["_root"], namespace["_forget"] = ROOT, default_counter.cache_clear
    os.environ |= {"TOOLSEARCH_CACHE_DIR": _embeddings(), "TIKTOKEN_CACHE_DIR": ""}
    default_counter.cache_clear()  # pages show tokens as they are counted where there is no tokenizer
    os.chdir(folder.name)


def _leave(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_back"])
    os.environ.clear()
    os.environ.update(namespace["_env"])
    namespace["_folder"].cleanup()
    namespace["_forget"]()


def _commands(document: Any) -> Iterator[Any]:
    if _name(document.path) not in RUN_ELSEWHERE:
        yield from CodeBlockParser("console", _console)(document)


pages = Sybil(
    parsers=[CodeBlockParser("python", _python), CodeBlockParser("output", _output), _commands, SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
    setup=_enter,
    teardown=_leave,
)
pytest_collect_file = pages.pytest()
