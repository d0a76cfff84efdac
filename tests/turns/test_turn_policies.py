"""What a turn defers and keeps: thresholds, policies, lists, agents' choices and who is visible."""

from __future__ import annotations

import json

import pytest
from surfaces import (
    CLAUDE,
    GEMINI,
    GPT,
    LLAMA,
    MODELS,
    Talk,
    chat,
    claude,
    engine,
    record,
    responses,
    use,
    wire,
)

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.capabilities import HARNESSES
from semantic_toolsearch.config import DEFAULT_THRESHOLD
from semantic_toolsearch.errors import UnknownToolError

WAYS = [
    (GPT, None), (GPT, "output"), (GPT, "stub"), (GPT, "bridge"), (CLAUDE, None), (CLAUDE, "reference"),
    (CLAUDE, "stub"), (GEMINI, None), (LLAMA, "bridge"),
]  # fmt: skip
"""Models with the modes that are asked for; None for the model's own."""


def started(tools, config=None, model=LLAMA, **options):
    return engine(tools, config).turn([], model=model, **options)


def entries(value):
    """Every tool entry of a tools list by name, those within namespaces too."""
    found = {}
    if isinstance(value, dict):
        if isinstance(value.get("name"), str):
            found[value["name"]] = value
        for inner in value.values():
            found |= entries(inner)
    elif isinstance(value, list):
        for inner in value:
            found |= entries(inner)
    return found


# --- The JSON form


def test_e03_bare_ids_and_objects_are_the_same(many):
    bare = SearchConfig.from_json({"capabilities": ["tool_search"]})
    assert bare == SearchConfig.from_json({"capabilities": [{"ref": "tool_search", "config": {}}]})
    assert bare.threshold == 15
    assert [started(many(n), bare).plan.mode for n in (14, 15)] == ["full", "stub"]


@pytest.mark.parametrize("model", MODELS)
def test_e04_the_threshold_counts_for_every_mechanism(many, model):
    config = SearchConfig.from_json(
        {"capabilities": [{"ref": "auto_tool_search", "config": {"threshold": 10}}]}
    )
    assert started(many(9), config, model).plan.mode == "full"
    assert len(started(many(10), config, model).plan.deferred) == 10


def test_e05_never_defer_and_threshold_in_one_object(many, files):
    settings = {"threshold": 20, "never_defer": ["read_file", "bash"]}
    config = SearchConfig.from_json({"capabilities": [{"ref": "tool_search", "config": settings}]})
    plan = started([*many(20), files[0], files[5]], config).plan
    assert (len(plan.deferred), plan.full) == (20, ("read_file", "bash"))


def test_e07_the_worker_harness_is_auto(many):
    assert HARNESSES["worker"] == {"capabilities": ["auto_tool_search"]}
    config = SearchConfig.from_json(HARNESSES["worker"])
    assert [started(many(20), config, model).plan.mode for model in MODELS] == ["hosted", "hosted", "stub"]


def test_e08_each_turn_chooses_anew(many):
    search = engine(many(20))
    plans = [search.turn([], model=model).plan for model in (GPT, GEMINI, CLAUDE)]
    assert [plan.mode for plan in plans] == ["hosted", "stub", "hosted"]
    assert [plan.search for plan in plans] == ["openai", "ours", "bm25"]


# --- Thresholds


@pytest.mark.parametrize(("model", "added"), [(GPT, 0), (CLAUDE, 0), (GEMINI, 1)])
def test_e24_auto_adds_one_function_at_most(many, model, added):
    turn = started(many(20), model=model)
    own = {name for name in entries(turn.tools) if name == "tool_search" or name == "call_tool"}
    assert len(own) == added


def test_e26_fifteen_is_the_default(many):
    assert DEFAULT_THRESHOLD == 15
    assert started(many(14)).plan.mode == "full"
    assert len(started(many(15)).plan.deferred) == 15


