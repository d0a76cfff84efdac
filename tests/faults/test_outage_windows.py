"""How often what fails is asked, by a clock that the tests move, and by many threads at once."""

from __future__ import annotations

import threading

import pytest

from faulty_parts import QUERY, TOOLS, Broken, Clock, raising, warnings_of
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.guarded import GuardedEmbedder
from semantic_toolsearch.outages import FIRST_RETRIES, RETRY_SECONDS

TRIED = FIRST_RETRIES + 1


def failing(side, clock):
    embedder = Broken(raising(OSError("gone")), side)
    return embedder, ToolSearch(TOOLS, embedder=GuardedEmbedder(embedder, clock), cache=False)


@pytest.mark.parametrize("side", ["document", "query"])
def test_bc54_an_outage_and_its_end_outlast_replacements(side, caplog):
    clock = Clock()
    embedder, search = failing(side, clock)
    caplog.set_level("INFO", "semantic_toolsearch")
    for window in range(4):
        for number in range(4):
            assert search.search(f"{QUERY} {window} {number}").degraded
            search.replace("sea", [{"name": "ship_list", "description": f"List ships {window} {number}"}])
        assert embedder.asked == TRIED + window
        clock.now += RETRY_SECONDS
    embedder.failing = False
    assert search.search(QUERY).degraded is None
    told = [record.levelname for record in caplog.records if record.name == "semantic_toolsearch"]
    assert told == ["WARNING", "INFO"]


@pytest.mark.parametrize("side", ["document", "query"])
def test_bc54_sixteen_threads_make_one_attempt_in_a_window(side, caplog):
    clock = Clock()
    embedder, search = failing(side, clock)
    for number in range(5):
        assert search.search(f"{QUERY} {number}").degraded
    assert embedder.asked == TRIED
    results, windows = [], 3
    barrier = threading.Barrier(16, action=lambda: setattr(clock, "now", clock.now + RETRY_SECONDS))

    def ask(thread):
        for window in range(windows):
            barrier.wait(60)
            results.append(search.search(f"{QUERY} {thread} {window}"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 16 * windows
    assert all(result.degraded and result.tools[0].name == "flux_list" for result in results)
    assert embedder.asked <= TRIED + windows
    assert len(warnings_of(caplog)) == 1


def test_bc54_while_one_search_tries_again_the_others_do_not_wait_for_it():
    """The model that failed is slow now: one search waits for it, and the others are answered by words meanwhile."""
    asking, answer = threading.Event(), threading.Event()
    clock = Clock()
    embedder, search = failing("query", clock)
    assert search.search(QUERY).degraded

    def slow(matrix):
        asking.set()
        answer.wait(60)
        return matrix

    embedder.fault = slow
    found = []
    first = threading.Thread(target=lambda: found.append(search.search(QUERY)))
    first.start()
    assert asking.wait(60)
    assert search.search("set a lamp").degraded
    assert embedder.asked == 2
    answer.set()
    first.join(60)
    assert found[0].degraded is None
    assert search.search("set a lamp").degraded is None


def test_bc54_documents_and_queries_fail_apart_and_are_one_outage(caplog):
    clock = Clock()
    embedder, search = failing("query", clock)
    for number in range(5):
        assert search.search(f"{QUERY} {number}").degraded
    embedder.side = "document"
    embedder.asked = 0
    search.replace("sea", [{"name": "ship_list", "description": "List ships"}])
    assert embedder.asked == 1, "that queries fail says nothing of documents"
    assert search.search(QUERY).degraded
    assert len(warnings_of(caplog)) == 1
