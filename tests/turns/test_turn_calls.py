"""Calls of a response: which run, which are answered here, and that each id gets one result."""

from __future__ import annotations

import json

import pytest
from surfaces import (
    CLAUDE,
    GEMINI,
    GPT,
    LLAMA,
    Talk,
    chat,
    claude,
    engine,
    function_call,
    gemini,
    record,
    responses,
    use,
)

from semantic_toolsearch import SearchConfig
from semantic_toolsearch.errors import ArgumentsError
from semantic_toolsearch.exchange import RawCall

LOAN = {"readerCard": "7", "extraDays": 3}


def anthropic_find(name):
    return [
        {"type": "server_tool_use", "id": "srv_1", "name": "tool_search_tool_bm25", "input": {"query": "x"}},
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "srv_1",
            "content": {
                "type": "tool_search_tool_search_result",
                "tool_references": [{"type": "tool_reference", "tool_name": name}],
            },
        },
    ]


def openai_find(name, execution="server"):
    common = {"execution": execution, "call_id": None, "status": "completed"}
    found = {"type": "function", "name": name, "description": "d", "parameters": {"type": "object"}}
    return [
        {"type": "tool_search_call", "id": "tsc_1", "arguments": {"query": "x"}, **common},
        {"type": "tool_search_output", "id": "tso_1", "tools": [found], **common},
    ]


# --- Calls without a search


@pytest.mark.parametrize("model", [GPT, CLAUDE, GEMINI, LLAMA])
def test_c34_e70_a_deferred_tool_runs_without_a_search_before_it(lib, model):
    turn = engine(lib).turn([], model=model, prefer="client", mode="stub")
    assert turn.plan.mode == "stub"
    raw = RawCall("1", "renewLoan", None, LOAN)
    if turn.plan.api == "responses":
        raw = RawCall("1", "renewLoan", "renewLoan", LOAN)
    call = turn.check(raw)
    assert (call.name, call.arguments, call.loaded) == ("renewLoan", LOAN, False)


def test_c34_e70_the_call_is_handed_out_and_not_answered(lib):
    turn, response = engine(lib).turn([], model=LLAMA), chat(("renewLoan", LOAN))
    (call,) = turn.calls(response)
    assert (call.name, call.arguments, call.loaded, call.id) == ("renewLoan", LOAN, False, "call_0")
    assert turn.answer(response) == []


def test_c35_its_arguments_are_checked_against_the_full_schema(lib):
    turn = engine(lib).turn([], model=LLAMA)
    with pytest.raises(ArgumentsError) as caught:
        turn.check(RawCall("1", "renewLoan", None, {"readerCard": "7", "extraDays": "soon"}))
    assert [problem.path for problem in caught.value.problems] == ["extraDays"]
    response = chat(("renewLoan", {"readerCard": "7", "extraDays": "soon"}))
    ran = []
    (result,) = turn.results(response, ran.append)
    assert ran == []
    assert result["tool_call_id"] == "call_0"
    assert "extraDays" in result["content"]


def test_c36_remembering_a_tool_is_enough(lib):
    talk = Talk(engine(lib))
    talk.say(("renewLoan", LOAN))
    turn, response = talk.turn(), chat(("renewLoan", LOAN))
    (call,) = turn.calls(response)
    assert call.loaded
    assert turn.plan.loaded == ("renewLoan",)
    assert "tool_search" not in json.dumps(talk.messages)


@pytest.mark.parametrize("unloaded", ["run", "refuse_with_schema"])
def test_d07_a_call_of_an_unloaded_tool_loads_it_for_the_next_turn(lib, unloaded):
    talk = Talk(engine(lib, SearchConfig(ranker="bm25", unloaded_calls=unloaded)))
    response, turn = chat(("renewLoan", LOAN)), talk.turn()
    assert "renewLoan" in turn.plan.deferred
    if unloaded == "run":
        assert [call.name for call in turn.calls(response)] == ["renewLoan"]
        assert turn.answer(response) == []
    else:
        assert turn.calls(response) == []
        (result,) = turn.answer(response)
        schema = json.dumps(talk.search.catalog["renewLoan"].parameters)
        assert schema in result["content"]
    talk.say(("renewLoan", LOAN))
    following = talk.turn()
    assert "renewLoan" in following.plan.full
    assert [call.loaded for call in following.calls(response)] == [True]


