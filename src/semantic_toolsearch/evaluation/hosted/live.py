"""The name of a hosted search in; an arm that asks the provider itself, or reads its stored responses, out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.answers import Build, How
from semantic_toolsearch.evaluation.hosted.asking import PROVIDERS, Access, Asker
from semantic_toolsearch.evaluation.hosted.prepared import PreparedHosted
from semantic_toolsearch.evaluation.hosted.requests import Requests, hosted_search
from semantic_toolsearch.evaluation.hosted.store import ResponseStore, store_path

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.dataset import Dataset
    from semantic_toolsearch.evaluation.hosted.requests import HostedSearch

__all__ = ["HostedArm", "has_key", "live_arm"]

_UNUSED: Final = "unused"
"""Stands for a key at addresses of the user's own; one from the environment is never sent there."""

_SEARCHES: Final = {
    "bm25": (
        "Each search returns at most about 5 tools; the order is that of the first search, then what later ones add."
    ),
    "regex": (
        "Each search returns at most about 5 tools, in an order that Anthropic does not explain; that of the first "
        "search counts, then what later ones add."
    ),
    "openai": (
        "OpenAI's hosted search shows no ranking: the model picks names from what it sees of the tools, and what was "
        "loaded is all there is to compare."
    ),
}


class HostedArm:
    """A hosted search as one arm of an evaluation; made by `live_arm`.

    Attributes:
        hosted: The search.
        model: Model that is asked.
        store: Folder of the stored responses.
        limit: Most requests to send for a dataset, or None.
        name: Name of the search, with the model behind ``@`` where it is not the usual one.
        ranks: Whether the provider shows an order.
        hides: False: tools cannot be hidden from single queries.
    """

    hides = False

    def __init__(
        self,
        hosted: HostedSearch,
        model: str,
        store: Path,
        address: str,
        key: str | None,
        concurrency: int,
        max_retries: int,
        timeout: float,
        replay: bool,
        limit: int | None,
    ) -> None:
        self.hosted = hosted
        self.model = model
        self.store = store
        self.name = hosted.name if model == hosted.model else f"{hosted.name}@{model}"
        self.ranks = hosted.ranks
        self._address = address
        self._key = key
        self._concurrency = concurrency
        self._max_retries = max_retries
        self._timeout = timeout
        self._replay = replay
        self.limit = limit
        self._of_task: tuple[str, ...] = ()

    @property
    def how(self) -> How:
        """``live``, or ``replayed`` where only stored responses answer."""
        return "replayed" if self._replay else "live"

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside the figures; with what is true of the dataset that was prepared last."""
        return (
            f"{self.model} decides what to search for and writes the {self.hosted.writes}; another model, or another "
            "draw, may do otherwise.",
            _SEARCHES[self.hosted.search],
            "Times include the network, the model and repeated attempts.",
            *self._of_task,
        )

    def prepare(self, dataset: Dataset) -> PreparedHosted:
        """Write the request and read what is stored; nothing is sent.

        Raises:
            ConfigError: There is no key, the catalog is more than the provider takes, or the store cannot be read.
            MissingExtraError: The provider's SDK is not installed.
        """
        self._of_task = ()
        if not self._replay:
            PROVIDERS[self.hosted.api].load_sdk()
            self._secret()
        begun = time.perf_counter()
        requests = Requests(self.hosted, dataset.catalog, self.model, dataset.name)
        store = ResponseStore(store_path(self.store, self.hosted.name, dataset.name))
        self._of_task = tuple(self._task_notes(requests, store))
        return PreparedHosted(
            requests,
            Build(seconds=time.perf_counter() - begun),
            self._access,
            lambda access: Asker(requests, dataset.name, store, access, self.limit),
            self._concurrency,
        )

    def _task_notes(self, requests: Requests, store: ResponseStore) -> Iterator[str]:
        if requests.left_out:
            place, why = next(iter(requests.left_out.items()))
            yield (
                f"Left out, and not to be found: {len(requests.left_out):,} of {len(requests.turn.catalog):,} tools, "
                f"each of which would make {self.hosted.vendor} refuse the whole request (such as "
                f"{requests.turn.catalog.wire_names[place]}: {why})."
            )
        if self._replay and store.times:
            yield f"Answers are read from responses stored from {store.times[0]} to {store.times[1]}."
        if store.broken:
            lines = ", ".join(map(str, store.broken))
            yield f"{store.path.name} holds lines that cannot be read and are passed over: {lines}."

    @contextmanager
    def _access(self) -> Iterator[Access | None]:
        if self._replay:
            yield None
            return
        provider, key = PROVIDERS[self.hosted.api], self._secret()
        client = provider.open_client(
            self._address,
            key,
            foreign=self._foreign,
            timeout=self._timeout,
            max_retries=self._max_retries,
        )
        with client:
            # At an address of the user's own the environment's key is not sent, but a proxy may hold it and repeat it.
            secret = self._key or os.environ.get(self.hosted.key_variable) or key
            yield Access(client, provider.load_sdk(), secret, self._timeout, self._max_retries)

    @property
    def _foreign(self) -> bool:
        return self._address != self.hosted.address

    def _secret(self) -> str:
        """The key.

        Raises:
            ConfigError: There is none.
        """
        if self._key:
            return self._key
        if self._foreign:
            return _UNUSED
        key = os.environ.get(self.hosted.key_variable)
        if not key:
            raise ConfigError(
                f"{self.hosted.name} needs a key: set {self.hosted.key_variable}, or replay stored responses."
            )
        return key


def live_arm(
    name: str,
    *,
    model: str | None = None,
    store: str | os.PathLike[str],
    base_url: str | None = None,
    api_key: str | None = None,
    concurrency: int = 4,
    max_retries: int = 4,
    timeout: float = 60.0,
    replay: bool = False,
    limit: int | None = None,
) -> HostedArm:
    """A hosted search that is asked through the provider's own SDK.

    Every response is stored, and a request that has been answered is never sent again. Texts of queries and
    definitions of tools leave this machine.

    Args:
        name: ``anthropic-bm25``, ``anthropic-regex`` or ``openai-tool-search``.
        model: Model that searches; None for the usual one of `HOSTED`.
        store: Folder for the responses: one JSON Lines file for each search and dataset.
        base_url: Address to ask instead of the provider's own, as its SDK takes it (OpenAI's with the version).
        api_key: The key; None reads the environment, but only for the provider's own address.
        concurrency: Requests at once.
        max_retries: Further attempts after a refusal (429), a server error or a lost connection, with growing pauses.
        timeout: Seconds until one attempt is given up.
        replay: Answer from stored responses alone, without key or SDK; a query that is not stored has failed.
        limit: Most requests to send for a dataset; None for no limit. Queries beyond it have failed and may be asked
            by a later run.

    Raises:
        ConfigError: There is no such search, or an argument is out of range.
    """
    hosted = hosted_search(name)
    for what, value, least in (
        ("concurrency", concurrency, 1),
        ("max_retries", max_retries, 0),
        ("limit", limit, 0),
    ):
        if value is not None and value < least:
            raise ConfigError(f"{what} is at least {least}, not {value}.")
    if not timeout > 0:
        raise ConfigError(f"timeout is above 0 seconds, not {timeout}.")
    address = (hosted.address if base_url is None else base_url).rstrip("/")
    if urlsplit(address).scheme not in ("http", "https"):
        raise ConfigError("base_url is an address that begins with http:// or https://.")
    return HostedArm(
        hosted,
        model or hosted.model,
        Path(store),
        address,
        api_key,
        concurrency,
        max_retries,
        timeout,
        replay,
        limit,
    )


def has_key(name: str) -> bool:
    """Whether the environment holds the key of a hosted search.

    Raises:
        ConfigError: There is no such search.
    """
    return bool(os.environ.get(hosted_search(name).key_variable))
