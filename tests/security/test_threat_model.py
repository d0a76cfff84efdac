"""SECURITY.md names modules and tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import semantic_toolsearch
from semantic_toolsearch import SearchConfig
from semantic_toolsearch.review import MOST_REMEMBERED

ROOT = Path(__file__).parents[2]
PACKAGE = Path(semantic_toolsearch.__file__).parent
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.split("## Attacks")[1].split("## What is not")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| attack")
]


def named(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_every_module_and_test_of_the_threat_model_exists():
    assert len(ROWS) > 20
    for attack, held, where, tests in ROWS:
        assert held
        modules = named(where)
        assert modules or where == "everywhere", attack
        for name in modules:
            assert (PACKAGE / name).exists() or (ROOT / name).is_file(), name
        for name in named(tests):
            path = ROOT / name
            assert path.is_file() or list(path.glob("test_*.py")), name
        assert named(tests) or name == "Makefile", attack


def test_the_numbers_and_settings_that_it_names_are_those_of_the_library():
    assert f"{MOST_REMEMBERED:,} others" in TEXT
    for setting, value in re.findall(r'`(\w+)="(\w+)"`', TEXT):
        assert getattr(SearchConfig(**{setting: value}), setting) == value
    assert "new_tools" in TEXT


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target
