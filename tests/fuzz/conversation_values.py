"""Messages, responses and stream events of every wire format, sound and broken, as hypothesis strategies."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from schema_values import some_of
from strange_values import Dumped, anything, json_values, mutated, nested, texts

IDS = ("c1", "c2", "s1", "", "call_0")
CALLED = (
    "read_file", "wiki__search", "search", "tool_search", "call_tool", "tool_search_tool_bm25", "gone", "hidden_tool",
    "x" * 3_000, "wiki", "", "\ud83d",
)  # fmt: skip

ids = st.sampled_from(IDS)


def _called(at):
    return CALLED[at]


called = st.builds(_called, st.integers(0, len(CALLED) - 1))
_ARGUMENTS = {
    "query": texts | json_values,
    "queries": st.lists(texts, max_size=3) | json_values,
    "names": st.lists(called, max_size=3) | json_values,
    "limit": st.integers(-5, 900) | json_values,
    "name": called,
    "arguments": json_values | st.just({"path": "a"}),
    "path": texts,
    "lines": json_values,
}
arguments = some_of(_ARGUMENTS, 4) | json_values
argument_texts = arguments.map(lambda value: json.dumps(value)) | st.builds(
    lambda value, cut: json.dumps(value)[:cut], arguments, st.integers(0, 30)
)
sent = (
    arguments
    | argument_texts
    | st.just(nested(3_000))
    | st.just("[" * 100_000)
    | st.just('{"a":1' + "0" * 5_000)
)
"""A call's arguments: an object, its text, a text cut anywhere, a text beyond all use."""

_RECORD = {
    "loaded": st.lists(called, max_size=3) | json_values,
    "tools": st.lists(st.fixed_dictionaries({"name": called}), max_size=2) | json_values,
    "query": texts,
    "available": json_values,
    "output": json_values,
}
records = some_of(_RECORD, 3)
references = st.builds(lambda name: {"type": "tool_reference", "tool_name": name}, called | json_values)
definitions = st.builds(lambda name: {"type": "function", "name": name, "parameters": {}}, called)
notes = st.lists(called, min_size=1, max_size=3).map(
    lambda names: f"[tool_search loaded: {', '.join(names)}]"
)
contents = st.one_of(
    texts,
    notes,
    records.map(json.dumps),
    records,
    st.lists(
        st.one_of(references, st.builds(lambda text: {"type": "text", "text": text}, texts | notes)),
        max_size=3,
    ),
    st.lists(anything, max_size=2),
)


def _with(fixed, **varying):
    """Objects of fixed and of varying fields."""
    return st.fixed_dictionaries({**{key: st.just(value) for key, value in fixed.items()}, **varying})


functions = st.fixed_dictionaries({"name": called, "arguments": sent})
callers = st.sampled_from(
    [None, {"type": "direct"}, {"type": "code_execution_20250825", "tool_id": "x"}, 5, "x"]
)
found = _with({"type": "tool_search_tool_search_result"}, tool_references=st.lists(references, max_size=3))
hosted_errors = st.just({"type": "tool_search_tool_result_error", "error_code": ["x"]})

anthropic_blocks = st.one_of(
    _with({"type": "text"}, text=texts),
    _with({"type": "tool_use"}, id=ids, name=called, input=sent, caller=callers),
    _with({"type": "server_tool_use"}, id=ids, name=called, input=sent),
    _with({"type": "tool_search_tool_result"}, tool_use_id=ids, content=found | hosted_errors | contents),
    _with({"type": "mcp_tool_use"}, id=ids, name=called, input=sent, server_name=texts),
    _with({"type": "thinking"}, thinking=texts, signature=texts),
)
anthropic_results = _with({"type": "tool_result"}, tool_use_id=ids, content=contents, is_error=st.booleans())
responses_items = st.one_of(
    _with({"type": "function_call"}, call_id=ids, name=called, arguments=sent, namespace=st.none() | called),
    _with({"type": "custom_tool_call"}, call_id=ids, name=called, input=texts, caller=callers),
    _with({"type": "function_call_output"}, call_id=ids, output=contents),
    _with(
        {"type": "tool_search_call"},
        call_id=st.none() | ids,
        id=ids,
        execution=st.sampled_from(["client", "server", None]),
        arguments=sent,
        status=st.sampled_from(["completed", "incomplete"]),
    ),
    _with(
        {"type": "tool_search_output"},
        call_id=st.none() | ids,
        execution=st.sampled_from(["client", "server", None]),
        tools=st.lists(
            definitions | _with({"type": "namespace"}, name=called, tools=st.lists(definitions, max_size=2)),
            max_size=2,
        ),
    ),
    _with({"type": "reasoning"}, id=ids, summary=st.just([])),
    _with({"type": "message", "role": "assistant"}, content=contents),
    _with({"type": "additional_tools"}, tools=json_values | st.lists(definitions, max_size=2)),
)
chat_calls = st.one_of(
    _with({"type": "function"}, id=st.none() | ids, function=functions),
    _with({"type": "custom"}, id=ids, custom=_with({}, name=called, input=texts)),
    _with({}, id=ids, name=called, arguments=sent),
)
gemini_parts = st.one_of(
    _with({}, text=texts),
    _with({}, functionCall=_with({}, id=st.none() | ids, name=called, args=sent)),
    _with({}, function_call=_with({}, name=called, args=sent)),
    _with({}, functionResponse=_with({}, id=st.none() | ids, name=called, response=contents)),
    _with({}, function_response=_with({}, name=called, response=json_values)),
)
assistants = st.one_of(
    _with({"role": "assistant"}, content=st.lists(anthropic_blocks, max_size=3)),
    _with({"role": "assistant", "content": None}, tool_calls=st.lists(chat_calls, max_size=3)),
    _with({"role": "model"}, parts=st.lists(gemini_parts, max_size=3)),
)
messages = st.one_of(
    assistants,
    responses_items,
    _with({}, role=st.sampled_from(["user", "system", "developer", "other"]), content=contents),
    _with({"role": "user"}, content=st.lists(anthropic_results, min_size=1, max_size=3)),
    _with({"role": "tool"}, tool_call_id=ids, content=contents),
    _with({"role": "user"}, parts=st.lists(gemini_parts, max_size=2)),
)
sound_conversations = st.lists(messages, max_size=6)
broken_conversations = mutated(st.lists(messages | messages.map(Dumped) | anything, max_size=6))
conversations = sound_conversations | broken_conversations


