"""Failures of other tool searches, from public reports: many calls, many users (BC-37, BC-38)."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest
from case_tools import obj, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.loaded import SessionStore, loaded_names
from semantic_toolsearch.testing import HashingEmbedder
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Parallel, Say, Search
from turn_rounds import USERS, answers, reply, send

# --- BC-37: search and use in one batch

REFUND = [
    t("refund_issue", "Give money back: a refund", obj(order={"type": "string"})),
    t("clock", "The time", defer="never"),
]
SEATS = [
    t("座席.予約", "座席を予約する", obj(番号={"type": "string"})),
    t("時計", "いまの時刻", defer="never"),
]
DEPOT = [
    t("Отгрузить", "Отгрузить товар", obj(куда={"type": "string"}), server="склад"),
    t("Часы", "Который час", defer="never"),
    *(t(f"Полка{i}", f"Полка {i}", server="склад") for i in range(60)),
]
BATCHES = {
    "reported": (REFUND, {"order": "A1"}, "refund"),
    "japanese dotted": (SEATS, {"番号": "12A"}, "座席を予約"),
    "cyrillic on a server, 62": (DEPOT, {"куда": "Киров"}, "отгрузить товар"),
}
batches = pytest.mark.parametrize(("tools", "arguments", "query"), BATCHES.values(), ids=list(BATCHES))


@batches
@pytest.mark.parametrize(
    ("api", "mode"),
    [("anthropic", "reference"), ("anthropic", "stub"), ("responses", "output"), ("chat", "stub")],
)
def test_bc37_search_and_use_in_one_batch(tools, arguments, query, api, mode):
    """Kind: parallel calls. All three run in any order of execution; the results come in the order of the calls."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    use, clock = search.catalog.wire_names[:2]
    deferred = [name for name in search.catalog.wire_names if name != clock]
    batch = Parallel([Call(use, arguments, id="1"), Search(query, id="2"), Call(clock, id="3")])
    user = {"role": "user", "content": "Do it."}
    with LoopbackProvider([batch, *([Say("Done.")] * 2)], change_call_id=False) as server:
        turn = search.turn([user], model=USERS[api], api=api, mode=mode, deferred_tools=deferred)
        response = send(server, api, turn, USERS[api])
        calls = turn.calls(response)
        assert [(call.name, call.arguments, call.loaded) for call in calls] == [
            (tools[0]["name"], arguments, True),
            (tools[1]["name"], {}, True),
        ]
        wanted = turn.results(response, lambda call: f"ran {call.name}")
        assert [_id_of(result) for result in wanted] == ["1", "2", "3"]
        for order in permutations(range(3)):
            done = {}
            for place in order:  # the application's executor: whatever is ready first
                if place == 1:
                    (done[1],) = turn.answer(response)
                else:
                    call = calls[place // 2]
                    done[place] = turn.result(call, f"ran {call.name}")
            assert [done[place] for place in range(3)] == wanted
        said = reply(api, response)
        following = search.turn(
            [user, *said, *answers(api, wanted)],
            model=USERS[api],
            api=api,
            mode=mode,
            deferred_tools=deferred,
            validate=True,
        )
        assert following.done(send(server, api, following, USERS[api]))
        assert {exchange.status for exchange in server.exchanges} == {200}
    assert use in following.plan.loaded
    assert "no tool called" not in str(wanted)


def _id_of(result):
    return result.get("tool_use_id") or result.get("tool_call_id") or result["call_id"]


@batches
def test_bc37_a_call_waits_for_no_other_call(tools, arguments, query):
    """Kind: parallel calls. One that does not come back holds up neither the search nor the others of its batch."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    use, clock = search.catalog.wire_names[:2]
    made = [
        {"id": str(at), "type": "function", "function": {"name": name, "arguments": json.dumps(sent)}}
        for at, (name, sent) in enumerate([(use, arguments), ("tool_search", {"query": query}), (clock, {})])
    ]
    response = {
        "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": made}}]
    }
    turn = search.turn([], model="llama-4", mode="stub", deferred_tools=[use])
    released = threading.Event()
    with ThreadPoolExecutor(3) as pool:
        slow, quick = turn.calls(response)
        waiting = pool.submit(lambda: (released.wait(30), turn.result(slow, "late"))[1])
        answer = pool.submit(turn.answer, response)
        (found,) = answer.result(30)
        assert json.loads(found["content"])["loaded"] == [use]
        assert turn.result(quick, pool.submit(lambda: "noon").result(30))["content"] == "noon"
        assert not waiting.done()
        released.set()
        assert waiting.result(30)["content"] == "late"


# --- BC-38: two users at once

OFFICE = [
    t("invoice_issue", "Issue an invoice to a client"),
    t("cron_add", "Schedule a recurring job"),
    t("parcel_track", "Track a shipment by its number"),
    t("vm_halt", "Shut down a virtual machine"),
]
HOSPITAL = [
    t("処方箋発行", "薬の処方箋を発行する"),
    t("病室移動", "患者を別の病室へ移す"),
    t("検査依頼", "血液の検査を依頼する"),
]
FLEET = [
    t("ЗаправитьМашину", "Заправить машину топливом", server="гараж"),
    t("ПомытьМашину", "Помыть машину", server="мойка"),
    *(t(f"Маршрут{i}", f"Маршрут {i}", server="карта") for i in range(60)),
]
PAIRS = {
    "reported": (OFFICE, {"user_1": ("invoice", 0), "user_2": ("shipment", 2)}, 200),
    "japanese": (HOSPITAL, {"user_1": ("処方箋", 0), "user_2": ("血液の検査", 2)}, 60),
    "cyrillic on servers, 62": (FLEET, {"user_1": ("топливом", 0), "user_2": ("помыть", 1)}, 40),
}
pairs = pytest.mark.parametrize(("tools", "users", "rounds"), PAIRS.values(), ids=list(PAIRS))
where = pytest.mark.parametrize("inside", [False, True], ids=["built outside", "built inside"])


def build(tools):
    return ToolSearch(tools, embedder=HashingEmbedder(), cache=False)


class User:
    """One user's searches and own conversation, each of which sees the own tool and one other."""

    def __init__(self, tools, query, place):
        self.query, self.name = query, build(tools).catalog.wire_names[place]
        self.visible = {self.name, build(tools).catalog.wire_names[-1]}
        self.messages = []

    def searched(self, search, number):
        return search.search(f"{self.query} {number % 7}", visible=self.visible, limit=1 + number % 3)

    def talked(self, search, number):
        """One search of the model in the own conversation; what it has loaded by then."""
        options = {
            "model": "llama-4",
            "mode": "stub",
            "visible": self.visible,
            "deferred_tools": self.visible,
        }
        turn = search.turn(self.messages, **options)
        call = {"id": f"s{number}", "type": "function"}
        call["function"] = {"name": "tool_search", "arguments": json.dumps({"query": self.query})}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        results = turn.answer({"choices": [{"finish_reason": "tool_calls", "message": message}]})
        self.messages = [*self.messages, message, *results]
        return search.turn(self.messages, **options).plan.loaded


def users_of(tools, users):
    return [User(tools, query, place) for query, place in users.values()]


def answered_alone(tools, user):
    search = build(tools)
    return [user.searched(search, number) for number in range(21)]


def strange(search, user, alone, rounds):
    """What the user got that differs from what the user gets alone, or was loaded by somebody else."""
    searched = [number for number in rounds if user.searched(search, number) != alone[number % 21]]
    talked = [user.talked(search, number) for number in rounds[::10]]
    return searched, [loaded for loaded in talked if loaded != (user.name,)]


@pairs
@where
def test_bc38_x22_threads_see_only_their_own(tools, users, rounds, inside):
    """Kind: isolation. Two threads over one search, or over two that were made where they are used."""
    shared, people, outcomes = build(tools), users_of(tools, users), {}
    alone = [answered_alone(tools, user) for user in people]
    start = threading.Barrier(2)

    def work(at):
        start.wait(60)
        outcomes[at] = strange(build(tools) if inside else shared, people[at], alone[at], range(rounds))

    threads = [threading.Thread(target=work, args=(at,)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert outcomes == {0: ([], []), 1: ([], [])}
    assert people[0].name not in str([result.as_dict() for result in alone[1]])


@pairs
@where
def test_bc38_x22_tasks_see_only_their_own(tools, users, rounds, inside):
    """Kind: isolation. State that is set where a task is made is not looked for where the model runs."""
    people = users_of(tools, users)
    alone = [answered_alone(tools, user) for user in people]

    async def work(search, at):
        own = await asyncio.to_thread(build, tools) if inside else search
        found = []
        for number in range(0, rounds, 10):
            found += await asyncio.to_thread(strange, own, people[at], alone[at], range(number, number + 10))
        return [each for each in found if each]

    async def both():
        search = build(tools)
        return await asyncio.gather(*(work(search, at) for at in range(2)))

    assert asyncio.run(both()) == [[], []]


def test_bc38_an_engine_built_inside_a_task_sees_the_sessions_of_its_store():
    """Kind: isolation. What one task writes to a store another one reads, through whichever search."""
    store = SessionStore()

    async def write():
        store.add("user_1", ["invoice_issue"])

    async def read(session):
        return loaded_names([], build(OFFICE).catalog, store=store, session=session)

    async def run():
        await asyncio.create_task(write())
        return [await asyncio.create_task(read(session)) for session in ("user_1", "user_2")]

    assert asyncio.run(run()) == [("invoice_issue",), ()]
