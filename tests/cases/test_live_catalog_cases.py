"""Failures of other tool searches, from public reports: the catalog changes during the session (BC-35)."""

from __future__ import annotations

import json

import pytest
from case_tools import asked, found, obj, t

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.loaded import SessionStore, loaded_names
from semantic_toolsearch.testing import HashingEmbedder
from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search
from turn_rounds import converse

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
NOTE = t("note_write", "Write a note")

LAB = (
    "lab",
    [t("probe_run", "Run a probe", obj(a=TEXT), server="lab")],
    [
        t("probe_run", "Run a probe", obj(a=TEXT, b=WHOLE), server="lab"),
        t("centrifuge_spin", "Spin samples", server="lab"),
    ],
)
HARBOUR = (
    "港",
    [t("満潮.照会", "満潮の時刻を照会する", obj(港=TEXT), server="港")],
    [
        t("満潮.照会", "満潮の時刻を照会する", obj(港=TEXT, 日=WHOLE), server="港"),
        t("係留.予約", "係留場所を予約する", server="港"),
    ],
)
CLINIC = (
    None,
    [
        t("ЗаписьПриём", "Записать на приём", obj(врач=TEXT)),
        *(t(f"Палата{i}", f"Палата {i}") for i in range(60)),
    ],
    [
        t("ЗаписьПриём", "Записать на приём", obj(врач=TEXT, час=WHOLE)),
        *(t(f"Палата{i}", f"Палата {i}") for i in range(60)),
        t("ВыпискаРецепта", "Выписать рецепт на лекарство"),
    ],
)
CHANGES = {"reported": LAB, "japanese dotted": HARBOUR, "cyrillic, no server, 61": CLINIC}
changes = pytest.mark.parametrize(("space", "v1", "v2"), CHANGES.values(), ids=list(CHANGES))
"""A server's tools before and after: the first one gets a parameter, the last one is new."""


@changes
@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25", "keyword", "regex"])
def test_bc35_x13_what_is_replaced_is_found_and_what_is_removed_vanishes(space, v1, v2, ranker):
    """Kind: dynamic catalogue. In hits, hints, suggestions, names and schemas, there and back."""
    others = [] if space is None else [NOTE]
    search = ToolSearch([*v1, *others], ranker=ranker, embedder=HashingEmbedder(), cache=False)
    new, same = v2[-1], v2[0]
    assert new["name"] not in found(search, new["description"])
    search.replace(space, v2)
    assert found(search, new["description" if ranker != "keyword" else "name"])[0] == new["name"]
    wire = search.catalog.wire_names[[tool.name for tool in search.catalog].index(new["name"])]
    hit = search.search(same["name"]).tools[0]
    assert hit.tool.parameters == same["parameters"]
    search.replace(space, v1)
    for ask in (new["description"], new["name"], "", "unfindable words"):
        shown = search.search(ask).as_dict()
        shown.pop("query")
        assert new["name"] not in str(shown)
        assert wire not in str(shown)
    wanted = search.search(names=[new["name"]])
    assert wanted.tools == ()
    assert wanted.unknown[0].name == new["name"]
    assert search.search(same["name"]).tools[0].tool.parameters == v1[0]["parameters"]


@changes
@pytest.mark.parametrize(
    ("api", "mode"),
    [("anthropic", "stub"), ("anthropic", "reference"), ("responses", "stub"), ("chat", "stub")],
)
def test_bc35_a_conversation_follows_the_catalog_there_and_back(space, v1, v2, api, mode):
    """Kind: dynamic catalogue. What is loaded is sent with its schema of today, and goes with its tool."""
    others = [] if space is None else [NOTE]
    search = ToolSearch([*v1, *others], config=SearchConfig(ranker="bm25", threshold=1), cache=False)
    steps = [
        Search(v1[0]["description"]),
        Say("One."),
        Search(v2[-1]["description"]),
        Say("Two."),
        Say("Three."),
    ]
    with LoopbackProvider(steps) as server:
        first = converse(server, search, api, mode=mode)
        search.replace(space, v2)
        same, new = search.catalog.wire_names[0], search.catalog.wire_names[len(v2) - 1]
        user = {"role": "user", "content": "Go on."}
        second = converse(server, search, api, mode=mode, messages=[*first.messages, user])
        search.replace(space, v1)
        third = converse(server, search, api, mode=mode, messages=[*second.messages, user])
        assert (server.failures, server.remaining) == ([], 0)
        views = [server.model_view(at) for at in (1, 2, 4)]
    schemas = [view.find(same).parameters for view in views]
    assert [
        schema == v1[0]["parameters"] or schema == v2[0]["parameters"] for schema in schemas
    ] or mode != "stub"
    said = [json.dumps(schema, ensure_ascii=False) for schema in schemas]
    old, added = (next(reversed(tools[0]["parameters"]["properties"])) for tools in (v1, v2))
    assert [f'"{added}"' in text for text in said] == [False, True, False]
    assert all(f'"{old}"' in text for text in said)
    assert [same in run.turns[-1].plan.loaded for run in (first, second, third)] == [True] * 3
    assert [new in run.turns[-1].plan.loaded for run in (first, second, third)] == [False, True, False]
    assert new not in json.dumps(third.turns[-1].tools)
    for query in (v2[-1]["description"], v2[-1]["name"], "", "xyzzy"):
        given = asked(search, {"query": query})
        assert new not in json.dumps({key: value for key, value in given.items() if key != "query"})
    store = SessionStore()
    store.add("s", [new, same])
    assert loaded_names([], search.catalog, store=store, session="s") == (same,)


def test_bc35_kind_a_server_that_goes_away_and_comes_back_renamed(model):
    """Kind: dynamic catalogue. The same tools under another server's name; one server never disturbs another."""
    wiki = [t("page_create", "Create a page", server="wiki")]
    search = ToolSearch([*LAB[2], *wiki], embedder=model)
    search.search("spin samples")
    search.replace("lab", [])
    assert [name for name, _ in search.search("").namespaces] == ["wiki"]
    search.replace("laboratory", [{**tool, "namespace": "laboratory"} for tool in LAB[2]])
    assert search.search("spin samples").tools[0].name == "laboratory__centrifuge_spin"
    assert search.search("create a page").tools[0].name == "wiki__page_create"
    assert search.stats().registered == search.stats().indexed == 3
