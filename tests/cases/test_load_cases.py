"""Failures of other tool searches, from public reports: what stays loaded, and in which order (BC-39, BC-40)."""

from __future__ import annotations

import json

import pytest
from case_tools import obj, t

from conversations import BY_NAME, FORMATS
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.loaded import SessionStore, loaded_names
from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search
from semantic_toolsearch.trimming import fit_history
from turn_rounds import converse

every_format = pytest.mark.parametrize("form", FORMATS, ids=str)
TEXT = {"type": "string"}

# --- BC-39: eviction throws out the wrong tools

SEARCHED = {
    "reported": (["bash", "read_file", "skill"], [["a1"], ["a2"], ["a3"], ["b1", "b2", "b3", "b4"]], 3),
    "japanese": (["時計"], [["座席"], ["切符", "食事"], ["荷物", "地図", "天気"]], 2),
    "cyrillic kebab, many": (
        ["часы", "файл"],
        [[f"дело-{i}"] for i in range(30)] + [[f"счёт-{i}" for i in range(6)]],
        4,
    ),
}
searched = pytest.mark.parametrize(("always", "searches", "cap"), SEARCHED.values(), ids=list(SEARCHED))


def catalog_of(always, searches):
    names = [name for search in searches for name in search]
    tools = [
        *(t(name, "always", defer="never") for name in always),
        *(t(name, f"work {name}") for name in names),
    ]
    catalog = Catalog(tools)
    return catalog, dict(zip([*always, *names], catalog.wire_names, strict=True))


@searched
@every_format
def test_bc39_nothing_loaded_is_evicted_by_later_loads(always, searches, cap, form):
    """Kind: eviction. The newest load is there at once, and pushes out neither older ones nor itself."""
    tools, wire = catalog_of(always, searches)
    messages = [form.user("x")]
    for at, names in enumerate(searches):
        messages += form.search(f"s{at}", [wire[name] for name in names])
        loaded = loaded_names(messages, tools)
        assert loaded[-len(names) :] == tuple(wire[name] for name in names)
    assert loaded == tuple(wire[name] for names in searches for name in names)


@searched
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc39_a_search_over_the_cap_announces_only_what_is_sent(always, searches, cap, api):
    """Kind: eviction. Always-on tools do not count and never leave; each tool announced is in the next request."""
    tools, wire = catalog_of(always, searches)
    config = SearchConfig(ranker="bm25", threshold=1, default_limit=cap, max_limit=cap)
    search = ToolSearch(tools, config=config, cache=False)
    last = [wire[name] for name in searches[-1]]
    steps = [Search("work"), Search(arguments={"query": "", "names": last}), Say("Done.")]
    with LoopbackProvider(steps) as server:
        run = converse(server, search, api, mode="stub")
        assert (server.failures, server.remaining) == ([], 0)
    announced = []
    for results, following in zip(run.results, run.turns[1:], strict=True):
        (result,) = results
        record = json.loads(result.get("content", result.get("output")))
        assert [tool["name"] for tool in record["tools"]] == record["loaded"]
        assert announced or len(record["loaded"]) == cap
        announced += record["loaded"]
        assert following.plan.full == (*(wire[name] for name in always), *announced)
    assert not {wire[name] for name in always} & set(announced)
    assert set(last) <= set(announced)  # tools asked for by name are not cut


@searched
@every_format
def test_bc39_a_full_budget_evicts_the_oldest_and_never_the_newest_load(always, searches, cap, form):
    """Kind: eviction. A history is trimmed from its beginning, however many tools one search has loaded."""
    tools, wire = catalog_of(always, searches)
    names = [wire[name] for search in searches for name in search]
    newest = tuple(wire[name] for name in searches[-1])
    messages = []
    for at, search in enumerate(searches):
        messages += [form.user("x"), *form.search(f"s{at}", [wire[name] for name in search])]
    for schema in range(6):

        def count(value, each=schema):
            return 0 if isinstance(value, list) else each

        loaded = loaded_names(fit_history(messages, 10, count, tools), tools)
        assert loaded[-len(newest) :] == newest
        assert loaded == tuple(names[len(names) - len(loaded) :])
        assert loaded == newest or schema * len(loaded) <= 10


