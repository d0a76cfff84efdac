from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.config import SearchConfig
from semantic_toolsearch.deferral import search_mask
from semantic_toolsearch.errors import ConfigError, UnknownToolError
from semantic_toolsearch.exchange import SEARCH_TOOL_NAME, search_tool
from semantic_toolsearch.modes import MAX_DEFERRED
from semantic_toolsearch.policies import PolicyLists
from semantic_toolsearch.threshold import estimate_tokens

MODELS = ("gpt-5.4", "claude-sonnet-5", "gemini-3-pro")
JSON_FORM = SearchConfig.from_json({"capabilities": ["auto_tool_search"]})
GATEWAY = "https://gw.example.test/v1"


def tool(name, **fields):
    return {"name": name, "description": f"Does {name}", **fields}


# Which mode


def test_e08_o19_the_mode_is_chosen_for_each_model_anew(plan, many):
    made = [plan(many(20), model=model) for model in ("gpt-5.4", "gemini-3-pro", "claude-sonnet-5")]
    assert [one.mode for one in made] == ["hosted", "stub", "hosted"]
    assert [one.search for one in made] == ["openai", "ours", "bm25"]
    assert all(len(one.deferred) == 20 and one.betas == () for one in made)


@pytest.mark.parametrize("model", ["gemini-3-pro", "llama-4", "unknown-model", "claude-3-5-haiku", "gpt-4.1"])
def test_e12_e17_auto_searches_here_for_every_other_model(model, plan, many):
    made = plan(many(20), model=model)
    assert (made.mode, made.search, made.unloaded) == ("stub", "ours", "stub")
    assert len(made.deferred) == 20
    assert "model not supported" in made.reason


def test_e13_chat_completions_never_carry_hosted_search(plan, many):
    made = plan(many(20), model="gpt-5.4", api="chat")
    assert (made.mode, made.api) == ("stub", "chat")


def test_e14_an_absent_model_is_not_known(plan, many):
    made = plan(many(20), model=None, api="chat")
    assert made.mode == "stub"
    assert "model not known" in made.reason


@pytest.mark.parametrize(
    "model", ["anthropic.claude-sonnet-5-v1:0", "us.anthropic.claude-opus-5-v1:0", "anthropic/claude-sonnet-5",
              "openai/gpt-5.4", "openrouter/openai/gpt-5.5"],
)  # fmt: skip
@pytest.mark.parametrize("api", ["chat", "anthropic", "responses"])
def test_e18_e19_ids_with_a_prefix_are_searched_here(model, api, plan, many):
    assert plan(many(20), model=model, api=api).mode == "stub"


def test_e22_a_masked_transport_may_send_everything_in_full(plan, many):
    made = plan(many(20), SearchConfig.preset("everruns"), "gpt-5.4", base_url=GATEWAY)
    assert (made.mode, len(made.full), made.search) == ("full", 20, None)
    assert "gw.example.test" in made.reason
    assert "gateway" in made.reason


def test_d12_a_masked_transport_is_searched_here_by_default(plan, many):
    made = plan(many(20), model="gpt-5.4", base_url=GATEWAY)
    assert (made.mode, len(made.deferred)) == ("stub", 20)
    assert "gw.example.test" in made.reason
    assert plan(many(20), model="gpt-5.4", base_url=GATEWAY, transport="first_party").mode == "hosted"


def test_e41_openai_tool_search_does_nothing_on_other_models(plan, many, caplog):
    config = SearchConfig(mechanism="openai_tool_search")
    for model in ("gpt-4.1", "claude-sonnet-5", "gemini-3-pro"):
        made = plan(many(20), config, model)
        assert (made.mode, len(made.full), made.search, made.warnings) == ("full", 20, None, ())
        assert "model not supported" in made.reason
    assert not caplog.records


def test_e54_claude_tool_search_does_nothing_on_other_models(plan, many):
    config = SearchConfig(mechanism="claude_tool_search")
    for model in ("claude-3-5-haiku", "gpt-5.4", "gemini-3-pro"):
        made = plan(many(20), config, model)
        assert (made.mode, made.search, made.warnings) == ("full", None, ())
        assert "claude_tool_search: model not supported" in made.reason


