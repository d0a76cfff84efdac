"""What models say in each wire format, and what they read of a request: written and read here by hand."""

from __future__ import annotations

import itertools
import json
from typing import Any

from conversations import BY_NAME
from semantic_toolsearch.testing.loopback import (
    Settings,
    anthropic_request,
    chat_request,
    responses_request,
)
from semantic_toolsearch.testing.loopback.refusal import Refusal

MODELS = {
    "anthropic": "claude-sonnet-5",
    "responses": "gpt-5.4",
    "chat": "llama-4",
    "gemini": "gemini-3-pro",
}
_FOREIGN = {
    "anthropic": BY_NAME["anthropic-record"],
    "responses": BY_NAME["responses-record"],
    "chat": BY_NAME["chat"],
    "gemini": BY_NAME["gemini"],
}
_ids = itertools.count(1)


def user(api: str, text: str) -> dict:
    return _FOREIGN[api].user(text)


def foreign_call(api: str, name: str) -> tuple[dict, ...]:
    """What a host makes of another provider's call when it hands the conversation over."""
    return tuple(_FOREIGN[api].call(f"old_{next(_ids)}", name, "done"))


def foreign_search(api: str, found: list[str]) -> tuple[dict, ...]:
    """The same for an answered search, as a plain record."""
    return tuple(_FOREIGN[api].search(f"old_{next(_ids)}", found))


