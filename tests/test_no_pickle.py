"""No module of the library unpickles anything, and what is loaded from disk runs no code."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from pathlib import Path

import semantic_toolsearch

PACKAGE = Path(semantic_toolsearch.__file__).parent
ROOT = PACKAGE.parents[1]
SOURCES = sorted(
    path
    for folder in (PACKAGE, ROOT / "eval", ROOT / "demo", ROOT / "examples")
    for path in folder.rglob("*.py")
)

UNPICKLING = {
    "pickle", "_pickle", "cPickle", "pickletools", "marshal", "shelve", "dbm", "dill", "joblib", "cloudpickle",
    "jsonpickle", "hickle", "multiprocessing",
}  # fmt: skip
"""Modules that make objects of bytes, or whose channels do."""

CODE = {"eval", "exec", "compile", "__import__"}
READERS_OF_FAISS = {
    "read_index",
    "deserialize_index",
    "read_index_binary",
    "deserialize_index_binary",
    "read_VectorTransform",
}


@functools.cache
def parsed() -> tuple[list[tuple[Path, ast.Import | ast.ImportFrom]], list[tuple[Path, ast.Call]]]:
    """All imports and all calls of all modules, with the file of each."""
    nodes = [(path, node) for path in SOURCES for node in ast.walk(ast.parse(path.read_bytes()))]
    imports = [(path, node) for path, node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return imports, [(path, node) for path, node in nodes if isinstance(node, ast.Call)]


def called(node: ast.Call) -> str:
    """The last name of what is called: ``load`` of ``np.load(...)``."""
    function = node.func
    return (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else ""
    )


def test_all_modules_are_looked_at() -> None:
    assert len(SOURCES) > 200
    assert PACKAGE / "index" / "faiss.py" in SOURCES


def test_no_module_imports_anything_that_unpickles() -> None:
    imports, calls = parsed()
    names = [
        (path, name)
        for path, node in imports
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        )
    ]
    names += [
        (path, part.value)
        for path, node in calls
        if called(node) == "import_module"
        for part in node.args
        if isinstance(part, ast.Constant)
    ]
    assert any(name == "faiss" for _, name in names)  # or nothing was looked at
    assert [(path, name) for path, name in names if str(name).split(".")[0] in UNPICKLING] == []


def test_numpy_is_never_allowed_to_unpickle() -> None:
    """Wherever it reads arrays it is told so, in as many words."""
    readers = 0
    for path, node in parsed()[1]:
        options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        assert options.get("allow_pickle", "False") == "False", f"{path}:{node.lineno}"
        assert options.get("trust_remote_code", "False") == "False", f"{path}:{node.lineno}"
        if called(node) in ("load", "read_array") and ast.unparse(node.func).startswith("np."):
            assert "allow_pickle" in options, f"{path}:{node.lineno}"
            readers += 1
    assert readers >= 3


def test_no_module_runs_a_text_as_code() -> None:
    found = [(path, node.lineno) for path, node in parsed()[1] if ast.unparse(node.func) in CODE]
    assert found == []


def test_faiss_reads_in_one_place_only_and_never_a_file() -> None:
    """There it gets bytes whose hash was compared; a file could change between the check and the reading."""
    found = {
        (path.relative_to(ROOT).as_posix(), called(node))
        for path, node in parsed()[1]
        if called(node) in READERS_OF_FAISS and ast.unparse(node.func).startswith("faiss.")
    }
    assert found == {("src/semantic_toolsearch/index/faiss.py", "deserialize_index")}


WATCHED = """
import sys
found = []
sys.addaudithook(lambda event, arguments: found.append(arguments) if event == "pickle.find_class" else None)
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.synthetic import synthetic_tools
for model in ("toolsearch-small", "toolsearch-nano"):
    cache = f"{sys.argv[1]}/cache"
    search = ToolSearch(synthetic_tools(4), embedder=model, cache=cache)
    search.save(f"{sys.argv[1]}/index")
    loaded = ToolSearch.load(f"{sys.argv[1]}/index", embedder=model, cache=cache)
    assert loaded.search("create an invoice").as_dict() == search.search("create an invoice").as_dict()
print(len(found), "_pickle" in sys.modules)
"""


def test_nothing_is_unpickled_from_building_to_searching(tmp_path: Path) -> None:
    """Not by any library below either: Python itself tells of each class that an unpickler looks up."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "True"]  # numpy brings the module, and nobody calls it
