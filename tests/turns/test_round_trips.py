"""Whole conversations in every mode of every interface, with the real SDKs."""

from __future__ import annotations

import json

import anthropic
import openai
import pytest

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, Cut, LoopbackProvider, Parallel, Say, Search, Status
from turn_rounds import (
    CLAUDE,
    GPT,
    INVOICE,
    MODES,
    TOOLS,
    USER,
    USERS,
    WAYS,
    answers,
    converse,
    lexical,
    many,
    reply,
    send,
    text_of,
    used,
)

BILL = Search("bill a customer", paths=("create_invoice",))
NAMED = [(api, mode) for api, mode in MODES if mode != "full"]


def script(mode, *more):
    search = [] if mode == "full" else [BILL]
    return [*search, used(mode, "create_invoice", INVOICE), *more, Say("Done.")]


def distinct(server):
    return {json.dumps(body["tools"]) for body in server.requests}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("api", "mode"), MODES)
def test_e09_a_call_is_the_same_in_every_mode_however_it_comes(api, mode, way):
    with LoopbackProvider(script(mode)) as server:
        run = converse(server, lexical(), api, way=way, mode=mode)
        assert [exchange.status for exchange in server.exchanges] == [200] * len(server.exchanges)
        assert server.failures == []
        assert server.remaining == 0
    assert {turn.plan.mode for turn in run.turns} == {mode}
    (call,) = run.calls
    assert (call.name, call.arguments, call.namespace) == ("create_invoice", INVOICE, None)
    assert text_of(api, run.responses[-1]) == "Done."
    if mode not in ("full", "bridge", "hosted"):
        assert call.loaded
        assert server.calls[-1].knowledge in ("full", "loaded")


def test_e09_five_modes_give_five_equal_calls():
    calls = []
    for api, mode in (
        ("responses", "full"), ("anthropic", "hosted"), ("anthropic", "reference"), ("responses", "output"),
        ("chat", "stub"),
    ):  # fmt: skip
        found = Search("gauge number 3 tool_03", paths=("tool_03",))
        steps = [*([] if mode == "full" else [found]), Call("tool_03", {"gauge_03": "north"}), Say("Done.")]
        with LoopbackProvider(steps) as server:
            calls += converse(server, lexical(), api, mode=mode).calls
    assert len(calls) == 5
    assert all(call == calls[0] for call in calls)
    assert (calls[0].name, calls[0].arguments) == ("tool_03", {"gauge_03": "north"})


@pytest.mark.parametrize(("api", "mode"), MODES)
def test_x27_a_stream_gives_what_the_complete_response_gives(api, mode):
    runs = []
    for way in ("complete", "streamed"):
        with LoopbackProvider(script(mode)) as server:
            runs.append(converse(server, lexical(), api, way=way, mode=mode))
    complete, streamed = runs
    assert complete.calls == streamed.calls
    # Ids are the server's own and may differ between the two conversations; everything else is the same.
    assert [[_without_ids(each) for each in some] for some in complete.results] == [
        [_without_ids(each) for each in some] for some in streamed.results
    ]
    assert [turn.plan for turn in complete.turns] == [turn.plan for turn in streamed.turns]


def _without_ids(value):
    return {
        key: each
        for key, each in value.items()
        if key not in ("call_id", "tool_use_id", "tool_call_id", "id")
    }


@pytest.mark.parametrize("way", ["complete", "streamed"])
@pytest.mark.parametrize(("api", "mode"), MODES)
def test_x27_a_call_cut_by_the_token_limit_is_not_handed_out(api, mode, way):
    with LoopbackProvider([Cut(used(mode, "create_invoice", INVOICE))]) as server:
        turn = lexical().turn([USER], model=USERS[api], api=api, mode=mode, validate=True)
        response = send(server, api, turn, USERS[api], way)
        assert server.exchanges[0].status == 200
    assert turn.calls(response) == []
    assert turn.answer(response) == []
    assert turn.results(response, lambda call: pytest.fail(f"ran {call}")) == []
    assert turn.done(response)


@pytest.mark.parametrize(("api", "mode"), [("anthropic", "reference"), ("responses", "output")])
def test_x02_six_turns_with_four_loads_and_a_miss_send_one_tools_list(api, mode):
    steps = [
        Search("bill a customer"), Search("letter to a person"), Search("zebra quokka"), Search("plane seat"),
        Search("another language"), Say("Done."),
    ]  # fmt: skip
    with LoopbackProvider(steps) as server:
        run = converse(server, lexical(), api, mode=mode)
        assert [exchange.status for exchange in server.exchanges] == [200] * 6
        assert len(distinct(server)) == 1
    assert run.turns[-1].plan.loaded == ("create_invoice", "send_email", "book_flight", "translate_text")
    assert len({turn.cache_key for turn in run.turns}) == 1


