"""Failures of other tool searches, from public reports: guessed arguments, the bridge, the budget."""

from __future__ import annotations

import json

import pytest

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.arguments import check
from semantic_toolsearch.errors import ArgumentsError
from semantic_toolsearch.providers.base import unwrap_bridge

PATCH = ToolDefinition(
    name="file_patch",
    description="Change a file",
    parameters={
        "type": "object",
        "required": ["path", "find", "put"],
        "additionalProperties": False,
        "properties": {name: {"type": "string"} for name in ("path", "find", "put")},
    },
)
PAY = ToolDefinition(
    name="pay",
    parameters={
        "type": "object",
        "required": ["id"],
        "additionalProperties": False,
        "properties": {"id": {"type": "string"}},
    },
)


@pytest.mark.parametrize("as_text", [False, True])
def test_bc42_guessed_arguments_come_back_in_one_reply(as_text):
    arguments = {"path": "a.txt", "old_text": "x", "new_text": "y"}
    with pytest.raises(ArgumentsError) as caught:
        check(PATCH, json.dumps(arguments) if as_text else arguments)
    error = caught.value
    assert error.missing == ("find", "put")
    assert error.unexpected == ("old_text", "new_text")
    assert {problem.rule for problem in error.problems} == {"required", "additionalProperties"}
    text = str(error)
    assert text.startswith("file_patch was not run")
    assert "old_text: is no parameter; the parameters here are path, find, put" in text
    assert json.loads(text.partition("fit this schema: ")[2]) == PATCH.parameters


def test_bc42_another_guess_is_led_to_the_nearest_names():
    with pytest.raises(ArgumentsError, match="file_path: is no parameter; nearest: path") as caught:
        check(PATCH, {"file_path": "a.txt", "Find": "x", "put": "y"})
    assert "Find: is no parameter; nearest: find" in str(caught.value)


@pytest.mark.parametrize(
    "sent",
    [
        {"name": "pay", "arguments": {"id": "9"}},
        {"name": "pay", "arguments": '{"id": "9"}'},
        {"name": "pay", "arguments": {}, "id": "9"},
    ],
)
def test_bc44_the_arguments_survive_the_bridge(sent):
    name, arguments = unwrap_bridge(sent)
    assert name == "pay"
    assert check(PAY, arguments) == {"id": "9"}


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"name": "pay", "arguments": {}}, "id: is missing"),
        ({"name": "pay", "arguments": {"id": "9"}, "id": "8"}, "beside it"),
        ({"name": "pay", "arguments": '{"id": "9'}, "is no JSON"),
    ],
)
def test_bc44_what_cannot_be_read_is_a_clear_error_and_never_an_empty_call(sent, words):
    with pytest.raises(ArgumentsError, match=words):
        check(PAY, unwrap_bridge(sent)[1])


def test_bc53_the_budget_counts_what_is_sent():
    from semantic_toolsearch.accounting import TokenCounter, turn_tokens
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.exchange import TurnPlan, TurnRequest, search_tool
    from semantic_toolsearch.providers import anthropic

    always, deferred, loaded = 4, 36, 2
    schema = {
        "type": "object",
        "properties": {"what": {"type": "string", "description": "said at length " * 9}},
    }
    catalog = Catalog([{"name": f"tool_{n:02}", "description": "a", "parameters": schema} for n in range(40)])
    names = catalog.wire_names
    search = search_tool(offer_limit=True, max_limit=20)

    def counted(number):
        full = names[: always + number]
        plan = TurnPlan("stub", "anthropic", "", full, names[always + number :], full[always:], "ours")
        request = TurnRequest(catalog, plan, search)
        return turn_tokens(request, anthropic.render(request), TokenCounter("characters", len))

    def characters(value):
        return len(json.dumps(value, separators=(",", ":"))) + 1  # and a comma or bracket

    one = characters({"name": "tool_00", "description": "a", "input_schema": schema})
    stub = {"type": "object", "additionalProperties": True}
    small = characters({"name": "tool_00", "description": "a", "input_schema": stub})
    own = {"name": search.name, "description": search.description, "input_schema": search.parameters}
    before, after = counted(0), counted(loaded)
    assert before.sent == always * one + deferred * small + characters(own) + 1
    assert after.sent == (always + loaded) * one + (deferred - loaded) * small + characters(own) + 1
    assert after.full == before.full == 40 * one + 1
    assert after.saved == 40 * one + 1 - after.sent
    assert after.loaded == loaded * one + 1
