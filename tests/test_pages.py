"""Pages that speak of the tree speak of what is there: every file and folder that they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    "docs/architecture.md",
    "docs/demands.md",
    "docs/reliability.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
PLACES = [
    ROOT,
    ROOT / "src" / "semantic_toolsearch",
    ROOT / "src" / "semantic_toolsearch" / "evaluation",
    ROOT / "tests",
]


def paths(text):
    """What stands in backticks and looks like a file or a folder of the tree."""
    return [
        name.rstrip("/")
        for name in re.findall(r"`([\w./-]+)`", text)
        if re.search(r"\.(py|md|toml|txt|json)$|/$", name)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_exists(page):
    named = paths((ROOT / page).read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if not any((place / name).exists() for place in PLACES)] == []


def test_every_demand_has_its_row():
    rows = re.findall(r"^\| (\d+) \|", (ROOT / "docs/demands.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(row) for row in rows] == list(range(1, 43))
