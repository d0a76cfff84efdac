"""A long conversation is cut down and goes on: a short note keeps the tools loaded whose searches were dropped."""

from __future__ import annotations

import json
import os
from typing import Any

import openai
from shop_tools import TOOLS, run_tool

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.compaction import compact
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search

MODEL = "gpt-5.4"
SEARCH = ToolSearch(TOOLS)


def talk(client: openai.OpenAI, items: list[Any], question: str) -> list[Any]:
    """Answer one question; returns the conversation with the answer, as plain JSON that can be stored."""
    items = [*items, {"role": "user", "content": question}]
    while True:
        turn = SEARCH.turn(items, model=MODEL, prefer="client", validate=True)
        print(f"loaded: {', '.join(turn.plan.loaded) or 'nothing'}")
        response = client.responses.create(
            model=MODEL,
            instructions=f"You run a web shop. {turn.instructions}",
            tools=turn.tools,
            input=turn.messages,
            store=False,
        )
        items += [item.to_dict(mode="json") for item in response.output]
        if turn.done(response):
            print(response.output_text)
            return items
        items += turn.results(response, run_tool)


def main(client: openai.OpenAI) -> None:
    """Two questions, with all but the last answer dropped between them."""
    items = talk(client, [], "Order A7 arrived broken. Give the 25 euros back.")
    kept = compact(items, range(len(items) - 1), SEARCH.catalog)
    print(f"compacted: {len(items)} items to {len(kept)}")
    stored = json.dumps(kept)  # another process may go on from here
    talk(client, json.loads(stored), "Do the same for order A8.")


if "OPENAI_API_KEY" in os.environ:
    main(openai.OpenAI())
else:
    print("No OPENAI_API_KEY: a scripted model on this machine answers.")
    script = [
        Search("pay money back to a customer"),
        Call("refund_order", {"order_id": "A7", "amount": 25}),
        Say("Order A7 is refunded."),
        Call("refund_order", {"order_id": "A8", "amount": 25}),
        Say("Order A8 is refunded."),
    ]
    with LoopbackProvider(script) as server:
        main(openai.OpenAI(base_url=server.openai_url, api_key="none"))
