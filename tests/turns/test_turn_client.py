"""Searches that are answered here: what the model reads, what is loaded, what the next request carries."""

from __future__ import annotations

import json

import pytest
from surfaces import CLAUDE, GEMINI, GPT, LLAMA, MODELS, Talk, chat, claude, engine, record, use, wire

from semantic_toolsearch import SearchConfig, ToolDefinition
from semantic_toolsearch.exchange import search_tool
from semantic_toolsearch.providers.base import SEARCH_ANNOTATIONS
from semantic_toolsearch.threshold import estimate_tokens

AS_JSON = SearchConfig.from_json({"capabilities": ["tool_search"]})
EVERRUNS = SearchConfig.preset("everruns")
COGITATOR = SearchConfig.preset("cogitator")
BOTH = pytest.mark.parametrize("form", ["everruns", "json"])


def source(form, **changes):
    """The source's own settings, or its JSON form with the same ranker; deferring from the first tool on."""
    settings = {"threshold": 1, **changes}
    return (
        EVERRUNS.but(**settings) if form == "everruns" else AS_JSON.but(**{"ranker": "keyword", **settings})
    )


def records_of(count, text="record"):
    return [
        {"name": f"entry_{n:02}", "description": f"{text} number {n}", "defer": "always"}
        for n in range(count)
    ]


# --- Stubs


@pytest.mark.parametrize(
    ("model", "api"), [(CLAUDE, "anthropic"), (GPT, "responses"), (LLAMA, "chat"), (GEMINI, "gemini")]
)
def test_e58_plain_function_tools_are_all_that_is_needed(many, model, api):
    turn = engine(many(20)).turn([], model=model, api=api, mode="stub")
    sent = json.dumps(turn.tools)
    for field in ("defer_loading", "tool_search_tool", '"namespace"', '{"type": "tool_search"', "execution"):
        assert field not in sent
    assert all(f'"tool_{number:02}"' in sent for number in range(20))
    assert '"tool_search"' in sent


def test_e59_e60_stubs_are_the_smallest_open_object(many):
    turn = engine(many(20)).turn([], model=CLAUDE, mode="stub")
    stubs = [entry for entry in turn.tools if entry["name"] != "tool_search"]
    assert [entry["name"] for entry in stubs] == [f"tool_{number:02}" for number in range(20)]
    schemas = [json.dumps(entry["input_schema"], separators=(",", ":")) for entry in stubs]
    assert schemas == ['{"type":"object","additionalProperties":true}'] * 20
    assert sum(map(len, schemas)) == 20 * 45
    sent = json.dumps(stubs)
    assert "tool_search" not in sent
    for number in range(20):
        assert f"the number {number}." in sent
        assert not any(f"p{number:02}{letter}" in sent for letter in "abc")


@pytest.mark.parametrize("model", MODELS)
def test_e61_the_registered_definition_is_never_altered(many, model):
    search = engine(many(20))
    before = [tool.model_dump_json() for tool in search.catalog]
    for mode in ("stub", "bridge"):
        turn = search.turn([], model=model, mode=mode)
        turn.tools.clear()
    assert [tool.model_dump_json() for tool in search.catalog] == before
    assert [ToolDefinition.model_validate_json(text) for text in before] == list(search.catalog)


def test_e62_the_first_request_is_stubbed(many):
    turn = engine(many(20)).turn([], model=LLAMA)
    assert (len(turn.plan.deferred), turn.plan.full) == (20, ())
    assert "p00a" not in json.dumps(turn.tools)


def test_e63_the_search_tool_is_never_deferred(many):
    for tools, config in (
        (many(20, defer="always"), None),
        (many(1), SearchConfig(threshold=1, ranker="bm25")),
    ):
        schema = wire(engine(tools, config).turn([], model=LLAMA).tools)["tool_search"]["parameters"]
        assert schema["required"] == ["query"]
        assert schema["additionalProperties"] is False
        assert schema["properties"]["query"]["type"] == "string"


def test_e64_it_is_read_only_and_idempotent():
    assert dict(SEARCH_ANNOTATIONS) == {"readOnlyHint": True, "idempotentHint": True}


def test_e86_it_is_never_a_result(many, files):
    for query in ("tool_search", "search available tools"):
        given = Talk(engine([*files, *many(20)], source("everruns"))).ask(query)
        assert "tool_search" not in json.dumps({key: value for key, value in given.items() if key != "query"})


# --- What a result holds and loads


