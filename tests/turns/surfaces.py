"""The small surfaces of the turn tests, and responses as each provider's model sends them."""

from __future__ import annotations

import json
from typing import Any

from semantic_toolsearch import ToolSearch

GPT, CLAUDE, GEMINI, LLAMA = "gpt-5.4", "claude-sonnet-5", "gemini-3-pro", "llama-4"
MODELS = (GPT, CLAUDE, GEMINI)


def engine(tools, config=None, **options):
    """A search by words: as fast as can be, and the same with any embedding model; a config brings its own ranker."""
    options = {"cache": False, **({} if config else {"ranker": "bm25"}), **options}
    return ToolSearch(tools, config=config, **options)


def wire(tools):
    """The entries of a chat list by name."""
    return {entry["function"]["name"]: entry["function"] for entry in tools}


def chat(*calls, stop="tool_calls", text=None):
    """A chat completion with calls of (name, arguments) or (name, arguments, id)."""
    made = [
        {
            "id": call[2] if len(call) > 2 else f"call_{place}",
            "type": "function",
            "function": {
                "name": call[0],
                "arguments": call[1] if isinstance(call[1], str) else json.dumps(call[1]),
            },
        }
        for place, call in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    return {"choices": [{"index": 0, "finish_reason": stop, "message": message}]}


def claude(*blocks, stop="tool_use"):
    return {"type": "message", "role": "assistant", "content": list(blocks), "stop_reason": stop}


def use(name, arguments, call_id="toolu_1", **more):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments, **more}


def responses(*items, status="completed"):
    return {"object": "response", "status": status, "output": list(items)}


def function_call(name, arguments, call_id="call_1", **more):
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(arguments),
        **more,
    }


def gemini(*calls):
    parts = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
    return {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": parts}}]}


def record(result):
    """The JSON of one answered search, in a chat message or an Anthropic block."""
    content = result["content"]
    return json.loads(content if isinstance(content, str) else content[0]["text"])


class Talk:
    """A chat conversation, one model call after another."""

    def __init__(self, search, model=LLAMA, **options):
        self.search, self.options = search, {"model": model, "api": "chat", **options}
        self.messages = [{"role": "user", "content": "Do it."}]

    def turn(self, **more):
        return self.search.turn(self.messages, **{**self.options, **more})

    def say(self, *calls, run=lambda call: "done", **more):
        """The model calls; what is answered here and what ran goes into the conversation. Returns the results."""
        response, turn = chat(*calls), self.turn(**more)
        results = turn.results(response, run)
        self.messages = [*self.messages, response["choices"][0]["message"], *results]
        return results

    def ask(self, query, **arguments):
        """One search of the model; its record."""
        (result,) = self.say(("tool_search", {"query": query, **arguments}))
        return record(result)
