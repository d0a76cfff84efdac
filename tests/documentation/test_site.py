"""The site builds without a warning and without a network, and its reference has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [
    "semantic_toolsearch",
    *(
        f"semantic_toolsearch.{name}"
        for name in (
            "accounting", "config", "embedding", "errors", "evaluation", "index", "lint", "mcp", "rankers",
            "testing", "testing.loopback",
        )
    ),
]  # fmt: skip
"""What people import from."""

pytest.importorskip("sphinx", reason="needs the dependency group docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site, with the text that building it printed."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-q", "-W", "--keep-going", "-j", "auto", "-d", folder / "doctrees"]
    command = [sys.executable, "-m", "sphinx", *options, ROOT / "docs", folder / "html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return folder / "html", done


@pytest.fixture(scope="module")
def reference(site):
    """The object that each entry of the reference is about, by name."""
    from sphinx.util.inventory import InventoryFile

    with (site[0] / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    return {name: resolve(name) for kind, names in inventory.items() if kind[:3] == "py:" for name in names}


def resolve(name):
    """The object of a dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part, None)
        return found
    raise AssertionError(name)


def test_the_site_builds_without_a_warning(site):
    folder, done = site
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "guide" / "many-tools.html").is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_its_entry(package, reference):
    module = import_module(package)
    shown = {(entry.rpartition(".")[2], id(value)) for entry, value in reference.items()}
    missing = [
        name
        for name in module.__all__
        if f"{package}.{name}" not in reference and (name, id(getattr(module, name))) not in shown
    ]
    assert missing == []


def test_no_page_loads_anything_from_elsewhere(site):
    folder, _ = site
    pages = list(folder.rglob("*.html"))
    assert len(pages) > 30
    loads = re.compile(
        r"<(?:script|img|iframe|source)[^>]*\ssrc=.(?:https?:)?//|<link[^>]*\shref=.(?:https?:)?//"
    )
    assert [page.name for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []
    styles = [style.read_text(encoding="utf-8") for style in folder.rglob("*.css")]
    assert styles
    assert not any(re.search(r"(url\(|@import\s+)['\"]?(https?:)?//", style) for style in styles)
