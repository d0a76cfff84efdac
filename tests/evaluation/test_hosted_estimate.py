"""What asking hosted searches would take, said before anything is sent."""

from __future__ import annotations

import pytest
from hosted_sets import ARMS, arm_of, ask, searches_once, shop

from semantic_toolsearch.accounting import CHARACTERS
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.hosted import PRICES, Price, estimate, live_arm
from semantic_toolsearch.evaluation.hosted.prices import price_of
from semantic_toolsearch.testing.loopback import LoopbackProvider, Status


def test_requests_and_tokens_of_every_search_are_told():
    found = estimate([shop()], ARMS, counter=CHARACTERS)
    assert [(row.arm, row.task, row.requests, row.stored) for row in found.rows] == [
        (name, "shop", 8, 0) for name in ARMS
    ]
    assert found.requests == 24
    assert found.output_tokens == sum(row.output_tokens for row in found.rows) == 24 * 200
    assert all(row.input_tokens > 8 * 2 * 100 for row in found.rows)


def test_deferred_tools_cost_nothing_at_anthropic_and_their_names_do_at_openai():
    long = shop(
        tools=tuple(tool.model_copy(update={"description": "words " * 400}) for tool in shop().tools[6:]),
        ids=shop().ids[6:],
        queries=shop().queries[2:3],
        gold={"q3": {"fx_rate": 1}},
    )
    claude, _, gpt = estimate([long], ARMS, counter=CHARACTERS).rows
    tokens = 2_400 / 4
    assert claude.input_tokens == pytest.approx(5 * tokens, abs=2_200)
    assert gpt.input_tokens == pytest.approx((2 * 6 + 1) * tokens, abs=900)


def test_money_follows_from_tokens_and_prices():
    price = Price(4.0, 8.0, "a contract", "2026-10")
    (row,) = estimate([shop()], ["anthropic-bm25"], model="claude-next", prices={"claude-next": price}).rows
    assert row.cost == pytest.approx((row.input_tokens * 4 + row.output_tokens * 8) / 1e6)
    assert row.most_cost == pytest.approx((row.input_tokens * 4 + 8 * 2_048 * 8) / 1e6)
    text = str(estimate([shop()], ["anthropic-bm25"], model="claude-next", prices={"claude-next": price}))
    assert "a contract, 2026-10" in text


def test_no_price_is_made_up():
    found = estimate([shop()], ["anthropic-bm25", "openai-tool-search"], model="nobody-knows")
    assert (found.cost, found.most_cost) == (None, None)
    assert found.input_tokens > 0
    assert "not known" in str(found)
    assert "No price of nobody-knows is known here" in str(found)


def test_every_price_says_where_and_when_it_was_read():
    assert all(price.input > 0 and price.output > 0 and price.source for price in PRICES.values())
    assert all(price.date.startswith("20") for price in PRICES.values())
    assert price_of("claude-haiku-4-5-20251001") is PRICES["claude-haiku-4-5"]
    assert price_of("gpt-5.4-2026-03-05") is PRICES["gpt-5.4"]
    assert price_of("gpt-5.4", {"gpt-5.4": Price(1, 2)}) == Price(1, 2)
    assert price_of("gpt-5.44") is None


def test_stored_responses_are_taken_off(tmp_path):
    ask("anthropic-bm25", searches_once, tmp_path, shop().only(shop().queries[:3]))
    arm = live_arm("anthropic-bm25", store=tmp_path)
    (row,) = estimate([shop()], [arm]).rows
    assert (row.requests, row.stored) == (5, 3)
    (row,) = estimate([shop()], [live_arm("anthropic-bm25", store=tmp_path, limit=2)]).rows
    assert (row.requests, row.stored) == (2, 3)
    (row,) = estimate([shop()], [live_arm("anthropic-bm25", store=tmp_path, replay=True)]).rows
    assert (row.requests, row.stored, row.cost) == (0, 3, 0.0)


def test_failed_requests_will_be_sent_again(tmp_path):
    ask("anthropic-bm25", lambda view: Status(401), tmp_path)
    (row,) = estimate([shop()], [live_arm("anthropic-bm25", store=tmp_path)]).rows
    assert (row.requests, row.stored) == (8, 0)


def test_what_cannot_be_asked_is_told_and_the_rest_estimated():
    empty = shop(name="empty", tools=(), ids=(), queries=(), gold={})
    found = estimate([empty, shop()], ["anthropic-bm25"])
    assert found.rows[0].failed is not None
    assert found.rows[1].requests == 8
    assert "anthropic-bm25 on empty: " in str(found)
    with pytest.raises(ConfigError, match="no hosted search 'bm25'"):
        estimate([shop()], ["bm25"])


def test_the_table_fits_a_terminal():
    lines = str(estimate([shop()], ARMS)).splitlines()
    assert lines[0].split() == [
        "search",
        "dataset",
        "requests",
        "stored",
        "input",
        "tokens",
        "output",
        "tokens",
        "US$",
        "at",
        "most",
    ]
    assert all(len(line) <= 100 for line in lines[:5])
    assert lines[4].startswith("all ")


def test_nothing_is_sent_to_estimate(tmp_path):
    with LoopbackProvider(searches_once) as server:
        estimate([shop()], [arm_of(name, server, tmp_path) for name in ARMS])
        assert server.exchanges == []
    assert list(tmp_path.iterdir()) == []
