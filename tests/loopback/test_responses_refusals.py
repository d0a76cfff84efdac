"""Each rule of the Responses interface, broken through the real SDK, and what stands beside it and is legal."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from loopback_requests import (
    CLIENT,
    CLOCK_FUNCTION,
    CRM,
    FX_FUNCTION,
    GPT,
    HOSTED,
    STOCK_FUNCTION,
    chat_tool,
    function,
    gpt,
    schema,
)

from semantic_toolsearch.testing.loopback import LoopbackProvider, Say

TOOLS = [CRM, FX_FUNCTION, CLOCK_FUNCTION, HOSTED]
USER = {"role": "user", "content": "List the open orders of customer C-7."}


def _ask(server: LoopbackProvider, tools: Any = None, items: Any = None, **more: Any) -> Any:
    request = {"model": GPT, "input": items or [USER], "tools": TOOLS if tools is None else tools, **more}
    return gpt(server).responses.create(**request)


def _clock(**more: Any) -> list[Any]:
    return [{**CLOCK_FUNCTION, **more}]


def _schema(parameters: Any, **more: Any) -> list[Any]:
    return [function("clock", "The time now.", parameters, **more)]


def _crm(**more: Any) -> list[Any]:
    return [{**CRM, **more}, HOSTED]


def _without(entry: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != key}


LATER = {**CLOCK_FUNCTION, "defer_loading": True}
TOOL_RULES: dict[str, tuple[list[Any], str, str | None]] = {
    "deferred_without_search": (
        [FX_FUNCTION, CLOCK_FUNCTION],
        "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.", "tools.defer_loading",
    ),
    "deferred_inside_namespace": ([CRM], "Deferred tools require tools.tool_search.", "tools.defer_loading"),
    "deferred_server": (
        [{"type": "mcp", "server_label": "tickets", "server_url": "https://mcp.example/", "defer_loading": True}],
        "Deferred tools require tools.tool_search.", "tools.defer_loading",
    ),
    "search_without_deferred": (
        [CLOCK_FUNCTION, HOSTED],
        "Invalid Value: 'tools.tool_search'. tools.tool_search requires at least one deferred tool.",
        "tools.tool_search",
    ),
    "client_without_description": (
        [_without(CLIENT, "description")], "Missing required parameter: 'tools[0].description'.",
        "tools[0].description",
    ),
    "two_searches": ([FX_FUNCTION, HOSTED, CLIENT], "Only one tools.tool_search is allowed.", "tools.tool_search"),
    "search_field": ([FX_FUNCTION, {**HOSTED, "max_results": 5}], "Unknown parameter: 'tools[1].max_results'.", None),
    "search_execution": ([FX_FUNCTION, {**HOSTED, "execution": "local"}], "Invalid value: 'local'.", None),
    "namespace_no_name": ([_without(CRM, "name"), HOSTED], "Missing required parameter: 'tools[0].name'.", None),
    "namespace_no_description": ([_without(CRM, "description"), HOSTED], "'tools[0].description'.", None),
    "namespace_no_tools": ([_without(CRM, "tools"), HOSTED], "'tools[0].tools'.", None),
    "namespace_empty": (_crm(tools=[]), "Invalid 'tools[0].tools': empty array.", "tools[0].tools"),
    "namespace_blank_description": (_crm(description=" "), "Invalid 'tools[0].description': empty string.", None),
    "namespace_deferred": (_crm(defer_loading=True), "Unknown parameter: 'tools[0].defer_loading'.", None),
    "namespace_name": (_crm(name="my crm"), "Invalid 'tools[0].name': string does not match pattern.", None),
    "namespace_chat_shape": (
        _crm(tools=[chat_tool("clock", "", schema())]), "Missing required parameter: 'tools[0].tools[0].name'.", None,
    ),
    "namespace_in_namespace": (_crm(tools=[CRM]), "Invalid value: 'namespace'.", "tools[0].tools[0].type"),
    "namespace_twice": ([CRM, CRM, HOSTED], "duplicate tool name 'crm'", "tools"),
    "inner_twice": (_crm(tools=[LATER, LATER]), "Invalid 'tools[0].tools': duplicate tool name 'clock'.", None),
    "twice": ([CLOCK_FUNCTION, CLOCK_FUNCTION], "Invalid 'tools': duplicate tool name 'clock'.", "tools"),
    "function_and_namespace": (
        [CRM, function("crm", "", schema(), defer_loading=True), HOSTED], "'crm' is a function and a namespace", None,
    ),
    "name_pattern": (_clock(name="what time"), "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", None),
    "name_length": (
        _clock(name="c" * 65), "string too long. Expected a string with maximum length 64, but got a string with "
        "length 65 instead.", "tools[0].name",
    ),
    "name_kind": (_clock(name=5), "Invalid type for 'tools[0].name': expected a string, but got an integer ins", None),
    "no_parameters": ([_without(CLOCK_FUNCTION, "parameters")], "'tools[0].parameters'.", "tools[0].parameters"),
    "no_strict": ([_without(CLOCK_FUNCTION, "strict")], "'tools[0].strict'.", "tools[0].strict"),
    "unknown_field": (_clock(input_schema={}), "Unknown parameter: 'tools[0].input_schema'.", "tools[0].input_schema"),
    "defer_kind": (_clock(defer_loading="yes"), "Invalid type for 'tools[0].defer_loading': expected a boolean", None),
    "chat_shape": ([chat_tool("clock", "", schema())], "Missing required parameter: 'tools[0].name'.", None),
    "claude_shape": ([{"name": "clock", "input_schema": {}}], "Missing required parameter: 'tools[0].type'.", None),
    "unknown_type": ([{"type": "tool_search_tool_bm25"}], "Invalid value: 'tool_search_tool_bm25'. Supported", None),
    "schema_type": (
        _schema({}), "Invalid schema for function 'clock': schema must be a JSON Schema of 'type: \"object\"', got "
        "'type: \"None\"'.", "tools[0].parameters",
    ),
    "schema_union": (_schema({**schema(), "anyOf": [schema()]}), "not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not'", None),
    "schema_no_properties": (
        _schema({"type": "object", "additionalProperties": True}),
        "Invalid schema for function 'clock': In context=(), object schema missing properties.", None,
    ),
    "schema_structure": (_schema({**schema(), "required": "zone"}), "required is not a list of names.", None),
    "schema_text": (_schema("none"), "Invalid type for 'tools[0].parameters': expected an object", None),
    "namespace_other": (_crm(tools=[{"type": "web_search"}]), "Invalid value: 'web_search'.", None),
    "entry_text": (["clock"], "Missing required parameter: 'tools[0].type'.", None),
    "schema_array": (
        _schema({"type": "object", "properties": {"days": {"type": "array"}}}),
        "In context=('properties', 'days'), array schema missing items.", None,
    ),
    "strict_open": (
        _schema(schema(), strict=True), "'additionalProperties' is required to be supplied and to be false.", None,
    ),
    "strict_optional": (
        _schema({**schema("zone"), "additionalProperties": False, "required": []}, strict=True),
        "'required' is required to be supplied and to be an array including every key in properties. Missing 'zone'.",
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tools", "message", "param"), TOOL_RULES.values(), ids=TOOL_RULES)
def test_a_tools_list_that_breaks_a_rule(
    talking: LoopbackProvider, tools: Any, message: str, param: str | None
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        _ask(talking, tools)
    assert message in caught.value.body["message"]
    assert caught.value.type == "invalid_request_error"
    assert param is None or caught.value.param == param
    assert talking.requests[0]["tools"] == tools


LEGAL_TOOLS = {
    "hosted": TOOLS,
    "client_alone": [CLIENT],
    "client_with_deferred": [FX_FUNCTION, CLIENT],
    "same_inner_name": [CRM, {**CRM, "name": "shop"}, HOSTED],
    "deferred_server": [
        {"type": "mcp", "server_label": "tickets", "server_url": "https://mcp.example/", "defer_loading": True}, HOSTED,
    ],
    "strict": _schema({**schema("zone"), "additionalProperties": False}, strict=True),
    "custom_in_namespace": [{**CRM, "tools": [{"type": "custom", "name": "sql", "defer_loading": True}]}, HOSTED],
    "deferred_custom": [{"type": "custom", "name": "sql", "description": "Run SQL.", "defer_loading": True}, HOSTED],
    "inner_short": [{**CRM, "tools": [{"type": "function", "name": "ping", "defer_loading": True}]}, HOSTED],
    "null_parameters": [{**CLOCK_FUNCTION, "parameters": None, "strict": None}],
    "open_stub": _schema({"type": "object", "properties": {}, "additionalProperties": True}),
    "hosted_others": [{"type": "web_search"}, CLOCK_FUNCTION],
    "none": [],
}  # fmt: skip


@pytest.mark.parametrize("tools", LEGAL_TOOLS.values(), ids=LEGAL_TOOLS)
def test_a_legal_tools_list_passes(talking: LoopbackProvider, tools: Any) -> None:
    response = _ask(talking, tools)
    assert response.output_text == "Understood."
    assert len(response.tools) == len(tools)


def _call(**more: Any) -> dict[str, Any]:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "clock", "arguments": "{}"}
    return {key: value for key, value in {**call, **more}.items() if value is not None}


def _output(identity: str = "call_1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": "noon", **more}


def _search(**more: Any) -> dict[str, Any]:
    item = {
        "type": "tool_search_call",
        "execution": "client",
        "call_id": "call_s",
        "arguments": {"query": "eta"},
    }
    return {**item, **more}


def _found(*tools: Any, **more: Any) -> dict[str, Any]:
    item = {"type": "tool_search_output", "execution": "client", "call_id": "call_s", "status": "completed"}
    return {**item, "tools": list(tools), **more}


ETA = function("get_eta", "ETA of an order.", schema("order"), defer_loading=True)
SERVER = {"execution": "server", "call_id": None}
INPUT_RULES: dict[str, tuple[list[Any], str, str | None]] = {
    "call_without_output": ([USER, _call()], "No tool output found for function call call_1.", "input"),
    "output_without_call": (
        [USER, _output("call_9")], "No tool call found for function call output with call_id call_9.", "input",
    ),
    "output_before_call": ([USER, _output(), _call()], "No tool call found for function call output", "input"),
    "search_without_output": ([USER, _search()], "No tool output found for tool search call call_s.", "input"),
    "found_without_search": ([USER, _found(ETA)], "No tool call found for tool search output with call_id", "input"),
    "found_under_another_id": (
        [USER, _search(), _found(ETA, call_id="call_t")], "tool search output with call_id call_t", "input",
    ),
    "hosted_found_without_search": ([USER, _found(FX_FUNCTION, **SERVER)], "No tool call found for tool search", None),
    "call_without_namespace": (
        [USER, _call(name="list_orders"), _output()],
        "Missing namespace for function_call 'list_orders'. It does not exist in the default namespace. Round-trip the "
        "model's function_call item with its namespace field included.", "input[1].namespace",
    ),
    "flat_call_without_namespace": (
        [USER, _call(name="fx_rate"), _output()], "Missing namespace for function_call 'fx_rate'.",
        "input[1].namespace",
    ),
    "found_call_without_namespace": (
        [USER, _search(), _found(ETA), _call(name="get_eta"), _output()],
        "Missing namespace for function_call 'get_eta'.", "input[3].namespace",
    ),
    "call_in_a_wrong_namespace": (
        [USER, _call(name="list_orders", namespace="shop"), _output()], "Unknown namespace 'shop'", None,
    ),
    "arguments_as_object": ([USER, _call(arguments={}), _output()], "'input[1].arguments': expected a string", None),
    "search_arguments_as_text": (
        [USER, _search(arguments="{}"), _found()], "'input[1].arguments': expected an object, but got a string", None,
    ),
    "foreign_item_id": (
        [USER, _call(id="toolu_1"), _output()],
        "Invalid 'input[1].id': 'toolu_1'. Expected an ID that begins with 'fc'.", "input[1].id",
    ),
    "item_twice": ([USER, _call(), _output(), _call(), _output()], "Duplicate item found with id fc_1.", "input"),
    "long_call_id": ([USER, _call(call_id="c" * 65), _output("c" * 65)], "maximum length 64", "input[1].call_id"),
    "unknown_item": ([USER, {"type": "future_item"}], "Invalid value: 'future_item'.", "input[1]"),
    "unknown_field": ([USER, _call(input={}), _output()], "Unknown parameter: 'input[1].input'.", None),
    "claude_message": (
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1"}]}],
        "Invalid value: 'tool_result'.", "input[0].content[0]",
    ),
    "tool_role": ([USER, {"role": "tool", "content": "noon"}], "Invalid value: 'tool'.", "input[1].role"),
    "found_chat_shape": (
        [USER, _search(), _found(chat_tool("eta", "", schema()))], "'input[2].tools[0].name'.", None,
    ),
    "search_execution": ([USER, _search(execution="local"), _found()], "Invalid value: 'local'.", None),
    "item_as_text": (["Hello"], "expected an input item", "input[0]"),
    "output_as_object": ([USER, _call(), _output(output={})], "'input[2].output': expected an array", None),
    "client_without_id": ([USER, _search(call_id=None), _found()], "'input[1].call_id'.", None),
    "unknown_reference": ([{"type": "item_reference", "id": "msg_9"}], "Item with id 'msg_9' not found.", None),
}  # fmt: skip


@pytest.mark.parametrize(("items", "message", "param"), INPUT_RULES.values(), ids=INPUT_RULES)
def test_input_that_breaks_a_rule(
    talking: LoopbackProvider, items: Any, message: str, param: str | None
) -> None:
    with pytest.raises((openai.BadRequestError, openai.NotFoundError)) as caught:
        _ask(talking, items=items)
    assert message in caught.value.body["message"]
    assert param is None or caught.value.param == param


LEGAL_INPUT = {
    "text": "Hello",
    "call": [USER, _call(), _output()],
    "outputs_in_any_order": [
        USER, _call(), _call(id="fc_2", call_id="call_2"), _output("call_2"), _output(),
    ],
    "namespaced_call": [USER, _call(name="list_orders", namespace="crm"), _output()],
    "flat_call": [USER, _call(name="fx_rate", namespace="fx_rate"), _output(namespace="fx_rate")],
    "hosted_pair": [
        USER, _search(**SERVER, arguments={"paths": ["crm"]}), _found(CRM, **SERVER),
        _call(name="list_orders", namespace="crm"), _output(),
    ],
    "hosted_call_alone": [USER, _search(**SERVER), {"role": "assistant", "content": "Nothing."}, USER],
    "foreign_pair": [
        USER, _search(call_id="srvtoolu_1"), _found(ETA, call_id="srvtoolu_1"),
        _call(name="get_eta", namespace="get_eta"), _output(),
    ],
    "no_hits": [USER, _search(), _found()],
    "gone_tool": [USER, _call(name="gone"), _output()],
    "gone_namespace": [USER, _call(name="gone", namespace="old"), _output()],
    "now_eager": [USER, _call(namespace="clock"), _output()],
    "custom": [
        USER, {"type": "custom_tool_call", "call_id": "c1", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "1"}]},
    ],
    "parts": [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}],
    "reasoning": [USER, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}, USER],
    "without_ids": [USER, _call(id=None), _output()],
}  # fmt: skip


@pytest.mark.parametrize("items", LEGAL_INPUT.values(), ids=LEGAL_INPUT)
def test_legal_input_passes(talking: LoopbackProvider, items: Any) -> None:
    assert _ask(talking, items=items).output_text == "Understood."


REQUEST_RULES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"extra_body": {"defer_loading": True}}, "Unknown parameter: 'defer_loading'."),
    "messages": ({"extra_body": {"messages": []}}, "Unknown parameter: 'messages'."),
    "old_model": ({"model": "gpt-5.2"}, "Tool search is not supported with the model 'gpt-5.2'."),
    "older_model": ({"model": "gpt-4.1"}, "Tool search is not supported with the model 'gpt-4.1'."),
    "previous": ({"previous_response_id": "resp_9"}, "Previous response with id 'resp_9' not found."),
    "choice_of_nothing": (
        {"tool_choice": {"type": "function", "name": "gone"}},
        "Tool choice 'gone' not found",
    ),
    "choice_of_deferred": (
        {"tool_choice": {"type": "function", "name": "fx_rate"}},
        "forcing the deferred tool",
    ),
    "choice_of_inner": (
        {"tool_choice": {"type": "function", "name": "get_profile"}},
        "'get_profile' not found",
    ),
    "choice_of_search": ({"tool_choice": {"type": "tool_search"}}, "Invalid value: 'tool_search'."),
    "choice_word": ({"tool_choice": "any"}, "Invalid value: 'any'."),
    "required_of_nothing": (
        {"tool_choice": "required", "tools": []},
        "'required' must be specified with 'tools'",
    ),
    "no_input": ({"input": []}, "Missing required parameter: 'input'."),
}


@pytest.mark.parametrize(("more", "message"), REQUEST_RULES.values(), ids=REQUEST_RULES)
def test_a_request_that_breaks_a_rule(talking: LoopbackProvider, more: Any, message: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        _ask(talking, **more)
    assert message in caught.value.body["message"]


@pytest.mark.parametrize("model", ["gpt-5.4", "gpt-5.4-mini", "gpt-5.6-sol", "gpt-5.10", "gpt-6"])
def test_models_with_tool_search(talking: LoopbackProvider, model: str) -> None:
    assert _ask(talking, model=model).output_text == "Understood."


@pytest.mark.parametrize("model", ["gpt-4.1", "o3", "gpt-5", "gpt-5-mini", "gpt-5.2"])
def test_an_old_model_takes_plain_tools(talking: LoopbackProvider, model: str) -> None:
    assert _ask(talking, [CLOCK_FUNCTION], model=model).output_text == "Understood."
    with pytest.raises(openai.BadRequestError, match="not supported with the model"):
        _ask(talking, model=model)


def test_the_error_of_a_previous_response_that_is_not_kept(talking: LoopbackProvider) -> None:
    response = _ask(talking, store=False)
    with pytest.raises(openai.BadRequestError) as caught:
        _ask(talking, previous_response_id=response.id)
    assert caught.value.code == "previous_response_not_found"
    assert caught.value.param == "previous_response_id"


def test_a_namespace_is_missed_at_its_place_in_the_request(talking: LoopbackProvider) -> None:
    first = _ask(talking)
    with pytest.raises(openai.BadRequestError) as caught:
        _ask(talking, items=[_call(name="fx_rate"), _output()], previous_response_id=first.id)
    assert caught.value.param == "input[0].namespace"


def test_no_conversation_is_kept(talking: LoopbackProvider) -> None:
    with pytest.raises(openai.NotFoundError, match="Conversation not found"):
        _ask(talking, conversation="conv_1")


def test_a_choice_of_other_kinds_passes(talking: LoopbackProvider) -> None:
    for choice in ("none", "auto", {"type": "allowed_tools", "mode": "auto", "tools": []}):
        assert _ask(talking, tool_choice=choice).output_text == "Understood."


def test_no_key_and_no_such_path(talking: LoopbackProvider) -> None:
    with pytest.raises(openai.AuthenticationError):
        gpt(talking).responses.create(model=GPT, input="Hello", extra_headers={"Authorization": ""})
    with pytest.raises(openai.NotFoundError):
        gpt(talking).models.list()


def test_what_is_not_documented_passes_when_asked_for() -> None:
    tools = [CRM, function("crm", "", schema(), defer_loading=True), HOSTED, STOCK_FUNCTION]
    with LoopbackProvider([Say("Understood.")], allow_undocumented=True) as server:
        assert _ask(server, tools).output_text == "Understood."
