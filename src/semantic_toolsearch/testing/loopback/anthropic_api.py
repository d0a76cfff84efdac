"""A checked Messages request and a script in; the response and its stream of events out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from .anthropic_request import MessagesRequest, load
from .cache import CacheUse
from .conduct import EmittedCall, prepare, search_arguments
from .refusal import ScriptError
from .script import Call, HostedError, Say, Search, StreamError
from .search import SearchFailure, by_bm25, by_regex
from .settings import Settings
from .view import Knowledge, RequestView, SearchOffer, Surface, canonical, tokens_of

__all__ = ["AnthropicSpeaker"]

NewId = Callable[[str], str]


class AnthropicSpeaker:
    """Writes one assistant message.

    Attributes:
        view: What the model sees; it learns what hosted searches load.
        calls: Calls made so far.
        raw_inputs: Input texts that are cut, by block position.
        error: What ends the stream early, or None.
    """

    def __init__(self, request: MessagesRequest, use: CacheUse, new_id: NewId, settings: Settings) -> None:
        self.view: RequestView = request.view
        self.calls: list[EmittedCall] = []
        self.raw_inputs: dict[int, str] = {}
        self.error: StreamError | None = None
        self._use = use
        self._new_id = new_id
        self._settings = settings
        self._waiting: dict[str, Mapping[str, Any]] = {}
        self._stop = "end_turn"
        self._input_tokens = use.fresh
        for block in request.open_searches.values():
            self._waiting[block["id"]] = block
        self.answered()

    def say(self, text: str) -> None:
        """Write a text block."""
        self.view.emitted.append({"type": "text", "text": text})

    def call(self, surface: Surface | None, step: Call, knowledge: Knowledge) -> None:
        """Write a ``tool_use`` block."""
        if isinstance(step.arguments, str):
            raise ScriptError("this interface passes arguments as an object; a text is none")
        name = surface.name if surface else step.tool
        identity = step.id or self._new_id("toolu_01")
        self.view.emitted.append(
            {
                "type": "tool_use",
                "id": identity,
                "name": name,
                "input": dict(step.arguments),
                "caller": dict(step.caller or {"type": "direct"}),
            }
        )
        self.calls.append(EmittedCall(self.view.index, name, None, step.arguments, identity, knowledge))
        self._stop = "tool_use"

    def ask(self, offer: SearchOffer, step: Search, *, leave_open: bool) -> None:
        """Write a ``server_tool_use`` block; its result comes when the group is complete, or in the next response."""
        block = self._use_block(offer.name, _hosted_input(offer, step))
        if not leave_open:
            self._waiting[block["id"]] = block

    def answered(self) -> None:
        """Write the results of the searches that wait for one, and let the model sample again."""
        for identity, block in self._waiting.items():
            self._result(identity, self._run(block))
        if self._waiting:
            self._input_tokens += self._use.total + tokens_of(canonical(self.view.emitted))
        self._waiting.clear()

    def hosted_error(self, step: HostedError) -> None:
        """Write a search and its error block."""
        offer = self.view.search
        if offer is None or offer.kind not in ("bm25", "regex"):
            raise ScriptError("HostedError needs a hosted Anthropic search in the request")
        block = self._use_block(offer.name, _hosted_input(offer, Search(step.query)))
        self._result(block["id"], _error(step.code, step.message or step.code.replace("_", " ")))

    def pause(self) -> bool:
        """Stop with ``pause_turn``."""
        if not self.view.emitted_search:
            raise ScriptError(
                "the provider pauses only after a server tool's call: put a Search before or beside Pause"
            )
        self._stop = "pause_turn"
        return True

    def cut(self, step: Call | Say | Search) -> None:
        """Stop with ``max_tokens`` in the middle of a block."""
        if isinstance(step, Search) and self.view.search and self.view.search.hosted:
            self._use_block(self.view.search.name, _hosted_input(self.view.search, step))
        elif isinstance(step, Search):
            offer = self.view.search
            if offer is None:
                raise ScriptError("the request offers no search")
            self.call(self.view.find(offer.name), Call(offer.name, search_arguments(offer, step)), "full")
        elif isinstance(step, Call):
            surface, knowledge = prepare(step, self.view, self._settings)
            self.call(surface, step, knowledge)
        else:
            self.say(step.text[: len(step.text) // 2])
        block = self.view.emitted[-1]
        if "input" in block:
            whole = json.dumps(block["input"])
            self.raw_inputs[len(self.view.emitted) - 1] = whole[: len(whole) // 2]
            block["input"] = dict(list(block["input"].items())[: len(block["input"]) // 2])
        self._stop = "max_tokens"

    def break_off(self, step: StreamError) -> None:
        """End the stream with an error event."""
        self.error = step

    def message(self) -> dict[str, Any]:
        """The complete response."""
        usage = self.first_usage()
        usage["input_tokens"] = self._input_tokens
        usage["output_tokens"] = tokens_of(canonical(self.view.emitted))
        return {
            "id": self._new_id("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": self.view.body["model"],
            "content": self.view.emitted,
            "stop_reason": self._stop,
            "stop_sequence": None,
            "stop_details": None,
            "usage": usage,
        }

    def first_usage(self) -> dict[str, Any]:
        """Usage of the first sampling, as a stream starts with."""
        return {
            "input_tokens": self._use.fresh,
            "cache_creation_input_tokens": self._use.written,
            "cache_read_input_tokens": self._use.read,
            "output_tokens": 1,
            "service_tier": "standard",
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        }

    def _use_block(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        prefix = "srvtoolu_bdrk_01" if self._settings.bedrock else "srvtoolu_01"
        block = {"type": "server_tool_use", "id": self._new_id(prefix), "name": name, "input": arguments}
        block["caller"] = {"type": "direct"}
        self.view.emitted.append(block)
        return block

    def _result(self, identity: str, content: dict[str, Any]) -> None:
        self.view.emitted.append(
            {"type": "tool_search_tool_result", "tool_use_id": identity, "content": content}
        )

    def _run(self, block: Mapping[str, Any]) -> dict[str, Any]:
        given = block["input"]
        deferred = [surface for surface in self.view.surfaces if surface.deferred]
        text = str(given.get("query") or given.get("pattern") or "")
        try:
            if "bm25" in block["name"]:
                found = by_bm25(text, given.get("limit"), deferred)
            else:
                found = by_regex(str(given.get("pattern") or text), given.get("limit"), deferred)
        except SearchFailure as failure:
            return _error(failure.code, failure.message)
        load(self.view, [surface.name for surface in found])
        references = [{"type": "tool_reference", "tool_name": surface.name} for surface in found]
        return {"type": "tool_search_tool_search_result", "tool_references": references}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"type": "tool_search_tool_result_error", "error_code": code, "error_message": message}


def _hosted_input(offer: SearchOffer, step: Search) -> dict[str, Any]:
    if offer.kind == "regex":
        words = "|".join(map(re.escape, step.query.split()))
        given: dict[str, Any] = {"pattern": words if step.pattern is None else step.pattern}
    else:
        given = {"query": step.query}
    if step.limit is not None:
        given["limit"] = step.limit
    return given
