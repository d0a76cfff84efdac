"""Responses of OpenAI's API read back: whole or streamed, as dicts or as objects of the SDK."""

from __future__ import annotations

import copy
import json

import pytest

from semantic_toolsearch.errors import ConversationError
from semantic_toolsearch.exchange import RawCall, SearchCall, as_dict
from semantic_toolsearch.providers.openai_responses import assemble, call_result, parse, resolve

FUNCTION = {
    "type": "function", "name": "list_open_orders", "description": "Open orders of one customer.",
    "defer_loading": True, "output_schema": None, "strict": True,
    "parameters": {"type": "object", "properties": {"customer_id": {"type": "string"}}},
}  # fmt: skip
HOSTED = [
    {"type": "tool_search_call", "id": "tsc_1", "execution": "server", "call_id": None, "status": "completed",
     "arguments": {"paths": ["crm"]}},
    {"type": "tool_search_output", "id": "tso_1", "execution": "server", "call_id": None, "status": "completed",
     "tools": [{"type": "namespace", "name": "crm", "description": "Customer records.", "tools": [FUNCTION]}]},
    {"type": "function_call", "id": "fc_1", "call_id": "call_9", "name": "list_open_orders", "namespace": "crm",
     "arguments": '{"customer_id":"C-7"}', "status": "completed"},
]  # fmt: skip
CLIENT = [
    {"type": "tool_search_call", "id": "tsc_2", "execution": "client", "call_id": "call_77", "status": "completed",
     "arguments": {"query": "shipping eta", "limit": 5}},
]  # fmt: skip


def response(output, **fields):
    return {
        "id": "resp_1", "object": "response", "created_at": 1_790_000_000, "model": "gpt-5.4", "status": "completed",
        "error": None, "incomplete_details": None, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "output": output, **fields,
    }  # fmt: skip


def stream(output, *, end="response.completed", **fields):
    """The recorded order of events: each item is announced, its text comes in pieces, and it is finished."""
    final = response(output, **fields)
    begun = {**final, "status": "in_progress", "output": []}
    events = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(output):
        announced = {**item, "status": "in_progress"} if "status" in item else dict(item)
        whole = item.get("arguments") if item["type"] == "function_call" else None
        if whole is not None:
            announced["arguments"] = ""
        events.append({"type": "response.output_item.added", "output_index": index, "item": announced})
        if whole is not None:
            part = {"output_index": index, "item_id": item.get("id", "fc_x")}
            events += [
                {"type": "response.function_call_arguments.delta", **part, "delta": piece, "obfuscation": "x"}
                for piece in (whole[:7], whole[7:])
            ]
            done = {
                "type": "response.function_call_arguments.done",
                **part,
                "arguments": whole,
                "name": item["name"],
            }
            events.append(done)
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": end, "response": final})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def as_objects(values, kind):
    """What the SDK makes of JSON that comes from the wire."""
    models = pytest.importorskip("openai._models")
    types = pytest.importorskip("openai.types.responses")
    made = types.Response if kind == "response" else types.ResponseStreamEvent
    return [models.construct_type(type_=made, value=copy.deepcopy(value)) for value in values]


FORMS = ["whole", "whole object", "stream", "stream of objects"]


def read(form, output, **fields):
    """The response as `parse` gets it in each of four forms."""
    if form == "whole":
        return response(output, **fields)
    if form == "whole object":
        return as_objects([response(output, **fields)], "response")[0]
    events = stream(output, **fields)
    return assemble(events if form == "stream" else as_objects(events, "event"))


@pytest.mark.parametrize("form", FORMS)
def test_e44_o08_o12_x27_a_hosted_response_is_one_call_in_every_form(form):
    found = parse(read(form, HOSTED))
    assert found.calls == (RawCall("call_9", "list_open_orders", "crm", {"customer_id": "C-7"}),)
    assert found.searches == ()
    assert found.order == ("call_9",)
    assert found.complete
    assert found.stop == "completed"
    assert found.open_searches == found.hosted_errors == ()
    assert call_result(found.calls[0], "none")["call_id"] == "call_9"


@pytest.mark.parametrize("form", FORMS)
def test_o12_x27_a_client_search_is_read_in_every_form(form):
    found = parse(read(form, CLIENT))
    assert found.searches == (SearchCall("call_77", {"query": "shipping eta", "limit": 5}, {}),)
    assert found.calls == ()
    assert found.order == ("call_77",)
    assert found.searches[0].raw["id"] == "tsc_2"


