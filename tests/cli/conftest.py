"""The program run in this process, with an embedding cache of the tests' own and a few files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from semantic_toolsearch.cli import app

SHOP = [
    {
        "name": "create_refund",
        "namespace": "shop",
        "description": "Give a customer the money for an order back.",
        "input_schema": {
            "type": "object",
            "properties": {"order": {"type": "string", "description": "Number of the order"}},
        },
    },
    {
        "type": "function",
        "function": {"name": "list_orders", "description": "List the orders of a customer, newest first."},
    },
    {"name": "get_forecast", "namespace": "weather", "description": "Weather of the next days at a place."},
    {"name": "send_message", "namespace": "mail", "description": "Send an e-mail to one or more people."},
    {"name": "no_schema_at_all", "description": "Broken on purpose.", "inputSchema": "text"},
]


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("embeddings")


@pytest.fixture(autouse=True)
def _own_surroundings(cache_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("TOOLSEARCH_CACHE_DIR", str(cache_folder))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def toolsearch():
    """Run the program with these words; the result has exit_code, stdout and stderr."""
    runner = CliRunner()

    def run(*words, stdin=None):
        result = runner.invoke(app, [str(word) for word in words], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def write(tmp_path):
    """Write a value as JSON, or a text as it is, to a file of the test; its name is returned."""

    def file(name, content):
        path = Path(tmp_path, name)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return file


@pytest.fixture
def shop_tools():
    """Four usable tools and one broken one, in three forms."""
    return SHOP


@pytest.fixture
def shop(write, shop_tools):
    """The same in a file; its name is returned."""
    return write("shop.json", shop_tools)
