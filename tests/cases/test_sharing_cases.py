"""Failures of other tool searches, from public reports: live catalogs (BC-35) and two users at once (BC-38)."""

from __future__ import annotations

import asyncio
import threading

import pytest
from case_tools import found, obj, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing import HashingEmbedder

# --- BC-35: the catalogue changes during the session ---

V1 = [t("probe_run", "Run a probe", obj(a={"type": "string"}), server="lab")]
V2 = [
    t("probe_run", "Run a probe", obj(a={"type": "string"}, b={"type": "integer"}), server="lab"),
    t("centrifuge_spin", "Spin samples", server="lab"),
]
OTHERS = [t("page_create", "Create a page", server="wiki")]


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25", "keyword", "regex"])
def test_bc35_x13_what_is_replaced_is_found_and_what_is_removed_vanishes(ranker):
    search = ToolSearch([*V1, *OTHERS], ranker=ranker, embedder=HashingEmbedder(), cache=False)
    assert "centrifuge_spin" not in found(search, "centrifuge")
    search.replace("lab", V2)
    query = "spin samples"
    assert found(search, query)[0] == "centrifuge_spin"
    hit = search.search("probe_run").tools[0]
    assert set(hit.tool.parameters["properties"]) == {"a", "b"}
    search.replace("lab", V1)
    for ask in (query, "centrifuge_spin", "", "unfindable words"):
        shown = search.search(ask).as_dict()
        shown.pop("query")
        assert "centrifuge" not in str(shown)
    wanted = search.search(names=["centrifuge_spin"])
    assert wanted.tools == ()
    assert wanted.unknown[0].name == "centrifuge_spin"
    assert set(search.search("probe_run").tools[0].tool.parameters["properties"]) == {"a"}


def test_bc35_kind_a_server_that_goes_away_and_comes_back_renamed(model):
    """Of the same kind: the same tools under another server's name, and one server never disturbs another."""
    search = ToolSearch([*V2, *OTHERS], embedder=model)
    search.search("spin samples")
    search.replace("lab", [])
    assert [name for name, _ in search.search("").namespaces] == ["wiki"]
    search.replace("laboratory", [{**tool, "namespace": "laboratory"} for tool in V2])
    assert search.search("spin samples").tools[0].name == "laboratory__centrifuge_spin"
    assert search.search("create a page").tools[0].name == "wiki__page_create"
    assert search.stats().registered == search.stats().indexed == 3


# --- BC-38: two users at once ---

OFFICE = [
    t("invoice_issue", "Issue an invoice to a client"),
    t("cron_add", "Schedule a recurring job"),
    t("parcel_track", "Track a shipment by its number"),
    t("vm_halt", "Shut down a virtual machine"),
]
USERS = {"user_1": ("invoice", "invoice_issue"), "user_2": ("shipment", "parcel_track")}
ROUNDS = 200


def build():
    return ToolSearch(OFFICE, embedder=HashingEmbedder(), cache=False)


def answer(search, user, number):
    """One search of one user, who sees the own tool and one other, and asks in other words each time."""
    query, name = USERS[user]
    return search.search(f"{query} {number % 7}", visible={name, "cron_add"}, limit=1 + number % 3)


@pytest.fixture(scope="module")
def alone():
    """What each user is answered when nobody else is there."""
    return {user: [answer(build(), user, number) for number in range(21)] for user in USERS}


def strangers(search, user, alone, rounds):
    """The answers that differ from what the user gets alone."""
    answers = ((number, answer(search, user, number)) for number in rounds)
    return [result for number, result in answers if result != alone[user][number % 21]]


def test_bc38_the_two_users_are_answered_differently(alone):
    for user, (_, name) in USERS.items():
        assert any(name in [hit.name for hit in result.tools] for result in alone[user])
        other = USERS["user_2" if user == "user_1" else "user_1"][1]
        assert other not in str([result.as_dict() for result in alone[user]])


@pytest.mark.parametrize("inside", [False, True], ids=["built outside", "built inside"])
def test_bc38_x22_threads_see_only_their_own(alone, inside):
    shared, outcomes = build(), {}

    def work(user):
        outcomes[user] = strangers(build() if inside else shared, user, alone, range(ROUNDS))

    threads = [threading.Thread(target=work, args=(user,)) for user in USERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert outcomes == {"user_1": [], "user_2": []}


@pytest.mark.parametrize("inside", [False, True], ids=["built outside", "built inside"])
def test_bc38_x22_tasks_see_only_their_own(alone, inside):
    async def work(search, user):
        own = await asyncio.to_thread(build) if inside else search
        strange = []
        for number in range(ROUNDS):
            strange += await asyncio.to_thread(strangers, own, user, alone, [number])
        return strange

    async def both():
        search = build()
        return await asyncio.gather(*(work(search, user) for user in USERS))

    assert asyncio.run(both()) == [[], []]
