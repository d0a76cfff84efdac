"""Any server with OpenAI's Chat Completions: unloaded tools go without parameters, found ones come with the next turn.

Set OPENAI_BASE_URL and MODEL for a server of your own, such as Ollama or vLLM.
"""

from __future__ import annotations

import os
from typing import Any

import openai
from shop_tools import TOOLS, run_tool

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search

MODEL = os.environ.get("MODEL", "llama-4")


def main(client: openai.OpenAI) -> None:
    """Answer one question."""
    search = ToolSearch(TOOLS)
    messages: list[Any] = [{"role": "user", "content": "Order A7 arrived broken. Give the 25 euros back."}]
    while True:
        turn = search.turn(messages, model=MODEL, api="chat", base_url=client.base_url, validate=True)
        system = {"role": "system", "content": f"You run a web shop. {turn.instructions}"}
        completion = client.chat.completions.create(
            model=MODEL, tools=turn.tools, messages=[system, *turn.messages]
        )
        messages.append(completion.choices[0].message)
        if turn.done(completion):
            break
        messages += turn.results(completion, run_tool)
    print(turn.plan.reason)
    print(f"loaded: {', '.join(turn.plan.loaded)}")
    print(completion.choices[0].message.content)


if "OPENAI_BASE_URL" in os.environ or "OPENAI_API_KEY" in os.environ:
    main(openai.OpenAI(api_key=os.environ.get("OPENAI_API_KEY", "none")))
else:
    print("No OPENAI_BASE_URL and no OPENAI_API_KEY: a scripted model on this machine answers.")
    script = [
        Search("pay money back to a customer"),
        Call("refund_order", {"order_id": "A7", "amount": 25}),
        Say("Order A7 is refunded."),
    ]
    with LoopbackProvider(script) as server:
        main(openai.OpenAI(base_url=server.openai_url, api_key="none"))
