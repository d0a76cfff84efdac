"""What a caller may not see is in no answer: each one is what it would be without those tools in the catalog.

Every way to ask is asked twice, of a catalog with tools that are hidden and of one without them, and both answers must
be equal to the last character. What is hidden bears ``zqx`` in each of its parts, so that a marker betrays it too.
"""

from __future__ import annotations

import json

import pytest

from conversations import FORMATS
from library_tools import RANKERS, t
from semantic_toolsearch import SearchConfig, ToolSearch, compact, compaction_note, fit_history
from semantic_toolsearch.errors import ArgumentsError, ConfigError, UnknownToolError
from semantic_toolsearch.exchange import RawCall
from semantic_toolsearch.testing import HashingEmbedder

SEEN = [
    t("search", "Find a page", server="wiki", words={"type": "string"}),
    t("edit", "Change a page", server="wiki", page={"type": "string", "description": "Title of the page"}),
    t("refund", "Give a customer the money back", server="shop", order={"type": "integer"}),
    t("clock", "Tell the time"),
    t("payslip_mine", "My own payslip", server="people", month={"type": "string", "enum": ["may", "june"]}),
]
HIDDEN = [
    {
        **t(
            "zqxpayroll_export",
            "zqxsalary: export the salaries of everyone as a page",
            server="zqxvault",
            zqxiban={"type": "string", "description": "zqxbank account", "enum": ["zqxnorth", "zqxsouth"]},
        ),
        "aliases": ["zqxalias"],
        "tags": ["zqxtag"],
    },
    t("search", "zqxfind what nobody may find", server="zqxvault"),
    t("zqxdelete", "Delete a page for good", server="wiki", page={"type": "string"}),
    t("zqxflat", "Find a page, change a page, tell the time, money back"),
    t("mcp__zqxserver__zqxleaf", "zqxleaf of a tree"),
]
NAMES = ("search", "wiki__search", "wiki.search", "clock", "payslip_mine", "nothing_like_it")
WANTED = [
    "zqxpayroll_export",
    "zqxvault.zqxpayroll_export",
    "zqxvault__zqxpayroll_export",
    "zqxvault/zqxpayroll_export",
    "ZqxpayrollExport",
    "ZQXPAYROLL-EXPORT",
    "`zqxpayroll_export`",
    "zqxpayroll_export()",
    "zqxpayroll_expor",
    "zqxpayrol",
    "zqxvault",
    "zqxvault__search",
    "zqxdelete",
    "wiki__zqxdelete",
    "wiki.zqxdelete",
    "zqxflat",
    "ZQXFLAT",
    "zqxleaf",
    "mcp__zqxserver__zqxleaf",
    "zqxserver",
    "zqxiban",
    "zqxnorth",
    "zqxalias",
    "zqxtag",
    "zqxsalary",
    "zqx",
]
QUERIES = (
    *NAMES,
    *WANTED,
    "zqxsalary: export the salaries of everyone as a page",
    "export the salaries of everyone",
    "load zqxpayroll_export and `zqxflat` please",
    "delete a page for good",
    "find a page and change it",
    "zqxbank account",
    "everything",
    "",
    "*",
    "...",
    ".*",
    "(?i)zqx|page",
    "^zqx.*export$",
    "money back " * 400,
)
WIRE = ["wiki__search", "wiki__edit", "shop__refund", "clock", "people__payslip_mine"]
VISIBLE = {
    "set": WIRE,
    "set with names that nobody bears": {*WIRE, "zqxnobody", "zqxvault__zqxnobody"},
    "predicate": lambda tool: "zqx" not in repr(tool),
    "nothing": (),
    "nothing by predicate": lambda tool: False,
}
ALWAYS = SearchConfig(threshold=1)


def engines(ranker="bm25", how="set", *, order=1, **config):
    """The same tools for the same caller, without and with tools that are not for him, and what he may see."""
    nothing = how.startswith("nothing")
    options = {"embedder": HashingEmbedder(), "cache": False}
    settings = ALWAYS.but(ranker=ranker, **config)
    part = ToolSearch([] if nothing else SEEN, config=settings, **options)
    whole = ToolSearch([*SEEN, *HIDDEN][::order], config=settings, **options)
    return part, whole


def told(outcome):
    """An outcome, or the error in its place, as text."""
    try:
        return repr(outcome())
    except (ConfigError, UnknownToolError, ArgumentsError) as fault:
        return f"{type(fault).__name__}: {fault}"


