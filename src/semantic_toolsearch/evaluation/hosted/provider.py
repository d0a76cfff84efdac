"""What asking one provider takes, as the modules ``anthropic_live`` and ``openai_live`` do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from types import ModuleType

    from semantic_toolsearch.evaluation.answers import Answer
    from semantic_toolsearch.evaluation.hosted.requests import Requests

__all__ = ["ProviderModule"]


class ProviderModule(Protocol):
    """A module that speaks to a provider through its SDK, and reads what it answers."""

    def load_sdk(self) -> ModuleType:
        """The SDK.

        Raises:
            MissingExtraError: It is not installed.
        """
        ...

    def open_client(self, address: str, key: str, *, foreign: bool, timeout: float, max_retries: int) -> Any:
        """A client, to be closed after use; one may serve several threads.

        Args:
            address: Where requests go.
            key: The key; no other secret of the environment may be sent.
            foreign: Whether that is not the provider's own address.
            timeout: Seconds until one attempt is given up.
            max_retries: Further attempts after a refusal (429), a server error or a lost connection.
        """
        ...

    def send(self, client: Any, body: Mapping[str, Any]) -> str:
        """Send one request.

        Args:
            client: From ``open_client``.
            body: The request, from ``Requests.first`` or ``following``.

        Returns:
            The body of the response, as it came; any exception is the SDK's, see ``faults.fault_of``.
        """
        ...

    def following(self, body: Mapping[str, Any], response: Any) -> dict[str, Any] | None:
        """The request that goes on where the provider paused, or None where the response is whole.

        Args:
            body: The request.
            response: Its response, any JSON value.

        Raises:
            NoAnswer: The response cannot be read.
        """
        ...

    def read(self, responses: Sequence[Any], requests: Requests) -> Answer:
        """The tools that the searches of one query found.

        Args:
            responses: The parts of one response; there are several where the provider paused.
            requests: What was asked.

        Raises:
            NoAnswer: A part cannot be read or is a failure, the model could not search, or no search was answered.
        """
        ...