def test_d07_bad_arguments_are_refused_first_and_load_it_too(lib):
    talk = Talk(engine(lib))
    (result,) = talk.say(("renewLoan", {"card": "7"}))
    assert "Missing: readerCard." in result["content"]
    assert "renewLoan" in talk.turn().plan.full


# --- Searches of the same response


def test_x23_a_search_serves_the_calls_beside_it(lib):
    turn = engine(lib).turn([], model=LLAMA)
    alone = turn.calls(chat(("renewLoan", LOAN)))
    beside = turn.calls(chat(("tool_search", {"query": "renewLoan"}), ("renewLoan", LOAN)))
    assert [call.loaded for call in (*alone, *beside)] == [False, True]


@pytest.mark.parametrize("unloaded", ["run", "refuse_with_schema"])
def test_x23_a_hosted_search_serves_the_calls_of_its_response(lib, unloaded):
    search = engine(lib, SearchConfig(ranker="bm25", unloaded_calls=unloaded))
    turn = search.turn([], model=CLAUDE)
    assert turn.plan.mode == "hosted"
    response = claude(
        *anthropic_find("renewLoan"), use("renewLoan", LOAN), use("reserve_title", {}, "toolu_2")
    )
    assert [call.loaded for call in turn.calls(response) if call.name == "renewLoan"] == [True]
    others = [call.loaded for call in turn.calls(response) if call.name == "reserve_title"]
    assert others == ([False] if unloaded == "run" else [])

    turn = search.turn([], model=GPT)
    assert turn.plan.mode == "hosted"
    response = responses(*openai_find("renewLoan"), function_call("renewLoan", LOAN, namespace="renewLoan"))
    assert [(call.name, call.loaded) for call in turn.calls(response)] == [("renewLoan", True)]


def test_o20_programs_may_call_what_a_search_of_the_response_found(lib):
    turn = engine(lib).turn([], model=CLAUDE)
    program = {"type": "code_execution_20260120", "tool_id": "srv_2"}
    call = use("renewLoan", LOAN, caller=program)
    (refused,) = turn.answer(claude(call))
    assert refused["is_error"]
    assert "load it with a tool search first" in refused["content"]
    assert turn.calls(claude(call)) == []
    assert [made.name for made in turn.calls(claude(*anthropic_find("renewLoan"), call))] == ["renewLoan"]


@pytest.mark.parametrize("caller", [None, {"type": "direct"}])
def test_o20_a_direct_caller_may_call_what_is_not_loaded(lib, caller):
    turn = engine(lib).turn([], model=CLAUDE)
    assert [call.loaded for call in turn.calls(claude(use("renewLoan", LOAN, caller=caller)))] == [False]


def test_o20_openai_programs_are_refused_before_the_tool_is_loaded(lib):
    turn = engine(lib).turn([], model=GPT)
    call = function_call(
        "renewLoan", LOAN, namespace="renewLoan", caller={"type": "program", "caller_id": "c"}
    )
    (refused,) = turn.answer(responses(call))
    assert (refused["type"], refused["call_id"]) == ("function_call_output", "call_1")
    assert refused["caller"] == {"type": "program", "caller_id": "c"}
    assert "programs cannot search" in refused["output"]
    assert [made.loaded for made in turn.calls(responses(*openai_find("renewLoan"), call))] == [True]


def test_o20_programs_may_call_what_is_in_full(lib):
    turn = engine(lib).turn([], model=GPT)
    call = function_call("find_reader", {}, namespace="find_reader", caller={"type": "program"})
    assert [made.name for made in turn.calls(responses(call))] == ["find_reader"]


# --- Order and ids


