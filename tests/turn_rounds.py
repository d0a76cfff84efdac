"""Conversations over a real HTTP server with the real SDKs: complete, streamed and asynchronous."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider

CLAUDE, GPT, PLAIN = "claude-sonnet-5", "gpt-5.4", "llama-4"
INVOICE = {"amount": 120, "customer": "ACME"}
USER = {"role": "user", "content": "Bill ACME 120 euros."}
USERS = {"anthropic": CLAUDE, "responses": GPT, "chat": PLAIN}
MODES = [
    ("anthropic", "full"), ("anthropic", "hosted"), ("anthropic", "reference"), ("anthropic", "stub"),
    ("anthropic", "bridge"), ("responses", "full"), ("responses", "hosted"), ("responses", "output"),
    ("responses", "stub"), ("responses", "bridge"), ("chat", "full"), ("chat", "stub"), ("chat", "bridge"),
]  # fmt: skip
"""Every interface with every mode that it can carry."""
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Plain HTTP needs none, and loading them for every client takes longer than the requests."""
WAYS = ["complete", "streamed", "async", "async_streamed"]


def tool(name, description, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": schema}


def many(count):
    return [
        tool(
            f"tool_{i:02d}", f"Reads gauge number {i} of the plant.", **{f"gauge_{i:02d}": {"type": "string"}}
        )
        for i in range(count)
    ]


TOOLS = [
    *many(17),
    tool(
        "create_invoice",
        "Bill a customer for an order.",
        amount={"type": "number"},
        customer={"type": "string"},
    ),
    tool("send_email", "Write a letter to a person.", to={"type": "string"}),
    tool("book_flight", "Reserve a plane seat for travel.", city={"type": "string"}),
    tool("translate_text", "Turn words into another language.", language={"type": "string"}),
]


def lexical(tools=TOOLS, **options):
    """Words alone decide: fast, and the same with any embedding model."""
    return ToolSearch(tools, ranker="bm25", cache=False, **options)


def used(mode, name, arguments):
    """A call as a model makes it in a mode."""
    return (
        Call("call_tool", {"name": name, "arguments": arguments})
        if mode == "bridge"
        else Call(name, arguments)
    )


@dataclass
class Run:
    """What happened in a conversation."""

    server: LoopbackProvider
    messages: list[Any]
    turns: list[Any] = field(default_factory=list)
    responses: list[Any] = field(default_factory=list)
    calls: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)


def request(api, turn, model, **more):
    """The fields of a request, as an application writes them."""
    if api == "anthropic":
        return {
            "model": model, "max_tokens": 500, "system": turn.instructions, "tools": turn.tools,
            "messages": turn.messages, **more,
        }  # fmt: skip
    if api == "responses":
        return {
            "model": model,
            "instructions": turn.instructions,
            "tools": turn.tools,
            "input": turn.messages,
            **more,
        }
    system = [{"role": "system", "content": turn.instructions}] if turn.instructions else []
    tools = {"tools": turn.tools} if turn.tools else {}  # refused where it is empty
    return {"model": model, **tools, "messages": [*system, *turn.messages], **more}


def client_of(server, api, kind=""):
    sdk = anthropic if api == "anthropic" else openai
    http = sdk.DefaultAsyncHttpxClient if kind else sdk.DefaultHttpxClient
    options = {"api_key": "any", "max_retries": 0, "http_client": http(verify=_NO_CERTIFICATES)}
    if api == "anthropic":
        return getattr(anthropic, f"{kind}Anthropic")(base_url=server.url, **options)
    return getattr(openai, f"{kind}OpenAI")(base_url=server.openai_url, **options)


def endpoint(client, api):
    if api == "anthropic":
        return client.messages.create
    return client.responses.create if api == "responses" else client.chat.completions.create


def send(server, api, turn, model, way="complete", **more):
    """One request; the response as the SDK hands it out, or as `assemble` puts the stream together."""
    fields = request(api, turn, model, **more)
    if way == "complete":
        with client_of(server, api) as client:
            return endpoint(client, api)(**fields)
    if way == "streamed":
        with client_of(server, api) as client:
            return turn.assemble(endpoint(client, api)(**fields, stream=True))

    async def ask():
        async with client_of(server, api, "Async") as client:
            if way == "async":
                return await endpoint(client, api)(**fields)
            return turn.assemble(
                [event async for event in await endpoint(client, api)(**fields, stream=True)]
            )

    return asyncio.run(ask())


def reply(api, response):
    """What goes into the history: SDK objects as their own dicts."""
    data = response if isinstance(response, dict) else response.to_dict(mode="json")
    if api == "anthropic":
        return [{"role": "assistant", "content": data["content"]}]
    return data["output"] if api == "responses" else [data["choices"][0]["message"]]


def answers(api, results):
    """The results as messages: Anthropic's are blocks of one user message."""
    return [{"role": "user", "content": results}] if api == "anthropic" and results else results


def ran(call):
    """What the application's tools return."""
    return f"ran {call.name}"


def converse(
    server, search, api, *, way="complete", model=None, messages=(USER,), fields=None, execute=ran, **options
):
    """Talk until the model is done; at most ten requests."""
    run, model = Run(server, list(messages)), model or USERS[api]
    for _ in range(10):
        turn = search.turn(run.messages, model=model, api=api, validate=True, **options)
        response = send(server, api, turn, model, way, **(fields or {}))
        run.turns.append(turn)
        run.responses.append(response)
        run.messages += reply(api, response)
        if turn.done(response):
            return run
        calls = turn.calls(response)
        run.calls += calls
        results = turn.results(response, execute)
        run.results.append(results)
        run.messages += answers(api, results)
    raise AssertionError("the conversation did not end")


def text_of(api, response):
    """The response's last text."""
    data = response if isinstance(response, dict) else response.to_dict(mode="json")
    if api == "anthropic":
        return data["content"][-1]["text"]
    return (
        data["output"][-1]["content"][0]["text"]
        if api == "responses"
        else data["choices"][0]["message"]["content"]
    )
