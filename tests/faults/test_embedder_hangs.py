"""An embedder that does not come back: searches go on by words, threads do not pile up, and it recovers."""

from __future__ import annotations

import contextvars
import subprocess
import sys
import threading

import numpy as np
import pytest

from faulty_parts import DEFERRING, QUERY, TOOLS, Clock, answered_in_a_turn, custom, warnings_of
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.errors import ConfigError, EmbedderError
from semantic_toolsearch.guarded import GuardedEmbedder
from semantic_toolsearch.outages import RETRY_SECONDS
from semantic_toolsearch.testing import HashingEmbedder
from semantic_toolsearch.timed_calls import TimedCall

SHORT = 0.05
"""Seconds that these searches wait; far less than the calls take that hang, which is until the test ends."""


class Hanging(HashingEmbedder):
    """Does not come back from the calls of one side, nor from its id, while it is told to hang."""

    def __init__(self, side="query"):
        super().__init__(64)
        self.side = side
        self.hanging = True
        self.asked = self.stuck = 0
        self.release = threading.Event()
        self.came_back = threading.Semaphore(0)

    def _waits(self, side):
        if side != self.side:
            return
        self.asked += 1
        if self.hanging:
            self.stuck += 1
            self.release.wait(60)
            self.stuck -= 1
            self.came_back.release()

    def encode_document(self, texts):
        self._waits("document")
        return super().encode_document(texts)

    def encode_query(self, texts):
        self._waits("query")
        return super().encode_query(texts)


class Patient(GuardedEmbedder):
    """Waits briefly for what hangs on purpose alone, so that no test depends on how busy the machine is."""

    def _within(self, limit, part, action):
        embedder = self._embedder
        hangs = embedder.hanging and part == {"document": "documents", "query": "queries"}[embedder.side]
        return super()._within(limit if hangs else 60.0, part, action)


@pytest.fixture
def made(monkeypatch):
    """Makes embedders that hang until the test ends, and searches with them."""
    monkeypatch.setattr("semantic_toolsearch.guarded.PROBE_SECONDS", 60.0)
    embedders = []

    def make(side="query", *, ranker="hybrid", clock=None, limit=SHORT, **options):
        embedder = Hanging(side)
        embedders.append(embedder)
        guard = Patient(embedder, clock or Clock(), limit=limit)
        spec = custom(guard) if ranker == "custom" else ranker
        return embedder, ToolSearch(TOOLS, ranker=spec, embedder=guard, cache=False, **options)

    yield make
    for embedder in embedders:
        embedder.release.set()


def held(result):
    assert [hit.name for hit in result.tools] == ["flux_list"]
    assert "gave no answer within 0.05 s" in result.degraded
    assert "words alone" in result.degraded


@pytest.mark.parametrize("side", ["document", "query"])
@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "custom"])
def test_bc54_searches_go_on_by_words_and_start_nothing_more(made, ranker, side, caplog):
    embedder, search = made(side, ranker=ranker)
    search.prepare()
    for number in range(20):
        held(search.search(f"{QUERY} {number}"))
    explanation = search.explain(QUERY, "flux_list")
    assert (explanation.verdict, bool(explanation.degraded)) == ("returned", True)
    assert embedder.asked == embedder.stuck == 1
    assert len(warnings_of(caplog)) == 1


@pytest.mark.parametrize("side", ["document", "query"])
def test_bc54_a_model_reads_in_its_turn_that_the_answer_is_degraded(made, side):
    _, search = made(side, config=DEFERRING)
    record = answered_in_a_turn(search)
    assert (record["loaded"], record["degraded"]) == (["flux_list"], True)


def test_bc54_a_replacement_takes_over_although_its_texts_cannot_be_embedded(made):
    embedder, search = made("document")
    embedder.hanging = False
    assert search.search(QUERY).degraded is None
    embedder.hanging = True
    search.replace("sea", [{"name": "ship_list", "description": "List ships"}])
    result = search.search("list ships")
    assert (result.tools[0].name, result.generation) == ("sea__ship_list", 1)
    assert result.degraded
    search.replace("sea", [])
    held(search.search("list deployments"))
    assert embedder.stuck == 1