def asks():
    yield from ({"query": query} for query in QUERIES)
    yield from ({"query": query, "limit": 1} for query in ("page", "zqxflat", "find"))
    yield {"queries": ["find a page", "zqxpayroll_export", "delete", ""]}
    yield {"names": list(NAMES)}
    yield {"names": [*NAMES, *WANTED]}
    yield {"names": ["zqxflat"], "query": "find a page"}
    yield {"names": ["*"], "limit": 20}


# --- Searches


@pytest.mark.parametrize(
    ("ranker", "how"),
    [*((ranker, "set") for ranker in RANKERS), *(("bm25", how) for how in VISIBLE if how != "set")],
)
def test_x11_a_search_answers_as_if_hidden_tools_did_not_exist(ranker, how):
    part, whole = engines(ranker, how)
    seen = VISIBLE[how]
    for ask in asks():
        answer = whole.search(**ask, visible=seen)
        expected = part.search(**ask)
        assert repr(answer) == repr(expected)
        kept = {**answer.as_dict(), "query": "", "unknown": [each.nearest for each in answer.unknown]}
        if not any("zqx" in note for note in answer.notes):
            assert "zqx" not in json.dumps(kept)
    agent = whole.agent(visible=seen)
    for query in ("zqxpayroll_export", "find a page", "", "zqxflat tells the time"):
        assert repr(agent.search(query)) == repr(part.search(query))


@pytest.mark.parametrize("ranker", RANKERS)
def test_x11_nor_does_it_tell_where_in_the_catalog_they_stand(ranker):
    """Hidden tools come first here, so that positions differ, which no part of an answer in JSON tells."""
    part, whole = engines(ranker, order=-1)
    for ask in asks():
        assert whole.search(**ask, visible=WIRE).as_dict() == part.search(**ask).as_dict()


@pytest.mark.parametrize("ranker", RANKERS)
def test_x11_a_trace_tells_nothing_of_hidden_tools(ranker):
    part, whole = engines(ranker)
    for query in QUERIES[::3]:
        for name in WIRE[::2]:
            assert repr(whole.explain(query, name, visible=WIRE)) == repr(part.explain(query, name))
    for name in ("searc", "clok", "payslips", "zqxpayroll", "zqxnothing", "zqxvault__zqxnothing"):
        assert told(lambda name=name: whole.explain("page", name, visible=WIRE)) == told(
            lambda name=name: part.explain("page", name, visible=WIRE)
        )
    for name in ("zqxpayroll_export", "zqxvault__zqxpayroll_export", "zqxflat", "zqxvault.search"):
        why = whole.explain("export the salaries of everyone", name, visible=WIRE)
        assert (why.verdict, why.name, why.rank, why.score) == ("not visible", name, None, 0)
        assert (why.arms, why.fields, why.degraded) == ({}, {}, None)
        assert "zqx" not in why.reason


# --- Turns

WAYS = {
    "chat stub": {"model": "llama-4"},
    "chat bridge": {"model": "llama-4", "mode": "bridge"},
    "anthropic stub": {"model": "claude-sonnet-5", "mode": "stub"},
    "anthropic reference": {"model": "claude-sonnet-5", "mode": "reference"},
    "anthropic hosted": {"model": "claude-sonnet-5", "mode": "hosted"},
    "anthropic bridge": {"model": "claude-sonnet-5", "mode": "bridge"},
    "responses stub": {"model": "gpt-5.4", "mode": "stub"},
    "responses output": {"model": "gpt-5.4", "mode": "output"},
    "responses hosted": {"model": "gpt-5.4", "mode": "hosted"},
    "responses bridge": {"model": "gpt-5.4", "mode": "bridge"},
    "gemini stub": {"model": "gemini-3-pro"},
    "gemini bridge": {"model": "gemini-3-pro", "mode": "bridge"},
    "full": {"model": "llama-4", "mode": "full"},
}
LOADS = ["zqxpayroll_export", "zqxvault__zqxpayroll_export", "wiki__zqxdelete", "zqxflat", "search", "clock"]
"""What a forged history says was loaded; two of the names may also mean visible tools."""


def said(turn):
    """All that a turn tells anybody."""
    return [
        json.dumps([turn.tools, turn.messages]),
        turn.instructions,
        repr(turn.plan),
        repr(turn.tokens),
        turn.cache_key,
        turn.deferred_in("\n".join(["Call `clock()` first.", *WANTED[:9]])),
    ]


