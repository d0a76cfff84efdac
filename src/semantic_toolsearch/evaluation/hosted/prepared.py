"""Queries in; their answers, as soon as each is ready, out, several being asked at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from semantic_toolsearch.evaluation.answers import Answer, Build

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.answers import Why
    from semantic_toolsearch.evaluation.dataset import Query
    from semantic_toolsearch.evaluation.hosted.asking import Access, Asker
    from semantic_toolsearch.evaluation.hosted.requests import Requests

__all__ = ["SAME_REQUEST", "PreparedHosted"]

SAME_REQUEST = "asked once with another query of the same text"


class PreparedHosted:
    """A hosted search that is ready to answer queries about one dataset.

    Args:
        requests: How queries are asked.
        build: What getting ready took.
        open_access: Opens the way to the provider, or gives None to answer from stored responses alone.
        asker: Makes what answers a query, for the way to the provider.
        concurrency: Requests at once.
    """

    def __init__(
        self,
        requests: Requests,
        build: Build,
        open_access: Callable[[], AbstractContextManager[Access | None]],
        asker: Callable[[Access | None], Asker],
        concurrency: int,
    ) -> None:
        self._requests = requests
        self._build = build
        self._open_access = open_access
        self._asker = asker
        self._concurrency = concurrency

    @property
    def build(self) -> Build:
        """What getting ready took; the provider builds its index anew for each request, which is not told apart."""
        return self._build

    def answers(
        self, queries: Sequence[Query], hidden: Mapping[str, Collection[int]] | None = None
    ) -> Iterator[tuple[Query, Answer]]:
        """Answer each query once, as soon as each is ready.

        The first request goes alone: where the key, the model or the request is wrong, nothing more is sent. Queries
        of the same text are asked once. An interruption waits for the requests that are on their way, and keeps them.

        Args:
            queries: What is asked.
            hidden: Not used: tools cannot be hidden from single queries.

        Raises:
            ConfigError: A response cannot be stored.
        """
        del hidden
        same: dict[str, list[Query]] = {}
        for query in queries:
            same.setdefault(self._requests.key(self._requests.first(query.text)), []).append(query)
        groups = list(same.values())
        with self._open_access() as access:
            asker = self._asker(access)
            while groups and not asker.sent:
                group = groups.pop(0)
                yield from _each(group, asker.answer(group[0]))
            yield from _at_once(groups, asker, self._concurrency)

    def explain(self, query: Query, places: Collection[int]) -> list[Why]:
        """Nothing: a provider gives no reasons."""
        del query, places
        return []


def _at_once(
    groups: Sequence[Sequence[Query]], asker: Asker, concurrency: int
) -> Iterator[tuple[Query, Answer]]:
    executor = ThreadPoolExecutor(concurrency)
    try:
        waiting = {executor.submit(asker.answer, group[0]): group for group in groups}
        for future in as_completed(waiting):
            yield from _each(waiting[future], future.result())
    finally:
        executor.shutdown(cancel_futures=True)


def _each(group: Sequence[Query], answer: Answer) -> Iterator[tuple[Query, Answer]]:
    """The answer for each query that it stands for; what it cost is counted once."""
    for place, query in enumerate(group):
        yield query, answer if place == 0 else replace(answer, usage={}, notes=(*answer.notes, SAME_REQUEST))
