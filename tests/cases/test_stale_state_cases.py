"""Failures of other tool searches, from public reports: histories that do not fit any more (BC-34, BC-36)."""

from __future__ import annotations

import json

import pytest
from case_tools import obj, t

from conversations import BY_NAME, FORMATS
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.compaction import compact, compaction_note
from semantic_toolsearch.loaded import loaded_names, missing
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Parallel, Say, Search
from semantic_toolsearch.trimming import clear_outputs, fit_history
from turn_rounds import converse

every_format = pytest.mark.parametrize("form", FORMATS, ids=str)
USER = {"role": "user", "content": "Go on."}
TEXT = {"type": "string"}

# --- BC-34: the history names a tool that is gone

DESIGN = [
    t("design_sync", "Sync a design", obj(file=TEXT)),
    t("mail_list", "List mail"),
    t("mail_sort", "Sort mail"),
]
SEATS = [t("座席.予約", "座席を予約する", obj(番号=TEXT)), t("切符", "切符を買う"), t("食事", "食事を頼む")]
DEPOT = [
    t("Отгрузить", "Отгрузить товар", obj(куда=TEXT), server="склад"),
    *(t(f"Отчёт{i}", f"Отчёт номер {i}", server="учёт") for i in range(60)),
]
LOST = {"reported": DESIGN, "japanese dotted": SEATS, "cyrillic servers, 61": DEPOT}
lost = pytest.mark.parametrize("tools", LOST.values(), ids=list(LOST))
"""The first tool of each catalog is the one whose server goes away; the second stays."""


@lost
@every_format
def test_bc34_a_lost_tool_is_left_out_reported_and_back_without_a_search(tools, form):
    """Kind: stale state. Also when the conversation was compacted while it was away."""
    now, later = Catalog(tools[1:]), Catalog(tools)
    gone, stays = later.wire_names[:2]
    messages = [form.user("x"), *form.search("s1", [gone]), *form.search("s2", [stays]), form.user("y")]
    for history in (messages, compact(messages, range(1, len(messages) - 1), now)):
        assert loaded_names(history, now) == (stays,)
        assert missing(history, now) == (gone,)
        assert loaded_names(history, later) == (gone, stays)
        assert missing(history, later) == ()


@lost
@pytest.mark.parametrize(
    ("api", "mode"),
    [
        ("anthropic", "reference"),
        ("anthropic", "hosted"),
        ("responses", "output"),
        ("chat", "stub"),
    ],
)
def test_bc34_requests_go_on_without_it_and_with_it_when_it_is_back(tools, api, mode):
    """Kind: stale state. A valid request, one warning, and a call of it is told that its server is away."""
    search = ToolSearch(tools, config=SearchConfig(ranker="bm25", threshold=1), cache=False)
    (gone, stays), space = search.catalog.wire_names[:2], tools[0].get("namespace")
    served = [tool for tool in tools if tool.get("namespace") == space]
    finds = [Search(tool["description"]) for tool in tools[:2]]
    steps = [
        *finds,
        Say("Found."),
        Parallel([Call(gone), Call(stays)]),
        Say("Away."),
        Call(gone),
        Say("Back."),
    ]
    with LoopbackProvider(steps) as server:
        messages = [*converse(server, search, api, mode=mode).messages, USER]
        search.replace(space, served[1:])
        without = converse(server, search, api, mode=mode, messages=messages)
        search.replace(space, served)
        back = converse(server, search, api, mode=mode, messages=messages)
        assert (server.failures, server.remaining) == ([], 0)
        assert {exchange.status for exchange in server.exchanges} == {200}
    turn = without.turns[0]
    assert gone not in json.dumps([turn.tools, turn.plan.full, turn.plan.deferred, turn.plan.loaded])
    if mode in (
        "reference",
        "hosted",
    ):  # one reference to it, and the provider refuses the conversation for good
        assert f'"tool_name": "{gone}"' not in json.dumps(turn.messages)
    assert [warning for warning in turn.plan.warnings if gone in warning] == [
        f"The conversation loaded tools that cannot be used now: {gone}."
    ]
    assert [call.wire_name for call in without.calls] == [stays]
    refused, _ = map(str, without.results[0])
    assert "is not connected" in refused
    assert "no tool called" not in refused
    assert {gone, stays} <= set(back.turns[0].plan.loaded)
    assert [(call.wire_name, call.loaded) for call in back.calls] == [(gone, True)]


@pytest.mark.parametrize(
    "name", ["anthropic-reference", "anthropic-hosted", "anthropic-record", "chat", "gemini"]
)
def test_bc34_a_search_that_found_only_what_is_gone_keeps_an_answer(name):
    """Kind: stale state. Without any answer, or with an empty one, the provider would refuse the request."""
    search = ToolSearch(DESIGN[1:], config=SearchConfig(ranker="bm25", threshold=1), cache=False)
    form, api = BY_NAME[name], name.split("-")[0]
    model = {"anthropic": "claude-sonnet-5", "gemini": "gemini-3-pro", "chat": "llama-4"}[api]
    messages = [form.user("x"), *form.search("s1", ["design_sync"]), form.user("y")]
    turn = search.turn(messages, model=model, api=api, validate=True)
    assert len(turn.messages) == len(messages)
    assert turn.messages[0] is messages[0]


