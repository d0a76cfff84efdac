"""Readers of a built ``ToolSearch`` take no lock: all of them may be held, and a replacement may hang."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from living_tools import STILL, faults_of, generation

from library_tools import hashed
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.testing import HashingEmbedder

USER = {"role": "user", "content": "Serve."}
LOCKS = (type(threading.Lock()), type(threading.RLock()))


class Blocked(HashingEmbedder):
    """Embeds no document until it is let."""

    def __init__(self):
        super().__init__()
        self.may, self.reached = threading.Event(), threading.Event()
        self.may.set()

    def encode_document(self, texts):
        self.reached.set()
        assert self.may.wait(60)
        return super().encode_document(texts)


def locks_of(search):
    """Every lock that belongs to the search, however deep, save those of the stand-in for a model."""
    found, seen, todo = [], set(), [search]
    while todo:
        value = todo.pop()
        if (
            id(value) in seen
            or isinstance(value, type)
            or type(value).__name__ in ("module", "HashingEmbedder")
        ):
            continue
        seen.add(id(value))
        if isinstance(value, LOCKS):
            found.append(value)
        elif not callable(value) or getattr(value, "__closure__", None):
            closure = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
            todo += closure or gc.get_referents(value)
    return found


def in_time(work):
    """What it returns, in a thread that nobody waits for longer than a minute."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(work).result(10)
    finally:
        pool.shutdown(wait=False)


def answers(search, number):
    """Searches that were asked before and that were not, and a turn with its answer."""
    results = [search.search("serve generation"), search.search(f"never asked {number}"), search.search("")]
    turn = search.turn([USER], model="llama-4", session="s")
    return results, turn.plan.full + turn.plan.deferred


@pytest.mark.parametrize("model", ["stand-in", "small", "nano"])
def test_x22_searches_and_turns_answer_while_every_lock_is_held(model):
    embedder = {"stand-in": HashingEmbedder()}.get(model, model)
    config = SearchConfig(threshold=3, session_store=8)
    search = ToolSearch([*generation(0), *STILL], embedder=embedder, cache=False, config=config).prepare()
    search.sessions.add("s", ["rock"])
    expected = answers(search, 0)
    locks = locks_of(search)
    assert len(locks) >= 4
    held, done = threading.Event(), threading.Event()

    def hold():
        for lock in locks:
            assert lock.acquire(timeout=60)
        held.set()
        assert done.wait(120)
        for lock in locks:
            lock.release()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(60)
        assert in_time(lambda: answers(search, 0)) == expected
        results, sent = in_time(lambda: answers(search, 1))
    finally:
        done.set()
        holder.join(60)
    assert [result.generation for result in results] == [0, 0, 0]
    assert sent == expected[1]


def test_x22_a_replacement_that_hangs_holds_up_no_reader():
    embedder = Blocked()
    search = hashed([*generation(0), *STILL], embedder=embedder).prepare()
    embedder.may.clear()
    embedder.reached.clear()
    replacing = threading.Thread(target=search.replace, args=("live", generation(1)))
    replacing.start()
    try:
        assert embedder.reached.wait(60)
        for number in range(20):
            results, _ = in_time(lambda number=number: answers(search, number))
            assert [result.generation for result in results] == [0, 0, 0]
            assert [fault for result in results for fault in faults_of(result)] == []
            assert {result.degraded for result in results} == {None}
    finally:
        embedder.may.set()
        replacing.join(60)
    assert not replacing.is_alive()
    result = search.search("serve generation")
    assert (result.generation, faults_of(result)) == (1, [])