@pytest.mark.parametrize("model", MODELS)
def test_e27_below_it_definitions_go_out_unchanged(many, model):
    turn, plain = started(many(14), model=model), started(many(14), SearchConfig(mechanism=()), model)
    assert json.dumps(turn.tools) == json.dumps(plain.tools)
    assert (turn.instructions, turn.plan.search, turn.plan.deferred) == ("", None, ())
    sent = entries(turn.tools)
    assert set(sent) >= {tool["name"] for tool in many(14)}
    assert "tool_search" not in json.dumps(turn.tools)
    assert "defer_loading" not in json.dumps(turn.tools)


def test_e28_one_means_always(many):
    assert started(many(1), SearchConfig(threshold=1)).plan.deferred == ("tool_00",)


@pytest.mark.parametrize("model", MODELS)
def test_e29_one_threshold_serves_all_mechanisms(many, model):
    config = SearchConfig(threshold=16)
    assert started(many(15), config, model).plan.mode == "full"
    assert len(started(many(16), config, model).plan.deferred) == 16


def test_e30_the_count_covers_all_tools(many):
    tools = many(15)
    never = [{**tool, "defer": "never"} for tool in tools[:5]]
    assert len(started([*never, *tools[5:]]).plan.deferred) == 10
    assert started([*never, *tools[5:14]]).plan.mode == "full"


# --- Policies


@pytest.mark.parametrize(("model", "mode"), WAYS)
def test_e31_never_is_sent_in_full_everywhere(many, model, mode):
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "string"}}}}
    todos = {"name": "write_todos", "description": "Keep a list", "parameters": schema, "defer": "never"}
    turn = started([*many(20), todos], model=model, mode=mode)
    assert turn.plan.mode != "full"
    assert turn.plan.full == ("write_todos",)
    entry = entries(turn.tools)["write_todos"]
    assert "items" in json.dumps(entry)
    assert "defer_loading" not in entry


@pytest.mark.parametrize(("model", "mode"), WAYS)
def test_e74_a_listed_tool_is_like_one_with_policy_never(many, model, mode):
    tools = many(20)
    listed = engine(tools, SearchConfig(ranker="bm25", never_defer=["tool_03"]))
    policy = [{**tool, "defer": "never"} if tool["name"] == "tool_03" else tool for tool in tools]
    sent = [search.turn([], model=model, mode=mode).tools for search in (listed, engine(policy))]
    assert json.dumps(sent[0]) == json.dumps(sent[1])
    in_turn = engine(tools).turn([], model=model, mode=mode, never_defer=["tool_03"])
    assert json.dumps(in_turn.tools) == json.dumps(sent[0])


def test_e32_automatic_is_the_default(many):
    search = engine(many(15))
    assert {tool.defer for tool in search.catalog} == {"automatic"}
    assert len(search.turn([], model=LLAMA).plan.deferred) == 15
    assert started(many(14)).plan.deferred == ()


def test_e33_always_is_deferred_with_the_others(many):
    tools = many(20)
    tools[7] = {**tools[7], "defer": "always"}
    assert len(started(tools).plan.deferred) == 20


def test_e34_the_json_form_defers_nothing_below_the_threshold(many):
    config = SearchConfig.from_json({"capabilities": ["auto_tool_search"]})
    tools = [*many(3, defer="always"), *many(7)[3:]]
    turn = started(tools, config)
    assert (turn.plan.mode, len(turn.plan.full)) == ("full", 7)


def test_d05_a_flag_starts_deferring_by_default(many):
    plan = started([*many(3, defer="always"), *many(7)[3:]]).plan
    assert plan.deferred == ("tool_00", "tool_01", "tool_02")


def test_e72_an_embedder_keeps_tools_full_in_code(many, files):
    tools = [*files, *many(20)]
    for turn in (
        started(tools, never_defer=["read_file", "bash"]),
        engine(tools).agent(never_defer=["read_file", "bash"]).turn([], model=LLAMA),
    ):
        assert turn.plan.full == ("read_file", "bash")


