"""Our Responses requests and answers through the real SDK to a server that refuses what OpenAI refuses."""

from __future__ import annotations

import json

import pytest
from responses_requests import CRM, request_of, rows
from wire_requests import record_of

from semantic_toolsearch.providers.openai_responses import (
    assemble,
    call_result,
    parse,
    render,
    resolve,
    search_answer,
)
from semantic_toolsearch.providers.validate import validate
from semantic_toolsearch.testing.loopback import Call, Cut, LoopbackProvider, Parallel, Say, Search

openai = pytest.importorskip("openai")

USER = {"role": "user", "content": "Which orders of C-7 are open?"}
ORDERS = {"customer_id": "C-7"}
ROWS = [pytest.param(request, id=file) for file, request in rows()]


def send(server, tools, items, *, streamed=False, **fields):
    """One request, refused by the local validator where it is not in order; the response as the SDK gives it."""
    assert validate("responses", tools, messages=items, settings=fields) == ()
    with openai.OpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:
        fields = {"model": "gpt-5.4", "store": False, **fields}
        if not streamed:
            return client.responses.create(tools=tools, input=items, **fields)
        with client.responses.create(tools=tools, input=items, stream=True, **fields) as events:
            return assemble(list(events))


def items_of(response):
    return response["output"] if isinstance(response, dict) else [item.to_dict() for item in response.output]


@pytest.mark.parametrize("request_", ROWS)
def test_o03_every_golden_request_is_accepted(request_):
    with LoopbackProvider([Say("hello")]) as server:
        found = parse(send(server, render(request_), [USER]))
    assert (found.calls, found.searches, found.complete) == ((), (), True)


@pytest.mark.parametrize("streamed", [False, True])
def test_o08_o11_o14_o16_x02_a_hosted_conversation(streamed):
    """Found and called in one response, called again later without a search, with one list throughout."""
    request = request_of(CRM, "hosted")
    calls = [Call("list_open_orders", ORDERS), Call("list_open_orders", ORDERS), Say("None.")]
    with LoopbackProvider([Search(paths=("crm",)), *calls]) as server:
        items, lists = [USER], set()
        for _ in range(2):
            tools = render(request)
            lists.add(json.dumps(tools))
            response = send(server, tools, items, streamed=streamed)
            (call,) = parse(response).calls
            assert (call.name, call.namespace, call.arguments) == ("list_open_orders", "crm", ORDERS)
            assert request.catalog[resolve(request, call.name, call.namespace)].name == "list_open_orders"
            items += [*items_of(response), call_result(call, "wrong arguments", is_error=True)]
        assert [item["type"] for item in items if "type" in item].count("tool_search_call") == 1
        stripped = [{key: value for key, value in item.items() if key != "id"} for item in items]
        assert parse(send(server, render(request), stripped)).stop == "completed"
    assert len(lists) == 1


@pytest.mark.parametrize("streamed", [False, True])
def test_o09_o10_o11_o13_x02_our_search_by_output(streamed):
    """The id of a streamed search changes between its announcement and its end; the answer must have the last."""
    request = request_of(CRM, "output")
    script = [
        Search("open orders", id="call_77"),
        Call("crm__list_open_orders", ORDERS),
        Search("nothing"),
        Say("-"),
    ]
    with LoopbackProvider(script) as server:
        items, lists, seen = [USER], set(), []
        for found in (["crm__list_open_orders"], None, []):
            tools = render(request)
            lists.add(json.dumps(tools))
            response = send(server, tools, items, streamed=streamed)
            parsed = parse(response)
            items += items_of(response)
            if found is None:
                (call,) = parsed.calls
                seen.append(request.catalog[resolve(request, call.name, call.namespace)].name)
                items.append(call_result(call, "3 orders"))
            else:
                (search,) = parsed.searches
                seen.append(search.id)
                items.append(search_answer(search, record_of(request.catalog, found), request))
        assert parse(send(server, render(request), items)).stop == "completed"
    assert seen[:2] == ["call_77", "list_open_orders"]
    assert len(lists) == 1


def test_o15_with_stored_state_only_new_items_are_sent():
    request = request_of(CRM, "output")
    with LoopbackProvider([Search("orders"), Call("crm__list_open_orders", ORDERS), Say("None.")]) as server:
        first = send(server, render(request), [USER], store=True)
        (search,) = parse(first).searches
        answer = search_answer(search, record_of(request.catalog, ["crm__list_open_orders"]), request)
        second = send(server, render(request), [answer], store=True, previous_response_id=first.id)
        (call,) = parse(second).calls
        last = send(server, render(request), [call_result(call, "[]")], previous_response_id=second.id)
    assert parse(last).complete


def test_x23_a_search_and_a_call_in_one_response_are_answered_together():
    request = request_of([*CRM, {"name": "now", "description": "The time.", "defer": "never"}], "output")
    with LoopbackProvider([Parallel((Search("orders"), Call("now"))), Say("Noon.")]) as server:
        response = send(server, render(request), [USER])
        found = parse(response)
        assert len(found.order) == 2
        answers = [
            search_answer(found.searches[0], record_of(request.catalog, []), request),
            call_result(found.calls[0], "12:00"),
        ]
        assert parse(send(server, render(request), [USER, *items_of(response), *answers])).complete


@pytest.mark.parametrize("streamed", [False, True])
def test_x27_a_cut_response_hands_out_nothing_to_run(streamed):
    request = request_of(CRM, "full")
    with LoopbackProvider([Cut(Call("fx_rate", {"value": "USDEUR"}))]) as server:
        found = parse(send(server, render(request), [USER], streamed=streamed))
    assert not found.complete
    assert found.stop == "max_output_tokens"


@pytest.mark.parametrize("streamed", [False, True])
def test_d15_c04_a_search_as_a_function_by_stub(streamed):
    request = request_of(CRM, "stub")
    loaded = request_of(CRM, "stub", loaded=("crm__get_profile",))
    with LoopbackProvider([Search("profile"), Call("crm__get_profile", ORDERS), Say("Ada.")]) as server:
        response = send(server, render(request), [USER], streamed=streamed)
        (search,) = parse(response).searches
        answer = search_answer(search, record_of(request.catalog, ["crm__get_profile"]), request)
        items = [USER, *items_of(response), answer]
        response = send(server, render(loaded), items, streamed=streamed)
        (call,) = parse(response).calls
        assert resolve(loaded, call.name, call.namespace) == 1
        done = [*items, *items_of(response), call_result(call, "Ada")]
        assert parse(send(server, render(loaded), done)).complete