def test_e65_e66_the_json_form_answers_with_schemas(files, many):
    tools = [{**files[0], "parameters": many(1)[0]["parameters"]}, *files[1:], *many(20)]
    talk = Talk(engine(tools, AS_JSON.but(ranker="keyword")))
    given = talk.ask("read_file")
    assert {"query", "tools", "loaded", "note"} <= set(given)
    assert (given["query"], given["loaded"]) == ("read_file", ["read_file"])
    assert given["tools"][0]["parameters"] == talk.search.catalog["read_file"].parameters
    assert "call them from your next turn" in given["note"]


def test_e67_the_next_turn_sends_the_registered_schema(files, many):
    tools = [{**files[0], "parameters": many(1)[0]["parameters"]}, *files[1:], *many(20)]
    talk = Talk(engine(tools))
    talk.ask("read_file", limit=1)
    following = talk.turn()
    sent = wire(following.tools)["read_file"]["parameters"]
    assert sent == talk.search.catalog["read_file"].parameters
    assert (following.plan.full, len(following.plan.deferred)) == (("read_file",), 25)


def test_e68_recomputed_on_every_model_call(many):
    talk, counts = Talk(engine(many(20))), []
    for name in ("tool_03", "tool_07"):
        counts.append(len(talk.turn().plan.loaded))
        talk.ask("", names=[name])
    counts.append(len(talk.turn().plan.loaded))
    assert counts == [0, 1, 2]
    assert talk.turn().plan.loaded == ("tool_03", "tool_07")


@pytest.mark.parametrize(
    ("model", "mode"),
    [(LLAMA, None), (LLAMA, "bridge"), (CLAUDE, "reference"), (GPT, "output"), (GEMINI, None)],
)
def test_e69_one_short_note(many, model, mode):
    search = engine(many(20))
    turn = search.turn([], model=model, mode=mode)
    assert 1 <= turn.instructions.count("tool_search") <= 2
    assert 0 < estimate_tokens(turn.instructions) < 120
    history = [{"role": "user", "content": "Again."}]
    assert search.turn(history, model=model, mode=mode).instructions == turn.instructions


@pytest.mark.parametrize("model", MODELS)
def test_e69_none_where_nothing_of_ours_searches(many, model):
    assert engine(many(3)).turn([], model=model).instructions == ""
    if model != GEMINI:
        assert engine(many(20)).turn([], model=model).instructions == ""


@BOTH
def test_e83_e85_eight_come_back_and_are_loaded(mails, form):
    talk = Talk(engine(mails, source(form, weak_hits="load")))
    names = [f"mail_{number:02}" for number in range(8)]
    assert talk.ask("mail")["loaded"] == names
    assert talk.turn().plan.loaded == tuple(names)
    assert talk.ask("mail_09")["loaded"][0] == "mail_09"
    assert talk.turn().plan.loaded == (*names, "mail_09")


@BOTH
def test_e84_ties_keep_registration_order(files, form):
    found = Talk(engine(files, source(form, weak_hits="load"))).ask("find pattern lines read")["loaded"]
    assert [name for name in found if name in ("read_file", "grep_files")] == ["read_file", "grep_files"]


@BOTH
def test_e88_a_miss_loads_nothing_and_lists_names(files, form):
    talk = Talk(engine(files, source(form)))
    given = talk.ask("xyzzy")
    assert (given["tools"], given["loaded"], sorted(given["names"])) == (
        [],
        [],
        sorted(tool["name"] for tool in files),
    )
    assert "parameters" not in json.dumps(given)
    assert "other words" in given["note"]
    assert talk.turn().plan.loaded == ()


@BOTH
@pytest.mark.parametrize("query", ["", "   ", "..."])
def test_e89_d04_an_empty_query_lists_names(files, form, query):
    talk = Talk(engine(files, source(form)))
    given = talk.ask(query)
    assert (given["tools"], given["loaded"], len(given["names"]), given["total"]) == ([], [], 6, 6)
    assert talk.turn().plan.loaded == ()


@pytest.mark.parametrize("query", [None, "*", "", "?!"])
@pytest.mark.parametrize("preset", [None, "cogitator"])
def test_d04_browsing_is_bounded_and_never_loads(many, query, preset):
    changes = {"threshold": 15, "browse_names": 100}
    config = SearchConfig.preset(preset, **changes) if preset else SearchConfig(ranker="bm25", **changes)
    talk = Talk(engine(many(140), config))
    (result,) = talk.say(("tool_search", {} if query is None else {"query": query}))
    given = record(result)
    assert (len(given["names"]), given["total"], given["loaded"]) == (100, 140, [])
    assert talk.turn().plan.loaded == ()


