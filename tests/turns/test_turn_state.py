"""A conversation's state is its messages: resumed, handed over, compacted; or kept in a store without them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest
from surfaces import CLAUDE, GPT, LLAMA, Talk, chat, engine, record

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.compaction import compaction_note

NO_STORE = None


def stored(tools, sessions=4096):
    return engine(tools, SearchConfig(ranker="bm25", session_store=sessions))


def load(search, session, name="renewLoan"):
    """One search of a session whose host passes no history."""
    turn = search.turn([], model=LLAMA, session=session)
    (result,) = turn.answer(chat(("tool_search", {"query": "", "names": [name]})))
    assert record(result)["loaded"] == [name]


def plan(search, session):
    return search.turn([], model=LLAMA, session=session).plan


# --- The store


def test_e90_sessions_never_see_each_others_loads(lib):
    search = stored(lib)
    load(search, "a")
    assert "renewLoan" in plan(search, "a").full
    assert "renewLoan" in plan(search, "b").deferred
    assert "renewLoan" in plan(search, None).deferred


def test_e91_e92_the_store_is_bounded_and_a_dropped_session_searches_again(lib):
    search = stored(lib, 3)
    for session in ("a", "b", "c", "a", "d"):
        if session != "a" or "renewLoan" in plan(search, "a").deferred:
            load(search, session)
        else:
            load(search, session, "reserve_title")
    assert sorted(search.sessions) == ["b", "c", "d"]
    assert "renewLoan" in plan(search, "a").deferred
    assert all("renewLoan" in plan(search, session).full for session in "bcd")
    load(search, "a")
    assert "renewLoan" in plan(search, "a").full


def test_e93_without_a_session_the_store_is_left_alone(lib):
    search = stored(lib)
    talk = Talk(search)
    talk.ask("renewLoan")
    assert len(search.sessions) == 0
    assert "renewLoan" in talk.turn().plan.full
    assert engine(lib).sessions is NO_STORE


def test_e90_misses_and_what_is_loaded_already_write_nothing(lib):
    search = stored(lib)
    for query in ("xyzzy", "", "find_reader"):
        search.turn([], model=LLAMA, session="a").answer(chat(("tool_search", {"query": query})))
    assert len(search.sessions) == 0


def test_e90_a_run_keeps_its_session(lib):
    search = stored(lib)
    turn = search.turn([], model=LLAMA, session="a")
    turn.answer(chat(("tool_search", {"query": "renewLoan"})))
    assert "renewLoan" in turn.next([]).plan.full


# --- The conversation


_AGAIN = """
import hashlib, json, sys
from semantic_toolsearch import ToolSearch
given = json.load(sys.stdin)
turn = ToolSearch(given["tools"], ranker="bm25", cache=False).turn(given["messages"], model="llama-4", api="chat")
print(json.dumps([list(turn.plan.loaded), hashlib.sha256(json.dumps(turn.tools).encode()).hexdigest()]))
"""


def test_c21_another_process_reads_the_same_names_and_writes_the_same_bytes(lib):
    talk = Talk(engine(lib))
    talk.ask("renewLoan")
    talk.say(("fee-report", {}))
    turn = talk.turn()
    assert turn.plan.loaded == ("renewLoan", "fee-report")
    given = json.dumps({"tools": lib, "messages": talk.messages})
    done = subprocess.run(
        [sys.executable, "-c", _AGAIN],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7"},
    )
    names, digest = json.loads(done.stdout)
    assert tuple(names) == turn.plan.loaded
    assert digest == hashlib.sha256(json.dumps(turn.tools).encode()).hexdigest()


def test_c25_after_a_hand_off_the_other_agent_has_what_it_possesses(many):
    a, b, c = many(3, defer="always")
    first, second = engine([a, b]), engine([b, c])
    talk = Talk(first)
    talk.ask("", names=["tool_00", "tool_01"])
    assert first.turn(talk.messages, model=LLAMA).plan.loaded == ("tool_00", "tool_01")
    assert second.turn(talk.messages, model=LLAMA).plan.loaded == ("tool_01",)
    assert first.turn(talk.messages, model=LLAMA).plan.loaded == ("tool_00", "tool_01")


def test_c26_a_later_run_inherits_what_its_messages_hold(lib):
    talk = Talk(engine(lib))
    talk.ask("renewLoan", limit=1)
    after = [{"role": "user", "content": "And now?"}]
    again = engine(lib)
    assert again.turn([*talk.messages, *after], model=LLAMA).plan.loaded == ("renewLoan",)
    assert again.turn(after, model=LLAMA).plan.loaded == ()
    called = chat(("renewLoan", {"readerCard": "7"}))["choices"][0]["message"]
    assert again.turn([*after, called], model=LLAMA).plan.loaded == ("renewLoan",)


def test_c26_a_compaction_note_keeps_what_was_loaded(lib):
    talk = Talk(engine(lib))
    talk.ask("renewLoan", limit=1)
    kept = [{"role": "user", "content": "And now?"}]
    note = compaction_note(talk.messages, kept)
    assert "renewLoan" in talk.search.turn([note, *kept], model=LLAMA).plan.full


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_e08_a_load_of_another_form_is_sent_in_full(lib, model):
    talk = Talk(engine(lib))
    talk.ask("renewLoan", limit=1)
    turn = talk.search.turn(talk.messages, model=model)
    assert turn.plan.mode == "hosted"
    assert "renewLoan" in turn.plan.full
    assert "renewLoan" not in turn.plan.deferred


def test_x14_what_is_gone_is_one_warning_and_comes_back(lib):
    talk = Talk(engine(lib))
    talk.ask("renewLoan", limit=1)
    talk.search.replace(None, lib[1:])
    gone = talk.turn()
    assert "renewLoan" not in json.dumps(gone.tools)
    assert [warning for warning in gone.plan.warnings if "renewLoan" in warning] == [
        "The conversation loaded tools that cannot be used now: renewLoan."
    ]
    (refused,) = gone.answer(chat(("renewLoan", {"readerCard": "7"})))
    assert "not connected" in refused["content"]
    assert gone.calls(chat(("renewLoan", {"readerCard": "7"}))) == []
    (unknown,) = gone.answer(chat(("returnLoan", {})))
    assert "not connected" not in unknown["content"]
    talk.search.replace(None, lib)
    back = talk.turn()
    assert "renewLoan" in back.plan.full
    assert back.plan.warnings == ()


@pytest.mark.parametrize("spelled", [{"name": "find", "namespace": "wiki"}, {"name": "wiki__find"}])
def test_x14_a_lost_tool_of_a_namespace_is_not_connected_however_it_is_spelled(spelled):
    tools = [
        {"name": "find", "description": "Find a page", "namespace": "wiki", "defer": "always"},
        {"name": "find", "description": "Find a ticket", "namespace": "desk", "defer": "always"},
    ]
    search = engine(tools)
    definition = {"type": "function", "name": "find", "parameters": {"type": "object"}}
    found = [{"type": "namespace", "name": "wiki", "description": "d", "tools": [definition]}]
    if "namespace" not in spelled:
        found = [{"type": "function", "name": "wiki__find", "parameters": {"type": "object"}}]
    common = {"execution": "server", "call_id": None, "status": "completed"}
    history = [
        {"type": "tool_search_call", "arguments": {}, **common},
        {"type": "tool_search_output", "tools": found, **common},
    ]
    assert search.turn(history, model=GPT).plan.loaded == ("wiki__find",)
    search.replace("wiki", [])
    call = {"type": "function_call", "call_id": "1", "arguments": "{}", **spelled}
    turn = search.turn(history, model=GPT)
    (refused,) = turn.answer({"status": "completed", "output": [call]})
    assert "not connected" in refused["output"]


def test_x13_a_loaded_tool_is_sent_with_its_newest_schema(lib):
    talk = Talk(engine(lib))
    talk.ask("renewLoan", limit=1)
    turn = talk.turn()
    properties = {"readerCard": {"type": "string"}, "untilDate": {"type": "string"}}
    renewed = {**lib[0], "parameters": {"type": "object", "properties": properties}}
    talk.search.replace(None, [renewed, *lib[1:]])
    assert "untilDate" in json.dumps(talk.turn().tools)
    assert "extraDays" not in json.dumps(talk.turn().tools)
    assert "extraDays" in json.dumps(turn.tools)
    (call,) = turn.calls(chat(("renewLoan", {"readerCard": "7", "extraDays": 3})))
    assert call.arguments == {"readerCard": "7", "extraDays": 3}


def test_x13_new_tools_are_found_and_removed_ones_are_in_no_answer(lib):
    talk = Talk(engine(lib))
    talk.search.replace(
        "lab", [{"name": "centrifuge_spin", "description": "Spin samples", "defer": "always"}]
    )
    assert talk.ask("spin samples")["loaded"] == ["lab__centrifuge_spin"]
    talk.search.replace("lab", [])
    for query in ("spin samples", "centrifuge_spin", ""):
        given = talk.ask(query)
        assert "centrifuge" not in json.dumps({key: value for key, value in given.items() if key != "query"})
    assert talk.turn().plan.loaded == ()


def test_x11_a_turn_is_one_generation_from_end_to_end(lib):
    search: ToolSearch = engine(lib)
    turn = search.turn([], model=LLAMA)
    search.replace(None, lib[3:])
    (result,) = turn.answer(chat(("tool_search", {"query": "renewLoan"})))
    assert record(result)["loaded"] == ["renewLoan"]


@pytest.mark.parametrize("query", ["tool_02", "does the work", "xyzzy", ""])
def test_a_search_that_was_not_offered_defers_no_tool(many, query):
    """A model may call what it knows from elsewhere; the tools that it has stay as they are."""
    talk = Talk(engine(many(5)))
    before = talk.turn()
    assert (before.plan.mode, before.plan.search) == ("full", None)
    talk.ask(query)
    assert talk.turn().tools == before.tools
