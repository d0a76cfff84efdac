"""Turns in which the provider searches, with the real SDKs: what is sent, what comes back, what is left to us."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from anthropic.types import ToolUnionParam

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import (
    HOSTED_ERRORS,
    Call,
    HostedError,
    LoopbackProvider,
    Parallel,
    Pause,
    Say,
    Search,
)
from turn_rounds import (
    CLAUDE,
    GPT,
    INVOICE,
    TOOLS,
    USER,
    WAYS,
    converse,
    lexical,
    many,
    reply,
    send,
    tool,
)

BM25 = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
CREATE = Call("create_invoice", INVOICE)
FIND = Search("bill customer", limit=1, paths=("create_invoice",))


def flat(count, **options):
    return ToolSearch(many(count), ranker="bm25", cache=False, **options)


def grouped(count=15):
    categories = ("alpha", "beta", "gamma")
    tools = [{**each, "namespace": categories[at % 3]} for at, each in enumerate(many(count))]
    return ToolSearch(tools, ranker="bm25", cache=False)


def names_in(entries):
    """Function names of a tools list, namespaces opened."""
    return [each["name"] for entry in entries for each in entry.get("tools", [entry]) if "name" in each]


def seen_first(search, api, model, **options):
    """The first request, its turn, and what the model saw."""
    with LoopbackProvider([Say("Done.")]) as server:
        run = converse(server, search, api, model=model, **options)
        return server.requests[0], run.turns[0], server.model_view(0)


def test_e10_openai_gets_deferred_functions_and_the_activator():
    body, turn, _ = seen_first(flat(20), "responses", GPT)
    assert turn.plan.mode == "hosted"
    assert body["tools"][-1] == {"type": "tool_search"}
    assert [entry["defer_loading"] for entry in body["tools"][:-1]] == [True] * 20
    assert "tool_search" not in names_in(body["tools"])


def test_e11_claude_gets_deferred_tools_and_the_server_tool():
    body, turn, _ = seen_first(flat(20), "anthropic", CLAUDE)
    assert turn.plan.mode == "hosted"
    assert sum(entry.get("defer_loading") is True for entry in body["tools"]) == 20
    assert len(body["tools"]) == 21
    assert body["tools"].count(BM25) == 1
    assert "tool_search" not in names_in(body["tools"])


@pytest.mark.parametrize(("api", "model"), [("responses", GPT), ("anthropic", CLAUDE)])
def test_e35_e47_hosted_search_adds_no_function_and_no_prompt_text(api, model):
    search = flat(20)
    body, turn, _ = seen_first(search, api, model)
    assert turn.instructions == ""
    callable_names = {name for name in names_in(body["tools"]) if name != BM25["name"]}
    assert callable_names == set(search.catalog.wire_names)


def test_e48_claude_defers_tools_one_by_one():
    body, _, _ = seen_first(grouped(), "anthropic", CLAUDE)
    deferred = [entry for entry in body["tools"] if entry.get("defer_loading")]
    assert len(deferred) == 15
    assert all("tools" not in entry for entry in body["tools"])


def test_e49_the_server_tool_is_one_that_the_sdk_knows():
    body, _, _ = seen_first(flat(20), "anthropic", CLAUDE)
    assert [entry for entry in body["tools"] if entry.get("type")] == [BM25]
    declared = [str(kind.__annotations__.get("type")) for kind in get_args(ToolUnionParam)]
    assert any(BM25["type"] in each for each in declared)


def test_e50_with_every_function_deferred_the_search_is_not():
    tools = [{**each, "defer": "always"} for each in many(15)]
    body, _, _ = seen_first(ToolSearch(tools, ranker="bm25", cache=False), "anthropic", CLAUDE)
    assert [entry["name"] for entry in body["tools"] if not entry.get("defer_loading")] == [BM25["name"]]
    assert "defer_loading" not in next(entry for entry in body["tools"] if entry["name"] == BM25["name"])


@pytest.mark.parametrize("way", WAYS)
def test_e51_the_provider_loads_five_of_twelve_matches_and_nothing_is_ours(way):
    tools = [
        *many(10),
        *(tool(f"pay_{i}", "Pays a supplier's bill.", sum={"type": "number"}) for i in range(12)),
    ]
    search = ToolSearch(tools, ranker="bm25", cache=False)
    with LoopbackProvider([Search("pay supplier bill"), Say("Done.")]) as server:
        turn = search.turn([USER], model=CLAUDE, validate=True)
        response = send(server, "anthropic", turn, CLAUDE, way)
    assert turn.answer(response) == []
    assert turn.done(response)
    later = search.turn([USER, *reply("anthropic", response), USER], model=CLAUDE, validate=True)
    assert len(later.plan.loaded) == 5
    assert set(later.plan.loaded) <= {f"pay_{i}" for i in range(12)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("api", "model"), [("responses", GPT), ("anthropic", CLAUDE)])
def test_e52_o08_search_result_and_call_come_in_one_response(api, model, way):
    with LoopbackProvider([FIND, CREATE, Say("Done.")]) as server:
        turn = lexical().turn([USER], model=model, api=api, validate=True)
        response = send(server, api, turn, model, way)
        (call,) = turn.calls(response)
        assert turn.answer(response) == []
        assert not turn.done(response)
        assert (call.name, call.arguments, call.id) == ("create_invoice", INVOICE, server.calls[0].id)


def test_e44_a_call_of_a_namespaced_tool_is_answered_like_any_other():
    search = grouped()
    with LoopbackProvider(
        [Search(paths=("beta",)), Call("tool_01", {"gauge_01": "n"}), Say("Done.")]
    ) as server:
        run = converse(server, search, "responses")
        assert server.calls[0].namespace == "beta"
        assert [exchange.status for exchange in server.exchanges] == [200, 200]
    (call,) = run.calls
    assert (call.name, call.namespace) == ("tool_01", "beta")
    assert run.results[0][0]["call_id"] == call.id == server.calls[0].id


def test_e46_the_cache_key_follows_the_tools_list():
    first, second = (flat(20).turn([], model=GPT, validate=True) for _ in range(2))
    changed = many(20)
    changed[3] = {**changed[3], "description": "Reads another gauge."}
    other = ToolSearch(changed, ranker="bm25", cache=False).turn([], model=GPT, validate=True)
    assert first.cache_key == second.cache_key != other.cache_key


def test_o01_o03_the_mark_and_the_activator_are_there_exactly_when_something_is_deferred():
    for count, deferred in ((5, 0), (5, 1), (20, 20)):
        listed = ["tool_02"] if deferred == 1 else []
        body, _, _ = seen_first(flat(count), "responses", GPT, deferred_tools=listed)
        marks = [entry["defer_loading"] for entry in body["tools"] if "defer_loading" in entry]
        assert marks == [True] * deferred
        assert body["tools"].count({"type": "tool_search"}) == bool(deferred)


def test_o02_at_the_start_the_model_has_names_and_descriptions_only():
    _, _, view = seen_first(flat(20), "responses", GPT)
    functions = [entry for entry in view.up_front if entry.get("type") == "function"]
    assert len(functions) == 20
    assert all(entry["description"] and "parameters" not in entry for entry in functions)
    _, _, view = seen_first(grouped(), "responses", GPT)
    assert {entry["name"] for entry in view.up_front if entry.get("type") == "namespace"} == {
        "alpha",
        "beta",
        "gamma",
    }
    assert "gauge_" not in json.dumps(view.up_front)


@pytest.mark.parametrize("stripped", [False, True], ids=["ids", "ids-stripped"])
def test_o14_both_item_types_are_replayed_unchanged_without_stored_state(stripped):
    search = lexical()
    with LoopbackProvider([FIND, CREATE, CREATE, Say("Done.")]) as server:
        items = [USER]
        for _ in range(3):
            turn = search.turn(items, model=GPT, validate=True)
            response = send(server, "responses", turn, GPT, store=False)
            output = reply("responses", response)
            items += [_without_id(each) for each in output] if stripped else output
            items += turn.results(response, lambda call: "ok")
        assert [exchange.status for exchange in server.exchanges] == [200] * 3
        assert server.requests[2]["input"] == items[: len(server.requests[2]["input"])]
        kinds = [each.get("type") for each in server.requests[2]["input"]]
    assert kinds[1:4] == ["tool_search_call", "tool_search_output", "function_call"]
    assert kinds.count("tool_search_call") == 1


def _without_id(item):
    return {key: value for key, value in item.items() if key != "id"}


@pytest.mark.parametrize("mode", ["hosted", "output", "stub", "bridge"])
def test_o15_with_stored_state_only_new_items_are_sent(mode):
    """The host keeps the history for planning, and sends what is new."""
    search, history, previous, new = lexical(), [USER], None, [USER]
    use = Call("call_tool", {"name": "create_invoice", "arguments": INVOICE}) if mode == "bridge" else CREATE
    with LoopbackProvider([FIND, use, Say("Done.")]) as server:
        while True:
            turn = search.turn(history, model=GPT, mode=mode, validate=True)
            more = {"input": new, "previous_response_id": previous} if previous else {}
            response = send(server, "responses", turn, GPT, **more)
            if turn.done(response):
                break
            new = turn.results(response, lambda call: "ok")
            history += [*reply("responses", response), *new]
            previous = response.id
        assert [exchange.status for exchange in server.exchanges] == [200] * len(server.exchanges)
        assert all(len(body["input"]) == 1 for body in server.requests)
        if mode != "stub":
            assert len({json.dumps(body["tools"]) for body in server.requests}) == 1


@pytest.mark.parametrize("arguments", [{"gauge_01": "n"}, {}, "{broken"], ids=["good", "missing", "no-json"])
def test_o16_the_namespace_survives_replay_also_on_error_paths(arguments):
    search = grouped()
    with LoopbackProvider([Search(paths=("beta",)), Call("tool_01", arguments), Say("Done.")]) as server:
        run = converse(server, search, "responses", fields={"store": False})
        assert [exchange.status for exchange in server.exchanges] == [200, 200]
        replayed = [each for each in server.requests[1]["input"] if each.get("type") == "function_call"]
    assert [each["namespace"] for each in replayed] == ["beta"]
    assert len(run.calls) == (arguments == {"gauge_01": "n"})
    assert len(run.results[0]) == 1


def test_o17_a_call_is_resolved_by_namespace_and_name():
    same = {"order": {"type": "string"}}
    tools = [
        *many(16),
        {**tool("lookup", "Look an order's bill up.", **same), "namespace": "billing"},
        {**tool("lookup", "Look an order's parcel up.", **same), "namespace": "shipping"},
        tool("fx_rate", "Exchange rate of two currencies.", pair={"type": "string"}),
    ]
    search = ToolSearch(tools, ranker="bm25", cache=False)
    batch = Parallel(
        [
            Call("lookup", {"order": "1"}, namespace="billing"),
            Call("lookup", {"order": "2"}, namespace="shipping"),
            Call("fx_rate", {"pair": "EURUSD"}),
        ]
    )
    with LoopbackProvider([Search(paths=("billing", "shipping", "fx_rate")), batch, Say("Done.")]) as server:
        run = converse(server, search, "responses", mode="hosted")
        assert [call.namespace for call in server.calls] == ["billing", "shipping", "fx_rate"]
    found = [(call.namespace, call.name) for call in run.calls]
    assert found == [("billing", "lookup"), ("shipping", "lookup"), (None, "fx_rate")]


@pytest.mark.parametrize("way", ["complete", "streamed"])
def test_o09_o10_o13_our_search_is_offered_and_answered_by_its_finished_id(way):
    with LoopbackProvider([Search("bill a customer"), Say("Done.")]) as server:
        turn = lexical().turn([USER], model=GPT, prefer="client", validate=True)
        (entry,) = [each for each in turn.tools if each["type"] == "tool_search"]
        assert entry["execution"] == "client"
        assert {"type", "execution", "description", "parameters"} <= set(entry)
        response = send(server, "responses", turn, GPT, way)
        (item,) = turn.answer(response)
        (done,) = [
            each for each in server.exchanges[0].response["output"] if each["type"] == "tool_search_call"
        ]
        assert (item["type"], item["call_id"], item["status"]) == (
            "tool_search_output",
            done["call_id"],
            "completed",
        )
        assert names_in(item["tools"]) == ["create_invoice"]


def test_o11_a_tool_loaded_by_output_is_called_in_later_turns():
    with LoopbackProvider([Search("bill a customer"), CREATE, CREATE, Say("Done.")]) as server:
        run = converse(server, lexical(), "responses", mode="output")
        assert len({json.dumps(body["tools"]) for body in server.requests}) == 1
        assert [call.knowledge for call in server.calls] == ["loaded", "loaded"]
    assert [call.arguments for call in run.calls] == [INVOICE, INVOICE]


@pytest.mark.parametrize("mode", ["hosted", "output"])
def test_o12_a_response_is_read_whole_or_streamed_as_dict_or_as_sdk_object(mode):
    seen = []
    for way in ("complete", "streamed"):
        search = lexical()
        with LoopbackProvider([FIND, CREATE] if mode == "hosted" else [FIND]) as server:
            turn = search.turn([USER], model=GPT, mode=mode, validate=True)
            response = send(server, "responses", turn, GPT, way)
        for form in [response] if way == "streamed" else [response, response.to_dict(mode="json")]:
            answer = [{**item, "call_id": "", "id": ""} for item in turn.answer(form)]
            history = [USER, *reply("responses", form), *turn.answer(form)]
            loaded = search.turn(history, model=GPT, mode=mode).plan.loaded
            seen.append((turn.calls(form), answer, loaded))
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][2] == ("create_invoice",)


@pytest.mark.parametrize(
    ("api", "mode"),
    [("responses", "hosted"), ("anthropic", "hosted"), ("responses", "output"), ("anthropic", "reference")],
)
def test_o25_every_deferred_tool_can_be_found_loaded_and_called(api, mode):
    tools = many(38)
    search = ToolSearch(tools, ranker="bm25", cache=False)
    script = []
    for each in tools:
        (key,) = each["parameters"]["properties"]
        find = Search(each["name"], limit=1, paths=(each["name"],))
        script += [find, Call(each["name"], {key: "x"}), Say("Done.")]
    with LoopbackProvider(script, blind_calls=False) as server:
        called = [call.name for _ in tools for call in converse(server, search, api, mode=mode).calls]
        assert {exchange.status for exchange in server.exchanges} == {200}
        assert server.failures == []
    assert called == [each["name"] for each in tools]


@pytest.mark.parametrize("way", WAYS)
def test_x01_claude_gets_references_alone_and_a_text_on_a_miss(way):
    search = lexical()
    with LoopbackProvider([Search("bill a customer"), Search("zebra quokka"), Say("Done.")]) as server:
        run = converse(server, search, "anthropic", prefer="client", way=way)
        assert [exchange.status for exchange in server.exchanges] == [200] * 3
        assert BM25["type"] not in json.dumps(server.requests)
    (hit,), (miss,) = run.results
    assert hit["content"] == [{"type": "tool_reference", "tool_name": "create_invoice"}]
    parts = (
        [{"type": "text", "text": miss["content"]}] if isinstance(miss["content"], str) else miss["content"]
    )
    assert [part["type"] for part in parts] == ["text"]
    assert "zebra quokka" in parts[0]["text"]


@pytest.mark.parametrize("way", WAYS)
def test_x23_a_hosted_search_left_open_by_a_call_is_replayed_untouched(way):
    mixed = Parallel([Search("bill customer", limit=1), Call("tool_01", {"gauge_01": "n"})])
    with LoopbackProvider([mixed, CREATE, Say("Done.")]) as server:
        run = converse(server, lexical(), "anthropic", way=way, never_defer=["tool_01"])
        assert [exchange.status for exchange in server.exchanges] == [200] * 3
        replay = server.requests[1]["messages"]
    kinds = [block["type"] for block in replay[1]["content"]]
    assert kinds == ["server_tool_use", "tool_use"]
    assert [block["type"] for block in replay[2]["content"]] == ["tool_result"]
    assert [call.name for call in run.calls] == ["tool_01", "create_invoice"]
    assert run.turns[-1].plan.loaded == ("create_invoice",)


@pytest.mark.parametrize("way", WAYS)
def test_a_pause_is_resumed_with_nothing_added(way):
    with LoopbackProvider([FIND, Pause(), CREATE, Say("Done.")]) as server:
        run = converse(server, lexical(), "anthropic", way=way)
        assert [exchange.status for exchange in server.exchanges] == [200] * 3
        roles = [message["role"] for message in server.requests[1]["messages"]]
    assert roles == ["user", "assistant"]
    assert run.results[0] == []
    assert [call.arguments for call in run.calls] == [INVOICE]


@pytest.mark.parametrize("code", HOSTED_ERRORS)
def test_a_failed_hosted_search_is_the_models_own_matter(code):
    with LoopbackProvider([HostedError(code), FIND, CREATE, Say("Done.")]) as server:
        run = converse(server, lexical(), "anthropic")
        assert [exchange.status for exchange in server.exchanges] == [200, 200]
    assert [call.arguments for call in run.calls] == [INVOICE]
    assert run.turns[-1].plan.loaded == ("create_invoice",)


def test_the_older_bedrock_interface_gets_the_regex_search():
    with LoopbackProvider([FIND, CREATE, Say("Done.")], bedrock=True) as server:
        run = converse(server, lexical(), "anthropic", transport="bedrock_invoke")
        assert [exchange.status for exchange in server.exchanges] == [200, 200]
    assert run.turns[0].plan.search == "regex"
    assert [call.arguments for call in run.calls] == [INVOICE]
    assert len(TOOLS) == sum(entry.get("defer_loading") is True for entry in run.turns[0].tools)
