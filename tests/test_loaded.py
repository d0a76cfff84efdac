"""Which tools a conversation has loaded, and the store for hosts without one."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given

from conversations import BY_NAME, FORMATS, STEPS, conversation, function
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.loaded import SessionStore, loaded_names, missing

every_format = pytest.mark.parametrize("form", FORMATS, ids=str)


def tools(*names, **fields):
    return [{"name": name, "description": "d", "parameters": {"type": "object"}, **fields} for name in names]


ABC = Catalog(tools("a", "b", "c"))

PROGRAM = """
import json, sys
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.loaded import loaded_names
tools, messages = json.load(sys.stdin)
print(json.dumps(loaded_names(messages, Catalog(tools))))
"""


@every_format
def test_c21_the_same_messages_give_the_same_names_in_another_process(form):
    messages = [*form.search("s1", ["b"]), *form.search("s2", ["a", "b"])]
    stdin = json.dumps([tools("a", "b", "c"), messages])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=stdin, capture_output=True, text=True, check=True
    )
    assert tuple(json.loads(done.stdout)) == loaded_names(messages, ABC) == ("b", "a")


@every_format
def test_c22_names_keep_first_seen_order_and_stay(form):
    messages = [form.user("x"), *form.search("s1", ["b"]), *form.search("s2", ["a", "b"])]
    assert loaded_names(messages, ABC) == ("b", "a")
    for turn in range(3):
        messages += [form.user("go on"), *form.call(f"c{turn}", "a", "done"), *form.search(f"m{turn}", [])]
        assert loaded_names(messages, ABC) == ("b", "a")


@every_format
def test_c23_a_stored_and_resumed_run_keeps_them(form):
    messages = form.search("s1", ["b"])
    resumed = json.loads(json.dumps(messages)) + form.call("c1", "b", "done")
    assert loaded_names(resumed, ABC) == ("b",)


@every_format
def test_c24_branches_keep_what_was_loaded_before_the_fork(form):
    trunk = [form.user("x"), *form.search("s1", ["a"])]
    one, two = [*trunk, *form.search("s2", ["b"])], [*trunk, form.user("other")]
    assert loaded_names(one, ABC) == ("a", "b")
    assert loaded_names(two, ABC) == ("a",)


@every_format
def test_c25_an_agent_with_other_tools_has_those_that_it_possesses(form):
    messages = form.search("s1", ["a", "b"])
    assert loaded_names(messages, Catalog(tools("b", "c"))) == ("b",)
    assert loaded_names(messages, ABC) == ("a", "b")


@every_format
def test_c26_a_later_run_inherits_while_its_messages_hold_the_search(form):
    search, after = form.search("s1", ["a"]), [form.user("thanks"), form.user("next")]
    assert loaded_names([*search, *after], ABC) == ("a",)
    assert loaded_names(after, ABC) == ()


@every_format
def test_c36_d07_a_call_is_enough_answered_or_not(form):
    messages = form.call("c1", "b", "done")
    assert loaded_names(messages, ABC) == ("b",)
    assert loaded_names(messages[:1], ABC) == ("b",)


@every_format
def test_e51_e85_every_tool_returned_is_loaded_and_no_other(form):
    catalog = Catalog(tools(*(f"mail_{i:02}" for i in range(12))))
    messages = form.search("s1", [f"mail_{i:02}" for i in range(8)])
    assert loaded_names(messages, catalog) == catalog.wire_names[:8]
    messages += form.search("s2", ["mail_09"])
    assert loaded_names(messages, catalog) == (*catalog.wire_names[:8], "mail_09")


def test_x25_loads_of_one_provider_are_valid_under_the_others():
    catalog = Catalog(tools(*(f"tool_{i}" for i in range(len(FORMATS)))))
    messages = [m for i, form in enumerate(FORMATS) for m in form.search(f"s{i}", [f"tool_{i}"])]
    assert loaded_names(messages, catalog) == catalog.wire_names


def test_hidden_tools_are_left_out_and_come_back():
    messages = BY_NAME["chat"].search("s", ["a", "b"])
    assert loaded_names(messages, ABC, visible=np.array([False, True, True])) == ("b",)
    assert loaded_names(messages, ABC, visible=[True, True, True]) == ("a", "b")
    with pytest.raises(ConfigError, match="2 entries for 3 tools"):
        loaded_names(messages, ABC, visible=[True, True])


# Names -------------------------------------------------------------------------------------------------

SHOP = Catalog(
    [
        *tools("lookup", "invoice.create", namespace="billing"),
        *tools("lookup", namespace="shipping"),
        *tools("File Report", "open", namespace="File Operations"),
        *tools("clock", "fx_rate"),
        *tools("spin", namespace="fx_rate"),
    ]
)
WIRE = dict(zip(SHOP.identities, SHOP.wire_names, strict=True))


def loaded_call(name, namespace=None):
    item = {"type": "function_call", "call_id": "c", "name": name, "namespace": namespace, "arguments": "{}"}
    return loaded_names([item], SHOP)


@pytest.mark.parametrize(
    ("namespace", "name", "identity"),
    [
        (None, "billing__lookup", ("billing", "lookup")),
        (None, "billing.lookup", ("billing", "lookup")),
        ("billing", "lookup", ("billing", "lookup")),
        ("shipping", "lookup", ("shipping", "lookup")),
        ("billing_2", "lookup", ("billing", "lookup")),
        ("billing", "billing__lookup", ("billing", "lookup")),
        ("billing", WIRE["billing", "invoice.create"], ("billing", "invoice.create")),
        (None, "invoice.create", ("billing", "invoice.create")),
        ("File_Operations", "open", ("File Operations", "open")),
        ("File Operations", "open", ("File Operations", "open")),
        ("File_Operations_3", "open", ("File Operations", "open")),
        (None, "clock", (None, "clock")),
        ("clock", "clock", (None, "clock")),
        ("fx_rate", "fx_rate", (None, "fx_rate")),
        ("fx_rate_tools", "spin", ("fx_rate", "spin")),
        ("fx_rate_tools_2", "spin", ("fx_rate", "spin")),
        ("elsewhere", "shipping__lookup", ("shipping", "lookup")),
    ],
)
def test_a_name_means_its_tool_however_the_wire_writes_it(namespace, name, identity):
    assert loaded_call(name, namespace) == (WIRE[identity],)


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        (None, "lookup"),
        ("payroll", "lookup"),
        ("lookup", "lookup"),
        ("billing", "clock"),
        ("elsewhere", "clock"),
        ("shipping", "open"),
        (None, "Clock"),
        ("Billing", "lookup"),
        (None, " clock"),
        (None, "tool_search"),
        ("billing_2x", "lookup"),
    ],
)
def test_a_name_that_fits_no_tool_or_several_means_none(namespace, name):
    assert loaded_call(name, namespace) == ()


@pytest.mark.parametrize("most", [2, 9, None])
def test_names_that_our_own_adapter_sends_to_openai_mean_their_tools(most):
    namespaces = pytest.importorskip("semantic_toolsearch.providers.openai_namespaces")
    raw = ["lookup", "Lookup", "a.b", "a b", "crm__x", "CRM", "x" * 100, "naïve", "tool_search"]
    owners = [None, "CRM", "crm", "C R M", "CRM_2", "lookup", "n" * 90, "n" * 91]
    catalog = Catalog([t for owner in owners for t in tools(*raw, **({"namespace": owner} if owner else {}))])
    assert len(catalog) == len(raw) * len(owners)
    sent = namespaces.namespaces_of(catalog, most)
    for position, name in enumerate(catalog.wire_names):
        owner, inner = sent.address(position)
        item = {"type": "function_call", "call_id": "c", "name": inner, "namespace": owner or inner}
        assert loaded_names([item], catalog) == (name,), (owner, inner)


def test_definitions_in_a_namespace_are_loaded_from_it():
    call, output = BY_NAME["responses-client"].search("s", [])
    output["tools"] = [{"type": "namespace", "name": "shipping", "tools": [function("lookup")]}]
    assert loaded_names([call, output], SHOP) == ("shipping__lookup",)


# Tools that are gone -----------------------------------------------------------------------------------


@every_format
def test_x14_a_tool_that_is_gone_is_missing_and_comes_back_loaded(form):
    messages = form.search("s1", ["a", "b"])
    without = Catalog(tools("b"))
    assert missing(messages, without) == ("a",)
    assert loaded_names(messages, without) == ("b",)
    assert missing(messages, ABC) == ()
    assert loaded_names(messages, ABC) == ("a", "b")


def test_x14_names_only_called_or_meaning_several_tools_are_not_missing():
    messages = [
        *BY_NAME["chat"].call("c1", "invented", "error"),
        *BY_NAME["chat"].search("s", ["lookup", "gone"]),
    ]
    assert missing(messages, SHOP) == ("gone",)


def test_x14_a_missing_tool_is_named_with_its_namespace():
    call, output = BY_NAME["responses-hosted"].search("s", [])
    spaces = [{"type": "namespace", "name": "payroll", "tools": [function("lookup")]}, function("old")]
    assert missing([call, {**output, "tools": spaces}], SHOP) == ("payroll.lookup", "old")


@every_format
def test_x15_broken_items_load_nothing_and_later_ones_count(form):
    broken = [None, {"role": "tool", "tool_call_id": "", "content": None}]
    *call, answer = form.search("s1", ["a"])
    text = json.dumps(answer).replace('"a"', "7").replace('\\"a\\"', "7")
    assert loaded_names([*broken, *call, json.loads(text), *form.search("s2", ["b"])], ABC) == ("b",)


# The store ---------------------------------------------------------------------------------------------


def test_d03_conversation_and_store_are_united_the_conversation_first():
    messages, store = BY_NAME["chat"].search("s", ["a"]), SessionStore()
    store.add("one", ["b", "a"])
    assert loaded_names(messages, ABC, store=store, session="one") == ("a", "b")
    assert loaded_names(messages, ABC) == ("a",)
    assert loaded_names([], ABC, store=store, session="one") == ("b", "a")


def test_e90_sessions_never_see_each_others_loads():
    store = SessionStore()
    store.add("a", ["x"])
    assert store.names("a") == ("x",)
    assert store.names("b") == ()
    assert loaded_names([], Catalog(tools("x")), store=store, session="b") == ()


def test_e91_the_session_that_first_loaded_longest_ago_is_dropped():
    store = SessionStore(max_sessions=3)
    for session in ("a", "b", "c", "a", "d"):
        store.add(session, [f"of_{session}"])
    assert list(store) == ["b", "c", "d"]
    assert "a" not in store
    assert len(store) == 3
    assert SessionStore().max_sessions == 4_096


def test_e92_a_dropped_session_starts_anew():
    store = SessionStore(max_sessions=1)
    store.add("a", ["x"])
    store.add("b", ["y"])
    assert store.names("a") == ()
    store.add("a", ["z"])
    assert store.names("a") == ("z",)
    assert store.names("b") == ()


def test_e93_without_a_session_nothing_is_written_or_read():
    store = SessionStore()
    store.add(None, ["x"])
    assert len(store) == 0
    store.add("a", ["x"])
    catalog, messages = Catalog(tools("x", "y")), BY_NAME["chat"].search("s", ["y"])
    assert store.names(None) == ()
    assert loaded_names(messages, catalog, store=store, session=None) == ("y",)


def test_a_search_without_loads_opens_no_session():
    store = SessionStore(max_sessions=1)
    store.add("a", ["x"])
    store.add("b", [])
    assert list(store) == ["a"]


def test_the_store_refuses_what_cannot_be_meant():
    for most in (0, -1, 1.5, True, "3", None):
        with pytest.raises(ConfigError, match="max_sessions"):
            SessionStore(most)
    with pytest.raises(ConfigError, match=r"write \['renewLoan'\]"):
        SessionStore().add("a", "renewLoan")


def test_the_store_forgets_tools_that_the_catalog_lost():
    store = SessionStore()
    store.add("a", ["gone", "b"])
    assert loaded_names([], ABC, store=store, session="a") == ("b",)


def test_e91_many_threads_never_exceed_the_bound():
    store, start = SessionStore(max_sessions=5), threading.Barrier(8)

    def work(worker):
        start.wait()
        for round_ in range(300):
            store.add(f"{worker}-{round_}", ["x"])
            assert len(store) <= 5
            assert store.names(f"{worker}-{round_}") in (("x",), ())

    failures = []
    threads = [threading.Thread(target=_caught, args=(work, worker, failures)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store) == 5


def _caught(work, argument, failures):
    try:
        work(argument)
    except BaseException as error:  # a thread's failure must reach the test
        failures.append(error)


def test_e90_tasks_share_a_store_and_keep_apart():
    store, catalog = SessionStore(), Catalog(tools(*(f"t{i}" for i in range(20))))

    async def session(name, offset):
        for step in range(10):
            store.add(name, [f"t{offset + step}"])
            await asyncio.sleep(0)
            names = loaded_names([], catalog, store=store, session=name)
            assert names == tuple(f"t{offset + i}" for i in range(step + 1))

    async def both():
        await asyncio.gather(session("a", 0), session("b", 10))

    asyncio.run(both())


# Properties --------------------------------------------------------------------------------------------


@given(STEPS)
def test_more_messages_never_unload_and_never_reorder(plan):
    messages, known = conversation(plan), ()
    for end in range(len(messages) + 1):
        names = loaded_names(messages[:end], ABC)
        assert names[: len(known)] == known
        known = names


@given(STEPS)
def test_loaded_are_the_tools_searched_or_called_in_first_seen_order(plan):
    expected = dict.fromkeys(
        name for _, kind, names in plan if kind in ("search", "call") for name in names if name != "z"
    )
    assert loaded_names(conversation(plan), ABC) == tuple(expected)
