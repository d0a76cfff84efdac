"""Failures of other tool searches, from public reports: thresholds and what is counted (BC-51, BC-52, BC-53)."""

from __future__ import annotations

import json

import pytest
from case_tools import obj, t

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.accounting import TokenCounter, turn_tokens
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exchange import TurnPlan, TurnRequest, search_tool
from semantic_toolsearch.providers import anthropic
from semantic_toolsearch.testing.loopback import LoopbackProvider, Say, Search
from semantic_toolsearch.threshold import estimate_tokens
from turn_rounds import converse

# --- BC-51: a share of a huge window


def wordy(tools, tokens, letter="x"):
    """Tools whose definitions are estimated at no less than so many tokens, and hardly more."""
    return [t(f"tool_{i}", letter * (4 * tokens // tools)) for i in range(tools)]


@pytest.mark.parametrize(
    ("window", "tools", "tokens", "share", "cap", "deferred"),
    [
        (1_000_000, wordy(10, 60_000), 60_000, "10%", 20_000, True),
        (200_000, wordy(10, 60_000), 60_000, "10%", 20_000, True),
        (200_000, wordy(10, 1_500), 1_500, "10%", 20_000, False),
        (2_000_000, wordy(300, 21_000, "語"), 21_000, "50%", 20_000, True),
        (2_000_000, wordy(300, 21_000, "語"), 21_000, "50%", None, False),
        (8_000, wordy(3, 900, "ж"), 900, "5%", 20_000, True),
    ],
    ids=[
        "reported",
        "reported, smaller window",
        "reported, few",
        "japanese, 300",
        "no cap",
        "cyrillic, tiny window",
    ],
)
def test_bc51_a_share_of_a_huge_window_has_a_cap(window, tools, tokens, share, cap, deferred):
    """Kind: threshold. A share alone would defer nothing in a huge window; the decision says its numbers."""
    config = SearchConfig(threshold=share, ranker="bm25", **({} if cap == 20_000 else {"threshold_cap": cap}))
    plan = ToolSearch(tools, config=config, cache=False).turn([], model="gpt-5.4", window=window).plan
    assert len(plan.deferred) == (len(tools) if deferred else 0)
    assert (plan.search is not None) == deferred
    limit = min(int(window * int(share[:-1]) / 100), cap or window)
    assert f"{limit:,} tokens ({share} of a window of {window:,} tokens" in plan.reason
    told = int(plan.reason.split(" tokens of ")[0].split()[-1].replace(",", ""))
    assert tokens <= told <= 1.5 * tokens + 100


# --- BC-52: settings from text


def deferring(value, tools, window=None):
    config = SearchConfig.from_json(
        {"capabilities": [{"ref": "tool_search", "config": {"threshold": value}}]}
    )
    search = ToolSearch([t(f"tool_{i}", "Works") for i in range(tools)], config=config, cache=False)
    return search.turn([], model="llama-4", window=window).plan.search is not None


@pytest.mark.parametrize(
    ("values", "count"),
    [
        (["", "  ", None], 15),
        (["0"], 1),
        (["15"], 15),
        (["\t", "\n "], 15),
        ([" 7 ", 7, "007"], 7),
        (["0%", 0], 1),
    ],
    ids=[
        "reported: empty",
        "reported: zero",
        "reported",
        "other white space",
        "spaces and zeros",
        "other zeros",
    ],
)
def test_bc52_settings_from_text(values, count):
    """Kind: threshold. Empty means the default and never zero; zero means always; digits are a number of tools."""
    for value in values:
        assert deferring(value, count), value
        assert count == 1 or not deferring(value, count - 1), value


@pytest.mark.parametrize("value", ["10%", " 10 %", "10.0%"], ids=["reported", "spaces", "decimal"])
def test_bc52_a_share_from_text_is_a_share(value):
    """Kind: threshold. A number with a per cent sign is no number of tools."""
    assert not deferring(value, 40, window=1_000_000)
    assert deferring(value, 2, window=200)


@pytest.mark.parametrize("value", ["-3", "abc", "15 tools", "１５", "٣", "1e3", "101%", "%", "ten"])
def test_bc52_other_text_is_an_error_that_names_the_setting(value):
    """Kind: threshold. Nothing is guessed from what is no number."""
    with pytest.raises(ConfigError, match=r"^threshold: "):
        deferring(value, 1)


# --- BC-53: the budget counts what is sent

LONG = {"type": "string", "description": "said at length " * 9}
COUNTED = {
    "reported": (4, 36, 2, [t(f"tool_{i:02}", "a", obj(what=LONG)) for i in range(40)]),
    "japanese": (1, 11, 3, [t(f"道具{i}", "あ", obj(何=LONG, 幾つ={"type": "integer"})) for i in range(12)]),
    "pascal on a server, 150": (
        0,
        150,
        1,
        [t(f"Tool{i}", "a", obj(what=LONG), server="lab") for i in range(150)],
    ),
}
counted = pytest.mark.parametrize(
    ("always", "deferred", "loaded", "tools"), COUNTED.values(), ids=list(COUNTED)
)


def characters(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + 1  # and a comma or bracket


@counted
def test_bc53_the_budget_counts_what_is_sent(always, deferred, loaded, tools):
    """Kind: tokens. Full schemas, stubs and the search tool, and the saving against all schemas."""
    catalog = Catalog(tools)
    names, search = catalog.wire_names, search_tool(offer_limit=True, max_limit=20)

    def count(number):
        full = names[: always + number]
        plan = TurnPlan("stub", "anthropic", "", full, names[always + number :], full[always:], "ours")
        request = TurnRequest(catalog, plan, search)
        return turn_tokens(request, anthropic.render(request), TokenCounter("characters", len))

    everything = TurnPlan("full", "anthropic", "", names)
    entries = list(map(characters, anthropic.render(TurnRequest(catalog, everything))))
    stub = {"type": "object", "additionalProperties": True}
    small = [
        characters({"name": n, "description": catalog[n].description, "input_schema": stub}) for n in names
    ]
    own = characters(
        {"name": search.name, "description": search.description, "input_schema": search.parameters}
    )
    before, after = count(0), count(loaded)
    assert before.sent == sum(entries[:always]) + sum(small[always:]) + own + 1
    assert after.sent == sum(entries[: always + loaded]) + sum(small[always + loaded :]) + own + 1
    assert before.full == after.full == sum(entries) + 1
    assert after.saved == after.full - after.sent
    assert after.loaded == sum(entries[always : always + loaded]) + 1


@counted
def test_bc53_the_count_changes_with_the_turn_that_first_sends_a_schema(always, deferred, loaded, tools):
    """Kind: tokens. Not when a tool is found, but when the next request carries it."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    names = search.catalog.wire_names
    wanted = list(names[always : always + loaded])
    options = {"mode": "stub", "never_defer": names[:always], "deferred_tools": names[always:]}
    steps = [Search(arguments={"query": "", "names": wanted}), Say("Done.")]
    with LoopbackProvider(steps) as server:
        run = converse(server, search, "chat", **options)
        sent = [body["tools"] for body in server.requests]
    before, after = (turn.tokens for turn in run.turns)
    assert [turn.plan.loaded for turn in run.turns] == [(), tuple(wanted)]
    assert after.sent > before.sent
    assert before.full == after.full == before.sent + before.saved == after.sent + after.saved
    for tokens, body in zip((before, after), sent, strict=True):
        assert abs(tokens.sent - estimate_tokens(body)) <= 0.1 * tokens.sent
