"""The tool surfaces that the tests of the conversation share."""

from __future__ import annotations

import pytest

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.deferral import plan_turn
from semantic_toolsearch.support import infer_api, lookup

FILES = [
    {"name": "read_file", "description": "Return the text of a file"},
    {"name": "write_file", "description": "Create a file or replace what it holds"},
    {"name": "edit_file", "description": "Change part of a file"},
    {"name": "list_directory", "description": "Show what a folder holds"},
    {"name": "grep_files", "description": "Find lines in files that match a pattern"},
    {"name": "bash", "description": "Run a shell command"},
]

LIB = [
    {
        "name": "renewLoan",
        "description": "Extend the time a reader keeps a book",
        "deferred": True,
        "parameters": {
            "type": "object",
            "properties": {
                "readerCard": {"type": "string", "description": "number printed on the plastic"},
                "extraDays": {"type": "integer"},
            },
            "required": ["readerCard"],
        },
    },
    {"name": "reserve_title", "description": "Hold a book that is out", "deferred": True},
    {"name": "fee-report", "description": "Unpaid fees by branch", "deferred": True},
    {"name": "find_reader", "description": "Look up a reader", "defer": "never"},
]

MAILS = [{"name": f"mail_{number:02}", "description": "x"} for number in range(12)]


def _many(n, **fields):
    return [
        {
            "name": f"tool_{number:02}",
            "description": f"Does the work that has the number {number}.",
            "parameters": {
                "type": "object",
                "properties": {
                    f"p{number:02}{letter}": {"type": "string", "description": f"Part {letter} of the work"}
                    for letter in "abc"
                },
            },
            **fields,
        }
        for number in range(n)
    ]


def _plan(tools, config=None, model="gpt-5.4", *, api=None, transport=None, base_url=None, **options):
    config = config or SearchConfig()
    catalog = tools if isinstance(tools, Catalog) else Catalog(tools, strict=True)
    support = lookup(
        model,
        api=api,
        transport=transport,
        base_url=base_url,
        overrides=config.support,
        transports=config.transports,
        assume_newer=config.assume_newer,
    )
    return plan_turn(catalog, config, api=api or infer_api(model), support=support, **options)


@pytest.fixture(scope="session")
def many():
    """A function that makes n definitions, with more fields for all of them if given."""
    return _many


@pytest.fixture(scope="session")
def files():
    return FILES


@pytest.fixture(scope="session")
def lib():
    return LIB


@pytest.fixture(scope="session")
def mails():
    return MAILS


@pytest.fixture(scope="session")
def plan():
    """A function that looks the model up and plans one turn over definitions."""
    return _plan