@pytest.mark.parametrize("transport", ["bedrock_converse", "openrouter"])
def test_e55_e56_converse_and_openrouter_are_full_alone_and_stubs_under_auto(transport, plan, many):
    alone = plan(
        many(20), SearchConfig(mechanism="claude_tool_search"), "claude-sonnet-5", transport=transport
    )
    assert alone.mode == "full"
    assert transport in alone.reason
    for config in (SearchConfig(), SearchConfig.preset("everruns")):
        assert plan(many(20), config, "claude-sonnet-5", transport=transport).mode == "stub"


def test_d10_a_hosted_capability_alone_raises_when_asked_to(plan, many):
    config = SearchConfig(mechanism="claude_tool_search", on_unsupported="raise")
    with pytest.raises(ConfigError, match=r"'claude-3-5-haiku'.*'first_party'.*tool_search"):
        plan(many(20), config, "claude-3-5-haiku")
    with pytest.raises(ConfigError, match="'openrouter'"):
        plan(many(20), config, "claude-sonnet-5", transport="openrouter")
    assert plan(many(20), config, "claude-sonnet-5").mode == "hosted"


def test_d13_newer_models_and_disputed_ones_in_a_plan(plan, many):
    newer = plan(many(20), model="gpt-5.7")
    assert newer.mode == "stub"
    assert "newer than the table" in newer.reason
    assert plan(many(20), SearchConfig(assume_newer=True), "gpt-6.1-sol").mode == "hosted"
    disputed = plan(many(20), model="claude-opus-4-1")
    assert disputed.mode == "hosted"
    assert len(disputed.warnings) == 1
    assert plan(many(14), model="claude-opus-4-1").warnings == ()
    row = SearchConfig(support={"claude-opus-4-1": False})
    assert plan(many(20), row, "claude-opus-4-1").mode == "stub"


def test_x28_a_transport_that_takes_regex_gets_regex(plan, many):
    assert plan(many(20), model="claude-sonnet-5", transport="bedrock_invoke").search == "regex"
    config = SearchConfig(transports={"vertex": {"betas": ["b"]}})
    made = plan(many(20), config, "claude-sonnet-5", transport="vertex")
    assert (made.search, made.betas) == ("bm25", ("b",))
    assert plan(many(14), config, "claude-sonnet-5", transport="vertex").betas == ()


@pytest.mark.parametrize(
    ("model", "mode"), [("claude-sonnet-5", "reference"), ("gpt-5.4", "output"), ("gemini-3-pro", "stub")]
)
def test_o19_our_ranker_is_used_in_the_providers_own_form_when_preferred(model, mode, plan, many):
    made = plan(many(20), model=model, prefer="client")
    assert (made.mode, made.search, len(made.deferred)) == (mode, "ours", 20)
    alone = SearchConfig(mechanism="tool_search")
    assert plan(many(20), alone, model).mode == "stub"
    assert plan(many(20), alone, model, prefer="client").mode == mode
    assert plan(many(20), alone, model, prefer="hosted").mode == "stub"


def test_o19_where_the_form_does_not_work_stubs_are_sent(plan, many):
    assert plan(many(20), model="gpt-5.4", api="chat", prefer="client").mode == "stub"
    assert plan(many(20), model="gpt-5.4", base_url=GATEWAY, prefer="client").mode == "stub"
    assert plan(many(20), model="claude-sonnet-5", transport="bedrock_invoke", prefer="client").mode == "stub"
    alone = SearchConfig(mechanism="openai_tool_search")
    assert plan(many(20), alone, "gpt-5.4", prefer="client").mode == "output"
    only = SearchConfig(mechanism="claude_tool_search")
    assert (
        plan(many(20), only, "claude-sonnet-5", transport="bedrock_invoke", prefer="client").mode == "hosted"
    )


def test_s15_the_plan_says_that_the_ranker_is_not_used(plan, many):
    config = SearchConfig(ranker="semantic")
    assert "ranker (semantic) is not used" in plan(many(20), config, "gpt-5.4").reason
    assert "not used" not in plan(many(20), config, "gpt-5.4", prefer="client").reason


def test_a_mode_that_was_asked_for_is_used_or_an_error(plan, many):
    for mode in ("full", "stub", "bridge"):
        for model in MODELS:
            made = plan(many(20), model=model, mode=mode)
            assert (made.mode, made.search) == (mode, None if mode == "full" else "ours")
    assert plan(many(20), model="claude-sonnet-5", mode="reference").mode == "reference"
    assert plan(many(20), SearchConfig(mechanism=()), "gpt-5.4", mode="output").mode == "output"
    for mode, model in (("reference", "gpt-5.4"), ("output", "claude-sonnet-5"), ("hosted", "gemini-3-pro")):
        with pytest.raises(ConfigError, match=f"mode='{mode}'.*mode='stub'"):
            plan(many(20), model=model, mode=mode)


