"""Scripts: faults, functions that decide, what no model could do, and many conversations at once."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import openai
import pytest
from loopback_requests import (
    ARGUMENTS,
    BM25,
    CLAUDE,
    CLAUDE_CLOCK,
    CLAUDE_FX,
    CLAUDE_SEARCH,
    CLOCK_FUNCTION,
    CRM,
    FX_FUNCTION,
    GPT,
    HOSTED,
    USER,
    claude,
    gpt,
    replayed,
    result,
)

from semantic_toolsearch.testing.loopback import (
    Call,
    HostedError,
    LoopbackProvider,
    Parallel,
    Pause,
    RequestView,
    Say,
    Search,
    Status,
    Step,
)


def _ask(server: LoopbackProvider, tools: Any = None, **more: Any) -> Any:
    request = {"model": CLAUDE, "max_tokens": 100, "messages": [USER], **more}
    return claude(server).messages.create(tools=tools or [BM25, CLAUDE_FX, CLAUDE_CLOCK], **request)


FAULTS = [
    (400, anthropic.BadRequestError, openai.BadRequestError),
    (429, anthropic.RateLimitError, openai.RateLimitError),
    (500, anthropic.InternalServerError, openai.InternalServerError),
    (529, anthropic.APIStatusError, openai.InternalServerError),
]


@pytest.mark.parametrize(("status", "of_claude", "of_gpt"), FAULTS)
def test_faults_take_the_form_of_the_provider(status: int, of_claude: Any, of_gpt: Any) -> None:
    with LoopbackProvider([Status(status, "Not now."), Status(status, "Not now.")]) as server:
        with pytest.raises(of_claude, match="Not now") as caught:
            _ask(server)
        assert (caught.value.status_code, caught.value.body["type"]) == (status, "error")
        with pytest.raises(of_gpt, match="Not now") as caught:
            gpt(server).responses.create(model=GPT, input="Hi")
        assert set(caught.value.body) == {"message", "type", "param", "code"}
    assert [exchange.status for exchange in server.exchanges] == [status, status]
    assert server.failures == []


def test_the_sdks_try_again_after_a_fault_and_each_try_takes_a_step() -> None:
    with LoopbackProvider([Status(529), Status(429), Say("Now.")]) as server:
        message = claude(server, max_retries=2).messages.create(model=CLAUDE, max_tokens=9, messages=[USER])
    assert message.content[0].text == "Now."
    assert [exchange.status for exchange in server.exchanges] == [529, 429, 200]


def test_a_body_of_ones_own() -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slower."}, "left": 0}
    with LoopbackProvider([Status(429, body, {"x-left": "0"})]) as server, pytest.raises(
        anthropic.RateLimitError
    ) as caught:  # fmt: skip
        _ask(server)
    assert caught.value.body == body
    assert caught.value.response.headers["x-left"] == "0"


def _by_turns(view: RequestView) -> Step:
    """Search until something is loaded, call it, and tell the result."""
    if view.results and not view.results[-1].startswith("fx"):
        return Say(f"It is {view.results[-1]}.")
    if view.knowledge("fx_rate") == "loaded":
        return Call("fx_rate", ARGUMENTS)
    return Search("currency")


def test_a_function_decides_by_what_the_model_sees() -> None:
    with LoopbackProvider(_by_turns) as server:
        first = _ask(server)
        assert [block.type for block in first.content] == [
            "server_tool_use",
            "tool_search_tool_result",
            "tool_use",
        ]
        last = _ask(server, messages=[USER, replayed(first), result(first.content[-1].id)])
        assert last.content[0].text == "It is 0.92."
        own = _ask(server, [CLAUDE_SEARCH, CLAUDE_FX])
        assert own.content[0].name == "tool_search"


def test_a_function_may_stand_among_the_steps() -> None:
    script = [Say("First."), lambda view: Say(f"You said: {view.user_text}"), lambda view: None]
    with LoopbackProvider(script) as server:
        assert _ask(server).content[0].text == "First."
        assert _ask(server).content[0].text == f"You said: {USER['content']}"
        with pytest.raises(anthropic.InternalServerError, match="no step left"):
            _ask(server)


IMPOSSIBLE: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "no_step": ([], {}, "no step left for request 0"),
    "no_search": ([Search("x")], {"tools": [CLAUDE_CLOCK]}, "request 0 offers no search; tools: clock"),
    "text_as_input": ([Call("clock", "noon")], {}, "passes arguments as an object"),
    "pause_without_search": ([Pause()], {}, "put a Search before or beside Pause"),
    "error_without_hosted": ([HostedError("unavailable")], {"tools": [CLAUDE_SEARCH]}, "needs a hosted Anthropic"),
    "nested": ([Parallel([Parallel([])])], {}, "Parallel cannot stand in a group"),
    "forbidden_call": ([Call("clock")], {"tool_choice": {"type": "none"}}, "tool_choice none, and the script calls"),
    "forced_any": ([Say("No.")], {"tool_choice": {"type": "any"}}, "tool_choice any, and the script calls nothing"),
    "forced_one": (
        [Search("currency"), Call("fx_rate", ARGUMENTS)], {"tool_choice": {"type": "tool", "name": "clock"}},
        "tool_choice clock, and the script does not call it",
    ),
    "not_parallel": (
        [Parallel([Call("clock"), Call("clock")])],
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, "forbids parallel calls",
    ),
    "endless": ([Search("x")] * 60, {}, "more than 50 searches in one response"),
}  # fmt: skip


@pytest.mark.parametrize(("script", "more", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_no_model_could_do_is_an_error_of_the_script(script: Any, more: Any, message: str) -> None:
    with LoopbackProvider(script) as server:
        request = {
            "model": CLAUDE,
            "max_tokens": 100,
            "messages": [USER],
            "tools": [BM25, CLAUDE_FX, CLAUDE_CLOCK],
        }
        with pytest.raises(anthropic.InternalServerError) as caught:
            claude(server, max_retries=2).messages.create(**{**request, **more})
        assert message in caught.value.body["error"]["message"]
        # A header tells the SDKs not to try again.
        assert len(server.failures) == len(server.exchanges) == 1


def test_a_choice_that_the_script_follows() -> None:
    script = [Call("clock"), Search("currency"), Call("clock"), Search("currency"), Say("Ready.")]
    with LoopbackProvider(script) as server:
        assert _ask(server, tool_choice={"type": "tool", "name": "clock"}).content[0].name == "clock"
        assert _ask(server, tool_choice={"type": "any"}).content[-1].name == "clock"
        assert _ask(server, tool_choice={"type": "any"}).content[-1].text == "Ready."


def test_one_script_serves_requests_with_and_without_a_search() -> None:
    script = [Search("currency", optional=True), Call("fx_rate", ARGUMENTS)] * 2
    whole = {key: value for key, value in CLAUDE_FX.items() if key != "defer_loading"}
    with LoopbackProvider(script) as server:
        assert [block.type for block in _ask(server, [whole]).content] == ["tool_use"]
        assert len(_ask(server).content) == 3
        assert [call.knowledge for call in server.calls] == ["full", "loaded"]


def test_blind_calls_can_be_forbidden() -> None:
    script = [Call("fx_rate", ARGUMENTS), Call("gone"), Search("currency"), Call("fx_rate", ARGUMENTS)]
    with LoopbackProvider(script, blind_calls=False) as server:
        for message in (r"cannot know the schema of 'fx_rate' \(blind\)", r"'gone' \(unknown\)"):
            with pytest.raises(anthropic.InternalServerError, match=message):
                _ask(server)
        assert _ask(server).content[-1].name == "fx_rate"
    with LoopbackProvider(script[:2]) as server:
        assert [_ask(server).content[0].name for _ in range(2)] == ["fx_rate", "gone"]
        assert [call.knowledge for call in server.calls] == ["blind", "unknown"]


def test_a_name_in_several_namespaces_has_to_be_told_apart() -> None:
    tools = [CRM, {**CRM, "name": "shop"}, HOSTED]
    with LoopbackProvider([Call("list_orders", {"customer_id": "C-7"})]) as server, pytest.raises(
        openai.InternalServerError, match="exists in several namespaces"
    ):  # fmt: skip
        gpt(server).responses.create(model=GPT, input="Orders", tools=tools)


def test_a_request_that_is_no_object_does_not_stop_the_server(talking: LoopbackProvider) -> None:
    for body in ({"messages": "Hi"}, {"messages": [5]}, {"messages": [USER], "tools": [7]}):
        with pytest.raises(anthropic.BadRequestError):
            claude(talking).post(
                "/v1/messages",
                body={"model": CLAUDE, "max_tokens": 9, **body},
                cast_to=anthropic.types.Message,
            )
    for tools in ([7], [None], "all"):
        with pytest.raises(openai.BadRequestError):
            gpt(talking).responses.create(model=GPT, input="Hi", tools=tools)


def test_hosted_error_codes_are_the_providers() -> None:
    with pytest.raises(ValueError, match="no such error of hosted search: 'invalid_pattern'"):
        HostedError("invalid_pattern")


def test_the_address_exists_while_the_server_runs() -> None:
    server = LoopbackProvider([Say("Yes.")])
    with pytest.raises(RuntimeError, match="inside its with block"):
        _ = server.url
    with server:
        assert _ask(server).content[0].text == "Yes."
    with pytest.raises(RuntimeError):
        _ = server.openai_url
    assert len(server.requests) == 1


def test_threads_and_connections_end_with_the_server() -> None:
    before = threading.active_count()
    with (
        LoopbackProvider([Say("Yes.")]) as server,
        anthropic.Anthropic(base_url=server.url, api_key="any") as client,
    ):
        client.messages.create(model=CLAUDE, max_tokens=9, messages=[USER])
    assert threading.active_count() == before
    gc.collect()


def _session(view: RequestView) -> Step:
    """Each conversation searches and calls with what only it said."""
    if view.results:
        return Say(f"{view.user_text}: {view.results[-1]}")
    if view.knowledge("fx_rate") == "loaded":
        return Call("fx_rate", {"base": view.user_text, "quote": "EUR"})
    return Search("currency")


def test_many_conversations_at_once_do_not_meet() -> None:
    tools = [FX_FUNCTION, CLOCK_FUNCTION, HOSTED]

    def talk(number: int) -> str:
        client = gpt(server)
        user = {"role": "user", "content": f"C{number}"}
        first = client.responses.create(model=GPT, input=[user], tools=tools, store=False)
        call = first.output[-1]
        answer = {"type": "function_call_output", "call_id": call.call_id, "output": call.arguments}
        items: Any = [user, *first.output, answer]
        return client.responses.create(model=GPT, input=items, tools=tools, store=False).output_text

    async def talk_to_claude(number: int, client: anthropic.AsyncAnthropic) -> str:
        user = {"role": "user", "content": f"A{number}"}
        request: Any = {"model": CLAUDE, "max_tokens": 9, "tools": [BM25, CLAUDE_FX]}
        first = await client.messages.create(messages=[user], **request)
        base = first.content[-1].input["base"]
        messages = [user, replayed(first), result(first.content[-1].id, base)]
        return (await client.messages.create(messages=messages, **request)).content[0].text

    async def all_of_claude() -> list[str]:
        async with anthropic.AsyncAnthropic(base_url=server.url, api_key="any", max_retries=0) as client:
            return await asyncio.gather(*(talk_to_claude(number, client) for number in range(20)))

    with LoopbackProvider(_session) as server, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(talk, range(20)))
        of_claude = asyncio.run(all_of_claude())
        assert server.failures == []
        assert len(server.requests) == 80
        assert len({call.id for call in server.calls}) == 40
    assert answers == [f'C{number}: {{"base": "C{number}", "quote": "EUR"}}' for number in range(20)]
    assert of_claude == [f"A{number}: A{number}" for number in range(20)]