def test_x23_each_id_gets_one_result_in_order(lib):
    turn = engine(lib).turn([], model=LLAMA)
    response = chat(
        ("find_reader", {}, "a"),
        ("tool_search", {"query": "renewLoan"}, "b"),
        ("nothing_like_it", {}, "c"),
        ("renewLoan", {"extraDays": "soon"}, "d"),
        ("renewLoan", LOAN, "e"),
        ("tool_search", {"query": "reserve_title"}, "f"),
    )
    ran = []

    def run(call):
        ran.append(call.id)
        return {"ran": call.name}

    results = turn.results(response, run)
    assert [result["tool_call_id"] for result in results] == list("abcdef")
    assert ran == ["a", "e"]
    assert [call.id for call in turn.calls(response)] == ["a", "e"]
    assert [result["tool_call_id"] for result in turn.answer(response)] == ["b", "c", "d", "f"]
    assert results[0]["content"] == '{"ran":"find_reader"}'
    assert record(results[1])["loaded"] == ["renewLoan"]


def test_x23_ids_that_a_server_repeats_get_one_result_and_one_run(lib):
    turn = engine(lib).turn([], model=LLAMA)
    response = chat(
        ("find_reader", {}, "a"), ("renewLoan", LOAN, "a"), ("tool_search", {"query": "fee"}, "b")
    )
    assert [call.name for call in turn.calls(response)] == ["find_reader"]
    results = turn.results(response, lambda call: call.name)
    assert [result["tool_call_id"] for result in results] == ["a", "b"]
    assert results[0]["content"] == "find_reader"


def test_x23_calls_without_ids_are_told_apart(lib):
    turn = engine(lib).turn([], model=GEMINI)
    response = gemini(("find_reader", {}), ("tool_search", {"query": "renewLoan"}), ("find_reader", {}))
    results = turn.results(response, lambda call: f"ran {call.id}")
    given = [part["functionResponse"] for part in results]
    assert [answer["name"] for answer in given] == ["find_reader", "tool_search", "find_reader"]
    assert given[0]["response"] != given[2]["response"]
    assert json.loads(given[1]["response"]["output"])["loaded"] == ["renewLoan"]


def test_x23_a_hosted_search_left_open_is_answered_with_tool_results_only(lib):
    turn = engine(lib).turn([], model=CLAUDE)
    open_search = {
        "type": "server_tool_use",
        "id": "srv_9",
        "name": "tool_search_tool_bm25",
        "input": {"query": "x"},
    }
    response = claude(open_search, use("find_reader", {}))
    results = turn.results(response, lambda call: "found")
    assert [(block["type"], block["tool_use_id"]) for block in results] == [("tool_result", "toolu_1")]
    assert not turn.done(response)


@pytest.mark.parametrize(
    ("model", "response"),
    [
        (LLAMA, chat(("find_reader", {}), ("tool_search", {"query": "x"}), stop="length")),
        (CLAUDE, claude(use("find_reader", {}), stop="max_tokens")),
        (CLAUDE, claude(use("find_reader", {}), stop="refusal")),
        (GPT, responses(function_call("find_reader", {}), status="incomplete")),
    ],
)
def test_x23_of_a_response_that_was_cut_nothing_runs(lib, model, response):
    turn = engine(lib).turn([], model=model)
    assert turn.calls(response) == []
    assert turn.answer(response) == []
    assert turn.results(response, lambda call: pytest.fail("ran")) == []
    assert turn.done(response)


def test_x23_a_pause_is_resumed_and_not_answered(lib):
    turn = engine(lib).turn([], model=CLAUDE)
    response = claude(*anthropic_find("renewLoan"), stop="pause_turn")
    assert (turn.answer(response), turn.calls(response), turn.done(response)) == ([], [], False)


def test_x23_the_model_is_done_when_it_calls_nothing(lib):
    turn = engine(lib).turn([], model=LLAMA)
    assert turn.done(chat(stop="stop", text="Done."))
    assert not turn.done(chat(("find_reader", {})))
    assert not turn.done(chat(("tool_search", {"query": "x"})))