def test_without_a_capability_everything_is_in_full(plan, many):
    made = plan(many(20), SearchConfig(mechanism=()))
    assert (made.mode, len(made.full), made.search) == ("full", 20, None)
    assert "no capability" in made.reason


# When


@pytest.mark.parametrize("model", MODELS)
def test_e26_e27_e32_deferral_begins_at_fifteen(model, plan, many):
    below = plan(many(14), model=model)
    assert (below.mode, below.search, below.deferred, below.warnings) == ("full", None, (), ())
    assert below.full == Catalog(many(14)).wire_names
    assert "14 tools are below the threshold of 15" in below.reason
    reached = plan(many(15), model=model)
    assert (len(reached.deferred), reached.full) == (15, ())
    assert "15 tools reach the threshold of 15" in reached.reason
    assert "15 deferred, 0 in full" in reached.reason


@pytest.mark.parametrize("threshold", [0, 1, "0"])
def test_e28_threshold_one_is_always(threshold, plan, many):
    assert len(plan(many(1), SearchConfig(threshold=threshold)).deferred) == 1


@pytest.mark.parametrize("model", MODELS)
def test_e29_one_threshold_for_all_mechanisms(model, plan, many):
    config = SearchConfig(threshold=16)
    assert plan(many(15), config, model).mode == "full"
    assert len(plan(many(16), config, model).deferred) == 16


def test_e30_the_count_covers_tools_that_are_never_deferred(plan, many):
    never = [tool(f"keep_{number}", defer="never") for number in range(5)]
    assert len(plan(never + many(10)).deferred) == 10
    assert plan(never + many(9)).mode == "full"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("prefer", [None, "client"])
def test_e31_never_is_full_in_all_modes(model, prefer, plan, many):
    made = plan([*many(20), tool("write_todos", defer="never")], model=model, prefer=prefer)
    assert made.full == ("write_todos",)
    assert len(made.deferred) == 20


def test_e33_always_is_deferred_whenever_deferral_is_active(plan, many):
    assert len(plan([*many(19), tool("late", defer="always")]).deferred) == 20


def test_e34_below_the_threshold_the_json_form_defers_nothing(plan, many):
    made = plan(many(4) + [tool(f"late_{n}", defer="always") for n in range(3)], JSON_FORM, "gemini-3-pro")
    assert (made.mode, len(made.full)) == ("full", 7)


def test_d05_flags_activate_for_themselves_and_the_threshold_for_all(plan, many, lib):
    flagged = [tool(f"late_{number}", defer="always") for number in range(3)]
    names = ("late_0", "late_1", "late_2")
    assert plan(many(1) + flagged).deferred == names
    assert plan(many(1) + flagged, JSON_FORM).mode == "full"
    assert len(plan(many(17) + flagged).deferred) == 20
    assert len(plan(many(20)).deferred) == 20
    assert plan(many(17) + flagged, SearchConfig.preset("cogitator")).deferred == names
    assert "3 tools flagged" in plan(many(1) + flagged).reason


def test_c04_c10_the_flagged_tools_stay_out(plan, lib):
    made = plan(lib, model="gemini-3-pro")
    assert made.full == ("find_reader",)
    assert made.deferred == ("renewLoan", "reserve_title", "fee-report")
    assert (made.search, made.unloaded) == ("ours", "stub")
    omitted = plan(lib, SearchConfig.preset("cogitator"), "gpt-5.4")
    assert (omitted.mode, omitted.full, omitted.unloaded) == ("stub", ("find_reader",), "omit")


def test_c01_every_way_to_flag_a_tool_defers_it(plan):
    from semantic_toolsearch.definitions import tool as mark

    @mark(deferred=True)
    def sweep(room: str) -> str:
        """Sweep a room."""
        return room

    made = plan([tool("a", deferred=True), tool("b", defer_loading=True), sweep, tool("c")])
    assert made.deferred == ("a", "b", "sweep")


def test_c02_tools_of_a_server_can_be_flagged_afterwards(plan):
    catalog = Catalog({"wiki": [tool("read"), tool("write")], "crm": [tool("find")]})
    made = plan(catalog.with_policy("wiki/*", "always"))
    assert made.deferred == ("wiki__read", "wiki__write")
    assert made.full == ("crm__find",)


