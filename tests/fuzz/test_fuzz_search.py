"""Whatever a model asks becomes a result, and no byte of any result tells of a tool that it may not see."""

from __future__ import annotations

import json

import pytest
from budget import attempt, bounded, fuzzed
from conversation_values import APIS, sound_conversations, sound_responses
from hypothesis import given
from hypothesis import strategies as st
from strange_values import DeepDict, DeepList, json_values, odd_values, texts
from test_fuzz_responses import MODELS, MODES
from tool_values import sound_tools

from library_tools import RANKERS, hashed
from semantic_toolsearch.errors import ConfigError

VAULT = "zqvault"
PATTERNS = (
    "(a+)+$",
    "(.*)*x",
    "((a{9}){9}){9}",
    "[",
    "(?R)",
    "a{99999}",
    ".*" * 90,
    "(?i)z.*t|.",
    "\\",
    "^",
    "(?:z|q|v)+",
)
queries = (
    json_values
    | odd_values
    | texts
    | st.sampled_from(PATTERNS)
    | st.sampled_from(["zqvaul", "zq vault", "ault", "secret ledger"])
)
hidden = {
    "name": f"{VAULT}_open",
    "namespace": f"{VAULT}_bank",
    "description": f"Opens the {VAULT} ledger.",
    "aliases": [f"{VAULT}_alias"],
    "tags": [VAULT],
    "parameters": {
        "type": "object",
        "properties": {f"{VAULT}_code": {"type": "string", "enum": [VAULT], "description": VAULT}},
        "required": [f"{VAULT}_code"],
    },
}
seen = {
    "name": "vault_open",
    "description": "Opens the door.",
    "parameters": {"type": "object", "properties": {}},
}
SEARCHES = {
    ranker: hashed([hidden, seen, {"name": "read_file", "description": "Reads a file."}], ranker=ranker)
    for ranker in RANKERS
}


def allowed(tool):
    return VAULT not in tool.name


@pytest.mark.parametrize("ranker", RANKERS)
@fuzzed
@given(queries, queries, queries, queries)
def test_any_search_becomes_a_result_without_a_word_of_hidden_tools(ranker, query, more, names, limit):
    with bounded():
        result = SEARCHES[ranker].search(query, queries=more, names=names, limit=limit, visible=allowed)
        text = json.dumps(result.as_dict(), allow_nan=False, ensure_ascii=False)
        text.encode()
    assert VAULT not in text
    assert {hit.name for hit in (*result.tools, *result.hints)} <= {"vault_open", "read_file"}
    assert result.total == 2


@pytest.mark.parametrize("ranker", RANKERS)
@fuzzed
@given(queries, st.lists(sound_tools, max_size=4), queries)
def test_any_search_of_any_tools_becomes_a_result(ranker, query, tools, limit):
    with bounded():
        search = hashed(tools, ranker=ranker)
        result = search.search(query, limit=limit)
        assert len(result.tools) <= 20
        json.dumps(result.as_dict(), allow_nan=False, ensure_ascii=False).encode()
        for name in search.catalog.wire_names[:2]:
            assert search.search(names=[name]).tools[0].name == name
            search.explain(query if isinstance(query, str) else "x", name, limit=limit)


def named(value, name, levels=20):
    """The value with one name in the place of another, as a model that knows or guesses it would send it."""
    if isinstance(value, str):
        return value.replace("hidden_tool", name)
    if not levels or isinstance(value, DeepDict | DeepList):
        return value
    if isinstance(value, dict):
        return {named(key, name): named(item, name, levels - 1) for key, item in value.items()}
    return [named(item, name, levels - 1) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("knows", [True, False], ids=["known", "unknown"])
@fuzzed
@given(st.data())
def test_no_turn_tells_of_a_hidden_tool_even_to_a_model_that_knows_its_name(api, knows, data):
    """The name alone may stand in what the conversation or the call itself said; nothing else of the tool does."""
    name = f"{VAULT}_bank__{VAULT}_open" if knows else "other_tool"
    messages = named(data.draw(sound_conversations), name)
    response = named(data.draw(sound_responses[api]), name)
    options = {
        "api": api,
        "model": MODELS[api],
        "mode": data.draw(st.sampled_from(MODES[api])),
        "visible": allowed,
    }
    with bounded():
        turn, refusal = attempt(
            lambda: SEARCHES["bm25"].turn(messages, deferred_tools=["read_file"], **options), ConfigError
        )
        if turn is None:
            assert VAULT not in str(refusal)
            return
        calls, answers = turn.calls(response), turn.answer(response)
        told = json.dumps([turn.tools, turn.instructions, answers], ensure_ascii=False)
    assert all(call.wire_name in ("vault_open", "read_file") for call in calls)
    for secret in (f"{VAULT}_code", f"Opens the {VAULT}", f"{VAULT}_alias"):
        assert secret not in told
    assert knows or VAULT not in told
