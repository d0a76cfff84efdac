"""How responses of the Responses interface end, break off and are kept, with the real SDK."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from loopback_requests import (
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
    Cut,
    HostedError,
    LoopbackProvider,
    Pause,
    Say,
    Search,
    StreamError,
)

TOOLS = [CRM, FX_FUNCTION, STOCK_FUNCTION, CLOCK_FUNCTION, HOSTED]
USER = {"role": "user", "content": "List the open orders of customer C-7."}


def _output(call: dict[str, Any], text: str = "[]") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call["call_id"], "output": text}


def test_cut_in_the_middle_of_a_call() -> None:
    script = [Cut(Call("clock", {"zone": "Oslo"})), Cut(Call("clock", {"zone": "Oslo"})), Cut(Search("eta"))]
    with LoopbackProvider(script) as server:
        response = gpt(server).responses.create(model=GPT, input="Time", tools=[CLOCK_FUNCTION])
        assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert (response.output[0].status, response.output[0].arguments) == ("incomplete", '{"zone":')
        events = list(
            gpt(server).responses.create(model=GPT, input="Time", tools=[CLOCK_FUNCTION], stream=True)
        )
        assert events[-1].type == "response.incomplete"
        search = gpt(server).responses.create(model=GPT, input="ETA", tools=[CLIENT])
        assert (search.output[0].status, search.output[0].arguments) == ("incomplete", {})


def test_cut_in_the_middle_of_a_text_and_of_a_plain_search() -> None:
    plain = function("tool_search", "Search the tools.", {**schema("query", "limit")})
    script = [Cut(Say("Good evening")), Cut(Search("eta", arguments={"q": "eta"})), Cut(Search("eta"))]
    with LoopbackProvider(script) as server:
        create = gpt(server).responses.create
        text = create(model=GPT, input="Hi", tools=[plain])
        search = create(model=GPT, input="ETA", tools=[plain])
        assert (text.output_text, text.output[0].status) == ("Good e", "incomplete")
        assert (search.output[0].name, search.output[0].arguments) == ("tool_search", '{"q": ')
        with pytest.raises(openai.InternalServerError, match="offers no search"):
            create(model=GPT, input="ETA", tools=[CLOCK_FUNCTION])


def test_arguments_that_are_no_json() -> None:
    with LoopbackProvider([Call("clock", '{"zone": Oslo}')]) as server:
        response = gpt(server).responses.create(model=GPT, input="Time", tools=[CLOCK_FUNCTION])
    assert response.output[0].arguments == '{"zone": Oslo}'


def test_a_stream_breaks_off() -> None:
    with LoopbackProvider([StreamError(), StreamError("Try later", "server_error", 503)]) as server:
        events = list(
            gpt(server).responses.create(model=GPT, input="Time", tools=[CLOCK_FUNCTION], stream=True)
        )
        assert (events[-1].type, events[-1].message) == ("error", "Overloaded")
        with pytest.raises(openai.InternalServerError, match="Try later"):
            gpt(server).responses.create(model=GPT, input="Time", tools=[CLOCK_FUNCTION])


def test_a_pause_is_nothing_here_and_a_hosted_error_is_impossible() -> None:
    with LoopbackProvider(
        [Search(paths=("crm",)), Pause(), Say("Ready."), HostedError("unavailable")]
    ) as server:
        response = gpt(server).responses.create(model=GPT, input="Orders", tools=TOOLS)
        assert (response.status, response.output_text) == ("completed", "Ready.")
        with pytest.raises(openai.InternalServerError, match="no error inside a response"):
            gpt(server).responses.create(model=GPT, input="Orders", tools=TOOLS)


def test_responses_are_kept_until_they_are_deleted() -> None:
    with LoopbackProvider([Say("First."), Say("Second."), Say("Not kept.")]) as server:
        client = gpt(server)
        first = client.responses.create(model=GPT, input="One", tools=[])
        assert client.responses.retrieve(first.id).output_text == "First."
        second = client.responses.create(model=GPT, input="Two", previous_response_id=first.id)
        texts = [item["content"] for item in server.model_view(1).messages if item.get("role") == "user"]
        assert texts == ["One", "Two"]
        assert second.previous_response_id == first.id
        referred = [{"type": "item_reference", "id": first.output[0].id}, USER]
        assert client.responses.create(model=GPT, input=referred, store=False).output_text == "Not kept."
        client.responses.delete(first.id)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(first.id)


def test_the_request_is_echoed_with_nulls() -> None:
    with LoopbackProvider([Say("Yes.")]) as server:
        response = gpt(server).responses.create(model=GPT, input="Time", tools=TOOLS).to_dict()
    assert response["tools"][1]["output_schema"] is None
    assert response["tools"][1]["name"] == "fx_rate"


def test_the_caller_of_a_program_is_there_and_may_be_replayed() -> None:
    caller = {"type": "program", "caller_id": "prog_1"}
    with LoopbackProvider([Call("clock", caller=caller), Say("Noon.")]) as server:
        items = items_of(gpt(server).responses.create(model=GPT, input="Time", tools=[CLOCK_FUNCTION]))
        assert items[0]["caller"] == caller
        history = [USER, *items, {**_output(items[0]), "caller": caller}]
        assert (
            gpt(server).responses.create(model=GPT, input=history, tools=[CLOCK_FUNCTION]).output_text
            == "Noon."
        )


def test_a_forced_call() -> None:
    choice: Any = {"type": "function", "name": "clock"}
    with LoopbackProvider([Call("clock"), Say("Noon."), Say("Noon.")]) as server:
        create = gpt(server).responses.create
        assert (
            create(model=GPT, input="Time", tools=[CLOCK_FUNCTION], tool_choice=choice).output[0].name
            == "clock"
        )
        for forced in (choice, "required"):
            with pytest.raises(openai.InternalServerError, match="loopback script: request"):
                create(model=GPT, input="Time", tools=[CLOCK_FUNCTION], tool_choice=forced)
