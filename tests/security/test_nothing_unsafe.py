"""What the library never does: unpickle, evaluate texts, run a shell, or read YAML and XML."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = sorted((Path(__file__).parents[2] / "src").rglob("*.py"))
MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "marshal",
    "shelve",
    "joblib",
    "yaml",
    "xml",
    "telnetlib",
    "ftplib",
}
CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "read_pickle", "allow_pickle", "mktemp"}


def used(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                refused = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg in ("allow_pickle", "shell") and not refused:
                    yield f"{keyword.arg}="
            function = node.func
            if isinstance(function, ast.Name) and function.id in CALLS:
                yield f"{function.id}()"
            elif isinstance(function, ast.Attribute) and function.attr in CALLS - {"compile"}:
                yield f".{function.attr}()"


def unsafe(path):
    return {name for name in used(path) if name in MODULES or name.endswith(("()", "="))}


def test_no_source_unpickles_evaluates_or_runs_a_shell():
    assert len(SOURCES) > 200
    assert {path.name: found for path in SOURCES if (found := unsafe(path))} == {}


def test_this_test_sees_what_it_looks_for(tmp_path):
    sample = tmp_path / "sample.py"
    lines = ("import pickle", "from yaml import load", "eval('1')", "os.system('x')", "run('x', shell=True)",
             "np.load(f, allow_pickle=True)", "run('x', shell=False)", "re.compile('x')")  # fmt: skip
    sample.write_text("\n".join(lines))
    assert unsafe(sample) == {"pickle", "yaml", "eval()", ".system()", "shell=", "allow_pickle="}