def test_c09_no_deferred_tool_no_search(plan, lib):
    never = [{**{k: v for k, v in one.items() if k != "deferred"}, "defer": "never"} for one in lib]
    assert plan(never).search is None
    only = plan(lib, visible=np.array([False, False, False, True]))
    assert (only.mode, only.full, only.search) == ("full", ("find_reader",), None)


def test_e63_a_catalog_of_flagged_tools_still_has_its_search_tool(plan, many):
    for config in (SearchConfig(), SearchConfig(threshold=1)):
        made = plan(many(20, defer="always"), config, "gemini-3-pro")
        assert (made.search, made.full, len(made.deferred)) == ("ours", (), 20)
    schema = search_tool(offer_limit=True, max_limit=20)
    assert schema.name == SEARCH_TOOL_NAME
    assert schema.parameters["required"] == ["query"]
    assert schema.parameters["additionalProperties"] is False


def test_d08_the_threshold_may_be_tokens_a_share_or_any_of_several(plan, many):
    catalog = Catalog(many(14))
    tokens = sum(
        estimate_tokens({"name": name, "description": each.description, "parameters": each.parameters})
        for name, each in zip(catalog.wire_names, catalog, strict=True)
    )
    exactly = plan(catalog, SearchConfig(threshold={"tokens": tokens}))
    assert len(exactly.deferred) == 14
    assert f"{tokens:,} tokens of 14 tools reach the threshold of {tokens:,} tokens" in exactly.reason
    assert plan(catalog, SearchConfig(threshold={"tokens": tokens + 1})).mode == "full"
    assert plan(catalog, SearchConfig(threshold=[15, {"tokens": tokens}])).mode == "hosted"
    assert plan(catalog, SearchConfig(threshold=[14, {"tokens": tokens + 1}])).mode == "hosted"
    assert plan(catalog, SearchConfig(threshold="10%"), window=tokens * 10).mode == "hosted"
    assert plan(catalog, SearchConfig(threshold="10%"), window=tokens * 10 + 10).mode == "full"


def test_d09_deferral_stays_once_the_conversation_has_searched(plan, many):
    for model in MODELS:
        assert plan(many(13), model=model).mode == "full"
        sticky = plan(many(13), model=model, searched_before=True, loaded=("tool_01",))
        assert sticky.mode != "full"
        assert len({*sticky.deferred, *sticky.loaded}) == 13
        assert "has searched before" in sticky.reason
        assert plan(many(13), SearchConfig(sticky=False), model, searched_before=True).mode == "full"


def test_d09_what_flags_have_started_does_not_spread_to_other_tools(plan, lib):
    extra = tool("stamp_card")
    first = plan([*lib, extra], model="gemini-3-pro")
    after = plan([*lib, extra], model="gemini-3-pro", searched_before=True, loaded=("renewLoan",))
    assert first.full == ("find_reader", "stamp_card")
    assert after.full == ("find_reader", "stamp_card", "renewLoan")
    called = plan([*lib, extra], model="gemini-3-pro", searched_before=True, loaded=("stamp_card",))
    assert called.full == ("find_reader", "stamp_card")
    assert called.loaded == ()


def test_d09_what_searches_found_tells_that_the_threshold_had_been_reached(plan, many):
    tools = [*many(12), tool("late", defer="always")]
    options = {"model": "gemini-3-pro", "searched_before": True, "loaded": ("tool_03",)}
    assert plan(tools, **options).deferred == ("late",)
    made = plan(tools, searched=("tool_03",), **options)
    assert made.full == ("tool_03",)
    assert len(made.deferred) == 12


def test_d09_without_a_threshold_nothing_spreads_either(plan, many, lib):
    made = plan(many(20), SearchConfig.preset("cogitator"), searched_before=True, loaded=("tool_01",))
    assert made.mode == "full"


# Which tools


def test_e72_e74_a_listed_tool_is_like_one_that_is_never_deferred(plan, files, many):
    marked = [{**one, "defer": "never"} if one["name"] in ("read_file", "bash") else one for one in files]
    lists = PolicyLists(never_defer=["read_file", "bash"])
    for model in MODELS:
        by_policy = plan(marked + many(20), model=model)
        assert by_policy.full == ("read_file", "bash")
        assert plan(files + many(20), model=model, agent=lists) == by_policy
        assert plan(files + many(20), model=model, turn=lists) == by_policy
        config = SearchConfig(never_defer=["bash", "read_file"])
        assert plan(files + many(20), config, model) == by_policy


