"""No code block of a page is only looked at: each is run, compared, or read by what it is written for."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BUILT = ("{eval-rst}", "{toctree}")
"""Blocks that the generator reads; building the site fails where it cannot."""

NOT_HERE = {
    "docs/architecture.md": ("text",),  # who may import whom: the import contracts hold it
    "docs/cli.md": ("console", "json", "text"),  # run by tests/cli/test_cli_documentation.py
    "docs/ranking.md": ("text",),  # formulas
}


@pytest.fixture(scope="module")
def pages():
    """What runs the blocks, as pytest collects it."""
    spec = importlib.util.spec_from_file_location("_pages", ROOT / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages


def fences(text):
    """Line, from 1, and language of each fenced block."""
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            if not inside:
                found.append((number, line.strip().removeprefix("```").split(" ")[0]))
            inside = not inside
    assert not inside
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_a_page_is_run(page, pages):
    name = page.relative_to(ROOT).as_posix()
    assert pages.should_parse(page)
    run = {example.line for example in pages.parse(page).examples()}
    left = [
        (line, language)
        for line, language in fences(page.read_text(encoding="utf-8"))
        if line not in run and language not in (*BUILT, *NOT_HERE.get(name, ()))
    ]
    assert left == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_code_hides_where_nothing_runs_it(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"<!-+ *skip", text)
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    outside = re.sub(r"<!---.*?-->", "", outside, flags=re.DOTALL)
    assert not re.search(r"^( {4}|\t)", outside, re.MULTILINE)


def test_a_block_that_prints_something_else_fails(pages, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint('one')\n```\n\n```output\ntwo\n```\n")
    first, second = pages.parse(page).examples()
    first.evaluate()
    with pytest.raises(AssertionError, match="two"):
        second.evaluate()


@pytest.mark.parametrize(
    "line",
    [
        "toolsearch lint nothing.json",  # a file that is not there
        "toolsearch search --colour x",
        "pip install 'semantic-toolsearch[everything]'",
        "make coffee",
        "python nowhere/script.py",
        "rm -rf folder",
    ],
)
def test_a_command_that_is_not_to_be_had_fails(line, pages, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(f"```console\n$ {line}\n```\n")
    (example,) = pages.parse(tmp_path / "page.md").examples()
    with pytest.raises(AssertionError):
        example.evaluate()
