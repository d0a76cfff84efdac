"""Chat Completions: what is sent, what is read, and streams that amount to the same."""

from __future__ import annotations

import json

import pytest
from wire_requests import OPENAI_STUB, SHOP, many, record_of, request_of, search_call

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.errors import ConfigError, ConversationError
from semantic_toolsearch.exchange import RawCall, SearchCall, TurnPlan, TurnRequest
from semantic_toolsearch.facts import Found
from semantic_toolsearch.history import read
from semantic_toolsearch.providers import openai_chat
from semantic_toolsearch.providers.validate import validate


def call(name="fx_rate", arguments='{"pair": "EURUSD"}', call_id="call_B", **fields):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def completion(*calls, finish="tool_calls", content=None):
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.4",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }


# What is sent


@pytest.mark.parametrize("mode", ["hosted", "reference", "output"])
def test_e13_hosted_and_deferring_modes_are_refused(mode):
    catalog = request_of(SHOP, "full", "chat").catalog
    plan = TurnPlan(mode, "chat", "", (), catalog.wire_names, search="openai")
    with pytest.raises(ConfigError, match=f"{mode!r} cannot be written as 'chat'"):
        openai_chat.render(TurnRequest(catalog, plan))


def test_e58_e59_the_exact_entries_of_a_stub_request():
    tools = openai_chat.render(request_of(many(2), "stub", "chat", loaded=("tool_01",)))
    assert [entry["type"] for entry in tools] == ["function"] * 3
    loaded, search, stub = (entry["function"] for entry in tools)
    assert loaded == {
        "name": "tool_01",
        "description": "Does task number 1.",
        "parameters": many(2)[1]["parameters"],
    }
    assert search["name"] == "tool_search"
    assert stub["description"] == "Does task number 0."
    assert json.dumps(stub["parameters"], separators=(",", ":")) == OPENAI_STUB


def test_strict_is_for_full_tools_only():
    full = openai_chat.render(request_of(SHOP, "full", "chat"))
    assert {e["function"]["name"]: e["function"].get("strict") for e in full} == {
        "invoice_create": None,
        "fx_rate": True,
        "list_branches": None,
    }
    assert not any("strict" in e["function"] for e in openai_chat.render(request_of(SHOP, "stub", "chat")))


def test_an_empty_description_is_left_out():
    (entry,) = openai_chat.render(request_of([{"name": "a", "strict": None}], "full", "chat"))
    assert entry["function"] == {"name": "a", "parameters": {"type": "object", "properties": {}}}


def test_search_answers_read_back_as_loaded():
    request = request_of(SHOP, "stub", "chat")
    record = record_of(request.catalog, ["fx_rate", "invoice_create"])
    answer = openai_chat.search_answer(search_call(call_id="call_S"), record, request)
    assert {key: answer[key] for key in ("role", "tool_call_id")} == {
        "role": "tool",
        "tool_call_id": "call_S",
    }
    assert json.loads(answer["content"]) == record
    asked = {"role": "assistant", "tool_calls": [call("tool_search", '{"query": "q"}', "call_S")]}
    (found,) = [event for event in read([asked, answer]) if isinstance(event, Found)]
    assert found.names == ((None, "fx_rate"), (None, "invoice_create"))


@pytest.mark.parametrize("is_error", [True, False])
def test_call_results_carry_the_text(is_error):
    result = openai_chat.call_result(RawCall("c1", "x", None, {}), "no such tool \udfff", is_error=is_error)
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "no such tool \ufffd"}


# What is read


