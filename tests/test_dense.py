"""The dense half alone: what it asks a model for, how often, and what it does while the model fails."""

from __future__ import annotations

import logging
import sys
import threading
import time

import numpy as np
import pytest

from faulty_parts import Clock, Moody
from semantic_toolsearch.dense import DenseSearcher, KnownVectors, Unavailable
from semantic_toolsearch.embedding import EmbeddingCache, text_hash
from semantic_toolsearch.guarded import GuardedEmbedder
from semantic_toolsearch.outages import FIRST_RETRIES, RETRY_SECONDS
from semantic_toolsearch.testing import HashingEmbedder

TEXTS = [f"tool number {n}: does {word}" for n, word in enumerate(("baking", "fishing", "sewing", "rowing"))]


def dense(embedder, texts=TEXTS, *, earlier=None, disk=None, clock=None, **options):
    if clock is not None:
        embedder = GuardedEmbedder(embedder, clock)
    return DenseSearcher(lambda: texts, embedder, KnownVectors(earlier, disk), **options)


def test_s12_nearest_texts_come_best_first_within_the_limit():
    searcher = dense(HashingEmbedder())
    positions, cosines = searcher.search("sewing", 3)
    assert positions[0] == 2
    assert len(positions) == 3
    assert list(cosines) == sorted(cosines, reverse=True)
    assert searcher.size == len(TEXTS)


def test_s12_cosines_of_chosen_tools_are_those_of_the_search():
    searcher = dense(HashingEmbedder())
    positions, cosines = searcher.search("rowing boats", len(TEXTS))
    order = positions[::-1].copy()
    np.testing.assert_array_equal(searcher.cosines("rowing boats", order), cosines[::-1])


def test_x11_hidden_tools_are_not_found_and_nothing_is_embedded_for_a_blind_caller():
    embedder = HashingEmbedder()
    searcher = dense(embedder)
    visible = np.array([True, True, False, True])
    assert 2 not in searcher.search("sewing", 9, visible)[0]
    asked = embedder.queries
    assert len(searcher.search("never seen before", 9, np.zeros(4, dtype=np.bool_))[0]) == 0
    assert embedder.queries == asked


def test_bc55_a_query_is_embedded_once_while_it_is_remembered():
    embedder = HashingEmbedder()
    searcher = dense(embedder)
    for _ in range(5):
        searcher.search("sewing", 2)
        searcher.cosines("sewing", np.array([0, 1]))
    assert embedder.queries == 1
    searcher.search("fishing", 2)
    assert embedder.queries == 2


def test_bc55_remembered_queries_are_bounded_and_the_oldest_goes_first():
    embedder = HashingEmbedder(16)
    searcher = dense(embedder)
    for number in range(257):
        searcher.search(f"query {number}", 1)
    searcher.search("query 256", 1)
    assert embedder.queries == 257
    searcher.search("query 0", 1)
    assert embedder.queries == 258


def test_x21_a_query_of_a_megabyte_is_cut():
    embedder = HashingEmbedder()
    seen = []
    embedder.encode_query = lambda texts: (
        seen.extend(texts) or HashingEmbedder.encode_document(embedder, texts)
    )
    assert len(dense(embedder).search("sew " * 250_000, 2)[0]) == 2
    assert max(map(len, seen)) <= 10_000


def test_s19_without_tools_the_model_is_not_asked_at_all():
    embedder = Moody()
    searcher = dense(embedder, [])
    assert [len(part) for part in searcher.search("anything", 5)] == [0, 0]
    assert len(searcher.cosines("anything", np.zeros(0, dtype=np.int64))) == 0
    assert embedder.asked == 0


