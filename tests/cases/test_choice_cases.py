"""Failures of other tool searches, from public reports: a forced choice of a deferred tool (BC-43)."""

from __future__ import annotations

import pytest
from case_tools import obj, t

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say
from turn_rounds import USERS, answers, reply, send

TEXT = {"type": "string"}
INVOICE = [
    t("invoice_create", "Bill a customer", obj(customer=TEXT)),
    *(t(f"tool_{i:02}", "Works") for i in range(20)),
]
PLANTS = [t("植物.水やり", "水をやる", obj(鉢=TEXT)), t("植物.一覧", "植物の一覧"), t("時刻", "いまの時刻")]
TRAINS = [
    t("ReserveSeat", "Reserve a seat", obj(train=TEXT), server="bahn"),
    *(t(f"ShowTrain{i}", f"Train {i}", server="bahn") for i in range(30)),
]
CHOSEN = {"reported": INVOICE, "japanese dotted": PLANTS, "pascal on a server, 31": TRAINS}
chosen = pytest.mark.parametrize("tools", CHOSEN.values(), ids=list(CHOSEN))
ALWAYS = SearchConfig(ranker="bm25", threshold=1)
USER = {"role": "user", "content": "Do it."}


def choice(api, name):
    if api == "anthropic":
        return {"type": "tool", "name": name}
    return (
        {"type": "function", "function": {"name": name}}
        if api == "chat"
        else {"type": "function", "name": name}
    )


@chosen
@pytest.mark.parametrize("prefer", [None, "client"])
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc43_a_forced_choice_is_accepted_and_stays_for_the_run(tools, api, prefer):
    """Kind: dispatch. The first request has the full schema, the provider takes it, and it stays for the run."""
    search = ToolSearch(tools, config=ALWAYS, cache=False)
    name, parameter = search.catalog.wire_names[0], next(iter(tools[0]["parameters"]["properties"]))
    options = {"model": USERS[api], "api": api, "prefer": prefer, "validate": True}
    forced = choice(api, name)
    assert name in search.turn([USER], **options).plan.deferred
    messages = [USER]
    with LoopbackProvider([Call(name, {parameter: "x"}), Say("Done.")]) as server:
        turn = search.turn(messages, tool_choice=forced, **options)
        assert (turn.plan.full, turn.plan.forced) == ((name,), name)
        response = send(server, api, turn, USERS[api], tool_choice=forced)
        (call,) = turn.calls(response)
        assert (call.name, call.arguments) == (tools[0]["name"], {parameter: "x"})
        messages += [*reply(api, response), *answers(api, turn.results(response, lambda call: "ran"))]
        turn = turn.next(messages)
        assert name in turn.plan.full
        assert turn.plan.deferred == tuple(search.catalog.wire_names[1:])
        assert turn.done(send(server, api, turn, USERS[api]))
        assert [exchange.status for exchange in server.exchanges] == [200, 200]
        assert server.calls[0].knowledge == "full"
    assert name in turn.next([USER]).plan.full
    assert name in search.turn([USER], **options).plan.deferred


@chosen
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc43_a_choice_of_the_only_deferred_tool_leaves_no_search_behind(tools, api):
    """Kind: dispatch. A search over nothing would be refused, or answered with nothing."""
    search = ToolSearch(tools[:1], config=ALWAYS, cache=False)
    forced = choice(api, search.catalog.wire_names[0])
    turn = search.turn([USER], model=USERS[api], api=api, tool_choice=forced, validate=True)
    assert (turn.plan.mode, turn.plan.full, turn.plan.search) == ("full", search.catalog.wire_names, None)


@chosen
@pytest.mark.parametrize("api", ["anthropic", "responses"])
def test_bc43_a_choice_that_hosted_search_excludes_changes_the_mode(tools, api):
    """Kind: dispatch. The hosted search itself cannot be forced; ours can."""
    search = ToolSearch(tools, config=ALWAYS, cache=False)
    assert search.turn([USER], model=USERS[api]).plan.mode == "hosted"
    turn = search.turn([USER], model=USERS[api], tool_choice="tool_search", validate=True)
    assert (turn.plan.mode, turn.plan.search, turn.plan.forced) == ("stub", "ours", "tool_search")
    forced = choice(api, "tool_search")
    with LoopbackProvider([Call("tool_search", {"query": tools[0]["description"]})]) as server:
        response = send(server, api, turn, USERS[api], tool_choice=forced)
        (answer,) = turn.answer(response)
    assert search.catalog.wire_names[0] in str(answer)