@pytest.mark.parametrize("output", [HOSTED, CLIENT, [*CLIENT, HOSTED[2]]])
def test_x27_a_stream_makes_up_the_output_of_the_complete_response(output):
    assert assemble(stream(output)) == response(output)
    assert assemble(as_objects(stream(output), "event"))["output"] == output


def test_o13_the_id_of_the_finished_item_counts():
    events = stream(CLIENT)
    events[2]["item"]["call_id"] = "call_announced"
    found = parse(assemble(events))
    assert [search.id for search in found.searches] == ["call_77"]
    assert [search.id for search in parse(assemble(as_objects(events, "event"))).searches] == ["call_77"]


def test_o13_hosted_searches_are_paired_in_order():
    twice = [HOSTED[0], HOSTED[1], {**HOSTED[0], "id": "tsc_b"}, {**HOSTED[1], "id": "tso_b"}]
    assert parse(response(twice)).open_searches == ()
    crossed = [twice[0], twice[2], twice[1], twice[3]]
    assert parse(response(crossed)).open_searches == ()
    assert parse(response([twice[0], twice[2], twice[1]])).open_searches == ("tsc_b",)
    assert parse(response([*CLIENT, HOSTED[0]])).open_searches == ("tsc_1",)


def test_x23_several_calls_and_a_search_keep_their_order():
    second = {**HOSTED[2], "call_id": "call_2", "name": "get_profile"}
    found = parse(response([second, *CLIENT, HOSTED[2]]))
    assert found.order == ("call_2", "call_77", "call_9")
    assert [call.id for call in found.calls] == ["call_2", "call_9"]


def test_o16_o21_namespace_and_caller_are_carried_through_unchanged():
    caller = {"type": "program", "caller_id": "prog_1"}
    program = {"type": "program", "id": "prog_1", "code": "x", "fingerprint": "opaque=="}
    call = {**HOSTED[2], "caller": caller}
    whole = response([program, call])
    found = parse(whole)
    assert found.calls[0].caller == caller
    assert found.calls[0].namespace == "crm"
    assert found.calls[0].raw == call
    assert whole["output"][0] == program
    assert assemble(stream([program, call]))["output"] == [program, call]
    assert call_result(found.calls[0], "bad arguments", is_error=True)["caller"] == caller


def test_o27_unknown_items_fields_and_events_stay_where_they_are():
    future = {"type": "future_item", "id": "fut_1", "payload": {"deep": [1, 2]}}
    odd = [future, {**HOSTED[2], "new_field": {"a": 1}}, {**future, "id": "fut_2"}]
    events = stream(odd)
    events.insert(3, {"type": "response.future.delta", "output_index": 0, "delta": "?"})
    events.insert(0, {"type": "keepalive"})
    assert assemble(events)["output"] == odd
    found = parse(response(odd))
    assert found.order == ("call_9",)
    assert found.calls[0].raw["new_field"] == {"a": 1}


# The SDK's own dump warns of a class that does not fit the type; the content is whole all the same.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_o27_an_item_the_sdk_does_not_know_survives_its_objects():
    future = {"type": "future_item", "id": "fut_1", "payload": {"deep": [1, 2]}}
    made = as_objects([response([future, HOSTED[2]])], "response")[0]
    assert as_dict(made)["output"][0] == future
    assert parse(made).order == ("call_9",)


def test_o14_replay_needs_no_change_of_what_came():
    whole = response(HOSTED)
    before = json.dumps(whole)
    parse(whole)
    assert json.dumps(whole) == before
    assert [as_dict(item) for item in as_objects([whole], "response")[0].output] == HOSTED


@pytest.mark.parametrize(
    ("fields", "stop"),
    [
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "max_output_tokens",
        ),
        ({"status": "failed", "error": {"code": "server_error", "message": "x"}}, "failed"),
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "in_progress"}, "in_progress"),
    ],
)
def test_x27_nothing_of_an_unfinished_response_may_run(fields, stop):
    found = parse(response(HOSTED, **fields))
    assert not found.complete
    assert found.stop == stop