def test_bc54_a_dead_model_is_asked_at_once_a_few_times_and_then_once_in_a_while():
    clock, embedder = Clock(), Moody()
    searcher = dense(embedder, clock=clock)
    for _ in range(20):
        with pytest.raises(Unavailable, match="the endpoint is away"):
            searcher.search("sewing", 2)
    assert embedder.asked == FIRST_RETRIES + 1
    for round_ in range(1, 4):
        clock.now += RETRY_SECONDS
        for _ in range(5):
            with pytest.raises(Unavailable):
                searcher.search("sewing", 2)
        assert embedder.asked == FIRST_RETRIES + 1 + round_
    clock.now += RETRY_SECONDS - 0.1
    with pytest.raises(Unavailable):
        searcher.search("sewing", 2)
    assert embedder.asked == FIRST_RETRIES + 4


def test_bc54_a_model_that_is_back_is_used_at_its_next_attempt_and_trusted_again():
    clock, embedder = Clock(), Moody()
    searcher = dense(embedder, clock=clock)
    for _ in range(5):
        with pytest.raises(Unavailable):
            searcher.index()
    embedder.failing = False
    with pytest.raises(Unavailable):
        searcher.index()  # not its turn yet
    clock.now += RETRY_SECONDS
    assert searcher.index().size == len(TEXTS)
    embedder.failing = True
    before = embedder.asked
    for number in range(10):
        with pytest.raises(Unavailable):
            searcher.search(f"query {number}", 1)
    assert embedder.asked == before + FIRST_RETRIES + 1


def test_bc54_a_remembered_query_is_answered_through_an_outage():
    embedder = Moody(failing=False)
    searcher = dense(embedder)
    before = searcher.search("sewing", 2)
    embedder.failing = True
    for number in range(5):
        with pytest.raises(Unavailable):
            searcher.search(f"query {number}", 2)
    np.testing.assert_array_equal(searcher.search("sewing", 2)[0], before[0])
    asked = embedder.asked
    with pytest.raises(Unavailable):
        searcher.search("yet another", 2)
    assert embedder.asked == asked, "a remembered query must not end the outage"


def test_bc54_one_outage_is_one_warning_and_its_end_is_told(caplog):
    clock, embedder = Clock(), Moody()
    searcher = dense(embedder, clock=clock)
    caplog.set_level(logging.INFO, "semantic_toolsearch")

    def outage():
        for _ in range(6):
            with pytest.raises(Unavailable):
                searcher.search(f"query at {clock.now}", 2)
            clock.now += RETRY_SECONDS

    outage()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "ConnectionError: the endpoint is away" in caplog.text
    embedder.failing = False
    searcher.search("sewing", 2)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    embedder.failing = True
    outage()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO", "WARNING"]


def test_bc54_threads_that_wait_for_a_failing_attempt_share_its_failure(caplog):
    """Sixteen searches at once are one attempt, so a model that hangs holds each of them up only once."""
    started, release = threading.Event(), threading.Event()

    class Hanging(Moody):
        def _encode(self, texts):
            started.set()
            release.wait(30)
            return super()._encode(texts)

    embedder = Hanging()
    searcher = dense(embedder)
    outcomes = []

    def search():
        try:
            outcomes.append(searcher.search("sewing", 2))
        except Unavailable as reason:
            outcomes.append(str(reason))

    threads = [threading.Thread(target=search) for _ in range(16)]
    for thread in threads:
        thread.start()
    assert started.wait(30)
    _until_waiting(15)
    release.set()
    for thread in threads:
        thread.join(30)
    assert len(outcomes) == 16
    assert all("endpoint is away" in outcome for outcome in outcomes)
    assert embedder.asked == 1
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


def _until_waiting(number):
    """Wait until so many threads stand before the lock of the build."""
    for _ in range(3000):
        frames = sys._current_frames().values()
        if sum(frame.f_code.co_name == "index" for frame in frames) >= number:
            return
        time.sleep(0.01)
    raise AssertionError("the threads never came to wait")


