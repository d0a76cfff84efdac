"""Catalogs that change while they are searched, by many threads and tasks at once."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from faulty_parts import Moody
from library_tools import TWO_SERVERS, hashed, lexical, names, shown, t
from semantic_toolsearch.errors import CatalogError
from semantic_toolsearch.testing import HashingEmbedder


def test_x13_generations_count_and_reports_come_back():
    search = hashed(TWO_SERVERS)
    assert search.search("page").generation == search.stats().generation == 0
    report = search.replace("desk", [t("close", "Close a ticket"), {"description": "nameless"}])
    assert len(report.quarantined) == 1
    assert report is search.report
    assert search.search("page").generation == search.stats().generation == 1
    stats = search.stats()
    assert (stats.registered, stats.indexed, stats.quarantined) == (4, 4, 1)


def test_x13_the_namespace_none_is_the_tools_without_one():
    search = lexical(TWO_SERVERS)
    search.replace(None, [t("calendar", "Show the days")])
    assert search.search("").names == ("calendar", "desk__search", "wiki__edit", "wiki__search")
    search.replace(None, [])
    assert search.search("").total == 3


def test_x13_before_the_first_search_nothing_is_built():
    embedder = HashingEmbedder()
    search = hashed(TWO_SERVERS, embedder=embedder)
    search.replace("wiki", [t("purge", "Purge a page")])
    assert embedder.calls == 0
    assert shown(search.search("purge a page"))[0] == "wiki__purge"
    assert embedder.documents == 3


def test_x13_after_it_the_next_generation_is_built_before_it_takes_over():
    embedder = HashingEmbedder()
    search = hashed(TWO_SERVERS, embedder=embedder)
    search.search("page")
    search.replace("wiki", [t("purge", "Purge a page")])
    assert embedder.documents == len(TWO_SERVERS) + 1
    assert (search.stats().embedded, search.stats().from_cache) == (1, 2)


def test_x13_a_refused_replacement_changes_nothing():
    search = hashed(TWO_SERVERS)
    before = search.search("").as_dict()
    for wrong in (5, None, [{"description": "nameless"}]):
        with pytest.raises(CatalogError):
            search.replace("wiki", wrong, strict=True)
    assert search.search("").as_dict() == before


def test_x13_bc54_a_model_that_fails_during_a_replacement_leaves_searches_working():
    embedder = Moody(failing=False)
    search = hashed(TWO_SERVERS, embedder=embedder)
    search.search("page")
    embedder.failing = True
    search.replace("wiki", [t("purge", "Purge a page")])
    result = search.search("purge a page")
    assert names(result) == ["wiki__purge"]
    assert result.degraded
    assert result.generation == 1
    assert search.stats().indexed == 0
    embedder.failing = False
    assert search.search("purge a page").degraded is None
    assert search.stats().indexed == search.stats().registered == 3
    assert embedder.documents == len(TWO_SERVERS) + 1, "what was known before the failure is still known"


@pytest.mark.parametrize("part", ["document", "query"])
def test_x13_bc54_an_outage_outlasts_replacements(part, caplog):
    """A dead model is asked no more often, and complained of no more often, because the catalog changes."""

    class Dead(HashingEmbedder):
        asked = 0

        def _fail(self, texts):
            self.asked += 1
            raise OSError("out of reach")

    setattr(Dead, f"encode_{part}", Dead._fail)
    embedder = Dead()
    search = hashed(TWO_SERVERS, embedder=embedder)
    for number in range(12):
        assert search.search(f"purge page {number}").degraded
        search.replace("wiki", [t("purge", f"Purge page {number}")])
    assert embedder.asked == 3
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


def test_x13_bc55_a_query_that_was_asked_before_a_replacement_is_not_embedded_again():
    embedder = HashingEmbedder()
    search = hashed(TWO_SERVERS, embedder=embedder)
    search.search("find a page")
    search.replace("wiki", [t("purge", "Purge a page")])
    assert search.search("find a page").generation == 1
    assert embedder.queries == 1


def generation(number):
    """Tools whose words and schema tell which generation they are of."""
    return [
        t(f"alpha_{number}", f"Serve generation {number}", **{f"field_{number}": {"type": "string"}}),
        t("beta", f"Serve generation {number}", **{f"field_{number}": {"type": "string"}}),
    ]


@pytest.mark.parametrize("ranker", ["hybrid", "bm25"])
def test_x13_bc35_a_search_sees_one_generation_from_end_to_end(ranker):
    rounds = 40
    search = hashed({"live": generation(0), "still": [t("rock", "Serve nothing")]}, ranker=ranker)
    search.prepare()
    torn, seen, done = [], set(), threading.Event()

    def read():
        while not done.is_set():
            result = search.search("serve generation", limit=5)
            own = result.generation
            seen.add(own)
            tools = {hit.name: hit.tool for hit in (*result.tools, *result.hints)}
            listed = search.search("")
            fits = (
                set(tools) <= {f"live__alpha_{own}", "live__beta", "still__rock"}
                and "live__beta" in tools
                and tools["live__beta"].description == f"Serve generation {own}"
                and listed.names == (f"live__alpha_{listed.generation}", "live__beta", "still__rock")
                and listed.generation >= own
            )
            if not fits:
                torn.append(result)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(1, rounds + 1):
        search.replace("live", generation(number))
    while rounds not in seen and any(reader.is_alive() for reader in readers):
        search.search("serve")
    done.set()
    for reader in readers:
        reader.join(60)
    assert torn == []
    assert search.stats().generation == rounds
    assert search.stats().registered == search.stats().indexed == 3


def test_x13_replacements_at_once_lose_nothing():
    class Slow(HashingEmbedder):
        def encode_document(self, texts):
            time.sleep(0.001)  # lets another thread in
            return super().encode_document(texts)

    search = hashed([], embedder=Slow()).prepare()
    barrier = threading.Barrier(8)

    def register(number):
        barrier.wait(30)
        for step in range(5):
            search.replace(f"server{number}", [t(f"tool_{step}", f"Serve {number}")])

    threads = [threading.Thread(target=register, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert search.search("").names == tuple(f"server{number}__tool_4" for number in range(8))
    assert search.stats().generation == 40


MANY = [t(f"job_{n}", f"Start job number {n} of group {n % 9}") for n in range(150)]


@pytest.mark.parametrize("threads", [2, 32])
@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
def test_x22_a_first_search_of_many_threads_builds_once(threads, ranker):
    alone = hashed(MANY, ranker=ranker)
    queries = [f"job number {n}" for n in range(threads)]
    expected = [alone.search(query) for query in queries]
    embedder = HashingEmbedder()
    search = hashed(MANY, ranker=ranker, embedder=embedder)
    barrier, outcomes = threading.Barrier(threads), [None] * threads

    def work(place):
        barrier.wait(30)
        outcomes[place] = [search.search(queries[place]) for _ in range(5)]

    workers = [threading.Thread(target=work, args=(place,)) for place in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert outcomes == [[result] * 5 for result in expected]
    assert embedder.documents == len(MANY)
    assert embedder.queries == threads


def test_x22_tasks_share_one_object_through_threads():
    alone = hashed(MANY)
    queries = [f"job number {n}" for n in range(24)]
    expected = [alone.search(query) for query in queries]
    embedder = HashingEmbedder()
    search = hashed(MANY, embedder=embedder)

    async def all_of_them():
        return await asyncio.gather(*(asyncio.to_thread(search.search, query) for query in queries))

    assert asyncio.run(all_of_them()) == expected
    assert embedder.documents == len(MANY)
