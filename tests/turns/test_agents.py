"""Agents over the same tools: lists and permissions of their own, one index."""

from __future__ import annotations

import json

import pytest
from surfaces import CLAUDE, LLAMA, chat, engine, record, wire

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.errors import ConfigError


def test_c05_c06_c07_an_agents_list_is_its_own(files):
    search = engine(files)
    before = search.catalog["bash"]
    one = search.agent(deferred_tools=["bash"])
    plan = one.turn([], model=LLAMA).plan
    assert plan.deferred == ("bash",)
    assert search.catalog["bash"] is before
    assert before.defer == "automatic"
    for other in (search.agent(), search.agent(never_defer=["read_file"]), search):
        assert "bash" in other.turn([], model=LLAMA).plan.full


def test_c06_agents_share_one_index(files):
    search = ToolSearch(files, cache=False).prepare()
    first, second = search.agent(deferred_tools=["bash"]), search.agent()
    assert [hit.name for hit in first.search("run a shell command").tools] == [
        hit.name for hit in second.search("run a shell command").tools
    ]
    assert search.stats().embedded == len(files)


@pytest.mark.parametrize(("count", "deferred"), [(8, 0), (9, 9)])
def test_c08_a_harness_defers_the_users_tools_once_there_are_many(files, many, count, deferred):
    agent = ToolSearch.harness(core=files, tools=many(count), threshold=15, ranker="bm25", cache=False)
    plan = agent.turn([], model=LLAMA).plan
    assert len(plan.deferred) == deferred
    assert plan.full[:6] == tuple(tool["name"] for tool in files)
    assert len(plan.full) == (6 if deferred else 6 + count)


def test_x11_an_agents_permissions_hold_for_searches_turns_and_calls(lib):
    agent = engine(lib).agent(visible={"reserve_title", "fee-report"})
    assert "renewLoan" not in [hit.name for hit in agent.search("renewLoan").tools]
    turn = agent.turn([], model=LLAMA)
    assert set(wire(turn.tools)) == {"reserve_title", "fee-report", "tool_search"}
    (result,) = turn.answer(chat(("tool_search", {"query": "renewLoan"})))
    assert "renewLoan" not in json.dumps(
        {key: value for key, value in record(result).items() if key != "query"}
    )
    assert turn.calls(chat(("renewLoan", {"readerCard": "7"}))) == []


def test_x11_a_turn_may_look_at_less(lib):
    agent = engine(lib).agent(visible={"reserve_title", "fee-report"})
    assert agent.turn([], model=LLAMA, visible={"fee-report"}).plan.deferred == ("fee-report",)
    assert agent.turn([], model=LLAMA, visible=set()).tools == []


def test_e72_turn_lists_win_over_agent_lists(files):
    agent = engine(files).agent(deferred_tools=["bash"])
    assert "bash" in agent.turn([], model=LLAMA, never_defer=["bash"]).plan.full
    with pytest.raises(ConfigError, match="both to keep and to defer"):
        agent.turn([], model=LLAMA, never_defer=["bash"], deferred_tools=["bash"])


@pytest.mark.parametrize("model", [LLAMA, CLAUDE])
def test_c05_a_run_keeps_the_agents_lists(files, model):
    agent = engine(files).agent(deferred_tools=["bash", "edit_file"])
    turn = agent.turn(
        [], model=model, tool_choice="bash" if model == LLAMA else {"type": "tool", "name": "bash"}
    )
    assert turn.plan.deferred == ("edit_file",)
    assert turn.next([]).plan.deferred == ("edit_file",)
