"""Failures of other tool searches, from public reports: where the provider searches (BC-45, BC-46, BC-47)."""

from __future__ import annotations

import pytest
from case_tools import obj, t

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search
from turn_rounds import USERS, converse, send

TEXT = {"type": "string"}
LETTERS = [t("a", "always on", defer="never"), t("b", "deferred"), t("c", "deferred")]
GARDEN = [
    *(t(f"庭{i}", f"庭の仕事 niwa{i}", obj(場所=TEXT), defer="always") for i in range(40)),
    t("時計", "いまの時刻", defer="never"),
    t("暦", "今日の日付", defer="never"),
]
DEPOT = [
    t("Склад.Найти", "Найти товар", server="склад"),
    t("Помощь", "Справка", defer="never"),
    t("Склад.Списать", "Списать товар", server="склад"),
]
CATALOGS = {"reported": LETTERS, "japanese, 42": GARDEN, "cyrillic on a server": DEPOT}
catalogs = pytest.mark.parametrize("tools", CATALOGS.values(), ids=list(CATALOGS))


def engine(tools, **options):
    return ToolSearch(tools, config=SearchConfig(ranker="bm25", threshold=1), cache=False, **options)


def marked(tools):
    return [entry["name"] for entry in tools if "cache_control" in entry]


# --- BC-45: the cache marker


@catalogs
@pytest.mark.parametrize("mode", ["hosted", "reference"])
def test_bc45_the_marker_is_on_the_last_tool_that_is_not_deferred(tools, mode):
    """Kind: hosted. The prefix up to it is written once, and read back after a search has loaded a tool."""
    search = engine(tools)
    last = "tool_search_tool_bm25" if mode == "hosted" else "tool_search"
    name = next(each for each in search.catalog.wire_names if search.catalog[each].defer != "never")
    steps = [Search(search.catalog[name].description), Call(name), Say("Done.")]
    with LoopbackProvider(steps, cache_minimum=1) as server:
        run = converse(server, search, "anthropic", mode=mode, cache_breakpoint=True)
        assert (server.failures, server.remaining) == ([], 0)
        uses = [exchange.cache for exchange in server.exchanges]
    for turn in run.turns:
        assert marked(turn.tools) == [last]
        first_deferred = next(i for i, entry in enumerate(turn.tools) if entry.get("defer_loading"))
        assert turn.tools[first_deferred - 1]["name"] == last
    assert uses[0].written > 0
    assert all((use.read, use.written) == (uses[0].written, 0) for use in uses[1:])


@catalogs
@pytest.mark.parametrize("mode", ["hosted", "reference"])
def test_bc45_a_callers_marker_on_a_deferred_tool_is_moved_and_reported(tools, mode):
    """Kind: hosted. With the marker on it, the provider would refuse the request."""
    at = next(i for i, tool in enumerate(tools) if tool.get("defer") != "never")
    own = [
        {**tool, "cache_control": {"type": "ephemeral"}} if i == at else tool for i, tool in enumerate(tools)
    ]
    with LoopbackProvider([Say("Done.")]) as server:
        (turn,) = converse(server, engine(own), "anthropic", mode=mode).turns
    assert marked(turn.tools) == ["tool_search_tool_bm25" if mode == "hosted" else "tool_search"]
    moved = engine(own).catalog.wire_names[at]
    assert f"cache_control was moved off deferred tools: {moved}." in turn.plan.warnings


@pytest.mark.parametrize("api", ["responses", "chat"])
@catalogs
def test_bc45_no_marker_is_written_where_none_exists(tools, api):
    """Kind: hosted. OpenAI caches by itself; a marker of Anthropic's is no field there."""
    own = [{**tool, "cache_control": {"type": "ephemeral"}} for tool in tools]
    with LoopbackProvider([Say("Done.")]) as server:
        (turn,) = converse(server, engine(own), api).turns
    assert "cache_control" not in str(turn.tools)


# --- BC-46: deferral and search come as a pair

