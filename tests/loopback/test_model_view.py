"""What the model sees of a request, what it costs, and what the prompt cache would keep."""

from __future__ import annotations

import json
from typing import Any

import pytest
from loopback_requests import (
    ARGUMENTS,
    BM25,
    CLAUDE,
    CLAUDE_CLOCK,
    CLAUDE_FX,
    CLAUDE_SEARCH,
    CLAUDE_STOCK,
    CLIENT,
    CLOCK_FUNCTION,
    CRM,
    FX,
    FX_FUNCTION,
    GPT,
    HOSTED,
    STOCK,
    STOCK_FUNCTION,
    USER,
    chat_tool,
    claude,
    claude_tool,
    function,
    gpt,
    replayed,
    result,
    schema,
)

from semantic_toolsearch.testing.loopback import CacheUse, Call, LoopbackProvider, Say, Search


def test_o02_namespaces_hide_their_functions_and_flat_functions_their_parameters(
    talking: LoopbackProvider,
) -> None:
    hidden_crm = {**CRM, "name": "hidden", "tools": CRM["tools"][1:]}
    mcp = {
        "type": "mcp", "server_label": "tickets", "server_url": "https://mcp.example/", "headers": {"Key": "secret"},
        "server_description": "Support tickets.", "defer_loading": True,
    }  # fmt: skip
    gpt(talking).responses.create(
        model=GPT, input="Hi", tools=[CRM, hidden_crm, FX_FUNCTION, mcp, CLOCK_FUNCTION, HOSTED]
    )
    view = talking.model_view(0)
    crm, hidden, fx, server, clock, search = view.up_front
    assert set(hidden) == {"type", "name", "description"}
    assert [tool["name"] for tool in crm["tools"]] == ["get_profile"]
    assert (fx["name"], fx["description"], "parameters" in fx) == ("fx_rate", FX, False)
    assert server["server_description"] == "Support tickets."
    assert "server_url" not in server
    assert (clock, search) == (CLOCK_FUNCTION, HOSTED)
    text = json.dumps(view.up_front)
    assert "list_orders" not in text
    assert "base" not in text
    assert view.hidden == ("list_orders", "list_orders", "fx_rate")
    assert view.loaded == ()


def test_deferred_tools_of_claude_are_hidden_whole(talking: LoopbackProvider) -> None:
    cached = {**CLAUDE_CLOCK, "cache_control": {"type": "ephemeral"}}
    claude(talking).messages.create(
        model=CLAUDE, max_tokens=9, messages=[USER], tools=[BM25, CLAUDE_FX, CLAUDE_STOCK, cached]
    )
    view = talking.model_view(0)
    assert view.up_front == (BM25, CLAUDE_CLOCK)
    assert STOCK not in json.dumps(view.up_front)
    assert view.search is not None
    assert (view.search.kind, view.search.hosted) == ("bm25", True)
    assert (view.knowledge("clock"), view.knowledge("fx_rate"), view.knowledge("gone")) == (
        "full",
        "blind",
        "unknown",
    )


def test_loaded_definitions_are_counted_and_the_view_stays_as_it_was_before_the_answer() -> None:
    tools = [BM25, CLAUDE_FX, CLAUDE_STOCK]
    with LoopbackProvider([Search("currency"), Call("fx_rate", ARGUMENTS), Say("0.92")]) as server:
        first = claude(server).messages.create(model=CLAUDE, max_tokens=9, messages=[USER], tools=tools)
        messages = [USER, replayed(first), result(first.content[-1].id)]
        claude(server).messages.create(model=CLAUDE, max_tokens=9, messages=messages, tools=tools)
    before, after = server.model_view(0), server.model_view(1)
    assert (before.loaded, before.emitted, before.hidden) == ((), [], ("fx_rate", "stock_quote"))
    assert [tool["name"] for tool in after.loaded] == ["fx_rate"]
    assert "defer_loading" not in after.loaded[0]
    assert before.tokens < after.tokens
    assert after.tokens - before.tokens == pytest.approx(len(json.dumps(after.loaded[0])) / 4, rel=0.2)


def test_a_refused_request_has_no_view(talking: LoopbackProvider) -> None:
    with pytest.raises(Exception, match="require tools"):
        gpt(talking).responses.create(model=GPT, input="Hi", tools=[FX_FUNCTION])
    with pytest.raises(LookupError, match="was refused"):
        talking.model_view(0)
    assert talking.cache(0) == CacheUse()


def test_an_output_of_a_client_search_is_what_the_model_reads(talking: LoopbackProvider) -> None:
    newer = {**FX_FUNCTION, "description": "Newer."}
    call = {"type": "tool_search_call", "execution": "client", "call_id": "c1", "arguments": {}}
    found = {"type": "tool_search_output", "execution": "client", "call_id": "c1", "tools": [newer, CRM]}
    items: Any = [USER, call, found]
    gpt(talking).responses.create(model=GPT, input=items, tools=[FX_FUNCTION, CLIENT])
    view = talking.model_view(0)
    assert [tool["description"] for tool in view.loaded] == [
        "Newer.",
        *(tool["description"] for tool in CRM["tools"]),
    ]
    assert view.knowledge("crm.list_orders") == view.knowledge("crm__list_orders") == "loaded"
    assert view.results == ("fx_rate\ncrm",)


# The prompt cache.

LONG = [
    claude_tool(f"tool_{n}", "Does one of many things. " * 5, schema("first", "second")) for n in range(40)
]
MARK = {"cache_control": {"type": "ephemeral"}}