def test_bc54_nothing_is_saved_and_the_reason_is_told(made, tmp_path):
    _, search = made("document")
    with pytest.raises(EmbedderError, match=r"cannot be saved: .*gave no answer within 0\.05 s"):
        search.save(tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_bc54_a_loaded_index_is_searched_by_words(made, tmp_path):
    ToolSearch(TOOLS, embedder=HashingEmbedder(64), cache=False).save(tmp_path / "index")
    embedder, _ = made("query")
    guard = Patient(embedder, Clock(), limit=SHORT)
    held(ToolSearch.load(tmp_path / "index", embedder=guard, cache=False).search(QUERY))


def test_bc54_a_call_that_comes_back_late_is_dropped_and_the_model_asked_again_in_its_time(made, caplog):
    clock = Clock()
    embedder, search = made(clock=clock)
    held(search.search(QUERY))
    embedder.hanging = False
    embedder.release.set()
    assert embedder.came_back.acquire(timeout=30)
    held(search.search(QUERY))
    clock.now += RETRY_SECONDS
    caplog.set_level("INFO", "semantic_toolsearch")
    assert search.search(QUERY).degraded is None
    assert embedder.asked == 2
    assert [record.message for record in caplog.records if "works again" in record.message]


def test_bc54_a_model_that_is_back_is_found_although_an_old_call_never_returns(made):
    """As where a connection was lost in silence: the call waits for ever, and the service is well again."""
    clock = Clock()
    embedder, search = made(clock=clock)
    held(search.search(QUERY))
    embedder.hanging = False
    held(search.search(QUERY))
    clock.now += RETRY_SECONDS
    assert search.search(QUERY).degraded is None
    assert embedder.stuck == 1
    embedder.hanging = True
    held(search.search(f"{QUERY} once more"))
    assert embedder.stuck == 2


def test_bc54_in_an_outage_of_a_day_only_a_few_calls_are_stuck(made):
    clock = Clock()
    embedder, search = made(clock=clock)
    for second in range(0, 86_400, 120):
        clock.now = 1000.0 + second
        held(search.search(QUERY))
    assert embedder.asked == embedder.stuck == 11


def test_bc54_slow_answers_end_an_outage_where_they_come_within_the_limit(made, monkeypatch):
    """After it hung once a search waits for a second only; what comes later still tells that the model is back."""
    monkeypatch.setattr("semantic_toolsearch.guarded.PROBE_SECONDS", 0.01)
    clock = Clock()
    embedder, search = made(clock=clock, limit=0.2)
    assert "0.2 s" in search.search(QUERY).degraded
    embedder.release.set()
    assert embedder.came_back.acquire(timeout=30)
    embedder.release.clear()
    clock.now += RETRY_SECONDS
    guard = search._snapshot.embedder
    guard._limit = 60.0
    assert "0.01 s" in search.search(QUERY).degraded
    embedder.hanging = False
    embedder.release.set()
    assert embedder.came_back.acquire(timeout=30)
    _until(lambda: not guard.outages.hangs("queries"))
    assert search.search(QUERY).degraded is None, "at once, without waiting for the next attempt's time"


def _until(condition):
    for _ in range(3000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came to be so")


def test_bc54_sixteen_searches_at_once_leave_no_more_calls_than_they_are(made, caplog):
    embedder, search = made(limit=1.0)
    search.prepare()
    results, barrier = [], threading.Barrier(16)

    def ask(number):
        barrier.wait(30)
        results.extend(search.search(f"{QUERY} {number} {again}") for again in range(3))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 48
    assert all(result.degraded and result.tools[0].name == "flux_list" for result in results)
    assert embedder.asked <= 16
    assert len(warnings_of(caplog)) == 1


def test_ctrl_c_ends_the_search_that_waits_and_nothing_else(made, monkeypatch, caplog):
    embedder, search = made(limit=30.0)
    search.prepare()

    def interrupted(self, seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(TimedCall, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            search.search(QUERY)
    embedder.hanging = False
    assert search.search(QUERY).degraded is None
    assert not warnings_of(caplog)


def test_bc54_an_id_that_hangs_is_bounded_too(made):
    hung = threading.Event()

    class Silent(HashingEmbedder):
        pass

    Silent.id = property(lambda self: hung.wait(60) and "silent", lambda self, value: None)
    guard = GuardedEmbedder(Silent(64), Clock(), limit=0.01)
    try:
        result = ToolSearch(TOOLS, embedder=guard, cache=False).search(QUERY)
        assert [hit.name for hit in result.tools] == ["flux_list"]
        assert result.degraded
    finally:
        hung.set()


def test_many_documents_may_take_longer_than_one_query():
    class Records(HashingEmbedder):
        def _encode(self, texts):
            assert threading.current_thread() is not threading.main_thread()
            return super()._encode(texts)

    waited = []
    guard = GuardedEmbedder(Records(64), limit=8.0)
    within = guard._within
    guard._within = lambda limit, part, action: waited.append((part, limit)) or within(limit, part, action)
    guard.encode_query(["x"])
    guard.encode_document(["x"] * 64)
    assert waited == [("documents", 40.0), ("queries", 8.0), ("documents", 40.0)]


def test_what_a_call_raises_and_sees_is_what_it_would_without_a_thread():
    asked = contextvars.ContextVar("asked")

    class Telling(HashingEmbedder):
        def encode_query(self, texts):
            raise LookupError(asked.get())

    asked.set("by the caller")
    guard = GuardedEmbedder(Telling(64), limit=30.0)
    with pytest.raises(EmbedderError, match="LookupError: by the caller") as caught:
        guard.encode_query(["x"])
    assert isinstance(caught.value.__cause__, LookupError)
    np.testing.assert_array_equal(guard.encode_document(["x"]), HashingEmbedder(64).encode_document(["x"]))


def test_where_no_thread_can_be_started_words_answer(monkeypatch, caplog):
    def refused(self):
        raise RuntimeError("can't start new thread")

    search = ToolSearch(TOOLS, embedder=HashingEmbedder(64), cache=False)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refused)
        result = search.search(QUERY)
    assert [hit.name for hit in result.tools] == ["flux_list"]
    assert "can't start new thread" in result.degraded
    assert search.search(QUERY).degraded is None
    assert len(warnings_of(caplog)) == 1


@pytest.mark.parametrize("embedder", ["small", "nano", "own, without a limit"])
def test_shipped_models_and_those_without_a_limit_are_called_in_the_searching_thread(embedder, monkeypatch):
    config = SearchConfig(embedder_timeout=None) if embedder.startswith("own") else None
    options = {"embedder": HashingEmbedder(64)} if config else {"embedder": embedder}
    search = ToolSearch(TOOLS, config=config, cache=False, **options)
    monkeypatch.setattr(threading.Thread, "start", lambda self: pytest.fail("a thread was started"))
    assert search.search(QUERY).degraded is None


@pytest.mark.parametrize("limit", [0, -1, float("inf"), float("nan"), "soon"])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(ConfigError, match="embedder_timeout"):
        SearchConfig(embedder_timeout=limit)


PROGRAM = """
import threading
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.testing import HashingEmbedder

class Hanging(HashingEmbedder):
    def encode_query(self, texts):
        threading.Event().wait()

search = ToolSearch([{"name": "flux_list", "description": "List deployments"}], embedder=Hanging(), cache=False,
                    config=SearchConfig(embedder_timeout=0.05))
print(search.search("list deployments").tools[0].name)
"""


def test_bc54_a_call_that_hangs_does_not_keep_a_program_from_ending():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["flux_list"]
    assert done.stderr.count("gave no answer") == 1
