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