def test_x27_a_stream_stopped_by_the_token_limit_hands_out_nothing_to_run():
    cut = {**HOSTED[2], "arguments": '{"customer', "status": "incomplete"}
    details = {"reason": "max_output_tokens"}
    events = stream(
        [*HOSTED[:2], cut], end="response.incomplete", status="incomplete", incomplete_details=details
    )
    found = parse(assemble(events))
    assert not found.complete
    assert found.stop == "max_output_tokens"
    assert not parse(response([cut])).complete  # the item alone says it too


@pytest.mark.parametrize("kept", range(1, 11))
def test_x27_a_stream_that_breaks_off_is_incomplete_at_any_event(kept):
    events = stream(HOSTED)
    assert len(events) == 12
    whole = assemble(events[:kept])
    assert whole["status"] == "incomplete"
    found = parse(whole)
    assert not found.complete
    assert found.stop == "stream_ended"
    finished = [
        event["output_index"] for event in events[:kept] if event["type"] == "response.output_item.done"
    ]
    assert whole["output"][: len(finished)] == HOSTED[: len(finished)]
    assert all(item["status"] == "incomplete" for item in whole["output"][len(finished) :])


def test_x27_pieces_of_an_unfinished_call_are_joined():
    events = stream([HOSTED[2]])[:5]
    assert assemble(events)["output"][0]["arguments"] == '{"customer_id":"C-7"}'
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": ""}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": custom},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "SELECT "},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "1"},
    ]
    assert assemble(events)["output"] == [{**custom, "input": "SELECT 1", "status": "incomplete"}]


def test_x27_the_final_output_counts_where_items_were_not_streamed():
    final = {"type": "response.completed", "response": response(HOSTED)}
    assert assemble([final]) == response(HOSTED)
    empty = stream(HOSTED)
    empty[-1]["response"]["output"] = []
    assert assemble(empty)["output"] == HOSTED


def test_assemble_reads_its_events_and_leaves_them_alone():
    events = stream([HOSTED[2]])
    before = json.dumps(events)
    whole = assemble(event for event in events)
    whole["output"][0]["name"] = "changed"
    assert json.dumps(events) == before


def test_errors_of_the_stream_are_raised_and_an_empty_one_is_none():
    error = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down.", "param": None}
    with pytest.raises(ConversationError, match=r"rate_limit_exceeded.*Slow down"):
        assemble([*stream(HOSTED)[:4], error])
    with pytest.raises(ConversationError, match="no response"):
        assemble([])
    failed = response([], status="failed", error={"code": "server_error", "message": "x"})
    assert assemble([{"type": "response.failed", "response": failed}]) == failed


def test_what_is_no_response_is_refused():
    for wrong in ({"error": {"message": "no", "code": "c"}}, {"content": []}, "text", None):
        with pytest.raises(ConversationError):
            parse(wrong)


@pytest.mark.parametrize(
    ("arguments", "read_as"),
    [('{"a":1}', {"a": 1}), ("", {}), (None, {}), ('{"a":', '{"a":'), ("[1]", "[1]"), ({"a": 1}, {"a": 1})],
)
def test_arguments_are_an_object_or_the_text_that_was_none(arguments, read_as):
    (call,) = parse(response([{**HOSTED[2], "arguments": arguments}])).calls
    assert call.arguments == read_as


def test_own_tools_are_known_by_name_as_functions():
    search = {
        "type": "function_call",
        "call_id": "call_1",
        "name": "tool_search",
        "arguments": '{"query":"x"}',
    }
    for namespace in ({}, {"namespace": None}, {"namespace": "tool_search"}):
        found = parse(response([{**search, **namespace}]))
        assert found.searches == (SearchCall("call_1", {"query": "x"}, {}),)
    other = parse(response([{**search, "namespace": "crm"}]))
    assert other.searches == ()
    assert other.calls[0].namespace == "crm"


def test_a_custom_call_has_its_text_as_the_argument_input():
    call = {
        "type": "custom_tool_call",
        "call_id": "call_1",
        "name": "sql",
        "namespace": "db",
        "input": "SELECT 1",
    }
    (found,) = parse(response([call])).calls
    assert found.arguments == {"input": "SELECT 1"}
    assert call_result(found, "1")["type"] == "custom_tool_call_output"


def test_resolve_reads_the_pairs_of_a_hosted_response():
    from responses_requests import CRM, request_of

    (call,) = parse(response(HOSTED)).calls
    assert resolve(request_of(CRM, "hosted"), call.name, call.namespace) == 0
