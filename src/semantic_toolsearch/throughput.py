"""A number of tools and a model in; the queries that one search answers in a second, by many readers at once, out.

Each number of threads, and tasks of one event loop, is compared with one thread of the same round, so that a machine
that is busy with other things does not change the ratios much. Nothing here is asserted anywhere.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.embedding import DEFAULT_MODEL
from semantic_toolsearch.synthetic import synthetic_queries, synthetic_tools

if TYPE_CHECKING:
    from semantic_toolsearch.toolsearch import ToolSearch

__all__ = ["TASKS", "THREADS", "Throughput", "measure_throughput"]

THREADS: Final = (1, 2, 4, 8, 32)
TASKS: Final = 200

ROUNDS: Final = 3
"""Times that everything is measured; medians are reported."""

QUERIES: Final = 200
"""Different queries of each measurement; none is asked twice in one round, so that each is embedded."""

_REPLACED: Final = 10
"""Tools of the server that is replaced over and over."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """One number of readers.

    Attributes:
        readers: Who asks, such as ``8 threads``.
        replacing: Whether one server's tools were replaced in a loop meanwhile.
        per_second: Queries answered in a second.
        ratio: The same as a multiple of what one thread answers while nothing is replaced.
        cores: Processor seconds used in each second, by everything in this process.
        replacements: Replacements in a second.
    """

    readers: str
    replacing: bool
    per_second: float
    ratio: float
    cores: float
    replacements: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The row as plain JSON values."""
        numbers = ("per_second", "ratio", "cores", "replacements")
        return {
            "readers": self.readers,
            "replacing": self.replacing,
            **{name: round(getattr(self, name), 3) for name in numbers},
        }


@dataclass(frozen=True, slots=True)
class _Run:
    per_second: float
    cores: float
    replacements: float


def measure_throughput(
    tools: int, progress: Callable[[str], None] = lambda step: None, *, embedder: str = DEFAULT_MODEL
) -> list[Throughput]:
    """Measure every number of readers, with and without replacements.

    Args:
        tools: Size of the synthetic catalog.
        progress: Called with the name of each step before it starts.
        embedder: Name of a shipped model.

    Raises:
        ConfigError: There is no such model.
        EmbedderError: This installation lacks it.
        ValueError: `tools` is negative or too large.
    """
    from semantic_toolsearch.toolsearch import ToolSearch

    progress(f"embedding {tools:,} tools")
    search = ToolSearch(synthetic_tools(tools), embedder=embedder, cache=False).prepare()
    servers = [_server(generation) for generation in range(2)]
    for server in servers:  # from now on their texts are known, and a replacement embeds nothing
        search.replace(_SERVER, server)
    kinds = [(readers, replacing) for replacing in (False, True) for readers in (*THREADS, TASKS)]
    runs: dict[tuple[int, bool], list[_Run]] = {kind: [] for kind in kinds}
    ask(search, islice(_queries(0), QUERIES), 1)  # loads and warms what the others use
    for number in range(ROUNDS):
        progress(f"round {number + 1} of {ROUNDS}")
        queries = _queries(number + 1)
        for readers, replacing in kinds:
            asked = islice(queries, QUERIES)
            with _replacing(search, servers if replacing else []) as count:
                runs[readers, replacing].append(ask(search, asked, readers, count))
    alone = [run.per_second for run in runs[1, False]]
    return [_row(*kind, runs[kind], alone) for kind in kinds]


def ask(
    search: ToolSearch,
    queries: Iterator[str],
    readers: int,
    replacements: Callable[[], int] = lambda: 0,
) -> _Run:
    """Ask each query once: by so many threads, or, from ``TASKS`` on, by tasks that hand it to a thread."""
    asked = list(queries)
    shares = [asked[first::readers] for first in range(min(readers, len(asked)))]
    replaced, cpu, began = replacements(), time.process_time(), time.perf_counter()
    if readers < TASKS:
        with ThreadPoolExecutor(readers) as pool:
            list(pool.map(lambda share: [search.search(query) for query in share], shares))
    else:
        asyncio.run(_tasks(search, shares))
    seconds = time.perf_counter() - began
    return _Run(
        len(asked) / seconds, (time.process_time() - cpu) / seconds, (replacements() - replaced) / seconds
    )


async def _tasks(search: ToolSearch, shares: list[list[str]]) -> None:
    async def one(share: list[str]) -> None:
        for query in share:
            await asyncio.to_thread(search.search, query)

    await asyncio.gather(*map(one, shares))


@contextmanager
def _replacing(search: ToolSearch, servers: list[list[dict[str, Any]]]) -> Iterator[Callable[[], int]]:
    """Replace a server's tools over and over in another thread; gives the number of times so far."""
    done, count = threading.Event(), 0

    def work() -> None:
        nonlocal count
        for server in cycle(servers):
            if done.is_set():
                return
            search.replace(_SERVER, server)
            count += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield lambda: count
    finally:
        done.set()
        thread.join()


_SERVER: Final = "changing"


def _server(generation: int) -> list[dict[str, Any]]:
    tools = synthetic_tools(_REPLACED)
    return [
        {
            **tool,
            "namespace": _SERVER,
            "name": f"{tool['name']}_{number}",
            "description": f"{tool['description']} Version {generation}.",
        }
        for number, tool in enumerate(tools)
    ]


def _queries(number: int) -> Iterator[str]:
    """Queries that no other round asks."""
    count = QUERIES * 2 * (len(THREADS) + 1)
    for place, query in enumerate(cycle(synthetic_queries(count))):
        yield f"{query} {number}.{place}"


def _row(readers: int, replacing: bool, runs: list[_Run], alone: list[float]) -> Throughput:
    who = f"{readers} {'tasks' if readers == TASKS else 'thread' if readers == 1 else 'threads'}"
    return Throughput(
        who,
        replacing,
        statistics.median(run.per_second for run in runs),
        statistics.median(run.per_second / base for run, base in zip(runs, alone, strict=True)),
        statistics.median(run.cores for run in runs),
        statistics.median(run.replacements for run in runs),
    )
