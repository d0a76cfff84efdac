"""Some wire formats take only so many tools: stubs are left out, the oldest loads go, and it is said."""

from __future__ import annotations

import json

import pytest

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.support import MOST_TOOLS
from semantic_toolsearch.testing import HashingEmbedder

TARGETS = [("llama-4", "chat"), ("gemini-3-pro", "gemini")]


def _names(api, tools):
    if api == "chat":
        return [entry["function"]["name"] for entry in tools]
    return [each["name"] for entry in tools for each in entry.get("functionDeclarations", ())]


def _tool(number, **fields):
    return {"name": f"stall_{number:03}", "description": f"Sells the ware of number {number}.", **fields}


def _search(tools, **settings):
    return ToolSearch(tools, embedder=HashingEmbedder(), cache=False, config=SearchConfig(**settings))


def _loading(names):
    """A finished search of a Chat Completions conversation that loaded these tools."""
    record = {"query": "", "tools": [{"name": name} for name in names], "loaded": list(names), "note": "x"}
    call = {"id": "s1", "type": "function", "function": {"name": "tool_search", "arguments": "{}"}}
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "s1", "content": json.dumps(record)},
    ]


def _asking(**arguments):
    call = {
        "id": "s2",
        "type": "function",
        "function": {"name": "tool_search", "arguments": json.dumps(arguments)},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


@pytest.mark.parametrize(("model", "api"), TARGETS)
@pytest.mark.parametrize("count", [126, 127, 128, 129, 300])
def test_a_request_never_has_more_tools_than_the_interface_takes(model, api, count):
    turn = _search([_tool(number) for number in range(count)]).turn(
        [], model=model, api=api, mode="stub", validate=True
    )
    names = _names(api, turn.tools)
    assert len(names) <= MOST_TOOLS[api]
    assert "tool_search" in names
    assert len(turn.plan.deferred) == count
    if count + 1 <= MOST_TOOLS[api]:
        assert (turn.plan.unloaded, len(names)) == ("stub", count + 1)
    else:
        assert (turn.plan.unloaded, names) == ("omit", ["tool_search"])


def test_where_stubs_are_left_out_the_search_says_what_there_is():
    tools = [_tool(number, server="north" if number < 90 else "south") for number in range(200)]
    (search,) = _search(tools).turn([], model="llama-4").tools
    assert "north (90), south (110)" in search["function"]["description"]


def test_the_oldest_loads_make_way_and_the_plan_names_them():
    search = _search([_tool(number) for number in range(300)])
    names = search.catalog.wire_names[:130]
    turn = search.turn(_loading(names), model="llama-4", validate=True)
    assert _names("chat", turn.tools) == [*names[3:], "tool_search"]
    assert turn.plan.loaded == names[3:]
    assert set(names[:3]) < set(turn.plan.deferred)
    assert any(", ".join(names[:3]) in warning for warning in turn.plan.warnings)


def test_everything_loaded_needs_no_search_and_may_fill_the_list():
    search = _search([_tool(number) for number in range(128)])
    turn = search.turn(_loading(search.catalog.wire_names), model="llama-4", validate=True)
    assert (turn.plan.mode, len(turn.tools), turn.plan.warnings) == ("full", 128, ())


def test_a_search_announces_only_what_the_next_request_has_room_for():
    tools = [_tool(number, defer="never" if number < 120 else "automatic") for number in range(200)]
    search = _search(tools)
    wanted = list(search.catalog.wire_names[120:135])
    turn = search.turn([{"role": "user", "content": "go"}], model="llama-4", validate=True)
    response = _asking(names=wanted)
    (answer,) = turn.answer(response)
    record = json.loads(answer["content"])
    assert record["loaded"] == wanted[:7]
    assert wanted[7] in record["notes"][-1]
    following = [{"role": "user", "content": "go"}, response["choices"][0]["message"], answer]
    after = turn.next(following)
    assert after.plan.loaded == tuple(wanted[:7])
    assert len(after.tools) == 128


def test_too_many_tools_below_the_threshold_are_deferred_all_the_same():
    search = _search([_tool(number) for number in range(150)], threshold=1_000)
    turn = search.turn([], model="llama-4", validate=True)
    assert (turn.plan.mode, len(turn.plan.deferred)) == ("stub", 150)
    assert "a request may have 128" in turn.plan.reason


def test_the_callers_own_entries_take_room():
    own = [
        {
            "type": "function",
            "function": {
                "name": "mine",
                "description": "x",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ]
    search = _search([_tool(number) for number in range(127)])
    assert search.turn([], model="llama-4").plan.unloaded == "stub"
    assert search.turn([], model="llama-4", extra=own, validate=True).plan.unloaded == "omit"


def test_more_undeferred_tools_than_fit_are_warned_of():
    search = _search([_tool(number, defer="never") for number in range(140)])
    turn = search.turn([], model="llama-4")
    assert len(turn.tools) == 140
    assert any("will be refused" in warning for warning in turn.plan.warnings)


def test_a_server_that_takes_more_can_be_declared():
    search = _search(
        [_tool(number) for number in range(300)], transports={"first_party": {"most_tools": 1_000}}
    )
    turn = search.turn([], model="llama-4", validate=True)
    assert (turn.plan.unloaded, len(turn.tools), turn.plan.room) == ("stub", 301, None)


@pytest.mark.parametrize("model", ["claude-sonnet-5", "gpt-5.4"])
def test_other_interfaces_have_no_such_limit(model):
    turn = _search([_tool(number) for number in range(300)]).turn([], model=model, mode="stub")
    assert (turn.plan.unloaded, len(turn.plan.deferred)) == ("stub", 300)