@pytest.mark.parametrize(("api", "mode"), [("anthropic", "hosted"), ("responses", "hosted")])
def test_o23_hosted_deferral_keeps_the_tools_list_over_loads(api, mode):
    names = ("create_invoice", "send_email", "book_flight")
    steps = []
    for name, query in zip(names, ("bill customer", "letter person", "plane seat"), strict=True):
        steps += [Search(query, limit=1, paths=(name,)), Call(name, _arguments(name))]
    with LoopbackProvider([*steps, Say("Done.")]) as server:
        run = converse(server, lexical(), api, mode=mode)
        assert len(server.requests) == 4
        assert len(distinct(server)) == 1
    assert run.turns[-1].plan.loaded == names
    assert [call.name for call in run.calls] == list(names)


def _arguments(name):
    (schema,) = [each["parameters"] for each in TOOLS if each["name"] == name]
    return {key: 3 if part["type"] == "number" else "x" for key, part in schema["properties"].items()}


@pytest.mark.parametrize(("api", "mode"), [("anthropic", "stub"), ("responses", "stub"), ("chat", "stub")])
def test_c39_by_stub_a_load_changes_the_list_once(api, mode):
    steps = [
        Call("tool_01", {"gauge_01": "n"}),
        BILL,
        *[used(mode, "create_invoice", INVOICE)] * 2,
        Say("Done."),
    ]
    with LoopbackProvider(steps) as server:
        run = converse(server, lexical(), api, mode=mode, never_defer=["tool_01"])
        lists = [json.dumps(body["tools"]) for body in server.requests]
    assert lists[0] == lists[1] != lists[2]
    assert lists[2] == lists[3] == lists[4]
    assert [call.name for call in run.calls] == ["tool_01", "create_invoice", "create_invoice"]


@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_e71_the_first_use_costs_one_more_model_call_and_the_second_none(api):
    counts = {}
    for mode in ("full", "stub"):
        for uses in (1, 2):
            steps = script(mode, *[used(mode, "create_invoice", INVOICE)] * (uses - 1))
            with LoopbackProvider(steps) as server:
                converse(server, lexical(), api, mode=mode)
                counts[mode, uses] = len(server.requests)
    assert counts == {("full", 1): 2, ("stub", 1): 3, ("full", 2): 3, ("stub", 2): 4}


@pytest.mark.parametrize(("api", "mode"), NAMED)
def test_c22_loaded_names_keep_the_order_in_which_they_were_first_seen(api, mode):
    steps = [
        Search("letter to a person", limit=1, paths=("send_email",)),
        Search("bill", limit=1, paths=("create_invoice",)),
        Search("letter person", limit=1, paths=("send_email",)), Say("Done."),
    ]  # fmt: skip
    with LoopbackProvider(steps) as server:
        run = converse(server, lexical(), api, mode=mode)
    later = lexical().turn([*run.messages, USER], model=USERS[api], api=api, mode=mode, validate=True)
    assert later.plan.loaded == ("send_email", "create_invoice")


@pytest.mark.parametrize(("api", "mode"), [each for each in NAMED if each[1] != "hosted"])
def test_c23_a_run_resumed_from_json_keeps_what_it_loaded(api, mode):
    model, search = USERS[api], lexical()
    with LoopbackProvider([BILL, used(mode, "create_invoice", INVOICE), Say("Done.")]) as server:
        first = search.turn([USER], model=model, api=api, mode=mode, validate=True)
        response = send(server, api, first, model)
        held = [USER, *reply(api, response), *answers(api, first.answer(response))]
        run = converse(server, lexical(), api, mode=mode, messages=json.loads(json.dumps(held)))
        assert server.failures == []
    assert run.turns[0].plan.loaded == ("create_invoice",)
    assert [call.arguments for call in run.calls] == [INVOICE]


@pytest.mark.parametrize(("api", "mode"), [each for each in NAMED if each[1] != "hosted"])
def test_c24_branches_of_a_conversation_part_after_the_fork(api, mode):
    search = lexical()
    # One server for all: its ids are unique within it.
    with LoopbackProvider([BILL, Say("Done."), Search("letter to a person"), *[Say("Done.")] * 2]) as server:
        trunk = converse(server, search, api, mode=mode).messages
        one = converse(server, search, api, mode=mode, messages=[*trunk, USER])
        two = converse(server, search, api, mode=mode, messages=[*trunk, USER])
    assert one.turns[-1].plan.loaded == ("create_invoice", "send_email")
    assert two.turns[-1].plan.loaded == ("create_invoice",)


