"""Turns of conversations that hold what no provider would send."""

from __future__ import annotations

import pytest

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.providers.validate import validate

APIS = ("anthropic", "responses", "chat", "gemini")
MODELS = {"anthropic": "claude-sonnet-5", "responses": "gpt-5.4", "chat": "llama-4", "gemini": "gemini-3-pro"}


class Broken:
    """An SDK object that raises whatever is asked of it."""

    def __getattr__(self, name):
        raise RuntimeError(name)


@pytest.fixture(scope="module")
def search():
    return ToolSearch([{"name": "a"}, {"name": "b"}], ranker="bm25", cache=False)


@pytest.mark.parametrize("api", APIS)
def test_a_compaction_note_in_a_block_is_kept_as_one_in_a_text_is(search, api):
    text = "[tool_search loaded: a]"
    notes = [text, [{"type": "text", "text": text}]]
    turns = [search.turn([{"role": "system", "content": note}], api=api, model=MODELS[api]) for note in notes]
    assert turns[0].instructions == turns[1].instructions
    assert len(turns[0].messages) == len(turns[1].messages)
    assert any(text in str(part) for part in (turns[1].instructions, *turns[1].messages))


@pytest.mark.parametrize("api", APIS)
def test_objects_that_raise_are_passed_on_as_they_are(search, api):
    messages = [
        Broken(),
        {"role": "user", "content": [Broken(), {"type": "tool_result", "content": [Broken()]}]},
    ]
    turn = search.turn(messages, api=api, model=MODELS[api])
    assert turn.messages[0] is messages[0]


@pytest.mark.parametrize("name", [["a"], {"a": 1}, 5, None])
def test_names_of_any_type_are_looked_at(search, name):
    item = {"type": "function_call", "call_id": name, "name": name, "namespace": name, "arguments": "{}"}
    found = {rule.rule for rule in validate("responses", [], messages=[item])}
    assert "call_unanswered" in found
    content = [{"type": "tool_reference", "tool_name": name}]
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": content}]}
    assert (
        search.turn([result, item, {"role": "user", "content": "go on"}], api="anthropic").plan.loaded == ()
    )
    assert search.turn([item], api="responses").plan.loaded == ()


def test_a_response_of_very_many_unknown_calls_is_answered_and_some_with_the_nearest_names():
    turn = ToolSearch([{"name": "read_file"}], ranker="bm25", cache=False).turn(
        [], api="chat", model="llama-4"
    )
    calls = [{"id": f"c{at}", "function": {"name": "reed_file", "arguments": "{}"}} for at in range(300)]
    answers = turn.answer({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]})
    assert len(answers) == 300
    assert all("no tool called 'reed_file'" in answer["content"] for answer in answers)
    assert "Nearest: read_file" in answers[0]["content"]
    assert "Nearest" not in answers[-1]["content"]
