"""Failures of other tool searches, from public reports: permissions through whole turns (BC-48, BC-49)."""

from __future__ import annotations

import json

import pytest
from case_tools import asked, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Parallel, Say, Search
from turn_rounds import converse

PAYROLL = [t("payroll_export", "Export salaries"), t("payslip_mine", "My own payslip")]
VAULT = [
    t("OpenVault", "Open the vault", server="treasury"),
    t("ListCoins", "List the coins shown to visitors", server="museum"),
    *(t(f"ShowRoom{i}", f"What hangs in room {i}", server="museum") for i in range(50)),
]
WARD = [t("患者.記録", "患者の記録を開く", server="病棟"), t("献立", "今日の献立", server="食堂")]
HIDDEN = {
    "reported": (PAYROLL, ["export salaries", "payroll_export", "", "no such thing"]),
    "pascal on a server, 52": (
        VAULT,
        ["open the vault", "OpenVault", "treasury.OpenVault", "treasury", "", "xyzzy"],
    ),
    "japanese dotted": (WARD, ["患者の記録", "患者.記録", "病棟", "", "存在しない"]),
}
hidden = pytest.mark.parametrize(("tools", "queries"), HIDDEN.values(), ids=list(HIDDEN))
"""The first tool of each catalog is one that the caller may not see."""


def both(tools):
    """The search with the forbidden tool, and one that never had it; what the caller may see; its wire name."""
    searches = [ToolSearch(catalog, ranker="bm25", cache=False) for catalog in (tools, tools[1:])]
    return *searches, set(searches[1].catalog.wire_names), searches[0].catalog.wire_names[0]


@hidden
@pytest.mark.parametrize("mode", ["stub", "bridge"])
def test_bc48_a_forbidden_tool_is_in_no_answer(tools, queries, mode):
    """Kind: permissions. Every answer is that of a catalog which never had the tool."""
    with_it, without, visible, wire = both(tools)
    for query in queries:
        arguments = {"query": query, "names": []}
        given = asked(with_it, arguments, mode=mode, visible=visible, deferred_tools=visible)
        assert given == asked(without, arguments, mode=mode, deferred_tools=visible)
        assert wire not in json.dumps({key: value for key, value in given.items() if key != "query"})
    named = asked(with_it, {"query": "", "names": [wire]}, mode=mode, visible=visible, deferred_tools=visible)
    assert named == asked(without, {"query": "", "names": [wire]}, mode=mode, deferred_tools=visible)
    assert (named["loaded"], [entry["name"] for entry in named["unknown"]]) == ([], [wire])
    assert wire not in named["unknown"][0]["nearest"]


@hidden
@pytest.mark.parametrize(
    ("api", "mode"),
    [
        ("anthropic", "hosted"),
        ("responses", "output"),
        ("chat", "stub"),
        ("chat", "bridge"),
    ],
)
def test_bc48_a_forbidden_tool_is_in_no_request_and_a_call_of_it_in_no_run(tools, queries, api, mode):
    """Kind: permissions. A direct call is refused the same way as an unknown name, whoever searches."""
    with_it, without, visible, wire = both(tools)
    runs = []
    for search in (with_it, without):
        call = Call(wire, {}) if mode != "bridge" else Call("call_tool", {"name": wire, "arguments": {}})
        seen = {"visible": visible, "deferred_tools": visible}
        with LoopbackProvider(
            [Search(queries[0]), Parallel([call, Search("xyzzy")]), Say("Done.")]
        ) as server:
            runs.append(converse(server, search, api, mode=mode, **seen))
            sent = [body["tools"] for body in server.requests]
        assert wire not in json.dumps(sent)
        assert runs[-1].calls == []
        assert all(
            wire not in (*turn.plan.full, *turn.plan.deferred, *turn.plan.loaded) for turn in runs[-1].turns
        )
    assert runs[0].results == runs[1].results
    assert [turn.instructions for turn in runs[0].turns] == [turn.instructions for turn in runs[1].turns]


NOTHING = {
    "reported": [t("x", "y")],
    "japanese": [t("検索", "探す"), t("削除", "消す")],
    "on servers, 60": [t(f"Job{i}", "y", server=f"s{i % 7}") for i in range(60)],
}
nothing = pytest.mark.parametrize("tools", NOTHING.values(), ids=list(NOTHING))


@nothing
@pytest.mark.parametrize("model", ["llama-4", "claude-sonnet-5", "gpt-5.4", "gemini-3-pro"])
def test_bc49_an_empty_allow_list_means_nothing(tools, model):
    """Kind: permissions. No tool and no search is offered."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    turn = search.turn([], model=model, visible=set(), deferred_tools=search.catalog.wire_names)
    assert (turn.tools, turn.instructions, turn.plan.search) == ([], "", None)
    assert (turn.plan.full, turn.plan.deferred, turn.plan.loaded) == ((), (), ())


@nothing
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc49_nothing_is_searchable_listed_or_callable(tools, api):
    """Kind: permissions. Also for a model that calls what was never offered, or was so before."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    name = search.catalog.wire_names[0]
    calls = [Call("tool_search", {"query": "y"}), Call("tool_search", {"query": ""}), Call(name)]
    with LoopbackProvider([Parallel(calls), Say("Done.")]) as server:
        run = converse(server, search, api, visible=set())
        assert [body.get("tools", []) for body in server.requests] == [[], []]
    assert run.calls == []
    *searches, refused = [answer.get("content", answer.get("output")) for answer in run.results[0]]
    for given in map(json.loads, searches):
        assert given["loaded"] == given["tools"] == []
        assert (given.get("names"), given["total"]) == (None, 0)
        assert given["note"].startswith("There are no tools to search here.")
    assert f"no tool called '{name}'" in refused
    assert "Nearest" not in refused
