"""No source hands a text to a shell, or reads a format whose parser runs or fetches things."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = sorted((Path(__file__).parents[2] / "src").rglob("*.py"))
PARSERS = {"yaml", "xml", "lxml", "plistlib"}
SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}


def shells(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in PARSERS)
        elif isinstance(node, ast.ImportFrom):
            yield from [node.module] if (node.module or "").split(".")[0] in PARSERS else []
        elif isinstance(node, ast.Call):
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if ast.unparse(node.func) in SHELLS or options.get("shell", "False") != "False":
                yield ast.unparse(node)


def test_no_source_uses_a_shell_or_such_a_parser():
    assert len(SOURCES) > 200
    found = {path.name: list(shells(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert {name: uses for name, uses in found.items() if uses} == {}


def test_this_test_sees_what_it_looks_for():
    source = "import yaml\nfrom xml.etree import ElementTree\nos.system(x)\nrun(x, shell=True)\nrun(x, shell=False)"
    assert list(shells(source)) == ["yaml", "xml.etree", "os.system(x)", "run(x, shell=True)"]