def test_bc54_sixteen_threads_that_fail_with_queries_are_one_warning(caplog):
    embedder = Moody(failing=False)
    searcher = dense(embedder)
    searcher.index()
    embedder.failing = True
    barrier = threading.Barrier(16)

    def search(number):
        barrier.wait(30)
        with pytest.raises(Unavailable):
            searcher.search(f"query {number}", 2)

    threads = [threading.Thread(target=search, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_bc55_after_a_failure_in_the_middle_only_the_rest_is_embedded(tmp_path, disk):
    texts = [f"text {number}" for number in range(150)]  # three batches of at most 64
    embedder = Moody(after=2)
    searcher = dense(embedder, texts, disk=EmbeddingCache(tmp_path / "cache") if disk else None)
    with pytest.raises(Unavailable):
        searcher.index()
    assert embedder.documents == 128
    embedder.failing = False
    assert searcher.index().size == 150
    assert embedder.documents == 150
    assert (searcher.stats.embedded, searcher.stats.from_cache) == (22, 128)


def test_bc55_vectors_survive_a_generation_whose_model_failed():
    embedder = Moody(failing=False)
    first = dense(embedder)
    first.index()
    embedder.failing = True
    second = dense(embedder, [*TEXTS, "a new tool"], earlier=first.known())
    with pytest.raises(Unavailable):
        second.index()
    embedder.failing = False
    third = dense(embedder, [*TEXTS, "a new tool"], earlier=second.known())
    third.index()
    assert embedder.documents == len(TEXTS) + 1


def test_known_vectors_are_those_of_the_texts():
    embedder = HashingEmbedder()
    searcher = dense(embedder)
    assert searcher.known() == {}
    searcher.index()
    known = searcher.known()
    assert list(known) == [text_hash(text) for text in TEXTS]
    np.testing.assert_allclose(
        np.vstack(list(known.values())), embedder.encode_document(TEXTS), rtol=0, atol=1e-6
    )


def test_errors_of_others_are_not_taken_for_the_models():
    """Neither what a progress function raises, nor what writing the texts raises, is a failed model."""

    def cancel(done, total):
        raise RuntimeError("cancelled by the user")

    with pytest.raises(RuntimeError, match="cancelled"):
        dense(HashingEmbedder()).index(cancel)

    def broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        DenseSearcher(broken, HashingEmbedder(), KnownVectors(None, None)).index()


@pytest.mark.parametrize("part", ["id", "dimension"])
def test_bc54_an_embedder_that_cannot_even_say_what_it_is_has_failed(part):
    class Nameless(HashingEmbedder):
        pass

    def away(self):
        raise OSError("no route to the model")

    setattr(Nameless, part, property(away, lambda self, value: None))
    with pytest.raises(Unavailable, match="no route to the model"):
        dense(Nameless()).search("sewing", 2)


def test_bc54_a_model_that_changed_its_length_since_the_index_was_built_has_failed():
    small, large = HashingEmbedder(32), HashingEmbedder(64)
    index = dense(small).index()
    searcher = dense(large, index=index)
    with pytest.raises(Unavailable, match="dimension 64"):
        searcher.search("sewing", 2)


def test_guard_passes_on_what_the_model_is():
    guard = GuardedEmbedder(HashingEmbedder(32))
    assert (guard.id, guard.dimension) == ("hashing-32", 32)
    assert guard.encode_document(["x"]).shape == guard.encode_query(["x"]).shape == (1, 32)
    assert GuardedEmbedder.over(guard) is guard


def test_x13_known_waits_for_an_index_that_is_being_built():
    """So that what replaces a catalog during its first search embeds nothing a second time."""
    started, release = threading.Event(), threading.Event()

    class Slow(HashingEmbedder):
        def encode_document(self, texts):
            started.set()
            release.wait(30)
            return super().encode_document(texts)

    searcher = dense(Slow())
    builder = threading.Thread(target=searcher.index)
    builder.start()
    assert started.wait(30)
    got = []
    asker = threading.Thread(target=lambda: got.append(searcher.known()))
    asker.start()
    assert not got
    release.set()
    builder.join(30)
    asker.join(30)
    assert len(got[0]) == len(TEXTS)
