"""A compacted conversation goes on with every provider, its note in the place where that provider takes it."""

from __future__ import annotations

import json

import pytest

from semantic_toolsearch import ToolSearch, compact

TOOLS = [
    {"name": f"tool_{number:02d}", "description": f"Does thing number {number}."} for number in range(20)
] + [{"name": "renewLoan", "description": "Extend the time a reader keeps a book."}]


def conversation():
    record = json.dumps({"query": "loan", "tools": [{"name": "renewLoan"}], "loaded": ["renewLoan"]})
    return [
        {"role": "user", "content": "Keep my book a little longer."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "tool_search", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": record}]},
        {"role": "assistant", "content": "What is your card's number?"},
        {"role": "user", "content": "7"},
    ]


@pytest.mark.parametrize(
    ("model", "options", "inside"),
    [
        ("claude-sonnet-5", {"mode": "stub"}, False),
        ("claude-sonnet-5", {"prefer": "client"}, False),
        ("gemini-3-pro", {}, False),
        ("llama-4", {}, True),
    ],
)
def test_c28_the_note_of_a_compaction_reaches_every_provider(model, options, inside):
    search = ToolSearch(TOOLS, ranker="bm25", cache=False)
    compacted = compact(conversation(), [1, 2], search.catalog)
    turn = search.turn(compacted, model=model, **options)
    roles = [message["role"] for message in turn.messages]
    assert ("system" in roles) is inside
    assert ("renewLoan" in turn.instructions) is not inside
    assert "renewLoan" in turn.plan.full
    assert search.turn(compacted, model=model, **options).instructions == turn.instructions


LOAN = {
    "name": "renewLoan",
    "description": "Extend the time a reader keeps a book.",
    "parameters": {"type": "object", "properties": {"readerCard": {"type": "string"}}},
}


def asked(search, messages):
    """The record of one more search of that conversation, and the conversation with it."""
    turn = search.turn(messages, model="llama-4", mode="bridge", validate=True)
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "tool_search", "arguments": '{"query": "renewLoan"}'},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    (result,) = turn.answer({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]})
    return json.loads(result["content"]), [*messages, message, result]


def test_c28_where_calls_go_through_one_tool_a_search_brings_back_the_schema_that_compaction_took():
    """A note keeps the name; the parameters stood in the search's answer, and nowhere else."""
    search = ToolSearch([*TOOLS[:-1], LOAN], ranker="bm25", cache=False)
    user = {"role": "user", "content": "Keep my book a little longer."}
    record, messages = asked(search, [user])
    assert record["tools"][0]["parameters"] == LOAN["parameters"]
    record, _ = asked(search, messages)
    assert (record["loaded"], record["available"]) == ([], ["renewLoan"])
    record, messages = asked(search, compact(messages, [1, 2], search.catalog))
    assert record["tools"][0]["parameters"] == LOAN["parameters"]
    record, _ = asked(search, messages)
    assert (record["loaded"], record["available"]) == ([], ["renewLoan"])


def test_c28_where_calls_go_through_one_tool_a_search_brings_the_schema_that_a_server_has_changed():
    search = ToolSearch([*TOOLS[:-1], LOAN], ranker="bm25", cache=False)
    _, messages = asked(search, [{"role": "user", "content": "Keep my book a little longer."}])
    changed = {"type": "object", "properties": {"days": {"type": "integer"}}}
    search.replace(None, [*TOOLS[:-1], {**LOAN, "parameters": changed}])
    record, messages = asked(search, messages)
    assert record["tools"][0]["parameters"] == changed
    record, _ = asked(search, messages)
    assert (record["loaded"], record["available"]) == ([], ["renewLoan"])
