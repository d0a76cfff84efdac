"""The public names, what importing them costs, and that searching needs no network."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

import semantic_toolsearch

HEAVY = (
    "torch", "onnxruntime", "openai", "anthropic", "mcp", "sentence_transformers", "faiss", "tokenizers", "bm25s",
    "Stemmer", "regex", "docstring_parser", "typer", "rich", "jsonschema", "transformers", "scipy", "sqlite3",
)  # fmt: skip


def loaded_after(code):
    """Which heavy packages a fresh process has loaded after this code."""
    script = f"import json, sys\n{code}\nprint(json.dumps([n for n in {HEAVY!r} if n in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_s22_importing_the_package_loads_nothing_heavy_not_even_numpy():
    script = "import sys, semantic_toolsearch; print('numpy' in sys.modules, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    assert loaded_after("import semantic_toolsearch") == []


def test_s22_no_public_name_loads_an_engine_or_an_sdk():
    assert set(loaded_after("from semantic_toolsearch import *")) <= {"sqlite3"}


def test_s22_building_a_search_loads_no_engine_before_the_first_embedding():
    code = "from semantic_toolsearch import ToolSearch\nToolSearch([{'name': 'a', 'description': 'b'}])"
    assert set(loaded_after(code)) <= {"sqlite3", "regex"}
    loaded = loaded_after(f"{code}.search('b')")
    assert {"onnxruntime", "faiss"} <= set(loaded)
    assert {"torch", "openai", "anthropic", "mcp", "sentence_transformers"}.isdisjoint(loaded)


def test_s22_a_lexical_search_loads_no_model():
    code = (
        "from semantic_toolsearch import ToolSearch\n"
        "assert ToolSearch([{'name': 'a', 'description': 'b c'}], ranker='bm25').search('c').tools"
    )
    assert {"onnxruntime", "faiss", "tokenizers", "torch"}.isdisjoint(loaded_after(code))


@pytest.mark.parametrize("name", semantic_toolsearch.__all__)
def test_every_public_name_resolves_and_says_what_it_is(name):
    value = getattr(semantic_toolsearch, name)
    assert getattr(semantic_toolsearch, name) is value
    if name == "__version__":
        assert value[0].isdigit()
    else:
        assert inspect.getdoc(value)
        assert value.__name__ == name


def test_the_package_shows_its_public_names_and_no_others():
    script = "import semantic_toolsearch as s; print(dir(s) == sorted(s.__all__), len(set(s.__all__)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", str(len(semantic_toolsearch.__all__))]
    namespace = {}
    exec("from semantic_toolsearch import *", namespace)  # noqa: S102 - the statement itself is under test
    del namespace["__builtins__"]
    assert set(namespace) == set(semantic_toolsearch.__all__)


def test_the_names_for_type_checkers_are_those_at_run_time():
    source = inspect.getsource(semantic_toolsearch)
    typed = {line.split(" as ")[1] for line in source.splitlines() if line.startswith("    from ")}
    assert typed | {"__version__"} == set(semantic_toolsearch.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = semantic_toolsearch.no_such_name
    with pytest.raises(ImportError):
        exec("from semantic_toolsearch import no_such_name")  # noqa: S102 - as above


OFFLINE = """
import socket, sys

def refuse(*args, **kwargs):
    raise OSError("the network was used")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from semantic_toolsearch import ToolSearch
tools = [
    {"name": "thermostat_set", "description": "Set the target temperature of a room"},
    {"name": "parcel_track", "description": "Track a shipment by its number"},
    {"name": "vm_halt", "description": "Shut down a virtual machine"},
]
result = ToolSearch(tools).search("where is my package")
assert result.degraded is None
print([hit.name for hit in (*result.tools, *result.hints)][0], "torch" in sys.modules)
"""


def test_s17_embedding_needs_no_network_no_account_and_no_torch(monkeypatch):
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["parcel_track", "False"], done.stderr