# --- BC-36: broken search items in stored history

BROKEN = [
    {"role": "assistant", "tool_calls": [{"id": "c1", "name": "tool_search", "arguments": '{"query": "inv'}]},
    {"role": "tool", "tool_call_id": "c1", "name": "tool_search", "content": "not json"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c2", "name": "tool_search", "arguments": {"query": "refund"}}],
    },
    {"role": "tool", "tool_call_id": "", "name": "tool_search", "content": None},
    {"role": "tool", "tool_call_id": "c9", "name": "tool_search", "content": '{"tools": "refund_issue"}'},
]


def chat_call(id_, arguments):
    function = {"name": "tool_search", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": function}],
    }


CHAT = [
    chat_call("c1", '{"query": "inv'),
    {"role": "tool", "tool_call_id": "c1", "content": "not json"},
    chat_call("c2", '{"query": "座席"}'),
    {"role": "tool", "tool_call_id": "c9", "content": '{"tools": [{"name": "refund_issue"}]}'},
    USER,
]
CLAUDE = [
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "tool_search", "input": '{"que'}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "{{"}]},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t2", "name": "tool_search", "input": {"query": "расчёт"}}],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t9",
                "content": [{"type": "tool_reference", "tool_name": "refund_issue"}],
            },
            {"type": "text", "text": "Go on."},
        ],
    },
]
ITEMS = [
    {"type": "tool_search_call", "execution": "client", "call_id": "i1", "arguments": '{"query": "inv'},
    {"type": "tool_search_output", "execution": "client", "call_id": "i1", "tools": []},
    {"type": "function_call", "call_id": "i2", "name": "tool_search", "arguments": '{"query": "فاتورة'},
    USER,
]
STORED = {
    "reported": ("chat", BROKEN),
    "chat": ("chat", CHAT),
    "claude": ("anthropic", CLAUDE),
    "items": ("responses", ITEMS),
}
stored = pytest.mark.parametrize(("api", "broken"), STORED.values(), ids=list(STORED))


@stored
def test_bc36_broken_items_load_nothing_and_later_good_ones_count(api, broken):
    """Kind: stale state. What cannot be read is passed over, in every mix of formats."""
    tools = Catalog([t("refund_issue", "d"), t("invoice_create", "d")])
    assert loaded_names(broken, tools) == ()
    assert missing(broken, tools) == ()
    for form in FORMATS:
        assert loaded_names([*broken, *form.search("c3", ["refund_issue"])], tools) == ("refund_issue",)


@stored
def test_bc36_nothing_that_works_on_a_history_stumbles(api, broken):
    """Kind: stale state. Compacting and trimming leave no half of a pair that they could have kept or dropped."""
    tools = Catalog([t("refund_issue", "d")])
    messages, size = [*broken, {"role": "user", "content": "go on"}], len(broken)
    assert clear_outputs(messages, 0)[-1:] == messages[-1:]
    assert compact(messages, range(size), tools) == messages[size:]
    assert fit_history(messages, 0, len, tools)[-1:] == messages[-1:]
    assert compaction_note(broken, []) is None


@stored
def test_bc36_the_next_request_is_accepted(api, broken):
    """Kind: stale state. A resumed conversation goes on: no orphan, no half of a pair, no cut arguments are sent."""
    tools = [t("refund_issue", "Give money back", obj(order=TEXT)), t("invoice_create", "Bill a customer")]
    search = ToolSearch(tools, config=SearchConfig(ranker="bm25", threshold=1), cache=False)
    whole = BY_NAME["chat" if api == "chat" else f"{api}-record"].search("ok1", ["invoice_create"])
    if broken is BROKEN:  # the neutral form is no provider's: what stays of it is written as one reads it
        broken = [message for message in CHAT if message is not USER] + BROKEN[3:]
    messages = [USER, *whole, *broken, USER] if api != "anthropic" else [USER, *whole, *broken]
    before = json.dumps(messages)
    with LoopbackProvider(
        [Search("give money back"), Call("refund_issue", {"order": "A1"}), Say("Done.")]
    ) as server:
        run = converse(server, search, api, mode="stub", messages=messages)
        assert (server.failures, server.remaining) == ([], 0)
        assert {exchange.status for exchange in server.exchanges} == {200}
    assert [call.name for call in run.calls] == ["refund_issue"]
    assert run.turns[0].plan.loaded == ("invoice_create",)
    assert "Searches that broke off" in " ".join(run.turns[0].plan.warnings)
    assert json.dumps(messages) == before