@pytest.mark.parametrize("model", ["gpt-5.4", "claude-sonnet-5"])
def test_d20_never_defer_holds_under_hosted_search(model, plan, files, many):
    made = plan(files + many(20), SearchConfig(never_defer=["bash"]), model)
    assert (made.mode, made.full) == ("hosted", ("bash",))


def test_e75_names_match_with_their_case_and_a_miss_warns(plan, files, many):
    made = plan(files + many(20), SearchConfig(never_defer=["Read_File"]))
    assert "read_file" in made.deferred
    assert len(made.warnings) == 1
    assert "'Read_File'" in made.warnings[0]
    assert "Nearest: read_file" in made.warnings[0]


def test_e75_a_name_of_an_invisible_tool_warns_of_nothing_and_is_never_suggested(plan, files):
    only_bash = np.array([one["name"] == "bash" for one in files])
    made = plan(files, SearchConfig(never_defer=["read_file", "reed_file"]), visible=only_bash)
    assert len(made.warnings) == 1
    assert "reed_file" in made.warnings[0]
    assert "read_file" not in made.warnings[0]


def test_e75_a_raw_name_means_every_tool_that_bears_it(plan):
    catalog = Catalog({"crm": [tool("find"), tool("drop")], "wiki": [tool("find")]})
    config = SearchConfig(threshold=1)
    assert plan(catalog, config.but(never_defer=["find"])).full == ("crm__find", "wiki__find")
    assert plan(catalog, config.but(never_defer=["wiki.find"])).full == ("wiki__find",)
    assert plan(catalog, config.but(never_defer=["crm__find"])).full == ("crm__find",)


def test_e53_d06_hot_tools_are_in_full_and_five_at_most(plan, many):
    assert plan(many(20), SearchConfig(hot=["tool_03", "tool_01"])).full == ("tool_01", "tool_03")
    assert plan(many(20), agent=PolicyLists(hot=["tool_01"])).full == ("tool_01",)
    with pytest.raises(ConfigError, match="hot names 6 tools"):
        PolicyLists(hot=list("abcdef"))


def test_d06_a_flag_yields_to_a_list_only_by_setting(plan, many):
    tools = [*many(20), tool("late", defer="always")]
    for lists in ({"turn": PolicyLists(never_defer=["late"])}, {"agent": PolicyLists(hot=["late"])}):
        made = plan(tools, **lists)
        assert "late" in made.deferred
        assert len(made.warnings) == 1
        assert "late" in made.warnings[0]
        yields = plan(tools, SearchConfig(never_defer_overrides_always=True), **lists)
        assert (yields.full, yields.warnings) == (("late",), ())
    assert "late" in plan(tools, SearchConfig(never_defer=["late"])).deferred
    json_form = SearchConfig.from_json(
        {"capabilities": [{"ref": "tool_search", "config": {"never_defer": ["late"]}}]}
    )
    assert plan(tools, json_form).full == ("late",)


def test_d06_one_level_that_says_both_is_an_error(plan, many):
    for lists in (
        PolicyLists(never_defer=["tool_01"], deferred_tools=["tool_01"]),
        PolicyLists(hot=["tool_01"], deferred_tools=["tool_01"]),
    ):
        for level in ("turn", "agent"):
            with pytest.raises(ConfigError, match=rf"{level} lists say both .*tool_01"):
                plan(many(20), **{level: lists})


def test_d06_the_more_specific_level_wins(plan, many):
    keep, defer = PolicyLists(never_defer=["x"]), PolicyLists(deferred_tools=["x"])
    tools = [tool("x"), tool("y", defer="never")]
    assert plan(tools, turn=defer, agent=keep).deferred == ("x",)
    assert plan(tools, turn=keep, agent=defer).mode == "full"
    assert plan(tools, SearchConfig(never_defer=["x"]), agent=defer).deferred == ("x",)
    assert plan(tools, agent=PolicyLists(deferred_tools=["y"])).deferred == ("y",)
    assert plan(tools, agent=defer, forced="x").mode == "full"


def test_d06_a_list_is_not_a_single_text():
    with pytest.raises(ConfigError, match="never_defer is the single text 'bash'"):
        PolicyLists(never_defer="bash")


def test_c05_c06_c07_an_agents_list_touches_neither_the_tool_nor_other_agents(plan, files):
    catalog = Catalog(files)
    before = catalog["bash"]
    first = plan(catalog, agent=PolicyLists(deferred_tools=["bash"]))
    other = plan(catalog)
    assert first.deferred == ("bash",)
    assert (other.mode, other.full) == ("full", catalog.wire_names)
    assert catalog["bash"] is before
    assert before.defer == "automatic"


