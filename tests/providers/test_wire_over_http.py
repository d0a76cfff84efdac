"""Requests and results through the real SDKs to a server that refuses what the providers refuse."""

from __future__ import annotations

import json

import pytest
from wire_requests import PROVIDERS, SHOP, many, record_of, request_of, rows

from semantic_toolsearch.exchange import SearchCall
from semantic_toolsearch.providers import anthropic, openai_chat
from semantic_toolsearch.testing.loopback import (
    Call,
    Cut,
    HostedError,
    LoopbackProvider,
    Parallel,
    Say,
    Search,
)

sdk = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

USER = {"role": "user", "content": "What is the dollar worth?"}
CLAUDE = {"model": "claude-sonnet-5", "max_tokens": 100}
ROWS = [pytest.param(file, api, request, id=file) for file, api, request in rows() if api != "gemini"]


def claude(server, tools, messages=(USER,)):
    with sdk.Anthropic(base_url=server.url, api_key="any", max_retries=0) as client:
        return client.messages.create(tools=tools, messages=list(messages), **CLAUDE)


def claude_stream(server, tools):
    with (
        sdk.Anthropic(base_url=server.url, api_key="any", max_retries=0) as client,
        client.messages.create(tools=tools, messages=[USER], stream=True, **CLAUDE) as events,
    ):
        return list(events)


def chat(server, tools, messages=(USER,)):
    with openai.OpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:
        return client.chat.completions.create(model="gpt-5.4", tools=tools, messages=list(messages))


def chat_stream(server, tools):
    with (
        openai.OpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client,
        client.chat.completions.create(model="gpt-5.4", tools=tools, messages=[USER], stream=True) as chunks,
    ):
        return list(chunks)


@pytest.mark.parametrize(("file", "api", "request_"), ROWS)
def test_e49_e50_every_golden_request_is_accepted(file, api, request_):
    with LoopbackProvider([Say("hello")]) as server:
        send = claude if api == "anthropic" else chat
        found = PROVIDERS[api].parse(send(server, PROVIDERS[api].render(request_)))
    assert (found.calls, found.complete) == ((), True)


def test_e50_all_deferred_is_accepted_since_the_search_entry_is_not():
    always = [{**tool, "defer": "always"} for tool in many(15)]
    with LoopbackProvider([Say("hello")]) as server:
        found = anthropic.parse(
            claude(server, anthropic.render(request_of(always, "hosted", "anthropic", search="bm25")))
        )
    assert found.stop == "end_turn"


@pytest.mark.parametrize("names", [["fx_rate"], []])
def test_x01_our_search_is_answered_with_references_or_a_text(names):
    request = request_of(SHOP, "reference", "anthropic")
    tools = anthropic.render(request)
    after = Call("fx_rate", {"pair": "USDEUR"}) if names else Say("There is none.")
    with LoopbackProvider([Search("exchange rate"), after]) as server:
        first = claude(server, tools)
        (search,) = anthropic.parse(first).searches
        assert isinstance(search, SearchCall)
        assert search.arguments["query"] == "exchange rate"
        answer = anthropic.search_answer(search, record_of(request.catalog, names), request)
        messages = [
            USER,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [answer]},
        ]
        found = anthropic.parse(claude(server, tools, messages))
    assert [(call.name, call.arguments) for call in found.calls] == [(n, {"pair": "USDEUR"}) for n in names]


def test_x23_an_open_hosted_search_is_answered_with_results_only():
    tools = anthropic.render(request_of(SHOP, "hosted", "anthropic", search="bm25"))
    steps = [Parallel([Search("exchange rate"), Call("list_branches")]), Say("Done.")]
    with LoopbackProvider(steps) as server:
        first = claude(server, tools)
        found = anthropic.parse(first)
        assert len(found.open_searches) == 1
        (call,) = found.calls
        result = anthropic.call_result(call, "Bonn", is_error=False)
        messages = [
            USER,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ]
        later = anthropic.parse(claude(server, tools, messages))
    assert (later.open_searches, later.complete) == ((), True)


def test_hosted_errors_come_with_status_200():
    tools = anthropic.render(request_of(SHOP, "hosted", "anthropic", search="regex"))
    with LoopbackProvider([HostedError("too_many_requests"), Say("Later.")]) as server:
        assert anthropic.parse(claude(server, tools)).hosted_errors == ("too_many_requests",)


STEPS = {
    "hosted": [Search("exchange rate"), Call("fx_rate", {"pair": "USDEUR"}, id="toolu_1")],
    "parallel": [Parallel([Say("Both."), Call("list_branches", id="toolu_1"), Search("rate")])],
    "cut": [Cut(Call("list_branches", {"a": "b" * 50}, id="toolu_1"))],
}


@pytest.mark.parametrize("name", STEPS)
def test_x27_a_stream_of_anthropic_reads_like_the_response(name):
    tools = anthropic.render(request_of(SHOP, "hosted", "anthropic", search="bm25"))
    with LoopbackProvider(STEPS[name] * 2) as server:
        whole = anthropic.parse(claude(server, tools))
        streamed = anthropic.parse(anthropic.assemble(claude_stream(server, tools)))
    assert streamed.complete == whole.complete == (name != "cut")
    assert streamed.order == whole.order
    assert len(streamed.open_searches) == len(whole.open_searches) == (name == "parallel")
    if whole.complete:  # what is cut differs: the text as it came, against what the provider made of it
        assert streamed.calls == whole.calls


@pytest.mark.parametrize(
    "step",
    [
        Parallel([Call("fx_rate", {"pair": "USDEUR"}, id="c1"), Search("bill", id="c2")]),
        Cut(Call("fx_rate", {"pair": "USDEUR" * 9}, id="c1")),
    ],
)
def test_x27_a_stream_of_chat_completions_reads_like_the_response(step):
    tools = openai_chat.render(request_of(SHOP, "stub", "chat", loaded=("fx_rate",), unloaded="omit"))
    with LoopbackProvider([step, step]) as server:
        whole = openai_chat.parse(chat(server, tools))
        streamed = openai_chat.parse(openai_chat.assemble(chat_stream(server, tools)))
    assert streamed == whole
    assert whole.complete == isinstance(step, Parallel)


def test_e65_our_search_over_chat_completions_loads_for_the_next_request():
    request = request_of(SHOP, "stub", "chat", unloaded="omit")
    with LoopbackProvider([Search("exchange rate"), Call("fx_rate", {"pair": "USDEUR"})]) as server:
        first = chat(server, openai_chat.render(request))
        (search,) = openai_chat.parse(first).searches
        answer = openai_chat.search_answer(search, record_of(request.catalog, ["fx_rate"]), request)
        assert json.loads(answer["content"])["loaded"] == ["fx_rate"]
        messages = [USER, first.choices[0].message.to_dict(), answer]
        tools = openai_chat.render(request_of(SHOP, "stub", "chat", loaded=("fx_rate",), unloaded="omit"))
        (call,) = openai_chat.parse(chat(server, tools, messages)).calls
    assert (call.name, call.arguments) == ("fx_rate", {"pair": "USDEUR"})