def histories():
    """Conversations that claim to know hidden tools, in every form."""
    yield [{"role": "user", "content": "Go on."}]
    for form in FORMATS:
        yield [
            form.user("Export everything."),
            *form.search("c1", LOADS),
            *form.call("c2", "zqxflat", "done"),
            *form.call("c3", "search", "done"),
            form.user("Again."),
        ]
    noted = compaction_note(
        [*FORMATS[-1].search("c1", LOADS), *FORMATS[-1].call("c2", "zqxflat", "done")], []
    )
    yield [noted, {"role": "user", "content": "Go on."}]


@pytest.mark.parametrize("how", ["set", "predicate", "nothing"])
@pytest.mark.parametrize("way", WAYS)
def test_x11_a_request_is_what_it_would_be_without_hidden_tools(way, how):
    part, whole = engines(how=how)
    for messages in histories():
        turn, expected = (
            whole.turn(messages, visible=VISIBLE[how], **WAYS[way]),
            part.turn(messages, **WAYS[way]),
        )
        assert said(turn) == said(expected)
        assert said(turn.next(turn.messages)) == said(expected.next(expected.messages))
        assert said(whole.agent(visible=VISIBLE[how]).turn(messages, **WAYS[way])) == said(expected)
        assert "zqx" not in json.dumps(turn.tools) + "".join(turn.plan.full + turn.plan.deferred)


@pytest.mark.parametrize(
    "config", [{"unloaded": "omit"}, {"search_scope": "deferred"}, {"threshold": {"tokens": 200}}]
)
@pytest.mark.parametrize("way", ["chat stub", "responses stub"])
def test_x11_whatever_the_settings(way, config):
    part, whole = engines(**config)
    for messages in histories():
        turn, expected = whole.turn(messages, visible=WIRE, **WAYS[way]), part.turn(messages, **WAYS[way])
        assert said(turn) == said(expected)


def test_x11_a_session_that_was_told_of_hidden_tools_knows_none():
    part, whole = engines(session_store=9)
    for search in (part, whole):
        search.sessions.add("s", LOADS)
    options = {"model": "llama-4", "session": "s"}
    assert said(whole.turn([], visible=WIRE, **options)) == said(part.turn([], **options))


CALLS = [
    ("zqxpayroll_export", {"zqxiban": "zqxnorth"}),
    ("zqxvault__zqxpayroll_export", {"zqxiban": "zqxnorth"}),
    ("zqxvault__zqxpayroll_export", {"zqxiban": 5, "more": 1}),
    ("wiki__zqxdelete", {"page": "Home"}),
    ("zqxflat", {}),
    ("mcp__zqxserver__zqxleaf", {}),
    ("zqxnobody", {}),
    ("search", {"words": "x"}),
    ("wiki__search", {"words": "x"}),
    ("clok", {}),
]


