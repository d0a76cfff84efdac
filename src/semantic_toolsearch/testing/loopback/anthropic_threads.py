"""A Messages request that continues a thread held by the server in; the whole request it stands for out. Emulated.

The SDK's tool runner opens a thread and then sends new messages only. What a continued request leaves out is taken from
the thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from .anthropic_fields import fields_of, list_of
from .refusal import Refusal

__all__ = ["Threads"]


class Threads:
    """Conversations by the id of their last response; safe in threads."""

    def __init__(self) -> None:
        self._held: dict[str, Mapping[str, Any]] = {}
        self._lock = threading.Lock()

    def whole(self, body: Any) -> Any:
        """Return the request with what its thread holds, itself where it continues none.

        Raises:
            Refusal: There is no such thread.
        """
        thread = body.get("thread") if isinstance(body, Mapping) else None
        if not isinstance(thread, Mapping) or thread.get("type") != "continue":
            return body
        fields_of(thread, "thread.continue", ("type", "previous_message_id"), ())
        with self._lock:
            held = self._held.get(thread["previous_message_id"])
        if held is None:
            raise Refusal(
                f"No thread found for previous_message_id '{thread['previous_message_id']}'",
                status=404,
                details={"error_code": "thread_not_found"},
            )
        messages = [*held["messages"], *list_of(body.get("messages"), "messages")]
        return {**held, **body, "messages": messages}

    def hold(self, body: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        """Keep a conversation and its response, where the request asks for it."""
        if not body.get("thread"):
            return
        reply = {"role": "assistant", "content": response["content"]}
        kept = {key: value for key, value in body.items() if key not in ("thread", "stream")}
        with self._lock:
            self._held[response["id"]] = {**kept, "messages": [*body["messages"], reply]}
