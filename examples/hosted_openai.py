"""OpenAI Responses, with the provider's own search: it searches and loads within one response."""

from __future__ import annotations

import os
from typing import Any

import openai
from shop_tools import TOOLS, run_tool

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search

MODEL = "gpt-5.4"


def main(client: openai.OpenAI) -> None:
    """Answer one question."""
    search = ToolSearch(TOOLS)
    items: list[Any] = [{"role": "user", "content": "Order A7 arrived broken. Give the 25 euros back."}]
    while True:
        turn = search.turn(items, model=MODEL, validate=True)
        response = client.responses.create(
            model=MODEL,
            instructions=f"You run a web shop. {turn.instructions}",
            tools=turn.tools,
            input=turn.messages,
            store=False,
        )
        items += response.output
        if turn.done(response):
            break
        items += turn.results(response, run_tool)
    print(turn.plan.reason)
    print(f"loaded: {', '.join(turn.plan.loaded)}")
    print(response.output_text)


if "OPENAI_API_KEY" in os.environ:
    main(openai.OpenAI())
else:
    print("No OPENAI_API_KEY: a scripted model on this machine answers.")
    script = [
        Search(paths=("refund_order",)),
        Call("refund_order", {"order_id": "A7", "amount": 25}),
        Say("Order A7 is refunded."),
    ]
    with LoopbackProvider(script) as server:
        main(openai.OpenAI(base_url=server.openai_url, api_key="none"))