def test_c08_a_harness_defers_the_users_tools_once_there_are_many(plan, many, files):
    core = [{**one, "defer": "never"} for one in files]
    assert plan(core + many(8)).mode == "full"
    made = plan(core + many(9))
    assert (len(made.deferred), len(made.full)) == (9, 6)


def test_e99_tools_of_a_real_mcp_server_are_deferred_like_others(plan):
    from semantic_toolsearch.mcp import McpServer, read_tools

    script = Path(__file__).parents[1] / "mcp" / "servers" / "paging.py"
    tools = read_tools(McpServer([sys.executable, str(script)], name="desk"))
    made = plan(tools, SearchConfig(threshold=len(tools)))
    assert made.mode == "hosted"
    assert len(made.deferred) == len(tools) == 7
    loaded = plan(tools, SearchConfig(threshold=7), "gemini-3-pro", loaded=("desk__echo",))
    assert loaded.full == ("desk__echo",)


def test_e45_limited_tools_of_others_are_in_full_where_the_provider_searches(plan, many):
    tools = [*many(15), tool("remote", registered=False)]
    made = plan(tools, SearchConfig.preset("everruns"))
    assert (made.mode, len(made.deferred), made.full) == ("hosted", 15, ("remote",))
    assert len(made.warnings) == 1
    for mode in ("output", "bridge"):
        assert plan(tools, SearchConfig.preset("everruns"), mode=mode).full == ("remote",)


def test_e100_limited_tools_of_others_are_stubs_that_no_search_returns(plan, many):
    catalog = Catalog([*many(15), tool("remote", registered=False)])
    config = SearchConfig.preset("everruns")
    made = plan(catalog, config, "gemini-3-pro")
    assert "remote" in made.deferred
    assert len(made.warnings) == 1
    mask = search_mask(catalog, config, made)
    assert [name for name, seen in zip(catalog.wire_names, mask, strict=True) if not seen] == ["remote"]
    omit = plan(catalog, config.but(unloaded="omit"), "gemini-3-pro")
    assert omit.full == ("remote",)


def test_d17_tools_of_others_are_found_like_any_other_by_default(plan, many):
    catalog = Catalog([*many(15), tool("remote", registered=False)])
    made = plan(catalog)
    assert "remote" in made.deferred
    assert made.warnings == ()
    assert search_mask(catalog, SearchConfig(), made).all()


def test_e100_limited_tools_alone_bring_no_search_tool(plan, many):
    config = SearchConfig.preset("everruns")
    alone = plan([*many(15, registered=False), tool("last", defer="never")], config, "gemini-3-pro")
    assert (alone.search, alone.full[-1]) == (None, "last")
    assert "nothing to defer" in alone.reason
    tools = [tool("near"), *many(15, registered=False)]
    made = plan(tools, config, "gemini-3-pro", loaded=("near",))
    assert (made.mode, made.search, len(made.full)) == ("full", None, 16)


def test_d14_searches_cover_what_the_scope_says_and_never_the_invisible(plan, files, lib):
    catalog = Catalog(lib)
    config = SearchConfig()
    made = plan(catalog, config, "gemini-3-pro", loaded=("renewLoan",))
    assert search_mask(catalog, config, made).tolist() == [True] * 4
    scoped = config.but(search_scope="deferred")
    assert search_mask(catalog, scoped, made).tolist() == [True, True, True, False]
    visible = np.array([True, False, True, True])
    hidden = plan(catalog, scoped, "gemini-3-pro", visible=visible)
    assert search_mask(catalog, scoped, hidden, visible).tolist() == [True, False, True, False]
    assert search_mask(catalog, config, hidden, visible).tolist() == visible.tolist()
    assert visible.tolist() == [True, False, True, True]


def test_o22_a_tool_that_only_programs_may_call_is_in_full(plan, many):
    program = tool("sum_up", allowed_callers=["programmatic"], defer="always")
    both = tool("sum_down", allowed_callers=["direct", "programmatic"])
    made = plan([*many(20), program, both])
    assert made.full == ("sum_up",)
    assert "1 tool in full, since only programs may call" in made.reason
    assert made.warnings == ()
    deferred = plan([*many(20), program, both], SearchConfig(programmatic="defer"))
    assert "sum_up" in deferred.deferred
    assert len(deferred.warnings) == 1
    assert "sum_up" in deferred.warnings[0]


