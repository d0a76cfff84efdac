"""A conversation with Anthropic's references goes on in other modes, and beside entries of the caller's own."""

from __future__ import annotations

import pytest
from surfaces import CLAUDE, claude, engine, record, use

from semantic_toolsearch import SearchConfig

USER = {"role": "user", "content": "Keep my book a little longer."}


def found_by_provider(*names):
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    content = [
        {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {"query": "loan"}},
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "s1",
            "content": {"type": "tool_search_tool_search_result", "tool_references": references},
        },
    ]
    return {"role": "assistant", "content": content}


def found_by_us(*names):
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    call = {"type": "tool_use", "id": "s1", "name": "tool_search", "input": {"query": "loan"}}
    result = {"type": "tool_result", "tool_use_id": "s1", "content": references}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


@pytest.mark.parametrize(
    "messages", [[USER, found_by_provider("renewLoan")], [USER, *found_by_us("renewLoan")]]
)
@pytest.mark.parametrize("unloaded", ["stub", "omit"])
@pytest.mark.parametrize("mode", ["bridge", "stub", "reference", "hosted"])
def test_c25_a_conversation_with_references_goes_on_in_every_mode(lib, messages, unloaded, mode):
    search = engine(lib, SearchConfig(ranker="bm25", unloaded=unloaded))
    turn = search.turn([*messages, USER], model=CLAUDE, mode=mode, validate=True)
    assert turn.plan.loaded == ("renewLoan",)
    response = claude(use("tool_search", {"query": "renewLoan"}, "s2"))
    if mode == "bridge":
        (result,) = turn.answer(response)
        assert "readerCard" in record(result)["tools"][0]["parameters"]["properties"]


@pytest.mark.parametrize(
    ("own", "name"),
    [
        (
            {
                "name": "own_tool",
                "description": "x",
                "input_schema": {"type": "object"},
                "defer_loading": True,
            },
            "own_tool",
        ),
        (
            {
                "type": "mcp_toolset",
                "mcp_server_name": "tickets",
                "default_config": {"defer_loading": True},
            },
            "tickets_close",
        ),
    ],
)
def test_references_to_entries_of_the_callers_own_stay(lib, own, name):
    messages = [USER, found_by_provider(name, "renewLoan", "gone"), USER]
    turn = engine(lib).turn(messages, model=CLAUDE, extra=[own], validate=True)
    found = turn.messages[1]["content"][1]["content"]["tool_references"]
    assert [reference["tool_name"] for reference in found] == [name, "renewLoan"]
