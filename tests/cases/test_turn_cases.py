"""Failures of other tool searches, from public reports, through whole turns: requests, answers and calls."""

from __future__ import annotations

import json

import pytest
from case_tools import obj, t

from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.compaction import compaction_note
from semantic_toolsearch.providers.validate import validate

CLAUDE, GPT, LLAMA = "claude-sonnet-5", "gpt-5.4", "llama-4"
USER = {"role": "user", "content": "Go on."}
ALWAYS = SearchConfig(ranker="bm25", threshold=1)


def engine(tools, **options):
    return ToolSearch(tools, config=ALWAYS, cache=False, **options)


def chat(*calls):
    made = [
        {
            "id": f"c{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def claude(*blocks):
    return {"role": "assistant", "content": list(blocks), "stop_reason": "tool_use"}


def use(name, arguments, call_id):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def step(search, messages, *calls, **options):
    """The model calls; the results, and the conversation with them."""
    turn, response = search.turn(messages, model=LLAMA, **options), chat(*calls)
    results = turn.results(response, lambda call: f"ran {call.name}")
    return results, [*messages, response["choices"][0]["message"], *results]


def found(result):
    return json.loads(result["content"])


def full(turn):
    return {entry["function"]["name"]: entry["function"]["parameters"] for entry in turn.tools}


# --- State


def test_bc33_after_compaction_all_loads_are_in_the_request():
    always = [t(name, "Works on the machine", defer="never") for name in ("bash", "read_file")]
    mail = [t(name, f"Mail {name}", obj(**{f"of_{name}": {"type": "string"}})) for name in
            ("mail_list", "mail_move", "sign_send", "mail_sort")]  # fmt: skip
    search, messages = engine([*always, *mail]), [USER]
    for name in ("mail_list", "mail_move", "sign_send"):
        _, messages = step(search, messages, ("tool_search", {"query": "", "names": [name]}))
    kept = messages[-2:]
    turn = search.turn([compaction_note(messages[:-2], kept), *kept], model=LLAMA)
    sent = full(turn)
    assert {"bash", "read_file", "tool_search"} <= set(sent)
    for name in ("mail_list", "mail_move", "sign_send"):
        assert f"of_{name}" in sent[name]["properties"]
    assert "of_mail_sort" not in json.dumps(turn.tools)
    assert turn.plan.full[:2] == ("bash", "read_file")


@pytest.mark.parametrize("mode", ["reference", "hosted"])
def test_bc34_a_request_of_anthropics_names_nothing_that_is_gone(mode):
    now = [t("mail_list", "List mail"), t("mail_sort", "Sort mail")]
    later = [*now, t("design_sync", "Sync a design")]
    search, names = engine(later), ("design_sync", "mail_list")
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    if mode == "reference":
        messages = [
            USER,
            {"role": "assistant", "content": [use("tool_search", {"query": "x"}, "toolu_1")]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": references}],
            },
        ]
    else:
        hosted = {"type": "tool_search_tool_search_result", "tool_references": references}
        searched = [
            {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_bm25", "input": {"query": "x"}},
            {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": hosted},
        ]
        messages = [USER, {"role": "assistant", "content": searched}, USER]
    before = json.dumps(messages)

    search.replace(None, now)
    turn = search.turn(messages, model=CLAUDE, mode=mode, validate=True)
    assert "design_sync" not in json.dumps([turn.tools, turn.messages])
    assert "mail_list" in json.dumps(turn.messages)
    assert json.dumps(messages) == before
    assert [w for w in turn.plan.warnings if "design_sync" in w] == [
        "The conversation loaded tools that cannot be used now: design_sync."
    ]
    assert not [v for v in validate("anthropic", turn.tools, messages=turn.messages) if v.severity == "error"]
    (refused,) = turn.answer(claude(use("design_sync", {}, "toolu_2")))
    assert refused["is_error"]
    assert "is not connected" in refused["content"]
    assert "no tool called" not in refused["content"]

    search.replace(None, later)
    turn = search.turn(messages, model=CLAUDE, mode=mode, validate=True)
    assert turn.messages == messages
    assert set(turn.plan.loaded) == set(names)
    assert [call.loaded for call in turn.calls(claude(use("design_sync", {}, "toolu_2")))] == [True]


def test_bc34_a_search_that_found_only_what_is_gone_keeps_an_answer():
    search = engine([t("mail_list", "List mail"), t("mail_sort", "Sort mail")])
    reference = {"type": "tool_reference", "tool_name": "design_sync"}
    messages = [
        USER,
        {"role": "assistant", "content": [use("tool_search", {"query": "x"}, "toolu_1")]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [reference]}],
        },
    ]
    turn = search.turn(messages, model=CLAUDE, mode="reference", validate=True)
    (block,) = turn.messages[-1]["content"]
    assert block["tool_use_id"] == "toolu_1"
    assert [part["type"] for part in block["content"]] == ["text"]
    assert turn.messages[0] is messages[0]


def test_bc35_the_catalogue_changes_during_the_session():
    v1 = [t("probe_run", "Run a probe", obj(a={"type": "string"}), server="lab")]
    v2 = [
        t("probe_run", "Run a probe", obj(a={"type": "string"}, b={"type": "integer"}), server="lab"),
        t("centrifuge_spin", "Spin samples", server="lab"),
    ]
    other = [t("note_write", "Write a note")]
    search, messages = engine([*v1, *other]), [USER]
    (result,), messages = step(search, messages, ("tool_search", {"query": "probe_run"}))
    (probe,) = found(result)["loaded"]
    assert full(search.turn(messages, model=LLAMA))[probe]["properties"] == {"a": {"type": "string"}}

    search.replace("lab", v2)
    assert full(search.turn(messages, model=LLAMA))[probe]["properties"] == {
        "a": {"type": "string"},
        "b": {"type": "integer"},
    }
    (result,), messages = step(search, messages, ("tool_search", {"query": "spin samples"}))
    (spin,) = found(result)["loaded"]
    assert spin in search.turn(messages, model=LLAMA).plan.loaded

    search.replace("lab", v1)
    turn = search.turn(messages, model=LLAMA)
    assert turn.plan.loaded == (probe,)
    assert "centrifuge" not in json.dumps(turn.tools)
    for query in ("spin samples", "centrifuge_spin", "", "xyzzy"):
        (result,), _ = step(search, messages, ("tool_search", {"query": query}))
        assert "centrifuge" not in json.dumps({k: v for k, v in found(result).items() if k != "query"})
    (refused,), _ = step(search, messages, ("probe_ru", {}))
    assert "centrifuge" not in refused["content"]


# --- Selection and the prompt cache


def test_bc15_named_loads_are_not_cut():
    search = engine([t(f"tool_{c}", "x") for c in "abcdefghij"])
    names = [f"tool_{c}" for c in "hagbfced"]
    (result,), messages = step(search, [USER], ("tool_search", {"query": "", "names": [*names, "tool_zz"]}))
    given = found(result)
    assert given["loaded"] == names
    assert [entry["name"] for entry in given["tools"]] == names
    assert given["unknown"][0]["name"] == "tool_zz"
    assert set(given["unknown"][0]["nearest"]) <= {f"tool_{c}" for c in "abcdefghij"}
    assert given["unknown"][0]["nearest"]
    assert search.turn(messages, model=LLAMA).plan.loaded == tuple(names)


@pytest.mark.parametrize("mode", ["stub", "bridge"])
def test_bc40_searching_again_for_what_is_loaded(mode):
    tools = [t("invoice_create", "Bill a customer: create an invoice", obj(customer={"type": "string"})),
             t("mail_list", "List mail"), t("note_write", "Write a note")]  # fmt: skip
    search = engine(tools)
    (first,), messages = step(search, [USER], ("tool_search", {"query": "invoice"}), mode=mode)
    assert found(first)["loaded"] == ["invoice_create"]
    lists, notes = [], []
    for query in ("invoice", "xyzzy-nothing", "invoice create"):
        lists.append(json.dumps(search.turn(messages, model=LLAMA, mode=mode).tools))
        (result,), messages = step(search, messages, ("tool_search", {"query": query}), mode=mode)
        assert found(result)["loaded"] == []
        notes.append(found(result)["note"])
    lists.append(json.dumps(search.turn(messages, model=LLAMA, mode=mode).tools))
    assert len(set(lists)) == 1
    for note in (notes[0], notes[2]):
        assert "You have invoice_create already" in note
        assert "matched" not in note
    assert "Nothing matched" in notes[1]


# --- Calls


def test_bc41_a_call_to_a_tool_nobody_searched_for():
    schema = {"type": "object", "required": ["customer"], "properties": {"customer": {"type": "string"}}}
    search = engine([t("invoice_create", "Bill a customer", schema), t("mail_list", "List mail")])
    first = search.turn([USER], model=LLAMA)
    assert "invoice_create" in first.plan.deferred
    (result,), messages = step(search, [USER], ("invoice_create", {"customer": "C7"}))
    assert result["content"] == "ran invoice_create"
    assert full(search.turn(messages, model=LLAMA))["invoice_create"]["properties"] == schema["properties"]


def test_bc42_guessed_arguments_get_one_reply_and_load_the_tool():
    schema = {
        "type": "object",
        "required": ["path", "find", "put"],
        "additionalProperties": False,
        "properties": {key: {"type": "string"} for key in ("path", "find", "put")},
    }
    search = engine([t("file_patch", "Change a file", schema), t("mail_list", "List mail")])
    turn = search.turn([USER], model=LLAMA)
    guess = ("file_patch", {"path": "a.txt", "old_text": "x", "new_text": "y"})
    assert turn.calls(chat(guess)) == []
    (result,), messages = step(search, [USER], guess)
    text = result["content"]
    assert "Missing: find, put." in text
    assert "Unexpected: old_text, new_text." in text
    assert json.loads(text.partition("fit this schema: ")[2]) == schema
    assert "file_patch" in search.turn(messages, model=LLAMA).plan.loaded
    assert "find" in full(search.turn(messages, model=LLAMA))["file_patch"]["properties"]


@pytest.mark.parametrize(
    ("model", "choice"),
    [
        (LLAMA, {"type": "function", "function": {"name": "invoice_create"}}),
        (CLAUDE, {"type": "tool", "name": "invoice_create"}),
        (GPT, {"type": "function", "name": "invoice_create"}),
    ],
)
def test_bc43_a_forced_choice_is_accepted_and_stays_for_the_run(model, choice):
    schema = obj(customer={"type": "string"})
    search = engine(
        [t("invoice_create", "Bill a customer", schema), t("mail_list", "Mail"), t("note", "Note")]
    )
    turn = search.turn([USER], model=model, tool_choice=choice, validate=True)
    assert "customer" in json.dumps(turn.tools)
    assert turn.plan.full == ("invoice_create",)
    for _ in range(2):
        turn = turn.next([USER])
        assert "invoice_create" in turn.plan.full
        assert turn.plan.deferred == ("mail_list", "note")
    assert "invoice_create" in search.turn([USER], model=model).plan.deferred


@pytest.mark.parametrize(
    "sent",
    [
        {"name": "pay", "arguments": {"id": "9"}},
        {"name": "pay", "arguments": '{"id": "9"}'},
        {"name": "pay", "arguments": {}, "id": "9"},
    ],
)
def test_bc44_the_arguments_survive_the_bridge(sent):
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    search = engine([t("pay", "Pay a bill", schema), t("mail_list", "Mail")])
    turn = search.turn([USER], model=LLAMA, mode="bridge")
    (call,) = turn.calls(chat(("call_tool", sent)))
    assert (call.name, call.arguments) == ("pay", {"id": "9"})
    assert turn.answer(chat(("call_tool", sent))) == []


def test_bc44_an_empty_call_is_refused_and_never_run_empty():
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    turn = engine([t("pay", "Pay a bill", schema), t("mail_list", "Mail")]).turn(
        [USER], model=LLAMA, mode="bridge"
    )
    response = chat(("call_tool", {"name": "pay", "arguments": {}}))
    assert turn.calls(response) == []
    (refused,) = turn.answer(response)
    assert "Missing: id." in refused["content"]


# --- Permissions


@pytest.mark.parametrize("query", ["export salaries", "payroll_export", "", "no such thing"])
@pytest.mark.parametrize("mode", ["stub", "bridge"])
def test_bc48_a_forbidden_tool_is_in_no_answer(mode, query):
    tools = [t("payroll_export", "Export salaries"), t("payslip_mine", "My own payslip")]
    answers = []
    for catalog in (tools, tools[1:]):  # a clerk's answer is that of a catalog without the tool
        turn = engine(catalog).turn([USER], model=LLAMA, mode=mode, visible={"payslip_mine"})
        (result,) = turn.answer(chat(("tool_search", {"query": query, "names": []})))
        answers.append(found(result))
        assert "payroll" not in json.dumps(turn.tools)
    assert answers[0] == answers[1]
    assert "payroll" not in json.dumps({k: v for k, v in answers[0].items() if k != "query"})


@pytest.mark.parametrize("mode", ["stub", "bridge"])
def test_bc48_a_direct_call_is_refused_like_an_unknown_name(mode):
    tools = [t("payroll_export", "Export salaries"), t("payslip_mine", "My own payslip")]
    call = (
        ("call_tool", {"name": "payroll_export", "arguments": {}})
        if mode == "bridge"
        else ("payroll_export", {})
    )
    texts = []
    for catalog in (tools, tools[1:]):
        turn = engine(catalog).turn([USER], model=LLAMA, mode=mode, visible={"payslip_mine"})
        assert turn.calls(chat(call)) == []
        texts.append(turn.answer(chat(call)))
    assert texts[0] == texts[1]


def test_bc48_a_forbidden_name_cannot_be_asked_for():
    tools = [t("payroll_export", "Export salaries"), t("payslip_mine", "My own payslip")]
    search = engine(tools)
    seen = {"visible": {"payslip_mine"}}
    (result,), messages = step(
        search, [USER], ("tool_search", {"query": "", "names": ["payroll_export"]}), **seen
    )
    given = found(result)
    assert given["loaded"] == []
    assert [entry["name"] for entry in given["unknown"]] == ["payroll_export"]
    assert "payroll_export" not in given["unknown"][0]["nearest"]
    assert search.turn(messages, model=LLAMA, **seen).plan.loaded == ()


@pytest.mark.parametrize("model", [LLAMA, CLAUDE, GPT])
def test_bc49_an_empty_allow_list_means_nothing(model):
    turn = engine([t("x", "y")]).turn([USER], model=model, visible=set())
    assert (turn.tools, turn.instructions, turn.plan.search) == ([], "", None)


def test_bc49_nothing_is_searchable_listed_or_callable():
    turn = engine([t("x", "y")]).turn([USER], model=LLAMA, visible=set())
    response = chat(("tool_search", {"query": "y"}), ("tool_search", {"query": ""}), ("x", {}))
    assert turn.calls(response) == []
    results = turn.answer(response)
    for given in map(found, results[:2]):
        assert given["loaded"] == given["tools"] == []
        assert not given.get("names")
        assert given["total"] == 0
        assert given["note"].startswith("There are no tools to search here.")
    assert "no tool called 'x'" in results[2]["content"]
    assert "Nearest" not in results[2]["content"]
