"""Failures of other tool searches, from public reports: the stub of a tool that is not loaded (BC-31)."""

from __future__ import annotations

import json

import pytest
from case_tools import obj, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.providers.validate import validate
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Parallel, Say
from turn_rounds import converse

REPORTED = [t("ping", "Is it up?"), t("pay", "Pay a bill", obj(id={"type": "string"}))]
SEATS = [
    t("空席確認", "空席があるか"),
    t("座席予約", "座席を予約する", {**obj(番号={"type": "string"}), "required": ["番号"]}),
]
DOORS = [
    t("Door.State", "Whether it is open"),
    t("Door.Open", "Open a door", {"oneOf": [{**obj(id={"type": "string"}), "required": ["id"]}]}),
    *(t(f"Door.Log{i}", f"Entries of day {i}") for i in range(40)),
]
CASES = {
    "reported": (REPORTED, {"id": "9"}),
    "japanese": (SEATS, {"番号": "12A"}),
    "dotted, 42": (DOORS, {"id": "9"}),
}
cases = pytest.mark.parametrize(("tools", "arguments"), CASES.values(), ids=list(CASES))


def engine(tools):
    search = ToolSearch(tools, ranker="bm25", cache=False)
    return search, search.catalog.wire_names


@cases
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc31_each_provider_gets_a_stub_that_it_accepts(tools, arguments, api):
    """Kind: stubs. A call of a stub with the right arguments, or with none where there are none, goes through."""
    search, names = engine(tools)
    steps = [Parallel([Call(names[0]), Call(names[1], arguments)]), Say("Done.")]
    with LoopbackProvider(steps) as server:
        run = converse(server, search, api, mode="stub", deferred_tools=names)
        assert (server.failures, server.remaining) == ([], 0)
    assert [(call.name, call.arguments) for call in run.calls] == [
        (tools[0]["name"], {}),
        (tools[1]["name"], arguments),
    ]


@cases
@pytest.mark.parametrize("model", ["claude-sonnet-5", "gpt-5.4", "llama-4", "gemini-3-pro"])
def test_bc31_a_stub_never_looks_like_a_tool_without_arguments(tools, arguments, model):
    """Kind: stubs. It is open to any arguments, the model is told to load it, and an empty call is no complete one."""
    search, names = engine(tools)
    turn = search.turn([], model=model, mode="stub", deferred_tools=names)
    assert not [v for v in validate(turn.plan.api, turn.tools) if v.severity == "error"]
    stubs = [entry for entry in _entries(turn.tools) if entry["name"] in names]
    assert len(stubs) == len(tools)
    for schema in map(_schema, stubs):
        assert schema["type"] == "object"
        if model.startswith("gemini"):  # takes no object without properties: one argument holds them all
            assert schema["required"] == list(schema["properties"]) == ["unloaded_arguments"]
        else:
            assert schema["additionalProperties"] is True
    assert "Some tools are listed without their parameters." in turn.instructions
    full = search.turn([], model=model, never_defer=names)
    assert not {json.dumps(_schema(entry)) for entry in _entries(full.tools)} & set(
        map(json.dumps, map(_schema, stubs))
    )


def _entries(tools):
    for entry in tools:
        yield from entry.get("functionDeclarations", [entry.get("function", entry)])


def _schema(entry):
    return entry.get("input_schema") or entry.get("parametersJsonSchema") or entry.get("parameters") or {}


@pytest.mark.parametrize(
    ("tools", "wanted"), [(SEATS, "番号"), (DOORS, "id")], ids=["japanese", "dotted, 42"]
)
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc31_an_empty_call_of_a_stub_is_answered_with_the_schema(tools, wanted, api):
    """Kind: stubs. Where arguments are required, the model learns them instead of running without."""
    search, names = engine(tools)
    with LoopbackProvider([Call(names[1]), Say("Done.")]) as server:
        run = converse(server, search, api, mode="stub", deferred_tools=names)
        assert (server.failures, server.remaining) == ([], 0)
    assert run.calls == []
    ((answer,),) = run.results
    assert f"Missing: {wanted}." in str(answer)