def test_e73_lists_of_code_and_configuration_are_united(many, files):
    config = SearchConfig.from_json(
        {"capabilities": [{"ref": "auto_tool_search", "config": {"never_defer": ["read_file"]}}]}
    )
    agent = engine([*files, *many(20)], config).agent(never_defer=["bash"])
    assert agent.turn([], model=LLAMA).plan.full == ("read_file", "bash")


# --- Flagged tools


def test_c04_a_flagged_schema_stays_out(lib):
    turn = started(lib)
    assert set(wire(turn.tools)) == {"find_reader", "renewLoan", "reserve_title", "fee-report", "tool_search"}
    assert "extraDays" not in json.dumps(turn.tools)
    assert turn.plan.full == ("find_reader",)


@pytest.mark.parametrize("model", MODELS)
def test_c09_without_a_deferred_tool_there_is_no_search(lib, model):
    kept = [
        {**{key: value for key, value in tool.items() if key != "deferred"}, "defer": "never"} for tool in lib
    ]
    for turn in (started(kept, model=model), started(lib, model=model, visible={"find_reader"})):
        assert (turn.plan.mode, turn.plan.search, turn.instructions) == ("full", None, "")
        assert "tool_search" not in json.dumps(turn.tools)


def test_c10_d16_unloaded_tools_are_omitted_or_stubs(lib):
    omitted = started(lib, SearchConfig.preset("cogitator"))
    assert list(wire(omitted.tools)) == ["find_reader", "tool_search"]
    stubs = started(lib)
    stub = {"type": "object", "properties": {}, "additionalProperties": True}
    sent = [function for function in wire(stubs.tools).values() if function["parameters"] == stub]
    assert [function["name"] for function in sent if function["name"] in stubs.plan.deferred] == [
        "renewLoan",
        "reserve_title",
        "fee-report",
    ]


def test_d16_where_tools_are_omitted_the_search_says_what_there_is(lib):
    owned = [{**tool, "namespace": "library"} for tool in lib]
    turn = started(owned, SearchConfig.preset("cogitator"))
    assert "library (3)" in wire(turn.tools)["tool_search"]["description"]
    assert "library (" not in wire(started(owned).tools)["tool_search"]["description"]


# --- Forced choices


@pytest.mark.parametrize(
    ("model", "choice"),
    [
        (LLAMA, "renewLoan"),
        (LLAMA, {"type": "function", "function": {"name": "renewLoan"}}),
        (CLAUDE, {"type": "tool", "name": "renewLoan"}),
        (GPT, {"type": "function", "name": "renewLoan"}),
        (GEMINI, "renewLoan"),
    ],
)
def test_c32_a_forced_tool_is_full_from_the_first_turn(lib, model, choice):
    turn = started(lib, model=model, tool_choice=choice)
    assert "renewLoan" in turn.plan.full
    assert "extraDays" in json.dumps(entries(turn.tools)["renewLoan"])
    assert turn.plan.forced == "renewLoan"


def test_c33_it_stays_full_until_the_run_ends(lib):
    search = engine(lib)
    turn = search.turn([], model=LLAMA, tool_choice="renewLoan")
    for _ in range(3):
        turn = turn.next([])
        assert turn.plan.forced is None
        assert "renewLoan" in turn.plan.full
        assert "extraDays" in json.dumps(turn.tools)
    assert "renewLoan" in search.turn([], model=LLAMA).plan.deferred


@pytest.mark.parametrize(
    "choice", ["auto", "none", "any", "required", {"type": "auto"}, {"type": "any"}, None]
)
def test_c32_a_choice_that_names_no_tool_forces_none(lib, choice):
    turn = started(lib, tool_choice=choice)
    assert turn.plan.forced is None
    assert len(turn.plan.deferred) == 3


