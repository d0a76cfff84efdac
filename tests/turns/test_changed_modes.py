"""A conversation with Anthropic's references goes on in other modes, and beside entries of the caller's own."""

from __future__ import annotations

import pytest
from surfaces import CLAUDE, GPT, claude, engine, function_call, record, responses, use

from semantic_toolsearch import SearchConfig
from semantic_toolsearch.testing.loopback import Settings, responses_request

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


def gpt_reads(turn):
    """What OpenAI's interface makes of a request."""
    body = {"model": GPT, "tools": turn.tools, "input": turn.messages}
    return responses_request.read_request(body, 0, {}, Settings()).view


def asked(search, messages, item, **options):
    """The conversation with one more item of the model and its answer."""
    turn = search.turn(messages, model=GPT, validate=True, **options)
    gpt_reads(turn)
    return [*messages, item, *turn.results(responses(item), lambda call: "done")]


@pytest.mark.parametrize("mode", ["hosted", "output", "stub"])
def test_c25_a_call_without_a_namespace_is_replayed_where_the_function_has_one(lib, mode):
    """A stub is called by its bare name; a deferred function stands in a namespace of its own name."""
    search = engine(lib)
    found = {
        "type": "tool_search_call",
        "execution": "client",
        "call_id": "s1",
        "arguments": {"query": "renewLoan"},
    }
    messages = asked(search, [USER], {**found, "status": "completed"}, mode="output")
    messages = asked(search, messages, function_call("renewLoan", {"readerCard": "7"}), mode="stub")
    turn = search.turn(messages, model=GPT, mode=mode, validate=True)
    gpt_reads(turn)
    call = next(item for item in turn.messages if item.get("type") == "function_call")
    assert call.get("namespace") == (None if mode == "stub" else "renewLoan")
    assert "namespace" not in messages[3], "the caller's own item stays as it is"
    assert [item for item in turn.messages if item is not call] == messages[:3] + messages[4:]


@pytest.mark.parametrize(
    ("model", "mode"), [(CLAUDE, "reference"), (CLAUDE, "hosted"), (GPT, "output"), (GPT, "hosted")]
)
def test_c25_a_tool_that_moved_into_a_namespace_is_not_taken_for_declared_under_its_old_name(
    lib, model, mode
):
    """The old name still means it, but what the provider has loaded under that name is not this tool."""
    search = engine(lib)
    first = search.turn([USER], model=model, mode=mode, validate=True)
    if model == CLAUDE:
        messages = [USER, found_by_provider("renewLoan")]
    else:
        entry = next(
            (entry for entry in first.tools if entry.get("name") == "renewLoan"),
            {
                **function_call("renewLoan", {}),
                "type": "function",
                "parameters": {"type": "object", "properties": {}},
            },
        )
        common = {"execution": "server", "call_id": None, "status": "completed"}
        messages = [
            USER,
            {"type": "tool_search_call", "arguments": {"paths": []}, **common},
            {"type": "tool_search_output", "tools": [entry], **common},
        ]
    assert search.turn(messages, model=model, mode=mode, validate=True).plan.loaded == ("renewLoan",)
    moved = [{**tool, "namespace": "desk"} for tool in lib if tool["name"] == "renewLoan"]
    search.replace(None, [tool for tool in lib if tool["name"] != "renewLoan"])
    search.replace("desk", moved)
    turn = search.turn([*messages, USER], model=model, mode=mode, validate=True)
    assert turn.plan.loaded == ("desk__renewLoan",)
    assert "desk__renewLoan" in turn.plan.full
