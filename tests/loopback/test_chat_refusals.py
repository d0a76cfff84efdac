"""Each rule of the Chat Completions interface, broken through the real SDK, and what stands beside it and is legal."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from loopback_requests import CLAUDE_CLOCK, CLIENT, CRM, FX_FUNCTION, HOSTED, chat_tool, gpt, schema

from semantic_toolsearch.testing.loopback import LoopbackProvider

CLOCK = chat_tool("clock", "The time now.", schema())
USER = {"role": "user", "content": "What time is it?"}


def _ask(server: LoopbackProvider, tools: Any = None, messages: Any = None, **more: Any) -> Any:
    request = {"model": "gpt-4.1", "messages": messages or [USER], **more}
    return gpt(server).chat.completions.create(tools=[CLOCK] if tools is None else tools, **request)


def _clock(parameters: Any = None, **more: Any) -> list[Any]:
    function = {**chat_tool("clock", "", schema() if parameters is None else parameters)["function"], **more}
    return [{"type": "function", "function": function}]


TOOL_RULES: dict[str, tuple[list[Any], str, str]] = {
    "search": ([CLOCK, HOSTED], "Invalid value: 'tool_search'. Supported values are: 'function', 'custom'.",
               "tools[1].type"),
    "client_search": ([CLIENT], "Invalid value: 'tool_search'.", "tools[0].type"),
    "namespace": ([CRM], "Invalid value: 'namespace'.", "tools[0].type"),
    "claude_search": ([{"type": "tool_search_tool_bm25", "name": "tool_search_tool_bm25"}],
                      "Invalid value: 'tool_search_tool_bm25'.", "tools[0].type"),
    "flat": ([FX_FUNCTION], "Missing required parameter: 'tools[0].function'.", "tools[0].function"),
    "deferred_outside": ([{**CLOCK, "defer_loading": True}], "Unknown parameter: 'tools[0].defer_loading'.",
                         "tools[0].defer_loading"),
    "deferred": (_clock(defer_loading=True), "Unknown parameter: 'tools[0].function.defer_loading'.",
                 "tools[0].function.defer_loading"),
    "claude_shape": ([CLAUDE_CLOCK], "Invalid value: 'None'.", "tools[0].type"),
    "cache_mark": (_clock(cache_control={"type": "ephemeral"}), "Unknown parameter: 'tools[0].function.cache_control'",
                   "tools[0].function.cache_control"),
    "name_pattern": (_clock(name="what/time"), "Invalid 'tools[0].function.name': string does not match pattern.",
                     "tools[0].function.name"),
    "name_length": (_clock(name="c" * 65), "maximum length 64, but got a string with length 65",
                    "tools[0].function.name"),
    "twice": ([CLOCK, CLOCK], "duplicate tool name 'clock'", "tools"),
    "empty": ([], "Invalid 'tools': empty array.", "tools"),
    "too_many": ([chat_tool(f"t{n}", "", schema()) for n in range(129)],
                 "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with "
                 "length 129 instead.", "tools"),
    "schema_no_properties": (_clock({"type": "object"}), "In context=(), object schema missing properties.",
                             "tools[0].function.parameters"),
    "schema_type": (_clock({"type": "string"}), "got 'type: \"string\"'.", "tools[0].function.parameters"),
    "schema_union": (_clock({**schema(), "oneOf": []}), "'oneOf'/'anyOf'", "tools[0].function.parameters"),
}  # fmt: skip


@pytest.mark.parametrize(("tools", "message", "param"), TOOL_RULES.values(), ids=TOOL_RULES)
def test_a_tools_list_that_breaks_a_rule(
    talking: LoopbackProvider, tools: Any, message: str, param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        _ask(talking, tools)
    assert message in caught.value.body["message"]
    assert caught.value.param == param


def test_as_many_tools_as_allowed(talking: LoopbackProvider) -> None:
    tools = [chat_tool(f"t{n}", "", schema()) for n in range(128)]
    assert _ask(talking, tools).choices[0].message.content == "Understood."
    assert _ask(talking, _clock({"type": "object", "properties": {}, "additionalProperties": True})).id


def _calls(*identities: str, **more: Any) -> dict[str, Any]:
    calls = [
        {"id": identity, "type": "function", "function": {"name": "clock", "arguments": "{}"}, **more}
        for identity in identities
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _answer(identity: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "noon"}


MESSAGE_RULES = {
    "answer_to_nothing": (
        [USER, _answer("call_1")],
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ),
    "answer_to_another": (
        [USER, _calls("call_1"), _answer("call_2")],
        "messages with role 'tool' must be a response",
    ),
    "answer_twice": ([USER, _calls("c1"), _answer("c1"), _answer("c1")], "messages with role 'tool' must be"),
    "no_answer": (
        [USER, _calls("call_1")],
        "The following tool_call_ids did not have response messages: call_1",
    ),
    "one_missing": ([USER, _calls("c1", "c2"), _answer("c1"), USER], "did not have response messages: c2"),
    "late_answer": ([USER, _calls("c1"), USER, _answer("c1")], "did not have response messages: c1"),
    "long_id": (
        [USER, _calls("c" * 41), _answer("c" * 41)],
        "maximum length 40, but got a string with length 41",
    ),
    "no_calls": ([USER, _calls(), USER], "Invalid 'messages[1].tool_calls': empty array."),
    "namespace": (
        [USER, _calls("c1", namespace="crm"), _answer("c1")],
        "'messages[1].tool_calls[0].namespace'.",
    ),
    "input_item": (
        [USER, {"type": "function_call_output", "call_id": "c1", "output": ""}],
        "'messages[1].role'",
    ),
    "no_answer_at_all": ([USER, {"role": "assistant", "content": None}], "expected a string, got null"),
    "call_kind": ([USER, _calls("c1", type="program"), _answer("c1")], "Invalid value: 'program'."),
    "no_content": ([{"role": "user", "content": None}], "expected a string, got null"),
}


@pytest.mark.parametrize(("messages", "message"), MESSAGE_RULES.values(), ids=MESSAGE_RULES)
def test_messages_that_break_a_rule(talking: LoopbackProvider, messages: Any, message: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        _ask(talking, messages=messages)
    assert message in caught.value.body["message"] or message.strip("'.") in str(caught.value.param)


def test_legal_messages_pass(talking: LoopbackProvider) -> None:
    messages = [
        {"role": "developer", "content": "Be brief."}, USER, _calls("c1", "c2"), _answer("c2"), _answer("c1"),
        {"role": "assistant", "content": "Noon."}, USER,
    ]  # fmt: skip
    assert _ask(talking, messages=messages).choices[0].finish_reason == "stop"


CHOICES = {
    "unknown_tool": ({"type": "function", "function": {"name": "gone"}}, "Tool choice 'gone' not found"),
    "search": ({"type": "tool_search"}, "Invalid value: 'tool_search'."),
    "word": ("any", "Invalid value: 'any'."),
}


@pytest.mark.parametrize(("choice", "message"), CHOICES.values(), ids=CHOICES)
def test_a_choice_that_breaks_a_rule(talking: LoopbackProvider, choice: Any, message: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        _ask(talking, tool_choice=choice)
    assert message in caught.value.body["message"]


def test_choices_that_pass(talking: LoopbackProvider) -> None:
    for choice in ("none", "auto", {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}):
        assert _ask(talking, tool_choice=choice).choices[0].message.content == "Understood."


def test_without_tools_and_without_messages(talking: LoopbackProvider) -> None:
    create = gpt(talking).chat.completions.create
    parts: Any = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
    assert create(model="gpt-4.1", messages=parts).choices[0].finish_reason == "stop"
    assert talking.model_view(0).user_text == "Hello"
    with pytest.raises(openai.BadRequestError, match="only allowed when 'tools' are specified"):
        create(model="gpt-4.1", messages=parts, tool_choice="auto")
    with pytest.raises(openai.BadRequestError, match="Invalid 'messages': empty array"):
        create(model="gpt-4.1", messages=[])


def test_an_unknown_parameter(talking: LoopbackProvider) -> None:
    with pytest.raises(openai.BadRequestError, match="Unknown parameter: 'input'"):
        _ask(talking, extra_body={"input": "Hello"})
