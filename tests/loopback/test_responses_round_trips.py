"""Whole conversations over the Responses interface with the real SDK: complete, streamed and asynchronous."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from loopback_requests import (
    ARGUMENTS,
    CLIENT,
    CLOCK_FUNCTION,
    CRM,
    FX_FUNCTION,
    GPT,
    HOSTED,
    STOCK_FUNCTION,
    function,
    gpt,
    items_of,
    schema,
)

from semantic_toolsearch.testing.loopback import (
    Call,
    LoopbackProvider,
    Parallel,
    Say,
    Search,
)

TOOLS = [CRM, FX_FUNCTION, STOCK_FUNCTION, CLOCK_FUNCTION, HOSTED]
USER = {"role": "user", "content": "List the open orders of customer C-7."}
ORDERS = {"customer_id": "C-7"}
CRM_SCRIPT = [Search(paths=("crm",)), Call("list_orders", ORDERS), Say("None are open.")]


def _output(call: dict[str, Any], text: str = "[]") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call["call_id"], "output": text}


def _without_ids(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in item.items() if key != "id"} for item in items]


def _crm_items(items: list[dict[str, Any]]) -> None:
    """The first response of the namespace script, however it came."""
    search, found, call = items
    assert search["id"].startswith("tsc_")
    assert (search["execution"], search["call_id"], search["arguments"]) == (
        "server",
        None,
        {"paths": ["crm"]},
    )
    assert (found["execution"], found["call_id"], found["status"]) == ("server", None, "completed")
    (namespace,) = found["tools"]
    assert (namespace["name"], namespace["description"]) == ("crm", CRM["description"])
    assert [tool["name"] for tool in namespace["tools"]] == ["list_orders"]
    assert namespace["tools"][0]["defer_loading"] is True
    assert (call["name"], call["namespace"]) == ("list_orders", "crm")
    assert json.loads(call["arguments"]) == ORDERS


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "stateless"])
@pytest.mark.parametrize("streamed", [False, True], ids=["complete", "streamed"])
def test_hosted_search(stored: bool, streamed: bool) -> None:
    def ask(items: Any, **more: Any) -> Any:
        request = {"model": GPT, "input": items, "tools": TOOLS, "store": stored, **more}
        if not streamed:
            return client.responses.create(**request)
        *_, last = client.responses.create(**request, stream=True)
        assert last.type == "response.completed"
        return last.response

    with LoopbackProvider(CRM_SCRIPT) as server:
        client = gpt(server)
        first = ask([USER])
        _crm_items(items_of(first))
        answer = _output(items_of(first)[-1])
        again = {"items": [answer], "previous_response_id": first.id}
        last = ask(**again) if stored else ask([USER, *items_of(first), answer])
        assert last.output_text == "None are open."
        assert [(call.name, call.namespace, call.knowledge) for call in server.calls] == [
            ("list_orders", "crm", "loaded")
        ]
        assert server.model_view(1).knowledge("list_orders") == "loaded"
        assert server.model_view(1).results == ("[]",)


def test_a_replay_without_item_ids_needs_no_new_search() -> None:
    script = [*CRM_SCRIPT[:2], Call("list_orders", ORDERS), Say("Done.")]
    with LoopbackProvider(script, blind_calls=False) as server:
        client = gpt(server)
        history: list[Any] = [USER]
        for _ in range(2):
            items = _without_ids(
                items_of(client.responses.create(model=GPT, input=history, tools=TOOLS, store=False))
            )
            history += [*items, _output(items[-1])]
        assert [call.knowledge for call in server.calls] == ["loaded", "loaded"]
        assert (
            client.responses.create(model=GPT, input=history, tools=TOOLS, store=False).output_text == "Done."
        )


def test_a_flat_function_comes_back_in_a_namespace_of_its_own() -> None:
    with LoopbackProvider([Search("the fx_rate tool"), Call("fx_rate", ARGUMENTS), Say("0.92")]) as server:
        items = items_of(gpt(server).responses.create(model=GPT, input="Convert", tools=TOOLS))
        assert items[0]["arguments"] == {"paths": ["fx_rate"]}
        assert items[1]["tools"][0]["name"] == "fx_rate"
        assert items[2]["namespace"] == "fx_rate"


def test_paths_are_chosen_by_what_the_model_sees_where_none_are_given() -> None:
    with LoopbackProvider(
        [Search("exchange rate of currencies"), Search("customer orders"), Say("Ready.")]
    ) as server:
        items = items_of(gpt(server).responses.create(model=GPT, input="Convert", tools=TOOLS))
    assert [item["arguments"]["paths"] for item in items if item["type"] == "tool_search_call"] == [
        ["fx_rate"],
        ["crm"],
    ]


def test_one_call_loads_several_surfaces_and_skips_unknown_ones() -> None:
    server_entry = {
        "type": "mcp", "server_label": "tickets", "server_url": "https://mcp.example/", "defer_loading": True,
    }  # fmt: skip
    paths = ("gone", "crm.list_orders", "fx_rate", "fx_rate", "tickets")
    with LoopbackProvider([Search(paths=paths), Say("Ready.")]) as server:
        response = gpt(server).responses.create(model=GPT, input="Convert", tools=[*TOOLS, server_entry])
    assert [tool.to_dict().get("name") or tool.server_label for tool in response.output[1].tools] == [
        "crm", "fx_rate", "tickets",
    ]  # fmt: skip


def test_the_same_inner_name_in_two_namespaces() -> None:
    tools = [CRM, {**CRM, "name": "shop"}, HOSTED]
    script = [
        Search(paths=("shop",)),
        Call("list_orders", ORDERS),
        Call("list_orders", ORDERS, namespace="crm"),
    ]
    with LoopbackProvider(script) as server:
        first = items_of(gpt(server).responses.create(model=GPT, input="Orders", tools=tools))
        history = [USER, *first, _output(first[-1])]
        second = items_of(gpt(server).responses.create(model=GPT, input=history, tools=tools))
        assert (first[-1]["namespace"], second[-1]["namespace"]) == ("shop", "crm")
        assert [call.knowledge for call in server.calls] == ["loaded", "blind"]


ETA = function("get_eta", "ETA of an order.", schema("order"), defer_loading=True)


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "stateless"])
def test_search_that_the_client_runs(stored: bool) -> None:
    script = [
        Search("shipping eta"),
        Call("get_eta", {"order": "42"}),
        Call("get_eta", {"order": "43"}),
        Say("Friday."),
    ]
    with LoopbackProvider(script, blind_calls=False) as server:
        client = gpt(server)
        history: list[Any] = [USER]
        news: list[Any] = history
        last: Any = None
        for _ in range(4):
            previous = {"previous_response_id": last.id} if stored and last else {}
            last = client.responses.create(
                model=GPT, input=news if stored else history, tools=[CLIENT], store=stored, **previous
            )
            items = items_of(last)
            call = items[-1]
            if call["type"] == "tool_search_call":
                assert (call["execution"], call["arguments"]) == ("client", {"query": "shipping eta"})
                answer = {
                    "type": "tool_search_output", "execution": "client", "call_id": call["call_id"],
                    "status": "completed", "tools": [ETA],
                }  # fmt: skip
            elif call["type"] == "function_call":
                assert call["namespace"] == "get_eta"
                answer = _output(call)
            news = [answer]
            history += [*items, answer]
        assert last.output_text == "Friday."
        assert [call.knowledge for call in server.calls] == ["loaded", "loaded"]
        assert len({json.dumps(request["tools"]) for request in server.requests}) == 1


def test_the_call_id_changes_between_added_and_done() -> None:
    with LoopbackProvider([Search("eta"), Search("eta")]) as server:
        events = list(gpt(server).responses.create(model=GPT, input="ETA", tools=[CLIENT], stream=True))
        assert [event.type for event in events] == [
            "response.created", "response.in_progress", "response.output_item.added", "response.output_item.done",
            "response.completed",
        ]  # fmt: skip
        added, done, whole = events[2].item, events[3].item, events[4].response.output[0]
        assert added.call_id != done.call_id
        assert done.call_id == whole.call_id
        assert (added.arguments, done.arguments) == ({}, {"query": "eta"})
        with (
            pytest.raises(RuntimeError, match="Completed output item identity changed"),
            gpt(server).responses.stream(model=GPT, input="ETA", tools=[CLIENT]) as stream,
        ):
            stream.until_done()


def test_the_sdks_stream_helper_works_where_the_call_id_is_kept() -> None:
    with (
        LoopbackProvider([Search("eta")], change_call_id=False) as server,
        gpt(server).responses.stream(model=GPT, input="ETA", tools=[CLIENT]) as stream,
    ):
        assert stream.get_final_response().output[0].type == "tool_search_call"


def test_the_events_of_a_hosted_search_come_in_the_recorded_order() -> None:
    with LoopbackProvider(CRM_SCRIPT, chunk=1_000) as server:
        events = list(gpt(server).responses.create(model=GPT, input="Orders", tools=TOOLS, stream=True))
        assert [event.type.removeprefix("response.") for event in events] == [
            "created", "in_progress",
            "output_item.added", "output_item.done",
            "output_item.added", "output_item.done",
            "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
            "completed",
        ]  # fmt: skip
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert [event.output_index for event in events if hasattr(event, "output_index")] == [
            0,
            0,
            1,
            1,
            2,
            2,
            2,
            2,
        ]
        announced = [event.item for event in events if event.type == "response.output_item.added"]
        assert (announced[0].arguments, announced[0].status) == ({}, "in_progress")
        assert announced[1].tools[0].name == "crm"
        assert (announced[2].arguments, announced[2].namespace) == ("", "crm")
        delta = events[7].to_dict()
        assert "name" not in delta
        assert "namespace" not in delta
        assert "obfuscation" in delta
        assert json.loads(events[8].arguments) == ORDERS
        assert events[-1].response.output == [e.item for e in events if e.type == "response.output_item.done"]


def test_the_sdks_stream_helper_reads_a_hosted_search() -> None:
    with LoopbackProvider(CRM_SCRIPT) as server, gpt(server).responses.stream(
        model=GPT, input="Orders", tools=TOOLS
    ) as stream:  # fmt: skip
        _crm_items(items_of(stream.get_final_response()))


def test_hosted_search_asynchronously() -> None:
    async def talk(url: str) -> tuple[Any, list[Any]]:
        async with openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as client:
            first = await client.responses.create(model=GPT, input=[USER], tools=TOOLS)
            stream = await client.responses.create(
                model=GPT,
                input=[_output(items_of(first)[-1])],
                tools=TOOLS,
                previous_response_id=first.id,
                stream=True,
            )
            return first, [event async for event in stream]

    with LoopbackProvider(CRM_SCRIPT) as server:
        first, events = asyncio.run(talk(server.openai_url))
    _crm_items(items_of(first))
    assert (
        "".join(event.delta for event in events if event.type == "response.output_text.delta")
        == "None are open."
    )


def test_search_and_call_side_by_side() -> None:
    with LoopbackProvider([Parallel([Search("eta"), Call("clock")]), Say("Friday.")]) as server:
        items = items_of(gpt(server).responses.create(model=GPT, input="ETA", tools=[CLIENT, CLOCK_FUNCTION]))
        assert [item["type"] for item in items] == ["tool_search_call", "function_call"]
        found = {
            "type": "tool_search_output", "execution": "client", "call_id": items[0]["call_id"], "tools": [ETA],
        }  # fmt: skip
        with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
            gpt(server).responses.create(
                model=GPT, input=[USER, *items, found], tools=[CLIENT, CLOCK_FUNCTION]
            )
        history = [USER, *items, found, _output(items[1])]
        response = gpt(server).responses.create(model=GPT, input=history, tools=[CLIENT, CLOCK_FUNCTION])
        assert response.output_text == "Friday."


def test_a_plain_function_as_search() -> None:
    tools = [function("tool_search", "Search the tools.", schema("query")), CLOCK_FUNCTION]
    with LoopbackProvider([Search("time"), Search("time", limit=3), Search("time")]) as server:
        (call,) = items_of(gpt(server).responses.create(model=GPT, input="Time", tools=tools))
        limited = gpt(server).responses.create(model=GPT, input="Time", tools=tools)
        tools[0] = function("tool_search", "Search the tools.", schema("query", "limit"))
        required = gpt(server).responses.create(model=GPT, input="Time", tools=tools)
    assert json.loads(limited.output[0].arguments) == {"query": "time", "limit": 3}
    assert json.loads(required.output[0].arguments) == {"query": "time", "limit": 5}
    assert (call["type"], call["name"], json.loads(call["arguments"])) == (
        "function_call", "tool_search", {"query": "time"},
    )  # fmt: skip
    assert "namespace" not in call


def test_custom_tools_are_loaded_and_called_with_text() -> None:
    tools = [{"type": "custom", "name": "sql", "description": "Run SQL.", "defer_loading": True}, HOSTED]
    with LoopbackProvider(
        [Search(paths=("sql",)), Call("sql", "SELECT 1"), Call("sql", "SELECT 2")]
    ) as server:
        items = items_of(gpt(server).responses.create(model=GPT, input="Count", tools=tools))
        events = list(gpt(server).responses.create(model=GPT, input="Count", tools=tools, stream=True))
    text = "".join(event.delta for event in events if event.type == "response.custom_tool_call_input.delta")
    assert (text, events[2].item.input) == ("SELECT 2", "")
    assert (items[-1]["type"], items[-1]["input"], items[-1]["namespace"]) == (
        "custom_tool_call",
        "SELECT 1",
        "sql",
    )


def test_tools_added_by_an_item() -> None:
    added = {
        "type": "additional_tools",
        "role": "developer",
        "tools": [function("ping", "Is it up?", schema())],
    }
    with LoopbackProvider([Call("ping")], blind_calls=False) as server:
        items = items_of(gpt(server).responses.create(model=GPT, input=[USER, added], tools=[CLOCK_FUNCTION]))
    assert items[0]["name"] == "ping"
