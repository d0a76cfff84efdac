"""Gemini contents: what is sent, what is read, and streams that amount to the same."""

from __future__ import annotations

import json

import pytest
from wire_requests import SHOP, obj, record_of, request_of, search_call

from semantic_toolsearch.errors import ConfigError, ConversationError
from semantic_toolsearch.exchange import RawCall, SearchCall
from semantic_toolsearch.facts import Found
from semantic_toolsearch.history import read
from semantic_toolsearch.providers import gemini


def functions(request):
    (entry,) = gemini.render(request)
    assert list(entry) == ["functionDeclarations"]
    return {function["name"]: function for function in entry["functionDeclarations"]}


def part(name="fx_rate", args=None, **fields):
    return {"functionCall": {"name": name, "args": {} if args is None else args, **fields}}


def response(*parts, finish="STOP"):
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": finish}], "modelVersion": "gemini-3-pro"}


# What is sent


def test_bc31_a_stub_is_neither_empty_nor_without_arguments():
    tools = [
        {"name": "ping", "description": "Is it up?"},
        {"name": "pay", "parameters": obj(id={"type": "string"})},
    ]
    found = functions(request_of(tools, "stub", "gemini"))
    for name in ("ping", "pay"):
        schema = found[name]["parametersJsonSchema"]
        assert schema["type"] == "object"
        (argument,) = schema["properties"].values()
        assert argument["type"] == "string"
        assert schema["required"] == list(schema["properties"])
        assert "parameters" not in found[name]
    assert found["pay"]["description"] == "pay"


@pytest.mark.parametrize(
    ("text", "arguments"), [('{"id": "9"}', {"id": "9"}), ("{}", {}), ({"id": 9}, {"id": 9}), ("9", "9")]
)
def test_bc31_a_call_of_a_stub_is_opened(text, arguments):
    (call,) = gemini.parse(response(part("pay", {gemini.STUB_ARGUMENT: text}))).calls
    assert (call.name, call.arguments) == ("pay", arguments)
    (call,) = gemini.parse(response(part("pay", {gemini.STUB_ARGUMENT: "{}", "id": "9"}))).calls
    assert call.arguments == {gemini.STUB_ARGUMENT: "{}", "id": "9"}


def test_bc31_a_tool_without_arguments_has_no_schema_and_an_open_one_keeps_it():
    tools = [
        {"name": "ping"},
        {"name": "open", "parameters": {"type": "object", "additionalProperties": {"type": "string"}}},
        {"name": "closed", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}},
    ]
    found = functions(request_of(tools, "full", "gemini"))
    assert [name for name in found if "parametersJsonSchema" in found[name]] == ["open"]


def test_extra_entries_come_first_and_nothing_is_added_without_functions():
    extra = ({"googleSearch": {}},)
    assert gemini.render(request_of([], "full", "gemini", extra=extra)) == [{"googleSearch": {}}]
    assert list(gemini.render(request_of(SHOP, "full", "gemini", extra=extra))[1]) == ["functionDeclarations"]
    assert gemini.render(request_of([], "full", "gemini")) == []


def test_x03_the_bridge_takes_its_arguments_as_text():
    bridge = functions(request_of(SHOP, "bridge", "gemini"))["call_tool"]
    assert bridge["parametersJsonSchema"]["properties"]["arguments"]["type"] == "string"
    (call,) = gemini.parse(response(part("call_tool", {"name": "pay", "arguments": '{"id": "9"}'}))).calls
    assert (call.name, call.arguments) == ("pay", {"id": "9"})
    assert gemini.call_result(call, "unknown", is_error=True) == {
        "functionResponse": {"name": "call_tool", "response": {"error": "unknown"}}
    }


def test_other_modes_are_refused():
    with pytest.raises(ConfigError, match="'reference' cannot be written as 'gemini'"):
        gemini.render(request_of(SHOP, "reference", "gemini"))


def test_a_record_with_references_travels_as_text_and_reads_back():
    request = request_of(SHOP, "stub", "gemini")
    schemas = {"invoice_create": SHOP[0]["parameters"]}
    record = record_of(request.catalog, ["invoice_create"], schemas=schemas)
    answer = gemini.search_answer(search_call("gemini"), record, request)
    (text,) = answer["functionResponse"]["response"].values()
    assert json.loads(text) == record
    contents = [
        {"role": "model", "parts": [part("tool_search", {"query": "q"}, id="s1")]},
        {"role": "user", "parts": [answer]},
    ]
    (found,) = [event for event in read(contents) if isinstance(event, Found)]
    assert found.names == ((None, "invoice_create"),)


