"""One query in; its answer, from stored responses or from the provider, out."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.evaluation.answers import Answer
from semantic_toolsearch.evaluation.hosted import anthropic_live, openai_live
from semantic_toolsearch.evaluation.hosted.faults import NoAnswer, fault_of, redacted, without
from semantic_toolsearch.evaluation.hosted.store import Stored

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Query
    from semantic_toolsearch.evaluation.hosted.provider import ProviderModule
    from semantic_toolsearch.evaluation.hosted.requests import Requests
    from semantic_toolsearch.evaluation.hosted.store import ResponseStore

__all__ = ["NOT_STORED", "PROVIDERS", "Access", "Asker"]

PROVIDERS: Final[Mapping[str, ProviderModule]] = {"anthropic": anthropic_live, "responses": openai_live}
"""The module that speaks to the provider of each wire format."""

NOT_STORED: Final = "not stored"

_MOST_PARTS: Final = 5
"""Requests for one query, where the provider pauses."""

_MOST_FAILURES: Final = 10
"""Requests that may fail one after another before no more are sent."""


@dataclass(frozen=True, slots=True)
class Access:
    """The way to a provider.

    Attributes:
        client: The SDK's client.
        sdk: The SDK.
        key: The secret, to be kept out of all that is stored.
        timeout: Seconds that one attempt has.
        max_retries: Further attempts after a refusal (429), a server error or a lost connection.
    """

    client: Any
    sdk: ModuleType
    key: str
    timeout: float
    max_retries: int


class Asker:
    """Answers queries about one dataset; may be used by several threads.

    Args:
        requests: How queries are asked.
        task: Name of the dataset.
        store: Responses so far; each new one is added.
        access: The way to the provider, or None to answer from the store alone.
        limit: Most requests to send, or None.

    Attributes:
        sent: Requests sent.
        stopped: Why no further request is sent, or None.
    """

    def __init__(
        self, requests: Requests, task: str, store: ResponseStore, access: Access | None, limit: int | None
    ) -> None:
        self.sent = 0
        self.stopped: str | None = None
        self._requests = requests
        self._task = task
        self._store = store
        self._access = access
        self._limit = limit
        self._provider = PROVIDERS[requests.hosted.api]
        self._accepted = False
        self._failures = 0
        self._lock = threading.Lock()

    def answer(self, query: Query) -> Answer:
        """The answer to one query; what went wrong is its ``failed``.

        Raises:
            ConfigError: A response cannot be stored.
        """
        parts: list[Stored] = []
        try:
            body: Mapping[str, Any] | None = self._requests.first(query.text)
            responses: list[Any] = []
            while body is not None and len(parts) < _MOST_PARTS:
                parts.append(self._stored(body, query))
                responses.append(_body(parts[-1]))
                body = self._provider.following(body, responses[-1])
            answer = self._provider.read(responses, self._requests)
        except NoAnswer as fault:
            answer = Answer(failed=fault.reason)
        return replace(answer, seconds=sum(part.seconds for part in parts))

    def _stored(self, body: Mapping[str, Any], query: Query) -> Stored:
        """What became of a request: now, or when it was sent before."""
        key = self._requests.key(body)
        stored = self._store.find(key)
        if self._access is None:
            if stored is None:
                raise NoAnswer(NOT_STORED)
            return stored
        if stored is not None and self._counts(stored):
            self._accepted = True
            return stored
        return self._send(self._access, body, key, query)

    def _counts(self, stored: Stored) -> bool:
        """Whether a stored response stands: what a model did does, what a provider could not do is asked again."""
        try:
            response = _body(stored)
            if self._provider.following({"messages": []}, response) is None:
                self._provider.read([response], self._requests)
        except NoAnswer as fault:
            return fault.final
        return True

    def _send(self, access: Access, body: Mapping[str, Any], key: str, query: Query) -> Stored:
        self._may_send()
        begun = time.perf_counter()
        outcome: dict[str, Any] = {}
        fault = None
        try:
            text = self._provider.send(access.client, body)
        except Exception as error:  # an SDK may raise what it does not wrap; this query alone fails
            fault = fault_of(
                access.sdk, error, timeout=access.timeout, max_retries=access.max_retries, secret=access.key
            )
            outcome["failed"] = fault.reason
        else:
            try:
                outcome["response"] = json.loads(without(access.key, text))
            except (ValueError, RecursionError):
                outcome["text"] = redacted(text, access.key)
        stored = self._store.add(
            Stored(
                key=key,
                arm=self._requests.hosted.name,
                task=self._task,
                query=query.id,
                model=self._requests.model,
                sdk=f"{access.sdk.__name__} {access.sdk.__version__}",
                time=datetime.now(UTC).isoformat(timespec="seconds"),
                seconds=round(time.perf_counter() - begun, 4),
                **outcome,
            )
        )
        self._learn(fault)
        return stored

    def _may_send(self) -> None:
        with self._lock:
            if self.stopped is None and self._limit is not None and self.sent >= self._limit:
                self.stopped = f"not asked: the limit of {self._limit:,} requests is reached"
            if self.stopped is not None:
                raise NoAnswer(self.stopped)
            self.sent += 1

    def _learn(self, fault: NoAnswer | None) -> None:
        """Stop where no further request could go better."""
        with self._lock:
            if fault is None:
                self._accepted, self._failures = True, 0
                return
            self._failures += 1
            hopeless = fault.stops == "always" or (fault.stops == "first" and not self._accepted)
            if hopeless or self._failures >= _MOST_FAILURES:
                self.stopped = self.stopped or fault.reason


def _body(stored: Stored) -> Any:
    """The response that was stored.

    Raises:
        NoAnswer: There is none, or it is no JSON.
    """
    if stored.failed is not None:
        raise NoAnswer(stored.failed)
    if stored.text is not None:
        raise NoAnswer(f"the response is no JSON: {stored.text[:100]!r}")
    return stored.response
