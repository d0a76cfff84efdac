"""Conversations at the same time on one ``ToolSearch``: each sees its own loads only."""

from __future__ import annotations

import asyncio
import threading

import anthropic
import openai
import pytest

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search
from turn_rounds import CLAUDE, GPT, TOOLS, USER, answers, converse, lexical, reply, send

ROUNDS = 200
SESSIONS = {"bill a customer": "create_invoice", "letter to a person": "send_email"}


def response_that_searches(query, number):
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": "tool_search", "input": {"query": query}}
    return {"type": "message", "role": "assistant", "content": [block], "stop_reason": "tool_use"}


def one_round(search, query, number):
    """A load in a conversation of its own; what the next turn has loaded."""
    turn = search.turn([USER], model=CLAUDE, prefer="client", validate=True)
    assert turn.plan.loaded == ()
    response = response_that_searches(query, number)
    messages = [USER, *reply("anthropic", response), *answers("anthropic", turn.answer(response))]
    return search.turn(messages, model=CLAUDE, prefer="client", validate=True).plan.loaded


def test_x22_two_threads_see_their_own_loads_only():
    search, seen, failures = lexical(), {query: set() for query in SESSIONS}, []
    start = threading.Barrier(len(SESSIONS))

    def work(query):
        try:
            start.wait()
            for number in range(ROUNDS):
                seen[query].add(one_round(search, query, number))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(query,)) for query in SESSIONS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert seen == {query: {(name,)} for query, name in SESSIONS.items()}


@pytest.mark.parametrize("inside", [False, True], ids=["built-outside", "built-inside"])
def test_x22_two_tasks_see_their_own_loads_only(inside):
    shared = None if inside else lexical()

    async def work(query, search):
        seen = set()
        for number in range(ROUNDS):
            turn = search.turn([USER], model=CLAUDE, prefer="client", validate=True)
            response = response_that_searches(query, number)
            await asyncio.sleep(0)  # the other task's turn comes between this one's making and its use
            answer = turn.answer(response)
            await asyncio.sleep(0)
            messages = [USER, *reply("anthropic", response), *answers("anthropic", answer)]
            seen.add(search.turn(messages, model=CLAUDE, prefer="client", validate=True).plan.loaded)
        return seen

    async def both():
        search = shared if shared is not None else lexical()
        return await asyncio.gather(*(work(query, search) for query in SESSIONS))

    assert asyncio.run(both()) == [{(name,)} for name in SESSIONS.values()]


def test_x22_sessions_of_a_store_keep_apart_in_threads():
    search = ToolSearch(TOOLS, ranker="bm25", cache=False, config=SearchConfig(session_store=16))
    seen = {query: set() for query in SESSIONS}
    start = threading.Barrier(len(SESSIONS))

    def work(query):
        start.wait()
        for number in range(ROUNDS):
            turn = search.turn([USER], model=CLAUDE, prefer="client", session=query)
            turn.answer(response_that_searches(query, number))
            seen[query].add(search.turn([USER], model=CLAUDE, prefer="client", session=query).plan.loaded)

    threads = [threading.Thread(target=work, args=(query,)) for query in SESSIONS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {query: {(name,)} for query, name in SESSIONS.items()}
    assert search.turn([USER], model=CLAUDE, prefer="client").plan.loaded == ()


def test_x22_conversations_over_the_wire_at_the_same_time():
    """Two threads, each with a server of its own, and one index."""
    search, loaded = lexical(), {}
    start = threading.Barrier(len(SESSIONS))

    def work(query):
        with LoopbackProvider([Search(query), Say("Done.")]) as server:
            start.wait()
            run = converse(server, search, "anthropic", mode="reference")
        loaded[query] = run.turns[-1].plan.loaded

    threads = [threading.Thread(target=work, args=(query,)) for query in SESSIONS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == {query: (name,) for query, name in SESSIONS.items()}


def test_x22_tasks_over_the_wire_at_the_same_time():
    search = lexical()

    async def work(api, query):
        # The step waits for nothing: both servers answer while the other task's request is under way.
        with LoopbackProvider([Search(query), Say("Done.")]) as server:
            if api == "anthropic":
                async with anthropic.AsyncAnthropic(base_url=server.url, api_key="any") as client:
                    turn = search.turn([USER], model=CLAUDE, prefer="client", validate=True)
                    response = await client.messages.create(
                        model=CLAUDE, max_tokens=99, tools=turn.tools, messages=turn.messages
                    )
                    messages = [USER, *reply(api, response), *answers(api, turn.answer(response))]
                    return search.turn(messages, model=CLAUDE, prefer="client", validate=True).plan.loaded
            async with openai.AsyncOpenAI(base_url=server.openai_url, api_key="any") as client:
                turn = search.turn([USER], model=GPT, prefer="client", validate=True)
                response = await client.responses.create(model=GPT, tools=turn.tools, input=turn.messages)
                messages = [USER, *reply(api, response), *turn.answer(response)]
                return search.turn(messages, model=GPT, prefer="client", validate=True).plan.loaded

    async def both():
        return await asyncio.gather(
            work("anthropic", "bill a customer"), work("responses", "letter to a person")
        )

    assert asyncio.run(both()) == [("create_invoice",), ("send_email",)]


def test_x22_a_conversation_goes_on_while_another_one_replaces_the_tools():
    search = lexical()
    with LoopbackProvider([Search("bill a customer"), Say("Done.")]) as server:
        turn = search.turn([USER], model=CLAUDE, mode="reference", validate=True)
        response = send(server, "anthropic", turn, CLAUDE)
        search.replace(None, [each for each in TOOLS if each["name"] != "create_invoice"])
        (block,) = turn.answer(response)  # the turn answers from the tools that it sent
        assert block["content"] == [{"type": "tool_reference", "tool_name": "create_invoice"}]
        messages = [USER, *reply("anthropic", response), *answers("anthropic", [block])]
        following = search.turn(messages, model=CLAUDE, mode="reference", validate=True)
        assert following.plan.loaded == ()
        assert send(server, "anthropic", following, CLAUDE).stop_reason == "end_turn"
        assert [exchange.status for exchange in server.exchanges] == [200, 200]
