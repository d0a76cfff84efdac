"""Responses and streams that are malformed somewhere: one kind of error, and none for what the model wrote."""

from __future__ import annotations

import contextlib
import json

import pytest

from semantic_toolsearch.errors import ConversationError
from semantic_toolsearch.exchange import BRIDGE_TOOL_NAME
from semantic_toolsearch.providers import base
from semantic_toolsearch.turn import PROVIDERS

deep: list = []
for _ in range(5_000):
    deep = [deep]

BODIES = [
    ("anthropic", {"content": 5}),
    ("anthropic", {"content": [{"type": "text"}], "stop_reason": ["x"]}),
    ("anthropic", {"content": [{"type": "tool_result", "tool_use_id": ["x"]}]}),
    ("responses", {"output": 5}),
    ("responses", {"output": [{"type": ["x"], "status": {}}], "status": ["x"]}),
    ("chat", {"choices": 5}),
    ("chat", {"choices": [{"index": "a"}, {"index": 1}]}),
    ("chat", {"choices": [{"message": {"tool_calls": 5}}]}),
    ("chat", {"choices": [{"message": {}, "finish_reason": ["x"]}]}),
    ("gemini", {"candidates": 5}),
    ("gemini", {"candidates": [{"content": {"parts": 5}}]}),
    ("gemini", {"candidates": [{"finishReason": ["x"]}]}),
]


@pytest.mark.parametrize(("api", "body"), BODIES)
def test_a_malformed_response_is_a_conversation_error_or_read_past(api, body):
    with contextlib.suppress(ConversationError):
        assert PROVIDERS[api].parse(body).calls == ()


STREAMS = [
    ("anthropic", {"type": "message_start"}),
    ("anthropic", {"type": "content_block_start", "index": ["x"], "content_block": {}}),
    ("anthropic", {"type": "content_block_start", "index": 0, "content_block": 5}),
    ("responses", {"type": "response.output_item.added", "output_index": None, "item": {}}),
    ("responses", {"type": "response.output_item.added", "output_index": ["x"], "item": {}}),
    ("chat", {"choices": 5}),
    ("chat", {"choices": [5]}),
    ("chat", {"choices": [{"index": "a"}, {"index": 1}]}),
    ("gemini", {"candidates": 5}),
    ("gemini", {"candidates": [{"content": {"parts": [5]}}]}),
    ("gemini", {"candidates": deep}),
]
STARTS = {
    "anthropic": {"type": "message_start", "message": {"content": []}},
    "responses": {"type": "response.created", "response": {"output": [{}, {}]}},
    "chat": {"choices": []},
    "gemini": {"candidates": []},
}


@pytest.mark.parametrize(("api", "event"), STREAMS)
def test_a_malformed_stream_is_a_conversation_error(api, event):
    with pytest.raises(ConversationError, match="malformed"):
        PROVIDERS[api].assemble([STARTS[api], event])


@pytest.mark.parametrize("api", PROVIDERS)
def test_what_the_stream_itself_raises_passes_through(api):
    def broken():
        yield STARTS[api]
        raise TimeoutError("the line is dead")

    with pytest.raises(TimeoutError, match="the line is dead"):
        PROVIDERS[api].assemble(broken())


@pytest.mark.parametrize("sent", [deep, {"name": deep}, {"name": "x", "arguments": {"a": 1}, "b": deep}])
def test_arguments_nested_beyond_all_use_fail_no_response(sent):
    call = base.read_call(id="1", name=BRIDGE_TOOL_NAME, arguments=sent, raw={})
    assert isinstance(call.arguments, str)
    assert base.read_call(id="1", name="other", arguments=sent, raw={}).id == "1"


CALLED = {"name": "\ud83d", "arguments": "{}"}
ODD_IDS = [
    ("anthropic", {"content": [{"type": "tool_use", "id": "\ud83d", "name": "read_file", "input": {}}]}),
    ("responses", {"output": [{"type": "function_call", "call_id": "\ud83d", **CALLED}]}),
    ("chat", {"choices": [{"message": {"tool_calls": [{"id": "\ud83d", "function": CALLED}]}}]}),
    (
        "gemini",
        {"candidates": [{"content": {"parts": [{"functionCall": {"id": "\ud83d", "name": "\ud83d"}}]}}]},
    ),
]


@pytest.mark.parametrize(("api", "body"), ODD_IDS)
def test_an_id_that_utf8_cannot_carry_is_answered_in_a_form_that_it_can(api, body):
    (call,) = PROVIDERS[api].parse(body).calls
    json.dumps(PROVIDERS[api].call_result(call, "x", is_error=True), ensure_ascii=False).encode()
