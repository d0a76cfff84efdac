"""Whatever comes back as a response or a stream: answers and calls, or a named error; what we send stays legal."""

from __future__ import annotations

import json

import pytest
from budget import attempt, bounded, fuzzed
from conversation_values import APIS, responses, sound_conversations, sound_responses, streams
from hypothesis import given
from hypothesis import strategies as st
from strange_values import json_values, mutated
from test_fuzz_history import SEARCH
from tool_values import tool_lists

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.errors import ConfigError, ConversationError
from semantic_toolsearch.providers.validate import validate

MODELS = {"anthropic": "claude-sonnet-5", "responses": "gpt-5.4", "chat": "llama-4", "gemini": "gemini-3-pro"}
MODES = {
    "anthropic": [None, "hosted", "reference", "bridge"],
    "responses": [None, "hosted", "output", "bridge"],
    "chat": [None, "bridge"],
    "gemini": [None, "bridge"],
}
TURNS = [
    SEARCH.turn(
        [], api=api, model=MODELS[api], mode=mode, deferred_tools=["read_file", "wiki__search", "search"]
    )
    for api in APIS
    for mode in MODES[api]
]
by_api = pytest.mark.parametrize("api", APIS)


def check_turn(turn, response):
    """What holds for every response: one result or call for each id, all of it sendable."""
    answers, calls = turn.answer(response), turn.calls(response)
    json.dumps(answers, allow_nan=False, ensure_ascii=False).encode()
    for call in calls:
        json.dumps(call.arguments, allow_nan=False)
        json.dumps(turn.result(call, "x\ud83d"), ensure_ascii=False).encode()
    turn.notices(response)
    turn.done(response)
    assert len(turn.results(response, lambda call: call.name)) == len(answers) + len(calls)


@by_api
@fuzzed
@given(st.data())
def test_any_response_is_answered_or_named(api, data):
    turn = data.draw(st.sampled_from([turn for turn in TURNS if turn.plan.api == api]))
    response = data.draw(responses[api])
    with bounded():
        try:
            check_turn(turn, response)
        except ConversationError as error:
            str(error).encode("utf-8", "replace")


@by_api
@fuzzed
@given(st.data())
def test_what_a_model_says_in_a_sound_response_raises_nothing(api, data):
    turn = data.draw(st.sampled_from([turn for turn in TURNS if turn.plan.api == api]))
    response = data.draw(sound_responses[api])
    with bounded():
        check_turn(turn, response)


@by_api
@fuzzed
@given(st.data())
def test_any_stream_makes_a_response_or_a_named_error(api, data):
    turn = data.draw(st.sampled_from([turn for turn in TURNS if turn.plan.api == api]))
    events = data.draw(streams[api])
    with bounded():
        try:
            response = turn.assemble(events if isinstance(events, list) else [events])
            check_turn(turn, response)
        except ConversationError as error:
            str(error).encode("utf-8", "replace")


@by_api
@fuzzed
@given(tools=tool_lists, data=st.data())
def test_what_is_sent_for_any_tools_is_legal_and_the_same_every_time(api, tools, data):
    config = SearchConfig(threshold=data.draw(st.sampled_from([1, 3, None])))
    search = ToolSearch(tools, ranker="bm25", cache=False, config=config)
    mode = data.draw(st.sampled_from(MODES[api]))
    with bounded():
        turn, refusal = attempt(lambda: search.turn([], api=api, model=MODELS[api], mode=mode), ConfigError)
        if turn is None:
            assert mode is not None, refusal
            return
        broken = [each for each in validate(api, turn.tools) if each.severity == "error"]
        assert broken == []
        text = json.dumps(turn.tools, allow_nan=False, ensure_ascii=False)
        text.encode()
        assert (
            json.dumps(search.turn([], api=api, model=MODELS[api], mode=mode).tools, ensure_ascii=False)
            == text
        )
        assert turn.cache_key
        assert turn.tokens


@by_api
@fuzzed
@given(st.data())
def test_the_rules_of_a_provider_read_any_request(api, data):
    """Lists of tools and messages of any other shape than the provider's, all of them JSON."""
    tools = data.draw(
        st.builds(lambda: TURNS[0].tools) | mutated(st.builds(lambda: TURNS[-1].tools), json_values)
    )
    messages = data.draw(mutated(sound_conversations, json_values) | json_values)
    choice = data.draw(json_values | st.builds(lambda name: {"type": "function", "name": name}, json_values))
    with bounded():
        for violation in validate(api, tools, messages=messages, tool_choice=choice):
            assert violation.message
