"""A turn in; the request that an application would send for it, a provider's answer, and the prompt to count, out.

The provider is the loopback one of ``testing``: it refuses what the real ones refuse and imitates their hosted search.
It is asked in this very process, without any socket, but in bytes as over one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.accounting import ANTHROPIC_PRICES, OPENAI_PRICES, CachePrices, Prompt
from semantic_toolsearch.errors import ConversationError
from semantic_toolsearch.testing.loopback import LoopbackProvider

if TYPE_CHECKING:
    from semantic_toolsearch.exchange import Api
    from semantic_toolsearch.turn import Turn

__all__ = ["ENDPOINTS", "Endpoint", "Provider"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider's interface.

    Attributes:
        api: Wire format.
        model: A model of the present generation that speaks it.
        path: Path of a request.
        headers: What a request needs besides its body.
        prices: What its prompt cache costs.
    """

    api: Api
    model: str
    path: str
    headers: Mapping[str, str]
    prices: CachePrices

    def body(self, turn: Turn) -> dict[str, Any]:
        """The request for a turn."""
        said: dict[str, Any] = {"model": self.model, "tools": turn.tools}
        note = turn.instructions
        if self.api == "anthropic":
            # The mark makes the provider keep the whole prompt, as prices are reckoned here.
            marked = {"max_tokens": 1_024, "cache_control": {"type": "ephemeral"}}
            return {**said, **marked, **({"system": note} if note else {}), "messages": turn.messages}
        if self.api == "responses":
            said["store"] = False
            return {**said, **({"instructions": note} if note else {}), "input": turn.messages}
        system = [{"role": "system", "content": note}] if note else []
        return {**said, "messages": [*system, *turn.messages]}

    def prompt(self, body: Mapping[str, Any]) -> Prompt:
        """What of a request the model reads."""
        system = body.get("system") or body.get("instructions") or ""
        return Prompt(body["tools"], system, body["input" if self.api == "responses" else "messages"])

    def reply(self, response: Mapping[str, Any]) -> list[Any]:
        """A response as the history keeps it."""
        if self.api == "anthropic":
            return [{"role": "assistant", "content": response["content"]}]
        return list(response["output"]) if self.api == "responses" else [response["choices"][0]["message"]]

    def results(self, results: Sequence[dict[str, Any]]) -> list[Any]:
        """Results of searches and calls as the history keeps them."""
        return [{"role": "user", "content": list(results)}] if self.api == "anthropic" else list(results)


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    each.api: each
    for each in (
        Endpoint(
            "anthropic",
            "claude-sonnet-5",
            "/v1/messages",
            {"x-api-key": "none", "anthropic-version": "2023-06-01"},
            ANTHROPIC_PRICES,
        ),
        Endpoint("responses", "gpt-5.4", "/v1/responses", {"authorization": "Bearer none"}, OPENAI_PRICES),
        Endpoint("chat", "llama-4", "/v1/chat/completions", {"authorization": "Bearer none"}, OPENAI_PRICES),
    )
}


class Provider(LoopbackProvider):
    """The loopback provider without its server."""

    def ask(self, endpoint: Endpoint, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one request.

        Raises:
            ConversationError: The request breaks a rule of the provider.
        """
        answer = self._respond("POST", endpoint.path, endpoint.headers, json.dumps(body).encode())
        self.exchanges.clear()  # each holds a whole request, and what is counted is kept by the caller
        if answer.status != 200:
            raise ConversationError(f"{endpoint.api} refuses a request of the evaluation: {answer.body}")
        response: dict[str, Any] = json.loads(json.dumps(answer.body))
        return response
