"""Public bug reports about what is deferred, when, and through whom it can be loaded."""

from __future__ import annotations

import numpy as np
import pytest

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.deferral import plan_turn, search_mask
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.support import infer_api, lookup

MODELS = ("gpt-5.4", "claude-sonnet-5", "gemini-3-pro")


def tools(n, **fields):
    return [{"name": f"tool_{number:02}", "description": "Works", **fields} for number in range(n)]


def plan(definitions, config=None, model="gpt-5.4", *, base_url=None, transport=None, **options):
    config = config or SearchConfig()
    api = infer_api(model)
    support = lookup(model, api=api, base_url=base_url, transport=transport)
    catalog = definitions if isinstance(definitions, Catalog) else Catalog(definitions, strict=True)
    return plan_turn(catalog, config, api=api, support=support, **options)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("prefer", [None, "client"])
def test_bc43_a_forced_choice_of_a_deferred_tool_is_in_the_first_request(model, prefer):
    definitions = [*tools(20), {"name": "invoice_create", "description": "Bill a customer"}]
    first = plan(definitions, model=model, prefer=prefer, forced="invoice_create")
    assert first.full == ("invoice_create",)
    assert "invoice_create" not in first.deferred
    assert len(first.deferred) == 20
    later = plan(definitions, model=model, prefer=prefer, forced_before=("invoice_create",))
    assert (later.full, later.deferred) == (first.full, first.deferred)
    fresh = plan(definitions, model=model, prefer=prefer)
    assert "invoice_create" in fresh.deferred


@pytest.mark.parametrize("model", MODELS)
def test_bc43_a_choice_of_the_only_deferred_tool_leaves_no_search_behind(model):
    only = [{"name": "invoice_create", "description": "Bill a customer", "deferred": True}]
    made = plan(only, model=model, forced="invoice_create")
    assert (made.mode, made.full, made.search) == ("full", ("invoice_create",), None)


@pytest.mark.parametrize("model", ["gpt-5.4", "claude-sonnet-5"])
def test_bc43_a_choice_that_hosted_search_excludes_changes_the_mode(model):
    assert plan(tools(20), model=model).mode == "hosted"
    made = plan(tools(20), model=model, forced="tool_search")
    assert (made.mode, made.search, made.forced) == ("stub", "ours", "tool_search")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("deferred", "disabled", "searches"), [(0, False, False), (5, True, False), (5, False, True)]
)
def test_bc46_deferral_and_search_come_as_a_pair(model, deferred, disabled, searches):
    definitions = [*tools(deferred, deferred=True), {"name": "core", "description": "Core"}]
    made = plan(definitions, SearchConfig(mechanism=()) if disabled else SearchConfig(), model)
    assert (made.search is not None, len(made.deferred)) == (searches, 5 if searches else 0)
    assert len(made.full) == len(definitions) - len(made.deferred)


@pytest.mark.parametrize("model", ["claude-sonnet-5", "gpt-5.4"])
def test_bc47_an_address_that_is_not_first_party_is_searched_here(model):
    address = "https://gateway.example.test/v1"
    for prefer in (None, "hosted", "client"):
        made = plan(tools(20), model=model, base_url=address, prefer=prefer)
        assert (made.mode, made.search, made.betas) == ("stub", "ours", ())
    assert plan(tools(20), model=model, base_url=address, transport="first_party").mode == "hosted"


@pytest.mark.parametrize("model", MODELS)
def test_bc49_an_empty_allow_list_means_nothing(model):
    catalog = Catalog([{"name": "x", "description": "y", "deferred": True}])
    nothing = np.zeros(1, dtype=bool)
    made = plan(catalog, model=model, visible=nothing, loaded=("x",), forced_before=("x",))
    assert (made.mode, made.full, made.deferred, made.loaded, made.search) == ("full", (), (), (), None)
    assert not search_mask(catalog, SearchConfig(), made, nothing).any()


@pytest.mark.parametrize(
    ("window", "tokens", "deferred"),
    [(1_000_000, 60_000, True), (200_000, 60_000, True), (200_000, 1_500, False)],
)
def test_bc51_a_share_of_a_huge_window_has_a_cap(window, tokens, deferred):
    made = plan(
        tools(10), SearchConfig(threshold="10%"), window=window, count=lambda definition: tokens // 10
    )
    assert len(made.deferred) == (10 if deferred else 0)
    for number in (f"{tokens:,}", "20,000", f"{window:,}", "10%"):
        assert number in made.reason


@pytest.mark.parametrize(
    ("value", "count", "active"),
    [("", 14, False), ("", 15, True), ("  ", 14, False), ("  ", 15, True), (None, 14, False), (None, 15, True),
     ("0", 1, True), ("15", 14, False), ("15", 15, True)],
)  # fmt: skip
def test_bc52_settings_from_text(value, count, active):
    config = SearchConfig.from_json(
        {"capabilities": [{"ref": "tool_search", "config": {"threshold": value}}]}
    )
    assert (plan(tools(count), config).mode == "stub") is active


def test_bc52_a_share_from_text_is_a_share():
    config = SearchConfig.from_json(
        {"capabilities": [{"ref": "tool_search", "config": {"threshold": "10%"}}]}
    )
    assert plan(tools(40), config, window=1_000_000).mode == "full"
    assert plan(tools(2), config, window=200).mode == "stub"


@pytest.mark.parametrize("value", ["-3", "abc"])
def test_bc52_other_text_is_an_error_that_names_the_setting(value):
    with pytest.raises(ConfigError, match=r"^threshold: "):
        SearchConfig.from_json({"capabilities": [{"ref": "tool_search", "config": {"threshold": value}}]})
