"""Failures of other tool searches, from public reports: calls that nobody prepared (BC-41, BC-42, BC-44)."""

from __future__ import annotations

import json

import pytest
from case_tools import obj, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.events import CallChecked
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say
from turn_rounds import converse

every_api = pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])


def needs(*required, **properties):
    return {**obj(**properties), "required": list(required)}


def talk(tools, api, *steps, mode="stub", **options):
    """A conversation in which a model makes these steps over tools that are all deferred."""
    search = ToolSearch(tools, ranker="bm25", cache=False, **options)
    with LoopbackProvider([*steps, Say("Done.")]) as server:
        run = converse(server, search, api, mode=mode, deferred_tools=search.catalog.wire_names)
        assert (server.failures, server.remaining) == ([], 0)
    return search, run


TEXT = {"type": "string"}
INVOICE = [
    t("invoice_create", "Bill a customer", needs("customer", customer=TEXT)),
    t("mail_list", "List mail"),
]
SEATS = [
    t("座席.予約", "座席を予約する", needs("番号", 番号=TEXT)),
    t("座席.一覧", "座席の一覧"),
]
SHIFTS = [
    t("swapShift", "Сменить смену", needs("from", **{"from": TEXT, "with": TEXT}), server="график"),
    *(t(f"showShift{i}", f"Смена {i}", server="график") for i in range(90)),
]
UNSEARCHED = {
    "reported": (INVOICE, {"customer": "C7"}),
    "japanese dotted": (SEATS, {"番号": "12A"}),
    "camel on a server, 91": (SHIFTS, {"from": "mon", "with": "Ann"}),
}