def test_bc39_a_full_store_drops_another_session_than_the_one_that_loads():
    """Kind: eviction. The session that has just loaded something keeps it."""
    store = SessionStore(max_sessions=1)
    for session in ("a", "b", "c"):
        store.add(session, ["x"])
        assert store.names(session) == ("x",)
    assert len(store) == 1


# --- BC-40: searching again for what is loaded

INVOICES = [
    t("invoice_create", "Bill a customer: create an invoice", obj(customer=TEXT)),
    t("mail_list", "List mail"),
    t("note_write", "Write a note"),
]
SEATS = [t("座席.予約", "座席を予約する", obj(番号=TEXT)), t("食事", "食事を頼む"), t("荷物", "荷物を預ける")]
DEPOT = [
    t("Отгрузить", "Отгрузить товар клиенту", obj(куда=TEXT), server="склад"),
    *(t(f"Полка{i}", f"Состояние полки {i}", server="склад") for i in range(60)),
]
AGAIN = {
    "reported": (INVOICES, "invoice", "invoice create"),
    "japanese dotted": (SEATS, "座席を予約", "座席の予約をしたい"),
    "cyrillic on a server, 61": (DEPOT, "отгрузить товар", "товар клиенту отгрузить"),
}


@pytest.mark.parametrize(("tools", "query", "other"), AGAIN.values(), ids=list(AGAIN))
@pytest.mark.parametrize(
    ("api", "mode"),
    [
        ("anthropic", "reference"),
        ("anthropic", "bridge"),
        ("responses", "output"),
        ("chat", "stub"),
    ],
)
def test_bc40_searching_again_for_what_is_loaded(tools, query, other, api, mode):
    """Kind: prompt cache. The tools list stays the same to the byte, and the model is told to call what it has."""
    search = ToolSearch(tools, config=SearchConfig(ranker="bm25", threshold=1), cache=False)
    name = search.catalog.wire_names[0]
    steps = [Search(each) for each in (query, query, "xyzzy-nothing", other)]
    with LoopbackProvider([*steps, Say("Done.")]) as server:
        run = converse(server, search, api, mode=mode)
        assert (server.failures, server.remaining) == ([], 0)
        lists = [json.dumps(body["tools"]) for body in server.requests]
    assert len(set(lists[1:])) == 1
    assert mode == "stub" or lists[0] == lists[1]
    assert [turn.plan.loaded for turn in run.turns] == [(), *[(name,)] * 4]
    told = [json.dumps(results, ensure_ascii=False) for results in run.results]
    if mode == "output":  # the form of a search's output: definitions and nothing else
        assert name in told[0]
        return
    for again in (told[1], told[3]):
        assert f"You have {name} already" in again
        assert "matched" not in again
    assert "Nothing matched" in told[2]


@pytest.mark.parametrize(
    "names",
    [("a", "b", "c"), ("席", "食", "荷"), ("Путь", "Дом", "Лес")],
    ids=["reported", "japanese", "cyrillic"],
)
@every_format
def test_bc40_a_repeat_keeps_the_order_in_every_format(names, form):
    """Kind: prompt cache. What is found again, or called, keeps its place."""
    catalog, messages = Catalog([t(name, "d") for name in names]), []
    a, b, c = catalog.wire_names
    for at, found in enumerate(([b, c], [c, b], [], [a, c], [c])):
        messages += form.search(f"s{at}", found)
    assert loaded_names(messages, catalog) == (b, c, a)
    assert loaded_names([*messages, *BY_NAME["chat"].call("c", c, "x")], catalog) == (b, c, a)
