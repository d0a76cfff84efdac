"""Whole conversations over the Messages interface with the real SDK: complete, streamed and asynchronous."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import pytest
from loopback_requests import (
    ARGUMENTS,
    BM25,
    CLAUDE,
    CLAUDE_CLOCK,
    CLAUDE_FX,
    CLAUDE_SEARCH,
    CLAUDE_STOCK,
    FX,
    FX_SCHEMA,
    REGEX,
    USER,
    claude,
    claude_tool,
    replayed,
    result,
)

from semantic_toolsearch.testing.loopback import (
    HOSTED_ERRORS,
    Call,
    Cut,
    HostedError,
    LoopbackProvider,
    Parallel,
    Pause,
    Say,
    Search,
    StreamError,
)

HOSTED_TOOLS = [BM25, CLAUDE_FX, CLAUDE_STOCK, CLAUDE_CLOCK]
HOSTED_SCRIPT = [
    Parallel([Say("Looking for a currency tool."), Search("currency exchange rate", limit=5)]),
    Call("fx_rate", ARGUMENTS),
    Say("18.40 EUR"),
]


def _request(messages: Any = None, tools: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "model": CLAUDE, "max_tokens": 500, "messages": messages or [USER], "tools": tools or HOSTED_TOOLS, **more,
    }  # fmt: skip


def _kinds(message: Any) -> list[str]:
    return [block.type for block in message.content]


def _hosted_blocks(message: Any) -> None:
    """The first response of the hosted script, however it came."""
    text, use, found, call = [block.to_dict() for block in message.content]
    assert text["text"] == "Looking for a currency tool."
    assert use["name"] == "tool_search_tool_bm25"
    assert use["input"] == {"query": "currency exchange rate", "limit": 5}
    assert use["id"].startswith("srvtoolu_")
    assert found["tool_use_id"] == use["id"]
    assert found["content"]["tool_references"] == [{"type": "tool_reference", "tool_name": "fx_rate"}]
    assert (call["name"], call["input"], call["caller"]) == ("fx_rate", ARGUMENTS, {"type": "direct"})
    assert message.stop_reason == "tool_use"


def test_hosted_search_complete() -> None:
    with LoopbackProvider(HOSTED_SCRIPT) as server:
        first = claude(server).messages.create(**_request())
        _hosted_blocks(first)
        messages = [USER, replayed(first), result(first.content[-1].id)]
        last = claude(server).messages.create(**_request(messages))
        assert (last.content[0].text, last.stop_reason) == ("18.40 EUR", "end_turn")
        assert [(call.name, call.knowledge, call.request) for call in server.calls] == [
            ("fx_rate", "loaded", 0)
        ]
        assert server.remaining == 0
        assert first.usage.server_tool_use is not None
        assert first.usage.server_tool_use.to_dict() == {"web_search_requests": 0, "web_fetch_requests": 0}
        assert server.model_view(1).knowledge("fx_rate") == "loaded"


def test_hosted_search_with_the_sdks_stream_helper() -> None:
    with LoopbackProvider(HOSTED_SCRIPT) as server:
        with claude(server).messages.stream(**_request()) as stream:
            first = stream.get_final_message()
        _hosted_blocks(first)
        messages = [USER, replayed(first), result(first.content[-1].id)]
        with claude(server).messages.stream(**_request(messages)) as stream:
            assert "".join(stream.text_stream) == "18.40 EUR"
            assert stream.get_final_message().stop_reason == "end_turn"


def test_hosted_search_over_the_beta_interface() -> None:
    with LoopbackProvider(HOSTED_SCRIPT) as server:
        _hosted_blocks(claude(server).beta.messages.create(**_request()))


def test_hosted_search_asynchronously() -> None:
    async def talk(url: str) -> tuple[Any, Any, list[str]]:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="any", max_retries=0) as client:
            first = await client.messages.create(**_request())
            messages = [USER, replayed(first), result(first.content[-1].id)]
            async with client.messages.stream(**_request(messages)) as stream:
                last = await stream.get_final_message()
            events = await client.messages.create(**_request(), stream=True)
            return first, last, [event.type async for event in events]

    with LoopbackProvider([*HOSTED_SCRIPT, Say("Again.")]) as server:
        first, last, events = asyncio.run(talk(server.url))
    _hosted_blocks(first)
    assert last.content[0].text == "18.40 EUR"
    assert (events[0], events[-1]) == ("message_start", "message_stop")


def test_the_events_of_a_hosted_search_come_in_the_recorded_order() -> None:
    with LoopbackProvider(HOSTED_SCRIPT, chunk=1_000) as server:
        response = claude(server).messages.with_raw_response.create(**_request(stream=True))
        raw = response.http_response.read().decode()
    lines = [line.split(": ", 1)[1] for line in raw.splitlines() if line.startswith("event: ")]
    events = [
        json.loads(line.removeprefix("data: ")) for line in raw.splitlines() if line.startswith("data: ")
    ]
    assert [event["type"] for event in events] == lines
    assert lines == [
        "message_start", "ping",
        "content_block_start", "content_block_delta", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
        "ping",
        "content_block_start", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    blocks = [event for event in events if event["type"] == "content_block_start"]
    assert [event["index"] for event in blocks] == [0, 1, 2, 3]
    assert blocks[1]["content_block"]["input"] == {}
    assert blocks[2]["content_block"]["content"]["tool_references"][0]["tool_name"] == "fx_rate"
    deltas = [
        event["delta"] for event in events if event["type"] == "content_block_delta" and event["index"] == 1
    ]
    assert deltas[0] == {"type": "input_json_delta", "partial_json": ""}
    start, end = events[0]["message"]["usage"], events[-2]["usage"]
    assert 0 < start["input_tokens"] < end["input_tokens"]
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


def test_a_stream_without_pings() -> None:
    with LoopbackProvider([Say("Yes.")], pings=False) as server:
        response = claude(server).messages.with_raw_response.create(**_request(stream=True))
        assert b"ping" not in response.http_response.read()


def test_the_regex_variant() -> None:
    with LoopbackProvider(
        [Search("exchange rate"), Search(pattern="(?i)TICKER"), Call("stock_quote")]
    ) as server:
        message = claude(server).messages.create(**_request(tools=[REGEX, CLAUDE_FX, CLAUDE_STOCK]))
    assert _kinds(message) == [
        "server_tool_use", "tool_search_tool_result", "server_tool_use", "tool_search_tool_result", "tool_use",
    ]  # fmt: skip
    assert message.content[0].input == {"pattern": "exchange|rate"}
    assert [r.tool_name for r in message.content[1].content.tool_references] == ["fx_rate"]
    assert [r.tool_name for r in message.content[3].content.tool_references] == ["stock_quote"]
    assert server.calls[0].knowledge == "loaded"


def test_two_searches_side_by_side_are_answered_after_both() -> None:
    with LoopbackProvider([Parallel([Search("currency"), Search("ticker")]), Say("Found both.")]) as server:
        message = claude(server).messages.create(**_request())
    assert _kinds(message) == ["server_tool_use"] * 2 + ["tool_search_tool_result"] * 2 + ["text"]
    assert [message.content[i].tool_use_id for i in (2, 3)] == [message.content[i].id for i in (0, 1)]


def test_no_hits_are_no_error() -> None:
    with LoopbackProvider([Search("zebra"), Say("Nothing.")]) as server:
        message = claude(server).messages.create(**_request())
    assert message.content[1].content.to_dict() == {
        "type": "tool_search_tool_search_result",
        "tool_references": [],
    }


@pytest.mark.parametrize("code", HOSTED_ERRORS)
def test_hosted_errors_come_at_status_200(code: str) -> None:
    with LoopbackProvider([HostedError(code, "currency"), Say("The search failed.")]) as server:
        message = claude(server).messages.create(**_request())
        assert _kinds(message) == ["server_tool_use", "tool_search_tool_result", "text"]
        assert message.content[1].content.error_code == code
        assert message.stop_reason == "end_turn"
        messages = [USER, replayed(message), USER]
        with pytest.raises(anthropic.InternalServerError, match="no step left"):
            claude(server).messages.create(**_request(messages))  # the error block may be replayed


def test_the_services_own_limits() -> None:
    script = [Search("q" * 501), Say("Too long.")]
    with LoopbackProvider(script) as server:
        message = claude(server).messages.create(**_request())
        assert message.content[1].content.error_code == "invalid_tool_input"
    script = [Search(pattern="("), Search(pattern="p" * 201), Search(pattern="(a+)+$"), Say("No.")]
    slow = claude_tool("slow", "a" * 40 + "b", {"type": "object"}, defer_loading=True)
    with LoopbackProvider(script) as server:
        message = claude(server).messages.create(**_request(tools=[REGEX, slow]))
    results = [block.content for block in message.content if block.type == "tool_search_tool_result"]
    assert results[0].error_code == "invalid_tool_input"
    assert results[0].error_message.startswith("Invalid regular expression pattern: ")
    assert results[1].error_code == "invalid_tool_input"
    assert results[2].type == "tool_search_tool_search_result"


def test_own_search_with_references() -> None:
    tools = [CLAUDE_SEARCH, CLAUDE_FX, CLAUDE_STOCK]
    with LoopbackProvider([Search("currency"), Call("fx_rate", ARGUMENTS), Say("18.40 EUR")]) as server:
        client = claude(server)
        first = client.messages.create(**_request(tools=tools))
        assert (first.content[0].name, first.content[0].input) == ("tool_search", {"query": "currency"})
        assert first.content[0].id.startswith("toolu_")
        reference = [{"type": "tool_reference", "tool_name": "fx_rate"}]
        messages = [USER, replayed(first), result(first.content[0].id, reference)]
        with client.messages.stream(**_request(messages, tools)) as stream:
            second = stream.get_final_message()
        assert (second.content[0].name, second.content[0].input) == ("fx_rate", ARGUMENTS)
        messages += [replayed(second), result(second.content[0].id)]
        assert client.messages.create(**_request(messages, tools)).content[0].text == "18.40 EUR"
        assert [call.knowledge for call in server.calls] == ["full", "loaded"]
        assert server.model_view(0).hidden == ("fx_rate", "stock_quote")
        assert server.model_view(2).hidden == ("stock_quote",)


def test_stubs_and_a_plain_search_tool() -> None:
    open_object = {"type": "object", "additionalProperties": True}
    stubbed = [CLAUDE_SEARCH, claude_tool("fx_rate", FX, open_object)]
    whole = [CLAUDE_SEARCH, claude_tool("fx_rate", FX, FX_SCHEMA)]
    script = [Call("fx_rate", ARGUMENTS), Search("currency"), Call("fx_rate", ARGUMENTS)]
    with LoopbackProvider(script) as server:
        messages: list[Any] = [USER]
        for tools in (stubbed, stubbed, whole):
            message = claude(server).messages.create(**_request(messages, tools))
            messages += [replayed(message), result(message.content[0].id, "{}")]
        assert [call.knowledge for call in server.calls] == ["blind", "full", "full"]


def test_pause_after_a_search() -> None:
    with LoopbackProvider([Search("currency"), Pause(), Call("fx_rate", ARGUMENTS)]) as server:
        first = claude(server).messages.create(**_request())
        assert (first.stop_reason, _kinds(first)) == (
            "pause_turn",
            ["server_tool_use", "tool_search_tool_result"],
        )
        second = claude(server).messages.create(**_request([USER, replayed(first)]))
        assert (second.stop_reason, _kinds(second)) == ("tool_use", ["tool_use"])
        assert server.calls[0].knowledge == "loaded"


def test_pause_with_the_search_still_open() -> None:
    with LoopbackProvider([Parallel([Search("currency"), Pause()]), Call("fx_rate", ARGUMENTS)]) as server:
        first = claude(server).messages.create(**_request())
        assert (first.stop_reason, _kinds(first)) == ("pause_turn", ["server_tool_use"])
        second = claude(server).messages.create(**_request([USER, replayed(first)]))
        assert _kinds(second) == ["tool_search_tool_result", "tool_use"]
        assert second.content[0].tool_use_id == first.content[0].id
        messages = [USER, replayed(first), replayed(second), result(second.content[1].id)]
        with pytest.raises(anthropic.InternalServerError, match="no step left"):
            claude(server).messages.create(
                **_request(messages)
            )  # the history is legal; only the script has ended


@pytest.mark.parametrize("streamed", [False, True], ids=["complete", "streamed"])
def test_mixed_turn(streamed: bool) -> None:
    script = [Parallel([Search("currency"), Call("clock")]), Call("fx_rate", ARGUMENTS), Say("18.40 EUR")]

    def ask(messages: list[Any]) -> Any:
        if not streamed:
            return client.messages.create(**_request(messages))
        with client.messages.stream(**_request(messages)) as stream:
            return stream.get_final_message()

    with LoopbackProvider(script) as server:
        client = claude(server)
        messages: list[Any] = [USER]
        first = ask(messages)
        assert (first.stop_reason, _kinds(first)) == ("tool_use", ["server_tool_use", "tool_use"])
        messages += [replayed(first), result(first.content[1].id, "noon")]
        second = ask(messages)
        assert _kinds(second) == ["tool_search_tool_result", "tool_use"]
        assert second.content[0].tool_use_id == first.content[0].id
        assert [r.tool_name for r in second.content[0].content.tool_references] == ["fx_rate"]
        messages += [replayed(second), result(second.content[1].id)]
        assert _kinds(ask(messages)) == ["text"]
        assert [call.knowledge for call in server.calls] == ["full", "loaded"]


def test_parallel_calls_and_given_ids() -> None:
    script = [Parallel([Call("clock", id="toolu_a"), Call("clock", id="toolu_b")])]
    with LoopbackProvider(script) as server:
        message = claude(server).messages.create(**_request())
    assert [block.id for block in message.content] == ["toolu_a", "toolu_b"]


def test_cut_in_the_middle_of_a_call() -> None:
    with LoopbackProvider([Cut(Call("fx_rate", ARGUMENTS)), Cut(Call("fx_rate", ARGUMENTS))]) as server:
        message = claude(server).messages.create(**_request())
        assert message.stop_reason == "max_tokens"
        assert message.content[0].input == {"base": "USD"}
        events = list(claude(server).messages.create(**_request(), stream=True))
    pieces = [e.delta.partial_json for e in events if e.type == "content_block_delta"]
    whole = json.dumps(ARGUMENTS)
    assert "".join(pieces) == whole[: len(whole) // 2]
    assert [e.delta.stop_reason for e in events if e.type == "message_delta"] == ["max_tokens"]


def test_cut_in_the_middle_of_a_hosted_search_and_of_a_text() -> None:
    with LoopbackProvider([Cut(Search("currency")), Cut(Say("Good evening"))]) as server:
        search = claude(server).messages.create(**_request())
        text = claude(server).messages.create(**_request())
    assert (search.content[0].type, search.stop_reason) == ("server_tool_use", "max_tokens")
    assert (text.content[0].text, text.stop_reason) == ("Good e", "max_tokens")


def test_cut_in_the_middle_of_an_own_search() -> None:
    with LoopbackProvider([Cut(Search("currency")), Cut(Search("currency"))]) as server:
        message = claude(server).messages.create(**_request(tools=[CLAUDE_SEARCH, CLAUDE_FX]))
        assert (message.content[0].name, message.content[0].input, message.stop_reason) == (
            "tool_search",
            {},
            "max_tokens",
        )
        with pytest.raises(anthropic.InternalServerError, match="offers no search"):
            claude(server).messages.create(**_request(tools=[CLAUDE_CLOCK]))


def test_a_stream_breaks_off() -> None:
    with LoopbackProvider([Search("currency"), StreamError(), StreamError()]) as server:
        stream = claude(server).messages.create(**_request(), stream=True)
        kinds = []
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            kinds.extend(event.type for event in stream)
        assert kinds.count("content_block_start") == 2
        assert "message_stop" not in kinds
        with pytest.raises(anthropic.APIStatusError, match="Overloaded") as caught:
            claude(server).messages.create(**_request())
        assert caught.value.status_code == 529


def test_the_sdks_tool_runner_searches_with_references() -> None:
    asked: list[str] = []

    @anthropic.beta_tool
    def tool_search(query: str) -> Any:
        """Search the tools."""
        asked.append(query)
        return [{"type": "tool_reference", "tool_name": "fx_rate"}]

    @anthropic.beta_tool(defer_loading=True)
    def fx_rate(base: str, quote: str) -> str:
        """Current exchange rate for a currency pair."""
        return f"{base}{quote} 0.92"

    with LoopbackProvider([Search("currency"), Call("fx_rate", ARGUMENTS), Say("18.40 EUR")]) as server:
        runner = claude(server).beta.messages.tool_runner(
            model=CLAUDE, max_tokens=500, messages=[USER], tools=[tool_search, fx_rate],
        )  # fmt: skip
        last = runner.until_done()
        assert (last.content[0].text, asked) == ("18.40 EUR", ["currency"])
        assert server.model_view(2).results == ("USDEUR 0.92",)
        assert [call.knowledge for call in server.calls] == ["full", "loaded"]


def test_the_sdks_tool_runner_without_a_thread_on_the_server() -> None:
    @anthropic.beta_tool
    def clock() -> str:
        """The time now."""
        return "noon"

    with LoopbackProvider([Search("currency"), Pause(), Call("clock"), Say("It is noon.")]) as server:
        runner = claude(server).beta.messages.tool_runner(
            model=CLAUDE, max_tokens=500, messages=[USER], tools=[BM25, CLAUDE_FX, clock], thread=False,
        )  # fmt: skip
        assert runner.until_done().content[0].text == "It is noon."
        assert [len(request["messages"]) for request in server.requests] == [1, 2, 4]
        assert server.requests[1]["messages"][1]["role"] == "assistant"


def test_a_thread_that_the_server_does_not_hold() -> None:
    with LoopbackProvider([Say("Yes.")]) as server, pytest.raises(anthropic.NotFoundError) as caught:
        claude(server).beta.messages.create(
            **_request(thread={"type": "continue", "previous_message_id": "msg_9"}), betas=["any"],
        )  # fmt: skip
    assert caught.value.error_code == "thread_not_found"