def test_calls_and_searches_keep_their_order():
    search = call("tool_search", '{"query": "bill"}', "call_S")
    found = openai_chat.parse(completion(call(call_id="call_A"), search, call()))
    assert found.order == ("call_A", "call_S", "call_B")
    assert found.searches == (SearchCall("call_S", {"query": "bill"}, search),)
    assert found.calls[0] == RawCall("call_A", "fx_rate", None, {"pair": "EURUSD"})
    assert (found.stop, found.complete, found.resume) == ("tool_calls", True, False)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        (None, {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1', '{"a": 1'),
        ("[1]", "[1]"),
        ('{"a": NaN}', '{"a": NaN}'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_x03_arguments_are_an_object_or_the_text_that_was_none(text, arguments):
    (found,) = openai_chat.parse(completion(call(arguments=text))).calls
    assert found.arguments == arguments


@pytest.mark.parametrize(
    ("finish", "complete"), [("length", False), ("content_filter", False), (None, False), ("stop", True)]
)
def test_x27_a_cut_response_is_incomplete(finish, complete):
    assert openai_chat.parse(completion(call(), finish=finish)).complete == complete


def test_what_compatible_servers_leave_out():
    calls = [call(call_id=""), call("list_branches", {}, None), "noise"]
    found = openai_chat.parse(completion(*calls, finish="stop"))
    assert found.order == ("call_0", "call_1")
    assert openai_chat.parse(completion(finish="stop", content="hi")).calls == ()
    assert not openai_chat.parse({"choices": []}).complete


def test_custom_and_legacy_calls():
    custom = {"id": "call_X", "type": "custom", "custom": {"name": "run", "input": "{}"}}
    response = completion(custom)
    response["choices"][0]["message"]["function_call"] = {"name": "old", "arguments": "{}"}
    assert openai_chat.parse(response).calls == (RawCall("call_X", "run", None, "{}"),)


def test_bc44_the_bridge_is_unwrapped():
    given = json.dumps({"name": "pay", "arguments": '{"id": "9"}'})
    (found,) = openai_chat.parse(completion(call("call_tool", given))).calls
    assert (found.name, found.arguments, found.raw["function"]["name"]) == ("pay", {"id": "9"}, "call_tool")


def test_errors_and_foreign_responses_are_named():
    with pytest.raises(ConversationError, match=r"rate_limit.*Slow down"):
        openai_chat.parse({"error": {"code": "rate_limit", "message": "Slow down"}})
    with pytest.raises(ConversationError, match="no 'choices', only 'output'"):
        openai_chat.parse({"output": []})


def test_sdk_objects_read_like_dicts():
    chat = pytest.importorskip("openai.types.chat")
    response = completion(call(), call("tool_search", '{"query": "q"}', "call_S"))
    assert openai_chat.parse(chat.ChatCompletion.model_validate(response)) == openai_chat.parse(response)


# Streams


def chunk(delta=None, finish=None, **fields):
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5.4"}
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {**base, "choices": choices, **fields}


def part(index, arguments=None, call_id=None, name=None):
    found = {"index": index, "function": {}}
    if call_id is not None:
        found.update(id=call_id, type="function")
    if name is not None:
        found["function"]["name"] = name
    if arguments is not None:
        found["function"]["arguments"] = arguments
    return found


def recorded():
    yield chunk({"role": "assistant", "content": None})
    yield chunk({"tool_calls": [part(0, "", "call_A", "fx_rate")]})
    yield chunk({"tool_calls": [part(0, '{"pair": "EUR')]})
    yield chunk({"tool_calls": [part(1, "", "call_S", "tool_search")]})
    yield chunk({"tool_calls": [part(1, '{"query": "q"}'), part(0, 'USD"}')]})
    yield chunk({}, "tool_calls")
    yield chunk(usage={"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12})


WHOLE = {
    **completion(call(call_id="call_A"), call("tool_search", '{"query": "q"}', "call_S")),
    "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
}


def test_x27_a_stream_amounts_to_the_complete_response():
    assembled = openai_chat.assemble(recorded())
    assert assembled == WHOLE
    assert openai_chat.parse(assembled) == openai_chat.parse(WHOLE)


def test_x27_sdk_chunks_and_the_sdks_own_accumulation_agree():
    chat = pytest.importorskip("openai.types.chat")
    from openai.lib.streaming.chat import ChatCompletionStreamState

    chunks = [chat.ChatCompletionChunk.model_validate(event) for event in recorded()]
    state = ChatCompletionStreamState()
    for event in chunks:
        state.handle_chunk(event)
    theirs = state.get_final_completion()
    assembled = openai_chat.assemble(chunks)
    assert openai_chat.parse(assembled) == openai_chat.parse(theirs)
    assert chat.ChatCompletion.model_validate(assembled).usage == theirs.usage


def test_x27_text_and_unknown_parts_grow():
    deltas = [
        {"role": "assistant", "content": "", "reasoning_content": "So "},
        {"role": "assistant", "content": "Hel", "reasoning_content": "it is."},
        {"content": "lo", "details": [{"a": 1}]},
        {"details": [{"b": 2}], "refusal": None},
    ]
    events = [chunk(delta, obfuscation="xx") for delta in deltas]
    assembled = openai_chat.assemble([*events, chunk({}, "stop")])
    assert assembled["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Hello",
        "reasoning_content": "So it is.",
        "details": [{"a": 1}, {"b": 2}],
        "refusal": None,
    }
    assert "obfuscation" not in assembled


@pytest.mark.parametrize("index", [0, None])
def test_x27_calls_that_share_an_index_are_told_apart_by_id(index):
    calls = [call("a", '{"x":1}', "c1"), call("b", '{"y":2}', "c2")]
    events = [
        chunk({"tool_calls": [{**one, **({} if index is None else {"index": index})}]}) for one in calls
    ]
    assembled = openai_chat.assemble([*events, chunk({}, "tool_calls")])
    assert assembled["choices"][0]["message"]["tool_calls"] == calls


def test_x27_a_repeated_name_is_one_name():
    events = [
        chunk({"tool_calls": [part(0, '{"a"', "c1", "fx_rate")]}),
        chunk({"tool_calls": [part(0, ":1}", "c1", "fx_rate")]}),
        chunk({}, "tool_calls"),
    ]
    (found,) = openai_chat.parse(openai_chat.assemble(events)).calls
    assert (found.name, found.id, found.arguments) == ("fx_rate", "c1", {"a": 1})


@pytest.mark.parametrize("kept", range(1, 6))
def test_x27_a_stream_cut_before_its_end_is_incomplete(kept):
    assert not openai_chat.parse(openai_chat.assemble(list(recorded())[:kept])).complete


def test_x27_errors_in_a_stream_are_raised():
    with pytest.raises(ConversationError, match="overloaded"):
        openai_chat.assemble([*list(recorded())[:2], {"error": {"code": 503, "message": "overloaded"}}])
    with pytest.raises(ConversationError, match="No chunk"):
        openai_chat.assemble([])


@pytest.mark.parametrize(("said", "schema", "sent"), [
    (True, {"type": "object"}, False),
    (True, {"type": "object", "properties": {}, "additionalProperties": False}, True),
    (False, {"type": "object"}, False),
    (None, {"type": "object"}, None),
])  # fmt: skip
def test_strict_is_sent_where_the_definition_asks_and_the_schema_allows(said, schema, sent):
    """One strict function whose schema is not fails the whole request."""
    tool = {"name": "a", "parameters": {**schema}, **({} if said is None else {"strict": said})}
    turn = ToolSearch([tool], cache=False).turn([], api="chat")
    assert turn.tools[0]["function"].get("strict") is sent
    assert validate("chat", turn.tools) == ()


def test_an_array_without_items_gets_items_of_any_kind():
    tool = {"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": "array"}}}}
    turn = ToolSearch([tool], cache=False).turn([], api="chat")
    assert turn.tools[0]["function"]["parameters"]["properties"]["x"] == {"type": "array", "items": {}}
    assert validate("chat", turn.tools) == ()