@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
@pytest.mark.parametrize("mode", ["stub", "bridge"])
def test_x23_a_search_in_a_batch_serves_the_calls_beside_it(api, mode):
    batch = Parallel(
        [
            Call("tool_01", {"gauge_01": "n"}, id="call_1") if mode == "stub" else
            Call("call_tool", {"name": "tool_01", "arguments": {"gauge_01": "n"}}, id="call_1"),
            Search("bill a customer", id="call_2"),
            used(mode, "create_invoice", INVOICE),
        ]
    )  # fmt: skip
    with LoopbackProvider([batch, Say("Done.")]) as server:
        run = converse(server, lexical(), api, mode=mode)
        assert [exchange.status for exchange in server.exchanges] == [200, 200]
    assert [call.name for call in run.calls] == ["tool_01", "create_invoice"]
    assert [call.loaded for call in run.calls] == [False, True]
    ids = [
        each.get("tool_use_id") or each.get("call_id") or each.get("tool_call_id") for each in run.results[0]
    ]
    assert ids[:2] == ["call_1", "call_2"]
    assert len(set(ids)) == 3


@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_a_failure_of_the_service_is_the_sdks_own_error(api):
    error = anthropic.RateLimitError if api == "anthropic" else openai.RateLimitError
    with LoopbackProvider([Status(429, "slow down"), *script("stub")]) as server:
        with pytest.raises(error) as caught:
            converse(server, lexical(), api, mode="stub")
        assert caught.value.status_code == 429
        run = converse(server, lexical(), api, mode="stub")  # the same request again
        assert server.requests[0] == server.requests[1]
    assert [call.name for call in run.calls] == ["create_invoice"]


def test_e08_the_mode_is_chosen_for_each_turn_by_its_model():
    search = ToolSearch(many(20), ranker="bm25", cache=False)
    modes = [search.turn([], model=model, validate=True).plan.mode for model in (GPT, "gemini-3-pro", CLAUDE)]
    assert modes == ["hosted", "stub", "hosted"]


@pytest.mark.parametrize("first", ["hosted", "reference", "stub"])
def test_x25_loads_of_one_provider_are_valid_under_the_next(first):
    """Each provider gets the history in its own form; the loads are read from the one that made them."""
    search = lexical()
    with LoopbackProvider(
        [Search("bill customer", limit=1), used(first, "create_invoice", INVOICE), Say("Done.")]
    ) as server:
        run = converse(server, search, "anthropic", mode=first)
        assert server.failures == []
    assert search.turn(run.messages, model=CLAUDE).plan.loaded == ("create_invoice",)
    seen = set()
    for api, mode in (
        ("responses", "stub"),
        ("responses", "output"),
        ("responses", "hosted"),
        ("chat", "stub"),
    ):
        with LoopbackProvider([used(mode, "create_invoice", INVOICE), Say("Done.")]) as server:
            history = _rewritten(run.messages, api)
            again = converse(server, search, api, mode=mode, messages=[*history, USER])
            assert [exchange.status for exchange in server.exchanges] == [200, 200]
        seen.add(again.turns[0].plan.loaded)
        assert [call.arguments for call in again.calls] == [INVOICE]
    assert seen == {("create_invoice",)}


def _rewritten(messages, api):
    """An Anthropic history in OpenAI's forms, as a host that switches providers writes it: searches become calls
    of a function named tool_search whose result is the names.
    """
    items, names = [], {}
    for message in messages:
        if isinstance(message["content"], str):
            items.append(message)
            continue
        for block in message["content"]:
            kind = block["type"]
            if kind == "text":
                items.append({"role": message["role"], "content": block["text"]})
            elif kind in ("tool_use", "server_tool_use"):
                name = "tool_search" if kind == "server_tool_use" else block["name"]
                names[block["id"]] = name
                items.append(_call(api, block["id"], name, block["input"]))
            elif kind in ("tool_result", "tool_search_tool_result"):
                items.append(_output(api, block["tool_use_id"], _result_text(block["content"])))
    return items


def _result_text(content):
    if isinstance(content, dict):
        content = content["tool_references"]
    if isinstance(content, str):
        return content
    found = [part["tool_name"] for part in content if part["type"] == "tool_reference"]
    return json.dumps({"query": "", "loaded": found})


def _call(api, identity, name, arguments):
    text = json.dumps(arguments)
    if api == "responses":
        return {"type": "function_call", "call_id": identity, "name": name, "arguments": text}
    function = {"name": name, "arguments": text}
    calls = [{"id": identity, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _output(api, identity, text):
    if api == "responses":
        return {"type": "function_call_output", "call_id": identity, "output": text}
    return {"role": "tool", "tool_call_id": identity, "content": text}