def test_c32_a_choice_that_cannot_be_is_an_error(lib):
    with pytest.raises(UnknownToolError, match="renewLoan"):
        started(lib, tool_choice="renewLoans")
    with pytest.raises(UnknownToolError, match="No tool that is visible here is called 'renewLoan'"):
        started(lib, tool_choice="renewLoan", visible={"find_reader"})


# --- Who is visible


def test_e87_only_what_is_visible_in_the_turn_is_found(many, files):
    visible = {tool["name"] for tool in files} - {"bash"}
    config = SearchConfig.preset("everruns", threshold=1)
    for query in ("bash", "run a shell command", "", "xyzzy"):
        turn = engine(files, config).turn([], model=LLAMA, visible=visible)
        (result,) = turn.answer(chat(("tool_search", {"query": query})))
        given = record(result)
        assert "bash" not in given["loaded"]
        assert "bash" not in json.dumps({key: value for key, value in given.items() if key != "query"})
    assert "bash" not in json.dumps(turn.tools)


@pytest.mark.parametrize("model", [LLAMA, CLAUDE, GEMINI, GPT])
def test_x11_an_empty_set_is_no_tool_and_no_search(lib, model):
    turn = started(lib, model=model, visible=set())
    assert (turn.tools, turn.plan.mode, turn.instructions) == ([], "full", "")


def test_x11_an_invisible_tool_is_refused_like_an_unknown_name(lib):
    visible = {"reserve_title", "fee-report"}
    turn = started(lib, visible=visible)
    texts = []
    for name, shown in (("find_reader", lib), ("find_reader", lib[:3])):
        refused = started(shown, visible=visible).answer(chat((name, {})))
        texts.append(refused[0]["content"])
        assert started(shown, visible=visible).calls(chat((name, {}))) == []
    assert texts[0] == texts[1]
    (near,) = turn.answer(chat(("find_readers", {})))
    assert "find_reader." not in near["content"]
    assert "Nearest: find_reader" not in near["content"]


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_x11_it_is_refused_the_same_in_hosted_mode(lib, model):
    visible = {"reserve_title", "fee-report"}
    calls = {
        CLAUDE: claude(use("find_reader", {})),
        GPT: responses({"type": "function_call", "call_id": "1", "name": "find_reader", "arguments": "{}"}),
    }
    texts = [started(tools, model=model, visible=visible).answer(calls[model]) for tools in (lib, lib[:3])]
    assert texts[0] == texts[1]
    assert "no tool called" in json.dumps(texts[0])


def test_x11_a_loaded_tool_that_is_hidden_is_gone_and_comes_back(lib):
    talk = Talk(engine(lib))
    talk.ask("renewLoan")
    assert "renewLoan" in talk.turn().plan.loaded
    hidden = talk.turn(visible={"find_reader", "reserve_title"})
    assert "renewLoan" not in json.dumps(hidden.tools)
    assert "renewLoan" not in (*hidden.plan.loaded, *hidden.plan.full, *hidden.plan.deferred)
    assert hidden.calls(chat(("renewLoan", {"readerCard": "7"}))) == []
    assert "renewLoan" in talk.turn().plan.full


def test_x04_every_visible_tool_is_full_or_can_be_loaded(many, lib):
    tools = [*many(6), *lib, *many(9, defer="never")[6:]]
    names = [tool["name"] for tool in tools]
    for model, mode in WAYS:
        for visible in (None, set(names[:5]), set(names[8:]), {"find_reader"}, set()):
            for threshold in (1, 8, None):
                search = ToolSearch(tools, config=SearchConfig(threshold=threshold), cache=False)
                plan = search.turn([], model=model, mode=mode, visible=visible).plan
                seen = set(names) if visible is None else visible
                assert {*plan.full, *plan.deferred} == seen
                assert not set(plan.full) & set(plan.deferred)
                assert (plan.search is None) == (not plan.deferred)
