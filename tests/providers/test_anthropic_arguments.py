"""Arguments whose names Anthropic refuses: what is sent, what comes back."""

from __future__ import annotations

from copy import deepcopy

import jsonschema
import pytest

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.providers.anthropic_arguments import TOGETHER, opened, sendable
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search
from turn_rounds import converse

TEXT = {"type": "string"}
ODATA = {
    "type": "object",
    "properties": {"$filter": TEXT, "$top": {"type": "integer"}},
    "required": ["$filter"],
}
REST = {"type": "object", "properties": {"filter[name]": TEXT, "page": {"type": "integer"}}}
DATES = {
    "type": "object",
    "properties": {"日付": {"$ref": "#/$defs/日"}},
    "$defs": {"日": {"format": "date", **TEXT}},
}
TREE = {"type": "object", "properties": {"a b": TEXT, "inner": {"$ref": "#"}}, "additionalProperties": False}
LONG = {"type": "object", "properties": {"x" * 65: TEXT}}
CASES = [
    (ODATA, {"$filter": "a eq 1", "$top": 2}),
    (REST, {"filter[name]": "x", "page": 1}),
    (DATES, {"日付": "2025-01-02"}),
    (TREE, {"a b": "x", "inner": {"inner": {"a b": "y"}}}),
    (LONG, {"x" * 65: "y"}),
]


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {"a.b-c_1": TEXT}}])
def test_legal_names_are_sent_as_they_are(schema):
    assert sendable(schema) is schema


@pytest.mark.parametrize(("schema", "arguments"), CASES)
def test_a_wrapped_schema_accepts_the_wrapped_arguments_only(schema, arguments):
    sent = sendable(deepcopy(schema))
    validator = jsonschema.Draft202012Validator(sent)
    assert list(sent["properties"]) == [TOGETHER]
    assert validator.is_valid({TOGETHER: arguments})
    assert not validator.is_valid({TOGETHER: {name: [] for name in arguments}})
    assert not validator.is_valid(arguments)
    assert opened({TOGETHER: arguments}) == arguments


@pytest.mark.parametrize("arguments", [{}, {"a": 1}, {TOGETHER: {}, "a": 1}, "text", None])
def test_other_arguments_are_not_opened(arguments):
    assert opened(arguments) == arguments


def test_an_argument_of_that_very_name_is_wrapped_as_well():
    schema = {"type": "object", "properties": {TOGETHER: TEXT}}
    sent = sendable({**schema})
    assert jsonschema.Draft202012Validator(sent).is_valid({TOGETHER: {TOGETHER: "x"}})
    assert opened({TOGETHER: {TOGETHER: "x"}}) == {TOGETHER: "x"}


@pytest.mark.parametrize("mode", ["full", "hosted", "reference", "stub", "bridge"])
@pytest.mark.parametrize(("schema", "arguments"), CASES)
def test_bc22_one_tool_with_such_names_does_not_fail_the_request(schema, arguments, mode):
    """Kind: schema. Tools of OData and REST interfaces are called through Anthropic as through any other."""
    tools = [
        {
            "name": "query",
            "description": "Query rows",
            "parameters": schema,
            "provider_fields": {"input_examples": [arguments]},
        },
        {"name": "note", "description": "Write a note"},
    ]
    search = ToolSearch(tools, ranker="bm25", cache=False)
    call = Call("query", {TOGETHER: arguments})
    if mode == "bridge":
        call = Call("call_tool", {"name": "query", "arguments": arguments})
    steps = [call, Say("Done.")] if mode == "full" else [Search("query rows"), call, Say("Done.")]
    deferred = {} if mode == "full" else {"deferred_tools": ["query", "note"], "mode": mode}
    with LoopbackProvider(steps) as server:
        run = converse(server, search, "anthropic", **deferred)
        assert (server.failures, server.remaining) == ([], 0)
    assert [(made.name, made.arguments) for made in run.calls] == [("query", arguments)]