def test_o24_a_coding_agents_set_keeps_its_core_and_saves_most_tokens(plan, many):
    core = [{**one, "name": f"core_{number}"} for number, one in enumerate(many(3))]
    catalog = Catalog(core + many(38, deferred=True))
    made = plan(catalog, SearchConfig.preset("openhands"), "gpt-5.4")
    assert made.full == ("core_0", "core_1", "core_2")
    assert (made.mode, len(made.deferred)) == ("hosted", 38)
    sizes = {
        name: estimate_tokens(each.parameters) for name, each in zip(catalog.wire_names, catalog, strict=True)
    }
    assert sum(sizes[name] for name in made.full) < 0.4 * sum(sizes.values())


def test_o03_o26_entries_of_the_callers_own_that_are_deferred_need_the_hosted_search(plan, many):
    alone = plan([tool("a")], extra_deferred=1)
    assert (alone.mode, alone.search, alone.deferred, alone.full) == ("hosted", "openai", (), ("a",))
    assert alone.warnings == ()
    assert plan([], model="claude-sonnet-5", extra_deferred=1).search == "bm25"
    for options in ({"model": "gemini-3-pro"}, {"prefer": "client"}, {"mode": "stub"}):
        made = plan([tool("a")], extra_deferred=2, **options)
        assert (made.search, len(made.warnings)) == (None, 1)
        assert "2 entries of your own" in made.warnings[0]
    assert plan([tool("a")]).search is None


# Loaded and forced


def test_c39_c40_loaded_tools_follow_in_first_seen_order(plan, many):
    tools = [*many(20), tool("core", defer="never")]
    made = plan(tools, model="gemini-3-pro", loaded=("tool_07", "tool_02", "tool_07"))
    assert made.full == ("core", "tool_07", "tool_02")
    assert made.loaded == ("tool_07", "tool_02")
    assert len(made.deferred) == 18
    assert made.deferred == tuple(sorted(made.deferred))
    assert plan(tools, model="gemini-3-pro", loaded=("tool_07", "tool_02"), searched_before=True) == made


@pytest.mark.parametrize(
    ("model", "prefer"), [("gpt-5.4", None), ("claude-sonnet-5", None), ("gpt-5.4", "client"),
                          ("claude-sonnet-5", "client")],
)  # fmt: skip
def test_o23_x02_where_the_provider_keeps_the_list_a_load_changes_nothing(model, prefer, plan, many):
    before = plan(many(20), model=model, prefer=prefer)
    after = plan(many(20), model=model, prefer=prefer, loaded=("tool_07", "tool_02"))
    assert (after.full, after.deferred) == (before.full, before.deferred)
    assert after.loaded == ("tool_07", "tool_02")


def test_x25_what_another_providers_history_loaded_is_sent_in_full(plan, many):
    made = plan(many(20), model="claude-sonnet-5", loaded=("tool_07", "tool_02"), native=("tool_02",))
    assert made.full == ("tool_07",)
    assert "tool_02" in made.deferred
    assert "tool_07" not in made.deferred
    assert made.loaded == ("tool_07", "tool_02")


def test_x03_a_bridge_keeps_the_list_and_the_loaded_tools_out_of_it(plan, many):
    made = plan(many(20), mode="bridge", loaded=("tool_07",), native=())
    assert (made.full, len(made.deferred), made.loaded) == ((), 20, ("tool_07",))


def test_x04_when_all_is_loaded_there_is_no_search_tool_left(plan, lib):
    loaded = ("fee-report", "renewLoan", "reserve_title")
    made = plan(lib, model="gemini-3-pro", loaded=loaded)
    assert (made.mode, made.search, made.deferred) == ("full", None, ())
    assert made.full == ("find_reader", *loaded)
    assert "all is loaded" in made.reason


def test_d03_x11_loaded_names_that_are_unknown_or_hidden_now_are_left_out(plan, lib):
    catalog = Catalog(lib)
    visible = np.array([False, True, True, True])
    made = plan(
        catalog, model="gemini-3-pro", visible=visible, loaded=("renewLoan", "gone_tool", "fee-report")
    )
    assert made.loaded == ("fee-report",)
    assert "renewLoan" not in made.full + made.deferred
    back = plan(catalog, model="gemini-3-pro", loaded=("renewLoan", "fee-report"))
    assert back.full == ("find_reader", "renewLoan", "fee-report")