def _marked(tools: list[Any]) -> list[Any]:
    return [*tools[:-1], {**tools[-1], **MARK}]


def _talk(server: LoopbackProvider, tool_lists: list[Any]) -> list[CacheUse]:
    messages: list[Any] = [USER]
    for tools in tool_lists:
        message = claude(server).messages.create(model=CLAUDE, max_tokens=9, messages=messages, tools=tools)
        messages += [replayed(message), USER]
        usage, use = message.usage, server.cache(-1)
        assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (use.read, use.written)
    return [server.cache(index) for index in range(len(tool_lists))]


def test_a_marked_prefix_is_written_once_and_read_after(talking: LoopbackProvider) -> None:
    first, second, third = _talk(talking, [_marked(LONG)] * 3)
    assert first.written > 1_024
    assert (first.read, second.read, third.read) == (0, first.written, first.written)
    assert (second.written, third.written) == (0, 0)
    assert first.fresh < second.fresh < third.fresh


def test_another_tool_rewrites_the_prefix_and_a_deferred_one_does_not(talking: LoopbackProvider) -> None:
    stub = claude_tool("fx_rate", FX, {"type": "object", "additionalProperties": True})
    whole = {key: value for key, value in CLAUDE_FX.items() if key != "defer_loading"}
    by_stub = _talk(talking, [_marked([stub, *LONG]), _marked([whole, *LONG]), _marked([whole, *LONG])])
    assert by_stub[1].read == 0
    assert by_stub[1].written > by_stub[0].written
    assert by_stub[2].read == by_stub[1].written
    before = len(talking.requests)
    _talk(
        talking,
        [_marked([CLAUDE_SEARCH, *LONG]), [CLAUDE_FX, CLAUDE_STOCK, *_marked([CLAUDE_SEARCH, *LONG])]],
    )
    assert talking.cache(before + 1).read == talking.cache(before).written > 0


def test_nothing_is_kept_without_a_mark_or_below_the_minimum(talking: LoopbackProvider) -> None:
    assert [use.read + use.written for use in _talk(talking, [LONG, LONG])] == [0, 0]
    assert [use.read + use.written for use in _talk(talking, [_marked([CLAUDE_CLOCK])] * 2)] == [0, 0]
    with LoopbackProvider([Say("Yes."), Say("No.")], cache_minimum=0) as server:
        small = _talk(server, [_marked([CLAUDE_CLOCK])] * 2)
    assert small[0].written == small[1].read > 0


def test_a_mark_on_the_whole_request_moves_with_the_conversation(talking: LoopbackProvider) -> None:
    for messages in ([USER], [USER, {"role": "assistant", "content": "Yes."}, USER]):
        claude(talking).messages.create(
            model=CLAUDE, max_tokens=9, messages=messages, tools=LONG, cache_control={"type": "ephemeral"}
        )
    first, second = talking.cache(0), talking.cache(1)
    assert (first.fresh, second.fresh, second.read) == (0, 0, first.written)
    assert 0 < second.written < first.written


def test_openai_keeps_prefixes_by_itself(talking: LoopbackProvider) -> None:
    tools = [
        function(f"tool_{n}", "Does one of many things. " * 5, schema("first", "second")) for n in range(40)
    ]
    deferred = [STOCK_FUNCTION, FX_FUNCTION, HOSTED]
    usage = [
        gpt(talking).responses.create(model=GPT, input=text, tools=tools + deferred).usage
        for text in ("One", "Two")
    ]
    first, second = talking.cache(0), talking.cache(1)
    assert (first.read, first.written % 128, second.read % 128) == (0, 0, 0)
    assert second.read == first.written > 1_024
    assert usage[1].input_tokens_details.cached_tokens == second.read
    assert usage[1].input_tokens == second.total
    gpt(talking).responses.create(model=GPT, input="Two", tools=[CLOCK_FUNCTION, *tools, *deferred])
    assert talking.cache(2).read == 0
    gpt(talking).responses.create(model="gpt-5.5", input="Two", tools=tools + deferred)
    assert talking.cache(3).read == 0


def test_a_replayed_history_is_the_same_prompt_as_a_stored_one() -> None:
    tools = [FX_FUNCTION, HOSTED]
    with LoopbackProvider(
        [Search(paths=("fx_rate",)), Call("fx_rate", ARGUMENTS)] + [Say("0.92")] * 2
    ) as server:
        first = gpt(server).responses.create(model=GPT, input="Convert", tools=tools)
        answer: Any = {"type": "function_call_output", "call_id": first.output[-1].call_id, "output": "0.92"}
        gpt(server).responses.create(model=GPT, input=[answer], tools=tools, previous_response_id=first.id)
        history: Any = [{"role": "user", "content": "Convert", "type": "message"}, *first.output, answer]
        gpt(server).responses.create(model=GPT, input=history, tools=tools)
    assert server.cache(1).total == server.cache(2).total


def test_chat_keeps_prefixes_by_itself(talking: LoopbackProvider) -> None:
    tools = [
        chat_tool(f"tool_{n}", "Does one of many things. " * 5, schema("first", "second")) for n in range(40)
    ]
    for _ in range(2):
        answer = gpt(talking).chat.completions.create(model="gpt-4.1", messages=[USER], tools=tools)
    assert answer.usage.prompt_tokens_details.cached_tokens == talking.cache(1).read > 1_024