def response(api: str, mode: str, searches: list[dict], calls: list[tuple[dict, Any]]) -> dict:
    """A response that searches and calls; a call is the tool's address and the arguments."""
    if mode == "bridge":
        calls = [({"name": "call_tool"}, {"name": at["name"], "arguments": given}) for at, given in calls]
    number = next(_ids)
    made = [(f"c{number}_{place}", *call) for place, call in enumerate(calls)]
    asked = [(f"s{number}_{place}", each) for place, each in enumerate(searches)]
    if api == "anthropic":
        blocks = [
            {"type": "tool_use", "id": key, "name": "tool_search", "input": each} for key, each in asked
        ]
        blocks += [
            {"type": "tool_use", "id": key, "name": at["name"], "input": given} for key, at, given in made
        ]
        return {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}
    if api == "responses":
        items = [_search_item(mode, key, each) for key, each in asked]
        items += [
            {"type": "function_call", "call_id": key, **at, "arguments": json.dumps(given)}
            for key, at, given in made
        ]
        return {"object": "response", "status": "completed", "output": items}
    plain = [(key, "tool_search", each) for key, each in asked]
    plain += [(key, at["name"], given) for key, at, given in made]
    if api == "chat":
        entries = [
            {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for key, name, given in plain
        ]
        message = {"role": "assistant", "content": None, "tool_calls": entries}
        return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    parts = [{"functionCall": {"id": key, "name": name, "args": given}} for key, name, given in plain]
    return {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": parts}}]}


def _search_item(mode: str, key: str, given: dict) -> dict:
    if mode != "output":
        name = {"type": "function_call", "name": "tool_search"}
        return {**name, "call_id": key, "arguments": json.dumps(given)}
    return {
        "type": "tool_search_call",
        "execution": "client",
        "call_id": key,
        "status": "completed",
        "arguments": given,
    }


def hosted(api: str, entries: list[dict]) -> dict:
    """A response in which the provider itself searched and found some entries of the tools list."""
    if api == "responses":
        common = {"execution": "server", "call_id": None, "status": "completed"}
        items = [
            {"type": "tool_search_call", "id": f"tsc_{next(_ids)}", "arguments": {"paths": []}, **common},
            {"type": "tool_search_output", "id": f"tso_{next(_ids)}", "tools": entries, **common},
        ]
        return {"object": "response", "status": "completed", "output": items}
    key = f"srvtoolu_{next(_ids)}"
    references = [{"type": "tool_reference", "tool_name": entry["name"]} for entry in entries]
    blocks = [
        {"type": "server_tool_use", "id": key, "name": "tool_search_tool_bm25", "input": {"query": "q"}},
        {
            "type": "tool_search_tool_result",
            "tool_use_id": key,
            "content": {"type": "tool_search_tool_search_result", "tool_references": references},
        },
    ]
    return {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "end_turn"}


def said(api: str, answer: dict) -> list[dict]:
    """What a response adds to the conversation."""
    if api == "anthropic":
        return [{"role": "assistant", "content": answer["content"]}]
    if api == "responses":
        return answer["output"]
    if api == "chat":
        return [answer["choices"][0]["message"]]
    return [answer["candidates"][0]["content"]]


def results_as_messages(api: str, results: list[dict]) -> list[dict]:
    if api == "anthropic":
        return [{"role": "user", "content": results}] if results else []
    if api == "gemini":
        return [{"role": "user", "parts": results}] if results else []
    return results


def answer_text(api: str, result: dict) -> str:
    """The text of one result that is not made of references or definitions."""
    if api == "anthropic":
        content = result["content"]
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    if api == "responses":
        return result.get("output", "")
    if api == "chat":
        return result["content"]
    held = result["functionResponse"]["response"]
    return held.get("output", held.get("error", ""))


def loaded_by(api: str, result: dict) -> list[str]:
    """Wire names that an answered search tells the model to be loaded now."""
    if api == "anthropic" and not isinstance(result["content"], str):
        found = [part["tool_name"] for part in result["content"] if part["type"] == "tool_reference"]
        if found:
            return found
    if result.get("type") == "tool_search_output":
        return [entry["name"] for entry in result["tools"]]
    return json.loads(answer_text(api, result))["loaded"]


def accepted(api: str, turn: Any) -> None:
    """Raise what the provider's own interface, as the loopback provider has it, would refuse."""
    body = {"model": MODELS[api], **({"tools": turn.tools} if turn.tools else {})}
    settings = Settings()
    if api == "anthropic":
        body |= {"max_tokens": 99, "messages": turn.messages}
        headers = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
        anthropic_request.read_request(body, headers, 0, settings, beta=False)
    elif api == "responses":
        try:
            responses_request.read_request({**body, "input": turn.messages}, 0, {}, settings)
        except Refusal as refusal:
            # Of a call into a namespace that has gone, whose function's name another one has, nothing is documented.
            if not refusal.message.startswith("Unknown namespace"):
                raise
    elif api == "chat":
        chat_request.read_request({**body, "messages": turn.messages}, 0, settings)


def address(api: str, mode: str, tools: list[dict], wire: str, mark: str) -> dict:
    """How the model calls a tool: as the request declares it, else by its wire name."""
    for entry, space in _declared(api, tools):
        if mark in entry.get("description", ""):
            if api != "responses" or not entry.get("defer_loading"):
                return {"name": entry["name"]}
            return {"name": entry["name"], "namespace": space or entry["name"]}
    return {"name": wire, "namespace": wire} if mode == "output" else {"name": wire}


def entry_of(api: str, tools: list[dict], mark: str) -> dict | None:
    """The entry of a tool, wherever in the list it stands."""
    return next((entry for entry, _ in _declared(api, tools) if mark in entry.get("description", "")), None)


def found_entries(tools: list[dict], marks: set[str]) -> list[dict]:
    """The deferred entries that a search by OpenAI's or Anthropic's provider would bring, in their namespaces."""
    found = []
    for entry in tools:
        if entry.get("type") == "namespace":
            inner = [each for each in entry["tools"] if any(mark in each["description"] for mark in marks)]
            found += [{**entry, "tools": inner}] if inner else []
        elif entry.get("defer_loading") and any(mark in entry["description"] for mark in marks):
            found.append(entry)
    return found


def _declared(api: str, tools: list[dict]) -> list[tuple[dict, str | None]]:
    if api == "gemini":
        return [(entry, None) for group in tools for entry in group["functionDeclarations"]]
    if api == "chat":
        return [(entry["function"], None) for entry in tools]
    flat = [(entry, None) for entry in tools if entry.get("type", "function") == "function"]
    spaces = [entry for entry in tools if entry.get("type") == "namespace"]
    return flat + [(entry, space["name"]) for space in spaces for entry in space["tools"]]


def search_entry(api: str, tools: list[dict]) -> dict | None:
    """The search that a request offers to its model."""
    if api == "responses" and (own := [entry for entry in tools if entry["type"] == "tool_search"]):
        return own[0]
    if api == "anthropic":
        return next((entry for entry in tools if entry["name"].startswith("tool_search")), None)
    return next((entry for entry, _ in _declared(api, tools) if entry["name"] == "tool_search"), None)