stops = st.sampled_from(
    ["tool_use", "end_turn", "max_tokens", "pause_turn", "stop", "tool_calls", "length", None]
)
_bodies = {
    "anthropic": _with(
        {"type": "message", "role": "assistant"},
        content=st.lists(anthropic_blocks, max_size=4),
        stop_reason=stops,
        usage=json_values,
    ),
    "responses": _with(
        {"object": "response"},
        output=st.lists(responses_items, max_size=4),
        status=st.sampled_from(["completed", "incomplete", "failed", None]),
        incomplete_details=st.none() | st.just({"reason": "max_output_tokens"}),
    ),
    "chat": _with(
        {},
        choices=st.lists(
            _with(
                {"index": 0},
                finish_reason=stops,
                message=_with(
                    {"role": "assistant"}, content=texts, tool_calls=st.lists(chat_calls, max_size=3)
                ),
            ),
            max_size=2,
        ),
    ),
    "gemini": _with(
        {},
        candidates=st.lists(
            _with(
                {},
                finishReason=st.sampled_from(["STOP", "MAX_TOKENS", None]),
                content=_with({"role": "model"}, parts=st.lists(gemini_parts, max_size=4)),
            ),
            max_size=2,
        ),
    ),
}
APIS = tuple(_bodies)
sound_responses = _bodies
responses = {api: body | mutated(body) | body.map(Dumped) | anything for api, body in _bodies.items()}
"""By wire format: complete responses, sound, broken, as SDK objects, and what is none."""


def _delta(**fields):
    """A piece of one block of a stream of Anthropic's."""
    return _with({"type": "content_block_delta"}, index=indices, delta=st.fixed_dictionaries(fields))


indices = st.sampled_from([0, 0, 1, 2, -1, None, "0"])
pieces = st.sampled_from(['{"query"', ': "a', '"}', "", "{", "null", "\ud83d"])
_events = {
    "anthropic": st.one_of(
        st.builds(lambda body: {"type": "message_start", "message": body}, _bodies["anthropic"]),
        _with({"type": "content_block_start"}, index=indices, content_block=anthropic_blocks),
        _delta(type=st.just("input_json_delta"), partial_json=pieces),
        _delta(type=st.just("text_delta"), text=texts),
        _delta(type=st.just("citations_delta"), citation=json_values),
        _with({"type": "content_block_stop"}, index=indices),
        _with({"type": "message_delta"}, delta=_with({}, stop_reason=stops), usage=json_values),
        st.just({"type": "message_stop"}),
        st.just({"type": "ping"}),
    ),
    "responses": st.one_of(
        st.builds(lambda kind, body: {"type": kind, "response": body},
                  st.sampled_from(["response.created", "response.completed", "response.failed"]), _bodies["responses"]),
        _with({"type": "response.output_item.added"}, output_index=indices, item=responses_items),
        _with({"type": "response.output_item.done"}, output_index=indices, item=responses_items),
        _with({"type": "response.function_call_arguments.delta"}, output_index=indices, delta=pieces),
        st.just({"type": "error", "code": "x", "message": "y"}),
    ),
    "chat": st.builds(
        lambda choices: {"id": "x", "object": "chat.completion.chunk", "choices": choices},
        st.lists(
            _with(
                {},
                index=indices,
                finish_reason=stops,
                delta=_with(
                    {},
                    content=texts,
                    tool_calls=st.lists(
                        _with({}, index=indices, id=st.none() | ids, function=_with({}, name=called, arguments=pieces)),
                        max_size=2,
                    ),
                ),
                logprobs=st.none() | json_values,
            ),
            max_size=2,
        ),
    ),
    "gemini": _bodies["gemini"],
}  # fmt: skip
streams = {
    api: st.lists(event, max_size=8)
    | mutated(st.lists(event, min_size=1, max_size=8))
    | st.lists(anything, max_size=3)
    for api, event in _events.items()
}
"""By wire format: raw events of a stream, in any order, cut anywhere, broken anywhere."""