def test_answers_carry_an_id_only_where_the_call_had_one():
    for fields in ({}, {"id": "abc"}):
        (call,) = gemini.parse(response(part(**fields))).calls
        answer = gemini.call_result(call, "done", is_error=False)["functionResponse"]
        assert answer == {**fields, "name": "fx_rate", "response": {"output": "done"}}


# What is read


def test_calls_and_searches_keep_their_order_and_get_ids():
    search = part("tool_search", {"query": "bill"})
    found = gemini.parse(response({"text": "Hm."}, part(args={"pair": "x"}), search, part("pay", id="own")))
    assert found.order == ("call_0", "call_1", "own")
    assert found.searches == (SearchCall("call_1", {"query": "bill"}, search),)
    assert found.calls[0] == RawCall("call_0", "fx_rate", None, {"pair": "x"})
    assert (found.stop, found.complete) == ("STOP", True)


def test_the_python_sdks_names_are_read_too():
    content = {"parts": [{"function_call": {"name": "pay", "args": {"id": "9"}, "id": "c"}}]}
    found = gemini.parse({"candidates": [{"content": content, "finish_reason": "STOP"}]})
    assert found.calls == (RawCall("c", "pay", None, {"id": "9"}),)
    answer = gemini.call_result(found.calls[0], "ok", is_error=False)
    assert answer["functionResponse"]["id"] == "c"


@pytest.mark.parametrize(
    "finish", ["MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "A_REASON_OF_TOMORROW", None]
)
def test_x27_a_cut_response_is_incomplete(finish):
    assert not gemini.parse(response(part(), finish=finish)).complete


def test_a_blocked_prompt_is_incomplete_and_says_why():
    found = gemini.parse({"promptFeedback": {"blockReason": "SAFETY"}})
    assert (found.calls, found.complete, found.stop) == ((), False, "SAFETY")
    assert not gemini.parse({"candidates": [{"finishReason": "SAFETY"}]}).complete


def test_errors_and_foreign_responses_are_named():
    with pytest.raises(ConversationError, match=r"400.*bad request"):
        gemini.parse({"error": {"code": 400, "message": "bad request"}})
    with pytest.raises(ConversationError, match="no 'candidates', only 'content'"):
        gemini.parse({"content": []})


# Streams


def recorded():
    yield response({"text": "Let me", "thought": True}, finish=None)
    yield response({"text": " see.", "thought": True}, {"text": "Se"}, finish=None)
    yield response({"text": "arching", "thoughtSignature": "c2ln"}, {"text": "."}, finish=None)
    yield {**response({**part("tool_search", {"query": "q"}), "thoughtSignature": "eA=="}, finish=None)}
    yield {**response(part(args={"pair": "x"})), "usageMetadata": {"totalTokenCount": 12}}


WHOLE = {
    **response(
        {"text": "Let me see.", "thought": True},
        {"text": "Searching", "thoughtSignature": "c2ln"},
        {"text": "."},
        {**part("tool_search", {"query": "q"}), "thoughtSignature": "eA=="},
        part(args={"pair": "x"}),
    ),
    "usageMetadata": {"totalTokenCount": 12},
}


def test_x27_a_stream_amounts_to_the_complete_response():
    assembled = gemini.assemble(recorded())
    assert assembled == WHOLE
    assert gemini.parse(assembled) == gemini.parse(WHOLE)
    assert gemini.parse(assembled).complete


@pytest.mark.parametrize("kept", range(1, 5))
def test_x27_a_stream_cut_before_its_end_is_incomplete(kept):
    assert not gemini.parse(gemini.assemble(list(recorded())[:kept])).complete


def test_x27_arguments_in_parts_and_errors_are_raised():
    partial = {"functionCall": {"name": "pay", "partialArgs": [{"jsonPath": "$.id"}], "willContinue": True}}
    with pytest.raises(ConversationError, match="streamFunctionCallArguments"):
        gemini.assemble([response(partial, finish=None)])
    with pytest.raises(ConversationError, match="quota"):
        gemini.assemble([{"error": {"status": "RESOURCE_EXHAUSTED", "message": "quota"}}])
    with pytest.raises(ConversationError, match="No response"):
        gemini.assemble([])
