"""A checked Responses request and a script in; the response out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .cache import CacheUse
from .conduct import EmittedCall, prepare, search_arguments
from .refusal import ScriptError
from .responses_request import ResponsesRequest
from .script import Call, HostedError, Say, Search, StreamError
from .search import by_paths, choose_paths
from .settings import Settings
from .view import Knowledge, RequestView, SearchOffer, Surface, canonical, tokens_of

__all__ = ["ResponsesSpeaker"]

NewId = Callable[[str], str]


class ResponsesSpeaker:
    """Writes the output items of one response.

    Attributes:
        view: What the model sees; it learns what hosted searches load.
        calls: Calls made so far.
        error: What ends the stream early, or None.
    """

    def __init__(self, request: ResponsesRequest, use: CacheUse, new_id: NewId, settings: Settings) -> None:
        self.view: RequestView = request.view
        self.calls: list[EmittedCall] = []
        self.error: StreamError | None = None
        self.identity = new_id("resp_")
        self._use = use
        self._new_id = new_id
        self._settings = settings
        self._cut = False
        self._created = int(time.time())

    def say(self, text: str) -> None:
        """Write a message item."""
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        item = {"id": self._new_id("msg_"), "type": "message", "status": "completed", "role": "assistant"}
        self.view.emitted.append({**item, "content": [part]})

    def call(self, surface: Surface | None, step: Call, knowledge: Knowledge) -> None:
        """Write a call; its namespace is there where the tool was loaded or stands in one."""
        custom = surface is not None and surface.kind == "custom"
        name = surface.name if surface else step.tool
        namespace = surface.namespace if surface else step.namespace
        text = step.arguments if isinstance(step.arguments, str) else json.dumps(dict(step.arguments))
        identity = step.id or self._new_id("call_")
        item: dict[str, Any] = {
            "id": self._new_id("ctc_" if custom else "fc_"),
            "type": "custom_tool_call" if custom else "function_call",
            "status": "completed",
            "input" if custom else "arguments": text,
            "call_id": identity,
            "name": name,
        }
        if namespace is not None:
            item["namespace"] = namespace
        if step.caller is not None:
            item["caller"] = dict(step.caller)
        self.view.emitted.append(item)
        self.calls.append(EmittedCall(self.view.index, name, namespace, step.arguments, identity, knowledge))

    def ask(self, offer: SearchOffer, step: Search, *, leave_open: bool) -> None:
        """Write a search call; a hosted one is answered at once, whatever stands beside it."""
        if offer.kind == "client":
            self._search_call("client", step.id or self._new_id("call_"), search_arguments(offer, step))
            return
        paths = choose_paths(step, self.view.up_front, self.view.surfaces)
        self._search_call("server", None, {"paths": paths})
        self.view.emitted.append(
            {
                "id": self._new_id("tso_"),
                "type": "tool_search_output",
                "status": "completed",
                "call_id": None,
                "execution": "server",
                "tools": self._loaded(paths),
            }
        )

    def answered(self) -> None:
        """Nothing to do: hosted searches are answered where they stand."""

    def hosted_error(self, step: HostedError) -> None:
        """Refuse: this interface has no errors inside a response."""
        raise ScriptError(
            "HostedError needs a hosted Anthropic search; OpenAI has no error inside a response"
        )

    def pause(self) -> bool:
        """Nothing to do: this interface does not pause."""
        return False

    def cut(self, step: Call | Say | Search) -> None:
        """End as incomplete in the middle of an item."""
        offer = self.view.search
        if isinstance(step, Say):
            self.say(step.text[: len(step.text) // 2])
        elif isinstance(step, Call):
            surface, knowledge = prepare(step, self.view, self._settings)
            self.call(surface, step, knowledge)
        elif offer is None:
            raise ScriptError("the request offers no search")
        elif offer.kind == "function":
            self.call(self.view.find(offer.name), Call(offer.name, search_arguments(offer, step)), "full")
        else:
            identity = self._new_id("call_") if offer.kind == "client" else None
            self._search_call("client" if offer.kind == "client" else "server", identity, {})
        item = self.view.emitted[-1]
        item["status"] = "incomplete"
        for key in ("arguments", "input"):
            if isinstance(item.get(key), str):
                item[key] = item[key][: len(item[key]) // 2]
        self._cut = True

    def break_off(self, step: StreamError) -> None:
        """End the stream with an error event."""
        self.error = step

    def response(
        self, *, status: str | None = None, output: Sequence[Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        """The response, complete unless another status and output are asked for."""
        body = self.view.body
        status = status or ("incomplete" if self._cut else "completed")
        done = status in ("completed", "incomplete")
        written = tokens_of(canonical(self.view.emitted))
        usage = {
            "input_tokens": self._use.total,
            "input_tokens_details": {
                "cached_tokens": self._use.read,
                "cache_write_tokens": self._use.written,
            },
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self._use.total + written,
        }
        return {
            "id": self.identity,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "metadata": body.get("metadata") or {},
            "model": body["model"],
            "output": list(self.view.emitted if output is None else output),
            "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
            "previous_response_id": body.get("previous_response_id"),
            "store": body.get("store") is not False,
            "temperature": 1.0,
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": [_echo(entry) for entry in body.get("tools") or []],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": usage if done else None,
            "user": body.get("user"),
        }

    def _search_call(self, execution: str, identity: str | None, arguments: dict[str, Any]) -> None:
        self.view.emitted.append(
            {
                "id": self._new_id("tsc_"),
                "type": "tool_search_call",
                "status": "completed",
                "call_id": identity,
                "execution": execution,
                "arguments": arguments,
            }
        )

    def _loaded(self, paths: Sequence[str]) -> list[dict[str, Any]]:
        """Load what the paths name; return the definitions, regrouped by namespace."""
        declared = {(entry["type"], entry.get("name")): entry for entry in self.view.body["tools"]}
        output: list[dict[str, Any]] = []
        groups: dict[str, dict[str, Any]] = {}
        for surface in by_paths(paths, self.view.surfaces):
            surface.loaded = True
            definition = _echo(surface.definition)
            if not surface.grouped:
                output.append(definition)
                continue
            space = str(surface.namespace)
            if space not in groups:
                entry = declared["namespace", space]
                groups[space] = {
                    "type": "namespace",
                    "name": space,
                    "description": entry["description"],
                    "tools": [],
                }
                output.append(groups[space])
            groups[space]["tools"].append(definition)
        servers = [
            entry
            for entry in self.view.body["tools"]
            if entry["type"] == "mcp" and entry.get("defer_loading")
        ]
        output.extend(dict(entry) for entry in servers if entry["server_label"] in paths)
        return output


def _echo(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as the provider gives it back: with the fields that were left out as null."""
    if entry["type"] == "namespace":
        return {**entry, "tools": [_echo(inner) for inner in entry["tools"]]}
    if entry["type"] != "function":
        return dict(entry)
    return {"description": None, "output_schema": None, "parameters": None, "strict": None, **entry}
