"""Small catalogs that several test files search, and the shortest ways to search them."""

from __future__ import annotations

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing import HashingEmbedder


def t(name, description="", server=None, **properties):
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": properties},
        "namespace": server,
    }


LIB = [
    t(
        "renewLoan",
        "Extend the time a reader keeps a book",
        readerCard={"type": "string", "description": "number printed on the plastic"},
        extraDays={"type": "integer"},
    ),
    t("reserve_title", "Hold a book that is out"),
    t("fee-report", "Unpaid fees by branch"),
    t("find_reader", "Look up a reader"),
]
RANKERS = ("hybrid", "semantic", "bm25", "keyword", "regex")


def lexical(tools=LIB, **options):
    return ToolSearch(tools, **{"ranker": "bm25", "cache": False, **options})


def hashed(tools=LIB, **options):
    return ToolSearch(tools, **{"embedder": HashingEmbedder(), "cache": False, **options})


def names(result):
    return [hit.name for hit in result.tools]


def shown(result):
    return [hit.name for hit in (*result.tools, *result.hints)]


ORDER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["cond"],
    "properties": {"cond": {"$ref": "#/$defs/Cond", "description": "filter"}},
    "$defs": {
        "Cond": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"type": "integer", "minimum": 1}, "kind": {"enum": ["a", "b", None]}},
        }
    },
}
"""Parameters with a definition, a bound and null among the values, as a server sent them."""

TWO_SERVERS = [
    t("search", "Find a page", server="wiki"),
    t("search", "Find a ticket", server="desk"),
    t("edit", "Change a page", server="wiki"),
    t("clock", "Tell the time"),
]