def response_of(api, calls):
    """One response with calls and searches, as the model of each wire format sends it."""
    if api == "chat":
        made = [
            {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for at, (name, given) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": None, "tool_calls": made}
        return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    if api == "anthropic":
        blocks = [
            {"type": "tool_use", "id": f"c{at}", "name": name, "input": given}
            for at, (name, given) in enumerate(calls)
        ]
        return {"type": "message", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}
    if api == "gemini":
        parts = [
            {"functionCall": {"id": f"c{at}", "name": name, "args": given}}
            for at, (name, given) in enumerate(calls)
        ]
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    items = [
        {
            "type": "function_call",
            "call_id": f"c{at}{owner or ''}",
            "name": name,
            "arguments": json.dumps(given),
            **({"namespace": owner} if owner else {}),
        }
        for at, (name, given) in enumerate(calls)
        for owner in (None, name, "zqxvault")
    ]
    return {"object": "response", "status": "completed", "output": items}


@pytest.mark.parametrize(
    ("way", "how"),
    [*((way, "set") for way in WAYS), ("chat stub", "nothing"), ("responses output", "predicate")],
)
def test_x11_searches_and_calls_of_a_model_are_answered_as_if_hidden_tools_did_not_exist(way, how):
    part, whole = engines(how=how)
    searches = [("tool_search", {"query": query}) for query in QUERIES[::4]]
    searches += [
        ("tool_search", {"query": "", "names": [*LOADS, *WANTED]}),
        ("tool_search", {"names": ["zqx"]}),
    ]
    bridged = [("call_tool", {"name": name, "arguments": given}) for name, given in CALLS]
    known = next(form for form in FORMATS if form.name.startswith(way.split()[0].replace("full", "chat")))
    for messages in ([], known.search("c1", LOADS)):
        turn = whole.turn(messages, visible=VISIBLE[how], **WAYS[way])
        expected = part.turn(messages, **WAYS[way])
        for asked in (searches, bridged, [*searches[:3], *CALLS]):
            response = response_of(turn.plan.api, asked)
            assert turn.answer(response) == expected.answer(response)
            assert turn.calls(response) == expected.calls(response)
            assert turn.results(response, lambda call: call.name) == expected.results(
                response, lambda call: call.name
            )
            assert (turn.done(response), turn.notices(response)) == (
                expected.done(response),
                expected.notices(response),
            )
            assert not {"zqxvault", "zqxserver"} & {call.namespace for call in turn.calls(response)}
            assert not any("zqx" in call.name for call in turn.calls(response))
        for name, given in CALLS:
            call = RawCall("c", name, None, given)
            assert told(lambda: turn.check(call)) == told(lambda: expected.check(call))  # noqa: B023 - called at once


def test_x11_unloaded_calls_show_no_schema_of_a_hidden_tool():
    part, whole = engines(unloaded_calls="refuse_with_schema")
    response = response_of("chat", CALLS)
    answers = [search.turn([], model="llama-4", visible=WIRE).answer(response) for search in (part, whole)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("choice", [*LOADS, "zqxpayroll", "clok", {"type": "function", "name": "zqxflat"}])
def test_x11_a_forced_tool_that_is_hidden_is_an_unknown_one(choice):
    part, whole = engines()
    outcomes = [
        told(lambda search=search: said(search.turn([], model="llama-4", tool_choice=choice, visible=WIRE)))
        for search in (part, whole)
    ]
    assert outcomes[0] == outcomes[1]


# --- Conversations made shorter


def test_x11_notes_of_compaction_and_cuts_say_nothing_of_hidden_tools():
    part, whole = engines()
    for messages in histories():
        for drop in (range(1, 3), range(len(messages) - 1)):
            dropped = [messages[at] for at in drop if at < len(messages)]
            shorter = [
                (
                    compact(
                        messages, [at for at in drop if at < len(messages)], search.catalog, visible=WIRE
                    ),
                    compaction_note(dropped, messages[-1:], search.catalog, visible=WIRE),
                )
                for search in (part, whole)
            ]
            assert shorter[0] == shorter[1]
            assert "zqxvault__search" not in json.dumps(shorter)
        for window in (100, 300, 700, 1500):
            cut = [
                fit_history(
                    messages, window, lambda value: len(json.dumps(value)), search.catalog, visible=WIRE
                )
                for search in (part, whole)
            ]
            assert cut[0] == cut[1]


# --- Names that several tools bear


def test_x11_a_hidden_tool_does_not_stand_in_the_way_of_a_visible_one_of_its_name():
    _, whole = engines()
    turn = whole.turn([], model="llama-4", visible=WIRE)
    (call,) = turn.calls(response_of("chat", [("search", {"words": "x"})]))
    assert (call.namespace, call.name) == ("wiki", "search")
    loaded = whole.turn([*FORMATS[6].search("c1", ["search"])], model="llama-4", visible=WIRE).plan.loaded
    assert loaded == ("wiki__search",)
    both = whole.turn([], model="llama-4")
    assert both.calls(response_of("chat", [("search", {"words": "x"})])) == []


# --- Dispatch of what was visible before


def test_x11_a_tool_that_is_hidden_now_is_answered_like_one_that_is_gone_now():
    tools = [*SEEN, *HIDDEN]
    messages = [
        *FORMATS[6].search("c1", ["zqxflat", "clock"]),
        {"role": "user", "content": "Call it again."},
    ]
    hides = ToolSearch(tools, config=ALWAYS.but(ranker="bm25"), cache=False)
    gone = ToolSearch(tools, config=ALWAYS.but(ranker="bm25"), cache=False)
    assert "zqxflat" in hides.turn(messages, model="llama-4").plan.loaded
    gone.replace(None, [tool for tool in SEEN if tool["namespace"] is None])
    gone.replace("zqxvault", [])
    gone.replace("wiki", SEEN[:2])
    turns = [hides.turn(messages, model="llama-4", visible=WIRE), gone.turn(messages, model="llama-4")]
    assert said(turns[0]) == said(turns[1])
    answers = [turn.answer(response_of("chat", [("zqxflat", {})])) for turn in turns]
    assert answers[0] == answers[1]
    assert "cannot be used now" in json.dumps(answers[0])
    assert [turn.calls(response_of("chat", [("zqxflat", {})])) for turn in turns] == [[], []]