def test_x11_an_empty_set_means_nothing_at_all(plan, many):
    for model in MODELS:
        made = plan(many(20), model=model, visible=np.zeros(20, dtype=bool), loaded=("tool_01",))
        assert (made.mode, made.full, made.deferred, made.loaded, made.search) == ("full", (), (), (), None)
        assert plan([], model=model).mode == "full"


def test_a_mask_of_another_length_is_an_error(plan, many):
    with pytest.raises(ConfigError, match="speaks of 3 tools, the catalog has 20"):
        plan(many(20), visible=np.ones(3, dtype=bool))


@pytest.mark.parametrize("model", MODELS)
def test_c32_a_forced_tool_is_in_full_from_the_first_turn(model, plan, lib):
    made = plan(lib, model=model, forced="renewLoan")
    assert made.full == ("renewLoan", "find_reader")
    assert made.forced == "renewLoan"
    assert made.deferred == ("reserve_title", "fee-report")


def test_c33_a_tool_that_was_forced_in_this_run_stays_in_full(plan, lib):
    for model in MODELS:
        held = plan(lib, model=model, forced_before=("renewLoan",))
        assert held.full == ("renewLoan", "find_reader")
        assert held.forced is None
        assert "renewLoan" in plan(lib, model=model).deferred
    called = plan(lib, model="gemini-3-pro", forced_before=("renewLoan",), loaded=("fee-report", "renewLoan"))
    assert called.full == ("renewLoan", "find_reader", "fee-report")


def test_c33_a_held_tool_that_is_hidden_or_gone_is_left_out(plan, lib):
    visible = np.array([False, True, True, True])
    made = plan(lib, forced_before=("renewLoan", "gone"), visible=visible)
    assert "renewLoan" not in made.full + made.deferred


def test_c32_a_forced_tool_is_found_by_its_raw_name_or_is_an_error(plan):
    catalog = Catalog({"crm": [tool("find"), tool("drop")], "wiki": [tool("find")]})
    config = SearchConfig(threshold=1)
    assert plan(catalog, config, forced="drop").forced == "crm__drop"
    with pytest.raises(UnknownToolError, match="2 tools"):
        plan(catalog, config, forced="find")
    with pytest.raises(UnknownToolError, match="nothing"):
        plan(catalog, config, forced="nothing")
    with pytest.raises(UnknownToolError, match="No tool that is visible here is called 'drop'"):
        plan(catalog, config, forced="drop", visible=np.array([True, False, True]))


def test_a_forced_search_is_one_that_can_be_named(plan, many):
    def forced(model, **options):
        return plan(many(20), model=model, forced=SEARCH_TOOL_NAME, **options)

    assert forced("gpt-5.4").mode == forced("claude-sonnet-5").mode == "stub"
    assert "cannot name a search by the provider" in forced("gpt-5.4").reason
    assert forced("gpt-5.4", prefer="client").mode == "stub"
    assert forced("claude-sonnet-5", prefer="client").mode == "reference"
    assert forced("gemini-3-pro").forced == SEARCH_TOOL_NAME
    for mode in ("hosted", "output"):
        with pytest.raises(ConfigError, match="tool_choice"):
            forced("gpt-5.4", mode=mode)
    none = plan(many(3), forced=SEARCH_TOOL_NAME)
    assert none.mode == "full"
    assert "nothing is deferred" in none.warnings[0]


def test_more_tools_than_a_request_may_declare_are_searched_here_and_omitted(plan):
    catalog = Catalog([tool(f"t{number}") for number in range(MAX_DEFERRED + 1)])
    made = plan(catalog, model="claude-sonnet-5")
    assert (made.mode, made.unloaded, len(made.deferred)) == ("stub", "omit", MAX_DEFERRED + 1)
    assert "10,001 deferred tools are more than the 10,000" in made.reason
    assert plan(catalog, model="gpt-5.4").mode == "hosted"
    assert plan(catalog, model="claude-sonnet-5", forced_before=("t5",)).mode == "hosted"
    only = SearchConfig(mechanism="claude_tool_search")
    assert plan(catalog, only, "claude-sonnet-5").mode == "full"
    with pytest.raises(ConfigError, match="10,000"):
        plan(catalog, only.but(on_unsupported="raise"), "claude-sonnet-5")
    with pytest.raises(ConfigError, match="bridge"):
        plan(catalog, model="claude-sonnet-5", mode="reference")