OFFICE = [t(f"Büro{i}", f"Vorgang {i} im Büro") for i in range(5)]
PAIRS = {
    "reported": [t(f"tool_{i}", "Works") for i in range(5)],
    "german": OFFICE,
    "arabic on a server": [t(f"أداة-{i}", "عمل", server="مكتب") for i in range(30)],
}


@pytest.mark.parametrize("tools", PAIRS.values(), ids=list(PAIRS))
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
@pytest.mark.parametrize("deferred", ["none", "search disabled", "all"])
def test_bc46_deferral_and_search_come_as_a_pair(tools, api, deferred):
    """Kind: hosted. No search tool without deferred tools, and nothing deferred without a search tool."""
    flagged = [{**tool, "defer": "never" if deferred == "none" else "always"} for tool in tools]
    config = SearchConfig(ranker="bm25", **({"mechanism": ()} if deferred == "search disabled" else {}))
    search = ToolSearch([*flagged, t("core", "Core", defer="never")], config=config, cache=False)
    with LoopbackProvider([Say("Done.")]) as server:
        (turn,) = converse(server, search, api).turns
        (view,) = [exchange.view for exchange in server.exchanges]
    deferring = deferred == "all"
    assert (turn.plan.search is not None, view.search is not None) == (deferring, deferring)
    assert len(turn.plan.deferred) == (len(tools) if deferring else 0)
    assert ("defer_loading" in str(turn.tools)) == (deferring and api != "chat")
    assert deferring or len(turn.plan.full) == len(turn.tools) == len(tools) + 1 or api == "responses"
    assert deferring or not view.hidden


# --- BC-47: a transport that ignores deferral

GATEWAYS = {
    "reported": "https://gateway.example.test/v1",
    "by number": "http://10.0.0.7:8080",
    "a look-alike": "https://api.anthropic.com.example.test",
    "another look-alike": "https://example.test/api.openai.com/v1",
}


@pytest.mark.parametrize("address", GATEWAYS.values(), ids=list(GATEWAYS))
@pytest.mark.parametrize("model", ["claude-sonnet-5", "gpt-5.4"])
def test_bc47_an_address_that_is_not_first_party_is_searched_here(model, address):
    """Kind: hosted. A bare model id says nothing about a gateway; only an override trusts it."""
    search = engine([t(f"tool_{i}", "Works") for i in range(20)])
    for prefer in (None, "hosted", "client"):
        plan = search.turn([], model=model, base_url=address, prefer=prefer).plan
        assert (plan.mode, plan.search, plan.betas) == ("stub", "ours", ())
    assert search.turn([], model=model, base_url=address, transport="first_party").plan.mode == "hosted"


@catalogs
@pytest.mark.parametrize("api", ["anthropic", "responses"])
def test_bc47_a_call_without_any_search_is_the_sign_of_ignored_deferral(tools, api):
    """Kind: hosted. Told of the response in which it shows, and not again for what is loaded by then."""
    search = engine(tools)
    name = next(each for each in search.catalog.wire_names if search.catalog[each].defer != "never")
    options = {"model": USERS[api], "base_url": GATEWAYS["reported"], "transport": "first_party"}
    user = {"role": "user", "content": "Do it."}
    with LoopbackProvider([Call(name)]) as server:
        turn = search.turn([user], **options)
        assert turn.plan.mode == "hosted"
        response = send(server, api, turn, USERS[api])
        (notice,) = turn.notices(response)
    assert name in notice
    assert "ignore deferral" in notice
    said = response.to_dict(mode="json")
    history = said["output"] if api == "responses" else [{"role": "assistant", "content": said["content"]}]
    assert search.turn([user, *history], **options).notices(response) == ()
    with LoopbackProvider([Search(search.catalog[name].description), Call(name), Say("Done.")]) as server:
        run = converse(server, search, api, **{key: options[key] for key in ("base_url", "transport")})
    assert [turn.notices(response) for turn, response in zip(run.turns, run.responses, strict=True)] == [
        ()
    ] * 2
