"""Stored conversations with searches that broke off: what is left out, what is mended, what stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import FORMATS
from semantic_toolsearch.broken_searches import without_broken_searches
from semantic_toolsearch.providers.validate import validate

USER = {"role": "user", "content": "Go on."}
API = {
    "anthropic": "anthropic",
    "responses": "responses",
    "chat": "chat",
    "neutral": "chat",
    "gemini": "gemini",
}
PAIRED = {"call_unanswered", "result_orphan", "result_duplicate", "output_without_call"}


def api_of(form):
    return API[form.name.split("-")[0]]


def function(id_, name="tool_search", arguments='{"query": "x"}'):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def use(id_, name="tool_search", sent=None):
    return {"type": "tool_use", "id": id_, "name": name, "input": {"query": "x"} if sent is None else sent}


def result(id_, content="x"):
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


@pytest.mark.parametrize("form", FORMATS, ids=str)
def test_a_sound_conversation_is_the_callers_own(form):
    messages = [
        form.user("x"),
        *form.search("s1", ["a"]),
        *form.call("c1", "a", "out"),
        *form.search("s2", []),
    ]
    kept = without_broken_searches(messages, api_of(form))
    assert len(kept) == len(messages)
    assert all(new is old for new, old in zip(kept, messages, strict=True))


@pytest.mark.parametrize(
    "form", [form for form in FORMATS if len(form.search("s", ["a"])) == 2 and not form.hosted and form.ids]
)
def test_half_of_a_search_goes(form):
    call, answer = form.search("s1", ["a"])
    messages = [form.user("x"), call, form.user("y"), *form.search("s2", ["b"])]
    if api_of(form) == "gemini":  # pairs by order: nothing is certain enough to be dropped
        assert without_broken_searches(messages, "gemini") == messages
        return
    assert without_broken_searches(messages, api_of(form)) == [messages[0], *messages[2:]]
    lone = [form.user("x"), answer, form.user("y")]
    stays = api_of(form) == "responses"  # the provider may hold the call
    assert without_broken_searches(lone, api_of(form)) == (lone if stays else [lone[0], lone[2]])


def test_what_stands_beside_a_broken_search_stays():
    chat = [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [function("a"), function("b", "clock", "{}")]},
        {"role": "tool", "tool_call_id": "b", "content": "noon"},
        {"role": "tool", "tool_call_id": "", "content": "?"},
    ]
    kept = without_broken_searches(chat, "chat")
    assert kept == [USER, {**chat[1], "tool_calls": [chat[1]["tool_calls"][1]]}, chat[2]]
    claude = [
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "Hm."}, use("a"), use("b", "clock", {})]},
        {"role": "user", "content": [result("b"), result("lost"), {"type": "text", "text": "And?"}]},
    ]
    kept = without_broken_searches(claude, "anthropic")
    assert [block["type"] for block in kept[1]["content"]] == ["text", "tool_use"]
    assert [block["type"] for block in kept[2]["content"]] == ["tool_result", "text"]


def test_thoughts_go_with_the_search_that_they_led_to():
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    claude = [USER, {"role": "assistant", "content": [thought, use("a")]}, USER]
    assert without_broken_searches(claude, "anthropic") == [USER, USER]
    items = [
        USER,
        {"type": "reasoning", "id": "r1", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "tool_search", "arguments": "{}"},
        USER,
    ]
    assert without_broken_searches(items, "responses") == [USER, USER]


def test_calls_of_ordinary_tools_are_the_applications():
    messages = [USER, {"role": "assistant", "content": [use("a", "clock", {})]}]
    assert without_broken_searches(messages, "anthropic") == messages


@pytest.mark.parametrize(
    ("api", "message", "mended"),
    [
        (
            "anthropic",
            {"role": "assistant", "content": [use("a", sent='{"query": "in')]},
            {"role": "assistant", "content": [{**use("a"), "input": {}}]},
        ),
        (
            "chat",
            {"role": "assistant", "tool_calls": [function("a", arguments='{"query": "in')]},
            {"role": "assistant", "tool_calls": [function("a", arguments="{}")]},
        ),
        (
            "responses",
            {"type": "tool_search_call", "execution": "client", "call_id": "a", "arguments": "in"},
            {"type": "tool_search_call", "execution": "client", "call_id": "a", "arguments": {}},
        ),
        (
            "responses",
            {"type": "function_call", "call_id": "a", "name": "tool_search", "arguments": "[1"},
            {"type": "function_call", "call_id": "a", "name": "tool_search", "arguments": "{}"},
        ),
    ],
)
def test_arguments_that_were_cut_are_empty(api, message, mended):
    answers = {
        "anthropic": {"role": "user", "content": [result("a")]},
        "chat": {"role": "tool", "tool_call_id": "a", "content": "x"},
        "responses": {"type": "function_call_output", "call_id": "a", "output": "x"},
    }
    answer = answers[api]
    if message.get("type") == "tool_search_call":
        answer = {"type": "tool_search_output", "execution": "client", "call_id": "a", "tools": []}
    assert without_broken_searches([USER, message, answer], api) == [USER, mended, answer]


@given(
    st.lists(
        st.sampled_from(
            [
                USER,
                {"role": "assistant", "content": None, "tool_calls": [function("a")]},
                {"role": "assistant", "content": "And", "tool_calls": [function("a"), function("b")]},
                {"role": "tool", "tool_call_id": "a", "content": "x"},
                {"role": "tool", "tool_call_id": "b", "content": "x"},
                {"role": "tool", "tool_call_id": "", "content": "x"},
            ]
        ),
        max_size=8,
    )
)
def test_it_is_done_at_once_and_never_adds(messages):
    kept = without_broken_searches(messages, "chat")
    assert without_broken_searches(kept, "chat") == kept
    assert len(kept) <= len(messages)
    answers = sum(message["role"] == "tool" for message in kept)
    assert answers == sum(len(message.get("tool_calls") or ()) for message in kept)
    if answers == 0:
        assert not {violation.rule for violation in validate("chat", [], messages=kept)} & PAIRED
