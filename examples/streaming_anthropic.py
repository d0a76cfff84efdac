"""Anthropic Messages, streamed: the text is shown as it comes, and the events are put together for the turn."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import anthropic
from shop_tools import TOOLS, run_tool

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search

MODEL = "claude-sonnet-5"


def shown(events: Iterable[Any]) -> Iterator[Any]:
    """Print the text of a stream as it comes."""
    for event in events:
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            print(event.delta.text, end="", flush=True)
        yield event


def main(client: anthropic.Anthropic) -> None:
    """Answer one question."""
    search = ToolSearch(TOOLS)
    messages: list[Any] = [{"role": "user", "content": "Order A7 arrived broken. Give the 25 euros back."}]
    while True:
        turn = search.turn(messages, model=MODEL, prefer="client", validate=True)
        events = client.messages.create(
            model=MODEL,
            max_tokens=1000,
            system=f"You run a web shop. {turn.instructions}",
            tools=turn.tools,
            messages=turn.messages,
            stream=True,
        )
        response = turn.assemble(shown(events))
        messages.append({"role": "assistant", "content": response["content"]})
        if turn.done(response):
            break
        results = turn.results(response, run_tool)
        if results:  # none after a pause: the same request goes out again with what came so far
            messages.append({"role": "user", "content": results})
    print(f"\nloaded: {', '.join(turn.plan.loaded)}")


if "ANTHROPIC_API_KEY" in os.environ:
    main(anthropic.Anthropic())
else:
    print("No ANTHROPIC_API_KEY: a scripted model on this machine answers.")
    script = [
        Search("pay money back to a customer"),
        Call("refund_order", {"order_id": "A7", "amount": 25}),
        Say("Order A7 is refunded."),
    ]
    with LoopbackProvider(script) as server:
        main(anthropic.Anthropic(base_url=server.url, api_key="none"))
