"""Conversations in every wire format, for the tests of what reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Format:
    """How one wire format writes a user's text, an answered search, and an answered call."""

    name: str
    user: Callable[[str], dict[str, Any]]
    search: Callable[[str, list[str]], Messages]
    call: Callable[[str, str, str], Messages]
    hosted: bool = False
    ids: bool = True

    def __str__(self) -> str:
        return self.name


def record(names: list[str]) -> str:
    return json.dumps({"query": "q", "tools": [{"name": name, "description": "d"} for name in names]})


def _user(text):
    return {"role": "user", "content": text}


def _anthropic_pair(id_, name, arguments, content):
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": id_, "name": name, "input": arguments}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id_, "content": content}]},
    ]


def reference(name):
    return {"type": "tool_reference", "tool_name": name}


def _anthropic_call(id_, name, text):
    return _anthropic_pair(id_, name, {"a": 1}, text)


def _anthropic_hosted(id_, names):
    found = {"type": "tool_search_tool_search_result", "tool_references": [reference(name) for name in names]}
    hosted = "tool_search_tool_bm25"
    content = [
        {"type": "server_tool_use", "id": id_, "name": hosted, "input": {"query": "q"}},
        {"type": "tool_search_tool_result", "tool_use_id": id_, "content": found},
    ]
    return [{"role": "assistant", "content": content}]


def function(name):
    return {"type": "function", "name": name, "description": "d", "parameters": {"type": "object"}}


def _responses_search(id_, names, execution):
    call_id = id_ if execution == "client" else None
    common = {"execution": execution, "call_id": call_id, "status": "completed"}
    return [
        {"type": "tool_search_call", "id": f"tsc_{id_}", "arguments": {"query": "q"}, **common},
        {"type": "tool_search_output", "tools": [function(name) for name in names], **common},
    ]


def _responses_call(id_, name, text):
    return [
        {"type": "function_call", "call_id": id_, "name": name, "namespace": name, "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": id_, "output": text},
    ]


def _responses_record(id_, names):
    return [
        {"type": "function_call", "call_id": id_, "name": "tool_search", "arguments": '{"query": "q"}'},
        {"type": "function_call_output", "call_id": id_, "output": record(names)},
    ]


def _chat_call(id_, name, text):
    function_ = {"name": name, "arguments": '{"query": "q"}'}
    return [
        {"role": "assistant", "tool_calls": [{"id": id_, "type": "function", "function": function_}]},
        {"role": "tool", "tool_call_id": id_, "content": text},
    ]


def _neutral_call(id_, name, text):
    return [
        {"role": "assistant", "tool_calls": [{"id": id_, "name": name, "arguments": {"query": "q"}}]},
        {"role": "tool", "tool_call_id": id_, "name": name, "content": text},
    ]


def _gemini_pair(id_, name, response):
    known = {"id": id_} if id_ else {}
    call = {**known, "name": name, "args": {"query": "q"}}
    answer = {**known, "name": name, "response": response}
    return [
        {"role": "model", "parts": [{"functionCall": call}]},
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]


FORMATS = [
    Format(
        "anthropic-reference",
        _user,
        lambda id_, names: _anthropic_pair(
            id_, "tool_search", {"query": "q"}, [reference(name) for name in names]
        ),
        _anthropic_call,
    ),
    Format(
        "anthropic-record",
        _user,
        lambda id_, names: _anthropic_pair(
            id_, "tool_search", {"query": "q"}, [{"type": "text", "text": record(names)}]
        ),
        _anthropic_call,
    ),
    Format("anthropic-hosted", _user, _anthropic_hosted, _anthropic_call, hosted=True),
    Format(
        "responses-hosted",
        _user,
        lambda id_, names: _responses_search(id_, names, "server"),
        _responses_call,
        hosted=True,
        ids=False,
    ),
    Format(
        "responses-client",
        _user,
        lambda id_, names: _responses_search(id_, names, "client"),
        _responses_call,
    ),
    Format("responses-record", _user, _responses_record, _responses_call),
    Format(
        "chat",
        _user,
        lambda id_, names: _chat_call(id_, "tool_search", record(names)),
        _chat_call,
    ),
    Format(
        "neutral",
        _user,
        lambda id_, names: _neutral_call(id_, "tool_search", record(names)),
        _neutral_call,
    ),
    Format(
        "gemini",
        lambda text: {"role": "user", "parts": [{"text": text}]},
        lambda id_, names: _gemini_pair(id_, "tool_search", {"output": record(names)}),
        lambda id_, name, text: _gemini_pair(id_, name, {"output": text}),
    ),
    Format(
        "gemini-without-ids",
        lambda text: {"role": "user", "parts": [{"text": text}]},
        lambda id_, names: _gemini_pair("", "tool_search", json.loads(record(names))),
        lambda id_, name, text: _gemini_pair("", name, {"result": text}),
        ids=False,
    ),
]

BY_NAME = {form.name: form for form in FORMATS}

STEPS = st.lists(
    st.tuples(
        st.sampled_from(FORMATS),
        st.sampled_from(["search", "call", "user", "system"]),
        st.lists(st.sampled_from("abcz"), max_size=3),
    ),
    max_size=8,
)
"""What happens in a conversation, step by step, each in a wire format of its own."""


def conversation(steps):
    """The messages of such steps."""
    messages = []
    for at, (form, kind, names) in enumerate(steps):
        if kind == "search":
            messages += form.search(f"s{at}", names)
        elif kind == "call":
            messages += [message for name in names for message in form.call(f"c{at}{name}", name, "out")]
        elif kind == "user":
            messages.append(form.user(" ".join(names)))
        else:
            messages.append({"role": "system", "content": "You help."})
    return messages
