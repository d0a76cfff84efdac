"""What a response tells the programmer about the way to the model."""

from __future__ import annotations

import pytest

from semantic_toolsearch import ToolSearch

TOOLS = [{"name": f"tool_{number:02d}", "description": f"Does thing {number}."} for number in range(16)]


def anthropic(*blocks):
    return {"type": "message", "role": "assistant", "content": list(blocks), "stop_reason": "tool_use"}


def responses(*items):
    return {"object": "response", "status": "completed", "output": list(items)}


CASES = {
    "claude-sonnet-5": (
        anthropic,
        {"type": "tool_use", "id": "toolu_1", "name": "tool_03", "input": {}},
        {
            "type": "server_tool_use",
            "id": "srvtoolu_1",
            "name": "tool_search_tool_bm25",
            "input": {"query": "three"},
        },
    ),
    "gpt-5.4": (
        responses,
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "tool_03",
            "namespace": "tool_03",
            "arguments": "{}",
        },
        {
            "type": "tool_search_call",
            "execution": "server",
            "call_id": None,
            "arguments": {"paths": ["tool_03"]},
        },
    ),
}


@pytest.mark.parametrize("model", CASES)
def test_bc47_a_call_without_any_search_is_the_sign_of_ignored_deferral(model):
    """Kind: hosted. A gateway that ignores deferral answers 200 and charges for every schema."""
    respond, call, search = CASES[model]
    engine = ToolSearch(TOOLS, ranker="bm25", cache=False)
    turn = engine.turn([], model=model)
    (notice,) = turn.notices(respond(call))
    assert "tool_03" in notice
    assert turn.notices(respond(search, call)) == ()
    assert engine.turn([], model=model, never_defer=["tool_03"]).notices(respond(call)) == ()
    assert [ready.name for ready in turn.calls(respond(call))] == ["tool_03"]


def test_bc47_where_calls_without_a_search_are_in_order_nothing_is_said():
    turn = ToolSearch(TOOLS, ranker="bm25", cache=False).turn([], model="claude-sonnet-5", mode="stub")
    assert turn.notices(anthropic(CASES["claude-sonnet-5"][1])) == ()


PROMPT = """You run the back office of a library.
Before anything else call `renew_loan`, then fee-report() for the branch, and read_file for notes.
- renew_loan
Be kind when you search; never call delete_everything."""


def _library(**options):
    tools = [
        {"name": "renew_loan", "description": "Extend the time a reader keeps a book."},
        {"name": "fee-report", "description": "Unpaid fees by branch."},
        {"name": "read_file", "description": "Text of a file.", "defer": "never"},
        {"name": "search", "description": "Find readers."},
        *TOOLS,
    ]
    return ToolSearch(tools, ranker="bm25").turn([], model="llama-4", **options)


def test_a_prompt_that_orders_calls_of_deferred_tools_is_told():
    assert _library().deferred_in(PROMPT) == ("renew_loan", "fee-report")


def test_only_what_is_deferred_and_visible_is_told_of():
    assert _library(never_defer=["renew_loan"]).deferred_in(PROMPT) == ("fee-report",)
    seen = [tool["name"] for tool in TOOLS]
    assert _library(visible=[*seen, "renew_loan"]).deferred_in(PROMPT) == ("renew_loan",)
    assert _library().deferred_in("") == ()
