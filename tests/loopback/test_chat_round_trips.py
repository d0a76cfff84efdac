"""Whole conversations over the Chat Completions interface with the real SDK: complete, streamed and asynchronous."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from loopback_requests import ARGUMENTS, FX, FX_SCHEMA, chat_tool, gpt, schema

from semantic_toolsearch.testing.loopback import (
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

USER = {"role": "user", "content": "Convert 20 USD to EUR"}
SEARCH = chat_tool("tool_search", "Search the tools.", schema("query"))
STUB = chat_tool("fx_rate", FX, {"type": "object", "properties": {}, "additionalProperties": True})
WHOLE = chat_tool("fx_rate", FX, FX_SCHEMA)
CLOCK = chat_tool("clock", "The time now.", schema())
MODEL = "gpt-4.1"


def _answers(message: Any) -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": call.id, "content": "{}"} for call in message.tool_calls]


def test_a_stub_is_loaded_and_called() -> None:
    with LoopbackProvider([Search("currency"), Call("fx_rate", ARGUMENTS), Say("18.40 EUR")]) as server:
        client = gpt(server)
        messages: list[Any] = [USER]
        for tools in ([SEARCH, STUB], [SEARCH, WHOLE]):
            choice = client.chat.completions.create(model=MODEL, messages=messages, tools=tools).choices[0]
            assert choice.finish_reason == "tool_calls"
            messages += [choice.message.to_dict(), *_answers(choice.message)]
        last = client.chat.completions.create(model=MODEL, messages=messages, tools=[SEARCH, WHOLE])
        assert (last.choices[0].message.content, last.choices[0].finish_reason) == ("18.40 EUR", "stop")
        assert [(call.name, call.knowledge) for call in server.calls] == [
            ("tool_search", "full"),
            ("fx_rate", "full"),
        ]
        assert [call["function"]["name"] for call in messages[1]["tool_calls"]] == ["tool_search"]
        assert server.model_view(2).results == ("{}",)
        assert server.model_view(2).user_text == USER["content"]


def test_a_call_of_a_stub_is_blind() -> None:
    with LoopbackProvider([Call("fx_rate", ARGUMENTS), Call("clock")]) as server:
        for _ in range(2):
            gpt(server).chat.completions.create(model=MODEL, messages=[USER], tools=[STUB, CLOCK])
        assert [call.knowledge for call in server.calls] == ["blind", "full"]


def test_text_and_calls_streamed() -> None:
    group = Parallel([Say("One moment."), Call("clock"), Call("fx_rate", ARGUMENTS, id="call_x")])
    with LoopbackProvider([group, group]) as server:
        request: dict[str, Any] = {"model": MODEL, "messages": [USER], "tools": [WHOLE, CLOCK]}
        chunks = list(
            gpt(server).chat.completions.create(
                **request, stream=True, stream_options={"include_usage": True}
            )
        )
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.total_tokens > 0
        deltas = [chunk.choices[0].delta for chunk in chunks[:-1]]
        assert "".join(delta.content or "" for delta in deltas) == "One moment."
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        assert [(call.index, call.id, call.function.name) for call in calls if call.id][1] == (
            1,
            "call_x",
            "fx_rate",
        )
        text = "".join(call.function.arguments for call in calls if call.index == 1)
        assert json.loads(text) == ARGUMENTS
        assert chunks[-2].choices[0].finish_reason == "tool_calls"
        with gpt(server).chat.completions.stream(**request) as stream:
            message = stream.get_final_completion().choices[0].message
        assert message.content == "One moment."
        assert [call.function.name for call in message.tool_calls] == ["clock", "fx_rate"]


def test_asynchronously() -> None:
    async def talk(url: str) -> tuple[Any, str]:
        async with openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as client:
            first = await client.chat.completions.create(model=MODEL, messages=[USER], tools=[CLOCK])
            message = first.choices[0].message
            stream = await client.chat.completions.create(
                model=MODEL,
                messages=[USER, message.to_dict(), *_answers(message)],
                tools=[CLOCK],
                stream=True,
            )
            return message, "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    with LoopbackProvider([Call("clock"), Say("It is noon, and the sun shines.")]) as server:
        message, text = asyncio.run(talk(server.openai_url))
    assert (message.tool_calls[0].function.name, text) == ("clock", "It is noon, and the sun shines.")


def test_cut_in_the_middle_of_a_call() -> None:
    with LoopbackProvider([Cut(Call("fx_rate", ARGUMENTS)), Cut(Say("Good evening"))]) as server:
        request: dict[str, Any] = {"model": MODEL, "messages": [USER], "tools": [WHOLE]}
        cut = gpt(server).chat.completions.create(**request).choices[0]
        text = gpt(server).chat.completions.create(**request).choices[0]
    assert cut.finish_reason == text.finish_reason == "length"
    whole = json.dumps(ARGUMENTS)
    assert cut.message.tool_calls[0].function.arguments == whole[: len(whole) // 2]
    assert text.message.content == "Good e"


def test_custom_tools() -> None:
    tool = {"type": "custom", "custom": {"name": "sql", "description": "Run SQL."}}
    with LoopbackProvider([Call("sql", "SELECT 1")]) as server:
        choice = gpt(server).chat.completions.create(model=MODEL, messages=[USER], tools=[tool]).choices[0]
    assert choice.message.tool_calls[0].to_dict()["custom"] == {"name": "sql", "input": "SELECT 1"}


def test_a_stream_breaks_off() -> None:
    with LoopbackProvider([StreamError()]) as server, pytest.raises(openai.APIError, match="Overloaded"):
        list(gpt(server).chat.completions.create(model=MODEL, messages=[USER], tools=[CLOCK], stream=True))


def test_a_pause_is_nothing_here_and_nothing_is_hosted() -> None:
    with LoopbackProvider(
        [Pause(), Say("Yes."), Cut(Search("x")), Cut(Search("x")), HostedError("unavailable")]
    ) as server:
        create = gpt(server).chat.completions.create
        assert create(model=MODEL, messages=[USER], tools=[CLOCK]).choices[0].message.content == "Yes."
        cut = create(model=MODEL, messages=[USER], tools=[SEARCH]).choices[0]
        assert (cut.finish_reason, cut.message.tool_calls[0].function.arguments) == ("length", '{"query')
        for message in ("offers no search", "Chat Completions has none"):
            with pytest.raises(openai.InternalServerError, match=message):
                create(model=MODEL, messages=[USER], tools=[CLOCK])


def test_a_forced_call() -> None:
    choice: Any = {"type": "function", "function": {"name": "clock"}}
    with LoopbackProvider([Call("clock"), Say("Noon.")]) as server:
        create = gpt(server).chat.completions.create
        forced = create(model=MODEL, messages=[USER], tools=[CLOCK, SEARCH], tool_choice=choice)
        assert forced.choices[0].message.tool_calls[0].function.name == "clock"
        with pytest.raises(
            openai.InternalServerError, match="tool_choice clock, and the script does not call it"
        ):
            create(model=MODEL, messages=[USER], tools=[CLOCK, SEARCH], tool_choice=choice)