def test_d18_a_miss_lists_few_names(many):
    given = Talk(engine(many(200))).ask("xyzzy")
    assert len(given["names"]) == 50
    assert given["total"] == 200
    assert estimate_tokens(json.dumps(given)) < 1_500


# --- Limits


@pytest.mark.parametrize(
    ("limit", "count", "noted"),
    [
        (None, 5, False), (12, 12, False), (20, 20, False), (50, 20, True), (21, 20, True), (-1, 1, True), (0, 1, True),
        ("3", 3, True), (True, 5, True), ("many", 5, True), (2.7, 2, True),
    ],
)  # fmt: skip
def test_c11_c12_c13_d01_limits_are_clamped(limit, count, noted):
    talk = Talk(engine(records_of(30), COGITATOR))
    arguments = {} if limit is None else {"limit": limit}
    given = talk.ask("record", **arguments)
    assert len(given["loaded"]) == count
    assert ("notes" in given) == noted
    assert len(talk.turn().plan.loaded) == count


def test_c12_the_schema_offers_the_limit_where_it_counts():
    offered = wire(engine(records_of(30), COGITATOR).turn([], model=LLAMA).tools)["tool_search"]["parameters"]
    assert offered["properties"]["limit"]["maximum"] == 20
    hidden = wire(engine(records_of(30), EVERRUNS).turn([], model=LLAMA).tools)["tool_search"]["parameters"]
    assert set(hidden["properties"]) == {"query", "names"}
    assert search_tool(offer_limit=False, max_limit=8).parameters == hidden


@pytest.mark.parametrize(
    ("settings", "limit", "count"),
    [({}, None, 8), ({}, 20, 8), ({"default_limit": 3, "max_limit": 12}, None, 3),
     ({"default_limit": 3, "max_limit": 12}, 20, 12)],
)  # fmt: skip
def test_d01_the_json_form_has_limits_of_its_own(settings, limit, count):
    ref = {"ref": "tool_search", "config": {"ranker": "keyword", **settings}}
    config = SearchConfig.from_json({"capabilities": [ref]})
    arguments = {} if limit is None else {"limit": limit}
    assert len(Talk(engine(records_of(30), config)).ask("record", **arguments)["loaded"]) == count


# --- Names and descriptions only


def test_c17_an_exact_name_is_on_top():
    loud = {"name": "read_file_lines", "description": "read_file " * 5, "defer": "always"}
    tools = [loud, {"name": "read_file", "description": "Text", "defer": "always"}]
    assert Talk(engine(tools, COGITATOR)).ask("read_file")["loaded"][0] == "read_file"


@pytest.mark.parametrize(
    ("query", "first"), [("keep a book longer", "renewLoan"), ("fees", "fee-report"), ("reserve_title",) * 2]
)
def test_c18_a_need_a_word_or_a_name(lib, query, first):
    assert Talk(engine(lib, COGITATOR)).ask(query)["loaded"][0] == first


def test_c19_d15_names_and_descriptions_no_schemas(lib):
    given = Talk(engine(lib, COGITATOR)).ask("renewLoan")
    assert [set(entry) for entry in given["tools"]] == [{"name", "description"}] * len(given["tools"])
    assert given["note"]
    assert "extraDays" not in json.dumps(given)


def test_c20_the_schema_comes_with_the_next_turn(lib):
    talk = Talk(engine(lib, COGITATOR))
    turn = talk.turn()
    before = json.dumps(turn.tools)
    turn.answer(chat(("tool_search", {"query": "renewLoan"})))
    assert json.dumps(turn.tools) == before
    talk.ask("renewLoan")
    assert "extraDays" in json.dumps(wire(talk.turn().tools)["renewLoan"])
    assert talk.turn().plan.full[-1] in talk.turn().plan.loaded


def test_d14_what_is_in_full_is_answered_call_it_directly(files):
    tools = [{**files[0], "defer": "never"}, *({**tool, "defer": "always"} for tool in files[1:])]
    talk = Talk(engine(tools, SearchConfig(ranker="bm25", weak_hits="load", band=0)))
    given = talk.ask("read file", limit=1)
    assert given["available"] == ["read_file"]
    assert "You have read_file already: call it directly." in given["note"]
    assert "read_file" not in given["loaded"]
    wider = talk.ask("read file", limit=3)
    assert wider["available"] == ["read_file"]
    assert 1 <= len(wider["loaded"]) <= 3
    assert "read_file" not in talk.turn().plan.loaded


