"""OpenAI Responses, streamed: the text is shown as it comes, and the events are put together for the turn."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import openai
from shop_tools import TOOLS, run_tool

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search

MODEL = "gpt-5.4"


def shown(events: Iterable[Any]) -> Iterator[Any]:
    """Print the text of a stream as it comes."""
    for event in events:
        if event.type == "response.output_text.delta":
            print(event.delta, end="", flush=True)
        yield event


def main(client: openai.OpenAI) -> None:
    """Answer one question."""
    search = ToolSearch(TOOLS)
    items: list[Any] = [{"role": "user", "content": "Order A7 arrived broken. Give the 25 euros back."}]
    while True:
        turn = search.turn(items, model=MODEL, prefer="client", validate=True)
        events = client.responses.create(
            model=MODEL,
            instructions=f"You run a web shop. {turn.instructions}",
            tools=turn.tools,
            input=turn.messages,
            store=False,
            stream=True,
        )
        response = turn.assemble(shown(events))
        items += response["output"]
        if turn.done(response):
            break
        items += turn.results(response, run_tool)
    print(f"\nloaded: {', '.join(turn.plan.loaded)}")


if "OPENAI_API_KEY" in os.environ:
    main(openai.OpenAI())
else:
    print("No OPENAI_API_KEY: a scripted model on this machine answers.")
    script = [
        Search("pay money back to a customer"),
        Call("refund_order", {"order_id": "A7", "amount": 25}),
        Say("Order A7 is refunded."),
    ]
    with LoopbackProvider(script) as server:
        main(openai.OpenAI(base_url=server.openai_url, api_key="none"))