@pytest.mark.parametrize(
    ("api", "mode"), [("anthropic", "stub"), ("responses", "stub"), ("chat", "stub"), ("chat", "bridge")]
)
@pytest.mark.parametrize(("tools", "arguments"), UNSEARCHED.values(), ids=list(UNSEARCHED))
def test_bc41_a_call_to_a_tool_nobody_searched_for(tools, arguments, api, mode):
    """Kind: dispatch. It runs, and the model has its schema from the next turn on."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    name = search.catalog.wire_names[0]
    call = (
        Call(name, arguments) if mode == "stub" else Call("call_tool", {"name": name, "arguments": arguments})
    )
    _, run = talk(tools, api, call, mode=mode)
    (made,) = run.calls
    assert (made.name, made.arguments, made.loaded) == (tools[0]["name"], arguments, False)
    assert "ran" in str(run.results[0])
    first, following = run.turns
    assert name in first.plan.deferred
    assert following.plan.loaded == (name,)
    if mode == "stub":
        assert name in following.plan.full


PATCH = [
    t(
        "file_patch",
        "Change a file",
        {**needs("path", "find", "put", path=TEXT, find=TEXT, put=TEXT), "additionalProperties": False},
    ),
    t("mail_list", "List mail"),
]
STAY = [
    t(
        "BookStay",
        "Reserve a room",
        {
            **needs("guestName", "nights", guestName=TEXT, nights={"type": "integer"}),
            "additionalProperties": False,
        },
    ),
    *(t(f"ShowRoom{i}", f"Room {i}") for i in range(60)),
]
POST = [
    t(
        "रसीद-भेजो",
        "रसीद भेजो",
        {**needs("पता", "राशि", पता=TEXT, राशि={"type": "number"}), "additionalProperties": False},
    ),
    t("रसीद-छापो", "रसीद छापो"),
]
GUESSED = {
    "reported": (
        PATCH,
        {"path": "a.txt", "old_text": "x", "new_text": "y"},
        (("find", "put"), ("old_text", "new_text")),
        "the parameters here are path, find, put",
    ),
    "pascal, 61": (
        STAY,
        {"guest_name": "Ann", "nights": "two"},
        (("guestName",), ("guest_name",)),
        "nearest: guestName",
    ),
    "hindi kebab": (POST, {"पत": "A", "राशि": 3}, (("पता",), ("पत",)), "nearest: पता"),
}


@every_api
@pytest.mark.parametrize(("tools", "guess", "names", "nearest"), GUESSED.values(), ids=list(GUESSED))
def test_bc42_guessed_arguments_come_back_in_one_reply(tools, guess, names, nearest, api):
    """Kind: dispatch. Nothing runs; one reply has all that is wrong, the nearest names and the schema."""
    events = []
    name = ToolSearch(tools, ranker="bm25", cache=False).catalog.wire_names[0]
    search, run = talk(tools, api, Call(name, guess), on_event=events.append)
    assert run.calls == []
    ((answer,),) = run.results
    text = answer.get("content", answer.get("output"))
    missing, unexpected = names
    assert text.startswith(f"{name} was not run")
    assert f"Missing: {', '.join(missing)}." in text
    assert f"Unexpected: {', '.join(unexpected)}." in text
    assert nearest in text
    assert json.loads(text.partition("fit this schema: ")[2]) == tools[0]["parameters"]
    assert name in run.turns[1].plan.full
    # Counted as a miss of the schema: the tool itself did not fail, since it was never run.
    assert [event for event in events if isinstance(event, CallChecked)] == [
        CallChecked("arguments", name, loaded=False, generation=search.stats().generation)
    ]


PAY = [
    t("pay", "Pay a bill", {**needs("id", id=TEXT), "additionalProperties": False}),
    t("mail_list", "Mail"),
]
PERSON = [
    t("Person.Create", "Add a person", needs("name", name=TEXT, tags=obj())),
    t("Person.Find", "Find a person"),
]
COLOUR = [t("色変更", "色を変える", needs("色", 色=TEXT)), *(t(f"道具{i}", "道具") for i in range(40))]


def through(name, *shapes):
    return [{"name": name, **shape} for shape in shapes]


BRIDGED = {
    "reported": (
        PAY,
        through(
            "pay", {"arguments": {"id": "9"}}, {"arguments": '{"id": "9"}'}, {"arguments": {}, "id": "9"}
        ),
        {"id": "9"},
    ),
    "an argument called name": (
        PERSON,
        through("Person_Create", {"arguments": {"name": "Ann"}}, {"arguments": '{"name": "Ann"}'}),
        {"name": "Ann"},
    ),
    "japanese, 41": (
        COLOUR,
        through("色変更", {"arguments": {"色": "赤"}}, {"arguments": "{}", "色": "赤"}, {"色": "赤"}),
        {"色": "赤"},
    ),
}


@every_api
@pytest.mark.parametrize(("tools", "sent", "arguments"), BRIDGED.values(), ids=list(BRIDGED))
def test_bc44_the_arguments_survive_the_bridge(tools, sent, arguments, api):
    """Kind: dispatch. However a model passes them through the fixed tool, the tool gets them."""
    wire = ToolSearch(tools, ranker="bm25", cache=False).catalog.wire_names[0]
    calls = [Call("call_tool", {**each, "name": wire}) for each in sent]
    _, run = talk(tools, api, *calls, mode="bridge")
    assert [(call.name, call.arguments) for call in run.calls] == [(tools[0]["name"], arguments)] * len(sent)


UNREADABLE = {
    "reported": (PAY, {"arguments": {}}, "Missing: id."),
    "two ways": (PAY, {"arguments": {"id": "9"}, "id": "8"}, "beside it"),
    "no JSON": (PAY, {"arguments": '{"id": "9'}, "is no JSON"),
    "japanese": (COLOUR, {"arguments": None}, "Missing: 色."),
    "nothing of a person": (PERSON, {}, "Missing: name."),
}


@every_api
@pytest.mark.parametrize(("tools", "sent", "words"), UNREADABLE.values(), ids=list(UNREADABLE))
def test_bc44_what_cannot_be_read_is_a_clear_error_and_never_an_empty_call(tools, sent, words, api):
    """Kind: dispatch. A tool with required arguments never gets a silent ``{}``."""
    wire = ToolSearch(tools, ranker="bm25", cache=False).catalog.wire_names[0]
    _, run = talk(tools, api, Call("call_tool", {"name": wire, **sent}), mode="bridge")
    assert run.calls == []
    assert words in str(run.results[0])
