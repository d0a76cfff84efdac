"""A checked Chat Completions request and a script in; the response and its stream of chunks out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from .cache import CacheUse
from .chat_request import ChatRequest
from .conduct import EmittedCall, prepare, search_arguments
from .refusal import ScriptError
from .script import Call, HostedError, Say, Search, StreamError
from .settings import Settings
from .view import Knowledge, RequestView, SearchOffer, Surface, canonical, tokens_of

__all__ = ["ChatSpeaker"]


class ChatSpeaker:
    """Writes one assistant message.

    Attributes:
        view: What the model sees.
        calls: Calls made so far.
        error: What ends the stream early, or None.
    """

    def __init__(
        self, request: ChatRequest, use: CacheUse, new_id: Callable[[str], str], settings: Settings
    ) -> None:
        self.view: RequestView = request.view
        self.calls: list[EmittedCall] = []
        self.error: StreamError | None = None
        self._use = use
        self._new_id = new_id
        self._settings = settings
        self._cut = False
        self._head = {
            "id": new_id("chatcmpl-"),
            "created": int(time.time()),
            "model": self.view.body["model"],
        }

    def say(self, text: str) -> None:
        """Write a text."""
        self.view.emitted.append({"type": "text", "text": text})

    def call(self, surface: Surface | None, step: Call, knowledge: Knowledge) -> None:
        """Write a tool call."""
        kind = surface.kind if surface and surface.kind == "custom" else "function"
        text = step.arguments if isinstance(step.arguments, str) else json.dumps(dict(step.arguments))
        name = surface.name if surface else step.tool
        identity = step.id or self._new_id("call_")
        inner = {"name": name, "input" if kind == "custom" else "arguments": text}
        self.view.emitted.append({"id": identity, "type": kind, kind: inner})
        self.calls.append(EmittedCall(self.view.index, name, None, step.arguments, identity, knowledge))

    def ask(self, offer: SearchOffer, step: Search, *, leave_open: bool) -> None:
        """Refuse: this interface has no search of its own."""
        raise ScriptError("Chat Completions has no search of its own")

    def answered(self) -> None:
        """Nothing to do: nothing is hosted here."""

    def hosted_error(self, step: HostedError) -> None:
        """Refuse: nothing is hosted here."""
        raise ScriptError("HostedError needs a hosted Anthropic search; Chat Completions has none")

    def pause(self) -> bool:
        """Nothing to do: this interface does not pause."""
        return False

    def cut(self, step: Call | Say | Search) -> None:
        """End with the reason ``length`` in the middle of a call or text."""
        if isinstance(step, Say):
            self.say(step.text[: len(step.text) // 2])
        else:
            if isinstance(step, Search):
                if self.view.search is None:
                    raise ScriptError("the request offers no search")
                step = Call(self.view.search.name, search_arguments(self.view.search, step))
            surface, knowledge = prepare(step, self.view, self._settings)
            self.call(surface, step, knowledge)
            block = self.view.emitted[-1]
            inner = block[block["type"]]
            key = "input" if block["type"] == "custom" else "arguments"
            inner[key] = inner[key][: len(inner[key]) // 2]
        self._cut = True

    def break_off(self, step: StreamError) -> None:
        """End the stream with an error."""
        self.error = step

    def completion(self) -> dict[str, Any]:
        """The complete response."""
        message: dict[str, Any] = {"role": "assistant", "content": self._text() or None, "refusal": None}
        if self._calls():
            message["tool_calls"] = self._calls()
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason()}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": self._usage()}

    def chunks(self) -> Iterator[dict[str, Any]]:
        """Yield the chunks of a stream."""
        yield self._chunk({"role": "assistant", "content": "" if self._text() else None, "refusal": None})
        size = self._settings.chunk
        for start in range(0, len(self._text()), size):
            yield self._chunk({"content": self._text()[start : start + size]})
        for index, call in enumerate(self._calls()):
            kind = call["type"]
            key = "input" if kind == "custom" else "arguments"
            whole = call[kind][key]
            yield self._chunk({"tool_calls": [{"index": index, **call, kind: {**call[kind], key: ""}}]})
            for start in range(0, len(whole), size):
                yield self._chunk(
                    {"tool_calls": [{"index": index, kind: {key: whole[start : start + size]}}]}
                )
        if self.error:
            yield {
                "error": {"message": self.error.message, "type": self.error.type, "param": None, "code": None}
            }
            return
        yield self._chunk({}, self._reason())
        if (self.view.body.get("stream_options") or {}).get("include_usage"):
            yield {**self._head, "object": "chat.completion.chunk", "choices": [], "usage": self._usage()}

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}

    def _text(self) -> str:
        return "\n".join(block["text"] for block in self.view.emitted if block["type"] == "text")

    def _calls(self) -> list[dict[str, Any]]:
        return [block for block in self.view.emitted if block["type"] != "text"]

    def _reason(self) -> str:
        return "length" if self._cut else "tool_calls" if self._calls() else "stop"

    def _usage(self) -> dict[str, Any]:
        written = tokens_of(canonical(self.view.emitted))
        return {
            "prompt_tokens": self._use.total,
            "completion_tokens": written,
            "total_tokens": self._use.total + written,
            "prompt_tokens_details": {"cached_tokens": self._use.read, "audio_tokens": 0},
        }