def test_d14_the_scope_may_be_deferred_tools_only(lib):
    talk = Talk(engine(lib, COGITATOR))
    given = talk.ask("find_reader")
    assert "find_reader" not in [*given["loaded"], *given.get("available", ()), *given.get("names", ())]


# --- Names in a search, several at once


def test_x12_names_are_never_cut_and_come_in_order(many):
    talk = Talk(engine(many(20)))
    names = [f"tool_{number:02}" for number in (7, 0, 6, 1, 5, 2, 4, 3)]
    given = talk.ask("", names=[*names, "tool_zz"])
    assert given["loaded"] == names
    (unknown,) = given["unknown"]
    assert unknown["name"] == "tool_zz"
    assert unknown["nearest"]
    assert talk.turn().plan.loaded == tuple(names)


def test_x12_two_queries_give_the_best_of_each_once(lib):
    given = Talk(engine(lib, COGITATOR)).say(
        ("tool_search", {"queries": ["keep a book longer", "fees", "book that is out"]})
    )
    loaded = record(given[0])["loaded"]
    assert {"renewLoan", "fee-report", "reserve_title"} == set(loaded)
    assert len(loaded) == 3


def test_x12_a_name_and_a_query_together(lib):
    given = Talk(engine(lib, COGITATOR)).ask("fees", names=["renewLoan"])
    assert given["loaded"] == ["renewLoan", "fee-report"]


# --- Misses in a row


def ask_in_reference_mode(search, messages, number):
    turn = search.turn(messages, model=CLAUDE, mode="reference")
    response = claude(use("tool_search", {"query": "xyzzy"}, f"toolu_{number}"))
    results = turn.answer(response)
    following = [{"role": "assistant", "content": response["content"]}, {"role": "user", "content": results}]
    return record(results[0])["note"], [*messages, *following]


def test_x06_the_third_miss_says_to_stop(lib):
    talk = Talk(engine(lib))
    notes = [talk.ask(query)["note"] for query in ("xyzzy", "plugh", "frotz")]
    assert notes[0] == notes[1]
    assert "Stop searching" in notes[2]
    assert "Stop" not in notes[0]
    assert talk.ask("renewLoan")["loaded"] == ["renewLoan"]
    assert talk.ask("xyzzy")["note"] == notes[0]


def test_x06_an_ordinary_call_and_a_found_tool_start_anew(lib):
    for between in (("find_reader", {}), ("tool_search", {"query": "find_reader"})):
        talk = Talk(engine(lib))
        talk.ask("xyzzy"), talk.ask("plugh")
        talk.say(between)
        assert "Stop" not in talk.ask("frotz")["note"]


def test_x06_looking_through_the_names_is_no_miss(lib):
    talk = Talk(engine(lib))
    talk.ask("xyzzy")
    talk.ask("")
    assert "Stop" not in talk.ask("plugh")["note"]
    talk.ask("*")
    assert "Stop" in talk.ask("frotz")["note"]


def test_x06_misses_of_one_response_count_too(lib):
    queries = ["xyzzy", "", "plugh", "frotz"]
    results = Talk(engine(lib)).say(*(("tool_search", {"query": query}) for query in queries))
    assert ["Stop" in record(result)["note"] for result in results] == [False, False, False, True]


def test_x06_in_anthropics_form(lib):
    search, messages, notes = engine(lib), [{"role": "user", "content": "Do it."}], []
    for number in range(3):
        note, messages = ask_in_reference_mode(search, messages, number)
        notes.append(note)
    assert ["Stop" in note for note in notes] == [False, False, True]


# --- The cached prefix


@pytest.mark.parametrize("query", ["renewLoan", "xyzzy", "", "find_reader"])
def test_c40_a_search_that_loads_nothing_new_changes_no_byte(lib, query):
    talk = Talk(engine(lib))
    talk.ask("renewLoan")
    before = talk.turn()
    talk.ask(query)
    after = talk.turn()
    assert json.dumps(after.tools) == json.dumps(before.tools)
    assert after.cache_key == before.cache_key


def test_of_many_namespaces_the_search_tool_names_the_largest_and_counts_the_rest():
    few = search_tool(offer_limit=True, max_limit=20, namespaces=[("mail", 3), ("wiki", 12)])
    assert few.description.endswith(" Searchable: mail (3), wiki (12).")
    spaces = [(f"space{n:03}", n) for n in range(1, 501)]
    many = search_tool(offer_limit=True, max_limit=20, namespaces=spaces)
    assert f", and 470 more with {sum(range(1, 471))} tools." in many.description
    assert "space500 (500)" in many.description
    assert "space470 (" not in many.description
    assert len(many.description) < 1_000
