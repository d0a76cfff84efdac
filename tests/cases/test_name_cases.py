"""Failures of other tool searches, from public reports: names on the wire (BC-25, BC-26, BC-27)."""

from __future__ import annotations

import json
import re

import pytest
from case_tools import best, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Parallel, Say, Search
from turn_rounds import USERS, converse

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")

WIKI = [
    t("search", "Search the wiki", server="wiki"),
    t("search", "Search the shop", server="shop"),
    t("search", "Local file search"),
]
CITAS = [
    t("crear", "Crear una factura", server="facturas"),
    t("crear", "Crear una cita", server="citas"),
    t("Crear", "Crear un cliente", server="citas"),
]
DATA = [
    t("取得", "天気を取得", server="天気"),
    t("取得", "株価を取得", server="株価"),
    t("取得", "地図を取得", server="地 図"),
    t("取得", "写真を取得", server="地/図"),
]
DEPOTS = [t("Найти", f"Найти товар на складе {i}", server=f"склад.{i}") for i in range(12)]
SAME = {
    "reported": (WIKI, "search the shop", ("shop", "search")),
    "spanish": (CITAS, "crear una factura", ("facturas", "crear")),
    "japanese": (DATA, "株価を取得", ("株価", "取得")),
    "twelve cyrillic servers": (DEPOTS, "найти товар на складе 7", ("склад.7", "Найти")),
}
same = pytest.mark.parametrize(("tools", "query", "expected"), SAME.values(), ids=list(SAME))


@same
def test_bc25_same_name_on_several_servers(model, tools, query, expected):
    """Kind: names. Equal names coexist under distinct legal wire names; the one that is meant comes first."""
    catalog = Catalog(tools, strict=True)
    assert len({name.lower() for name in catalog.wire_names}) == len(tools)
    assert all(LEGAL.fullmatch(name) for name in catalog.wire_names)
    assert [catalog.raw(name) for name in catalog.wire_names] == [
        (tool.get("namespace"), tool["name"]) for tool in tools
    ]
    assert best(model, tools, query) == {expected}


@same
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc25_each_call_reaches_its_own_owner(tools, query, expected, api):
    """Kind: names. A call comes back with the namespace and the raw name of the tool that it means."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    names = search.catalog.wire_names
    with LoopbackProvider([Parallel([Call(name) for name in names]), Say("Done.")]) as server:
        run = converse(server, search, api, never_defer=names)
        assert (server.failures, server.remaining) == ([], 0)
    assert [(call.namespace, call.name) for call in run.calls] == [
        (tool.get("namespace"), tool["name"]) for tool in tools
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("get-item", "get_item", "get.item"),
        ("list/all", "list all", "list::all", "LIST_ALL"),
        ("naïve", "naive", "nai\u0308ve", "na\u200bive"),
        ("注文", "注 文", "注.文"),
        ("заказ", "Заказ", "zakaz", "за-каз"),
    ],
    ids=["reported", "signs", "marks", "japanese", "cyrillic"],
)
def test_bc26_names_that_become_equal(names):
    """Kind: names. Names that cleaning would make equal stay apart, in any order of registration."""
    seen = []
    for order in (names, names[::-1], names[1:] + names[:1]):
        catalog = Catalog([t(name, server="s") for name in order], strict=True)
        assert len({wire.lower() for wire in catalog.wire_names}) == len(names)
        assert all(LEGAL.fullmatch(wire) for wire in catalog.wire_names)
        seen.append({tool.name: catalog.wire_names[i] for i, tool in enumerate(catalog)})
    assert seen[0] == seen[1] == seen[2]


LONG = "mcp__plugin_warehouse-automation_inventory__reconcile_stock_levels_for_region"
REJECTED = {
    "reported": [
        t("calendar.respondToEvent", "Answer an invitation"),
        t("users/profile", "A profile"),
        t("datei öffnen", "Open a file"),
        t(LONG, "Reconcile stock"),
    ],
    "paths": [
        t("GET /loans/{loan_id}", "Read a loan", server="https://library.example"),
        t("renewLoan()", "Extend a loan", server="https://library.example"),
        t("f" * 128, "Something long", server="library" * 20),
    ],
    "scripts": [
        t("прогноз погоды", "Weather"),
        t("天気予報", "天気を調べる"),
        t("🌦now", "Emoji"),
        t("1st_choice", "First"),
    ],
    "arabic and hindi": [
        t("فاتورة: إرسال", "إرسال فاتورة", server="مكتب المحاسبة"),
        t("बिल/छापो", "बिल छापो", server="मुद्रण"),
        t("ใบเสร็จ " * 20, "พิมพ์ใบเสร็จ"),
    ],
}
rejected = pytest.mark.parametrize("tools", REJECTED.values(), ids=list(REJECTED))


@rejected
def test_bc27_characters_and_length_that_providers_reject(tools):
    """Kind: names. Any raw name gets a legal wire name, and both spellings find the tool."""
    catalog = Catalog(tools, strict=True)
    search = ToolSearch(tools, ranker="bm25", cache=False)
    for position, tool in enumerate(tools):
        name, raw = catalog.wire_names[position], catalog[position].name
        assert LEGAL.fullmatch(name)
        assert catalog.raw(name) == (tool.get("namespace"), raw)
        assert catalog.find(raw) == catalog.find(name) == (position,)
        assert search.search(name).tools[0].position == position
        assert search.search(f"`{raw}`").tools[0].position == position


@rejected
@pytest.mark.parametrize(
    ("api", "mode"),
    [
        ("anthropic", "hosted"),
        ("anthropic", "reference"),
        ("responses", "hosted"),
    ],
)
def test_bc27_calls_map_back_also_from_references(tools, api, mode):
    """Kind: names. Every request is accepted, references of hosted and own searches included."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    first = search.turn([], model=USERS[api], api=api, mode=mode, deferred_tools=search.catalog.wire_names)
    paths = tuple(str(entry.get("name")) for entry in first.tools if entry.get("type") != "tool_search")
    for position, tool in enumerate(search.catalog):
        name = search.catalog.wire_names[position]
        steps = [Search(tool.description, paths=paths), Call(name), Say("Done.")]
        with LoopbackProvider(steps) as server:
            run = converse(server, search, api, mode=mode, deferred_tools=search.catalog.wire_names)
            assert (server.failures, server.remaining) == ([], 0)
            assert not [exchange for exchange in server.exchanges if exchange.status != 200]
        (call,) = run.calls
        assert (call.namespace, call.name, call.loaded) == (tool.namespace, tool.name, True)
        assert tool.name == name or json.dumps(tool.name) not in json.dumps(run.turns[-1].tools)
