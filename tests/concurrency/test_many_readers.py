"""One ``ToolSearch`` under 32 threads and under 200 tasks, while its tools are replaced in a loop."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from living_tools import JOBS, STILL, faults_of, faults_of_turn, generation

from library_tools import hashed
from semantic_toolsearch import SearchConfig

THREADS, TASKS, REPLACEMENTS = 32, 200, 40
USER = {"role": "user", "content": "Serve."}
OPTIONS = {"model": "llama-4", "api": "chat", "validate": True}


@pytest.fixture
def search():
    config = SearchConfig(threshold=3, session_store=TASKS)
    return hashed([*generation(0), *STILL], config=config).prepare()


class Replacing:
    """Replaces the server's tools over and over, until the readers are done and there were enough of them."""

    def __init__(self, search):
        self.search, self.fault, self.number = search, None, 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def _work(self):
        try:
            while not self._done.is_set() or self.number < REPLACEMENTS:
                self.search.replace("live", generation(self.number + 1))
                self.number += 1
        except BaseException as fault:
            self.fault = fault

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._done.set()
        self._thread.join(120)
        assert not self._thread.is_alive()
        assert self.fault is None
        assert self.search.stats().generation == self.number >= REPLACEMENTS


def chat(query, **more):
    call = {"name": "tool_search", "arguments": json.dumps({"query": query, **more})}
    made = [{"id": "c", "type": "function", "function": call}]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def generation_of(turn):
    (number,) = {int(found) for found in re.findall(r"Serve generation (\d+)", json.dumps(turn.tools))}
    return number


def read(search, reader, step):
    """One reader's step: searches, a browse, names, a turn with its answer; what is wrong with any of it."""
    results = [
        search.search("serve generation", limit=20),
        search.search(f"job {reader} {step}"),
        search.search(""),
        search.search(names=[f"live__job_{reader % JOBS}", "rock"]),
    ]
    faults = [fault for result in results for fault in faults_of(result)]
    numbers = [result.generation for result in results]
    assert numbers == sorted(numbers), "no reader goes back in time"
    assert [hit.name for hit in results[3].tools] == [f"live__job_{reader % JOBS}", "rock"]
    turn = search.turn([USER], **OPTIONS)
    number = generation_of(turn)
    faults += faults_of_turn(turn, number)
    (answer,) = turn.answer(chat("", names=[f"live__job_{reader % JOBS}"]))
    record = json.loads(answer["content"])
    assert record["loaded"] == [f"live__job_{reader % JOBS}"]
    if f"generation {number} " not in record["tools"][0]["description"]:
        faults.append(record)  # the turn answers from the tools that it sent
    return faults


def sessions_step(search, session, name):
    """A load of a host that passes no history; what its next turn has loaded."""
    turn = search.turn([USER], session=session, **OPTIONS)
    turn.answer(chat("", names=[name]))
    return search.turn([USER], session=session, **OPTIONS).plan.loaded


def test_x22_no_answer_of_32_threads_is_torn_while_the_tools_change(search):
    start = threading.Barrier(THREADS)

    def reader(number):
        start.wait(60)
        return [fault for step in range(4) for fault in read(search, number, step)]

    with Replacing(search), ThreadPoolExecutor(THREADS) as pool:
        assert [fault for faults in pool.map(reader, range(THREADS)) for fault in faults] == []


@pytest.mark.parametrize("through", ["threads", "the loop itself"])
def test_x22_no_answer_of_200_tasks_is_torn_while_the_tools_change(search, through):
    async def reader(number):
        if through == "threads":
            return await asyncio.to_thread(read, search, number, 0)
        await asyncio.sleep(0)
        return read(search, number, 0)

    async def readers():
        return await asyncio.gather(*map(reader, range(TASKS)))

    with Replacing(search):
        assert [fault for faults in asyncio.run(readers()) for fault in faults] == []


def test_x22_each_of_200_sessions_has_its_own_loads_while_the_tools_change(search):
    async def session(number):
        name = ("rock", "stone", "live__job_1")[number % 3]
        seen = [await asyncio.to_thread(sessions_step, search, f"s{number}", name) for _ in range(2)]
        return seen == [(name,)] * 2

    async def sessions():
        return await asyncio.gather(*map(session, range(TASKS)))

    with Replacing(search):
        assert all(asyncio.run(sessions()))
    assert len(search.sessions) == TASKS