# --- Unknown names


def test_x24_a_wrong_name_is_never_guessed(lib):
    turn = engine(lib).turn([], model=LLAMA)
    response = chat(("renewLoans", LOAN))
    assert turn.calls(response) == []
    (result,) = turn.answer(response)
    assert "no tool called 'renewLoans'" in result["content"]
    assert "Nearest: renewLoan" in result["content"]
    assert "tool search" in result["content"]


def test_x24_where_nothing_searches_no_search_is_recommended(files):
    turn = engine(files).turn([], model=LLAMA)
    assert turn.plan.search is None
    (result,) = turn.answer(chat(("read_files", {})))
    assert "Nearest: read_file" in result["content"]
    assert "search" not in result["content"]


def test_x24_harmless_types_are_put_right(lib):
    turn = engine(lib).turn([], model=LLAMA)
    (call,) = turn.calls(chat(("renewLoan", {"readerCard": "7", "extraDays": "3"})))
    assert call.arguments == {"readerCard": "7", "extraDays": 3}


def test_x24_arguments_that_are_no_json_are_answered(lib):
    turn = engine(lib).turn([], model=LLAMA)
    response = chat(("renewLoan", '{"readerCard": "7'))
    assert turn.calls(response) == []
    (result,) = turn.answer(response)
    assert "renewLoan was not run" in result["content"]


# --- tool_search where it was not offered


@pytest.mark.parametrize("model", [LLAMA, CLAUDE, GEMINI, GPT])
def test_e27_a_search_that_was_not_offered_is_answered_honestly(files, model):
    turn = engine(files).turn([], model=model)
    assert turn.plan.mode == "full"
    assert "tool_search" not in json.dumps(turn.tools)
    sent = {"query": "read_file"}
    response = {
        LLAMA: chat(("tool_search", sent)),
        CLAUDE: claude(use("tool_search", sent)),
        GEMINI: gemini(("tool_search", sent)),
        GPT: responses(function_call("tool_search", sent)),
    }[model]
    assert turn.calls(response) == []
    (result,) = turn.answer(response)
    text = json.dumps(result)
    assert "You have read_file already: call it directly." in text
    assert r"\"loaded\":[]" in text


@pytest.mark.parametrize(
    "sent", ["", "not json", "[1, 2]", "{}", '{"query": 7}', '{"names": 3}', '{"limit": {}}']
)
def test_e85_whatever_a_model_sends_as_a_search_is_answered(lib, sent):
    turn = engine(lib).turn([], model=LLAMA)
    (result,) = turn.answer(chat(("tool_search", sent)))
    assert set(record(result)) >= {"query", "tools", "loaded", "note"}
    assert turn.calls(chat(("tool_search", sent))) == []


# --- The bridge


def test_x03_two_fixed_tools_and_arguments_in_any_shape(lib):
    talk = Talk(engine(lib), mode="bridge")
    first = talk.turn()
    assert [entry["function"]["name"] for entry in first.tools] == ["find_reader", "tool_search", "call_tool"]
    found = talk.ask("renewLoan")
    assert found["loaded"] == ["renewLoan"]
    assert found["tools"][0]["parameters"] == talk.search.catalog["renewLoan"].parameters
    assert talk.turn().tools == first.tools
    for arguments in (
        {"name": "renewLoan", "arguments": LOAN},
        {"name": "renewLoan", "arguments": json.dumps(LOAN)},
        {"name": "renewLoan", "arguments": {}, **LOAN},
        {"name": "renewLoan", **LOAN},
    ):
        (call,) = talk.turn().calls(chat(("call_tool", arguments)))
        assert (call.name, call.arguments, call.loaded) == ("renewLoan", LOAN, True)
    for arguments in ({"name": "renewLoan", "arguments": {}}, {}, {"name": "nothing"}, "no json"):
        assert talk.turn().calls(chat(("call_tool", arguments))) == []
        assert len(talk.turn().answer(chat(("call_tool", arguments)))) == 1
