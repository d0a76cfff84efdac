"""Anthropic Messages, with the provider's own search: it searches and loads within one response."""

from __future__ import annotations

import os
from typing import Any

import anthropic
from shop_tools import TOOLS, run_tool

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search

MODEL = "claude-sonnet-5"


def main(client: anthropic.Anthropic) -> None:
    """Answer one question."""
    search = ToolSearch(TOOLS)
    messages: list[Any] = [{"role": "user", "content": "Order A7 arrived broken. Give the 25 euros back."}]
    while True:
        turn = search.turn(messages, model=MODEL, validate=True)
        response = client.messages.create(
            model=MODEL,
            max_tokens=1000,
            system=f"You run a web shop. {turn.instructions}",
            tools=turn.tools,
            messages=turn.messages,
        )
        messages.append({"role": "assistant", "content": response.content})
        if turn.done(response):
            break
        results = turn.results(response, run_tool)
        if results:  # none after a pause: the same request goes out again with what came so far
            messages.append({"role": "user", "content": results})
    print(turn.plan.reason)
    print(f"loaded: {', '.join(turn.plan.loaded)}")
    print(response.content[-1].text)


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
