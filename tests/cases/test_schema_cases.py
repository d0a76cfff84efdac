"""Failures of other tool searches, from public reports: schemas that crash or get lost (BC-21, BC-22, BC-24)."""

from __future__ import annotations

import json

import jsonschema
import pytest
from case_tools import best, obj, sent_schema, t

from library_tools import ORDER
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.arguments import check
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import ArgumentsError
from semantic_toolsearch.schema_projection import wire_projection
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Say, Search
from turn_rounds import converse

WAYS = [("anthropic", "reference"), ("responses", "output"), ("chat", "stub")]
"""Our search, through each interface, in the form that keeps most of the prompt cache."""

ways = pytest.mark.parametrize(("api", "mode"), WAYS)


def searched_and_called(tools, api, mode, query, arguments):
    """The schema with which the model knew the first tool when it called it, and the call that came of it."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    name = search.catalog.wire_names[0]
    with LoopbackProvider([Search(query), Call(name, arguments), Say("Done.")]) as server:
        run = converse(server, search, api, mode=mode, deferred_tools=search.catalog.wire_names)
        assert (server.failures, server.remaining) == ([], 0)
        assert server.calls[-1].knowledge in ("full", "loaded")
        schema = sent_schema(server.model_view(1), name)
    (call,) = run.calls
    assert (call.name, call.loaded) == (tools[0]["name"], True)
    return schema, call.arguments


# --- BC-21: recursive schemas

NODE = obj(
    label={"type": "string", "description": "caption of the branch"},
    children={"type": "array", "items": {"$ref": "#/$defs/Node"}},
)
OUTLINE = t(
    "outline_save",
    "Store an outline",
    {**obj(root={"$ref": "#/$defs/Node"}), "required": ["root"], "$defs": {"Node": NODE}},
)
THREAD = t(
    "postThread",
    "Publish a discussion",
    {
        **obj(opening={"$ref": "#/definitions/Post"}),
        "definitions": {
            "Post": obj(author={"$ref": "#/definitions/Person"}, text={"type": "string"}),
            "Person": obj(
                nickname={"description": "pseudonym shown beside the message"},
                replies={"$ref": "#/definitions/Post"},
            ),
        },
    },
)
PIPELINE = t(
    "パイプライン登録",
    "処理を登録する",
    {
        **obj(step={"anyOf": [{"type": "string"}, {"$ref": "#"}], "description": "次の工程の名前"}),
        "required": ["step"],
    },
)
RECURSIVE = {
    "reported": (
        OUTLINE,
        "caption of the branch",
        {"root": {"label": "a", "children": [{"label": "b", "children": [{"label": "c"}]}]}},
        {"root": {"label": "a", "children": [{"label": "b", "children": [{"label": []}]}]}},
    ),
    "two in a circle": (
        THREAD,
        "pseudonym shown beside the message",
        {
            "opening": {
                "author": {"nickname": "x", "replies": {"text": "y", "author": {"replies": {"text": "z"}}}}
            }
        },
        {
            "opening": {
                "author": {"nickname": "x", "replies": {"text": "y", "author": {"replies": {"text": [1]}}}}
            }
        },
    ),
    "the root, japanese": (
        PIPELINE,
        "次の工程の名前",
        {"step": {"step": {"step": "終"}}},
        {"step": {"step": {"step": [3]}}},
    ),
}
recursive = pytest.mark.parametrize(("tool", "query", "good", "bad"), RECURSIVE.values(), ids=list(RECURSIVE))


@recursive
def test_bc21_recursive_schemas(model, tool, query, good, bad):
    """Kind: schema. A schema that refers to itself is read, searched, serialised and checked, and ends."""
    tools = [tool, t("note_add", "Add a note")]
    catalog = Catalog(tools, strict=True)
    assert len(catalog.report.ok) == 2
    assert best(model, tools, query) == {(None, tool["name"])}
    projected, _ = wire_projection(catalog[0].parameters)
    assert json.loads(json.dumps(projected, ensure_ascii=False).encode()) == tool["parameters"]
    assert check(catalog[0], good) == good
    with pytest.raises(ArgumentsError):
        check(catalog[0], bad)


@ways
@recursive
def test_bc21_a_call_with_three_levels_goes_through(tool, query, good, bad, api, mode):
    """Kind: schema. Through each interface: found by a text inside a definition, and called."""
    schema, arguments = searched_and_called([tool, t("note_add", "Add a note")], api, mode, query, good)
    assert arguments == good
    assert jsonschema.Draft202012Validator(schema).is_valid(good)
    assert not jsonschema.Draft202012Validator(schema).is_valid(bad)


def test_bc21_self_referring_objects_and_great_depth():
    """Kind: schema. Python objects in a circle and nesting of 3,000 levels cost their own tool only."""
    circle = obj(a={"type": "string"})
    circle["properties"]["again"] = circle
    deep = {"type": "string"}
    for _ in range(3_000):
        deep = {"type": "array", "items": deep}
    catalog = Catalog([t("circle", "", circle), t("deep", "", obj(a=deep)), t("good", "Add a note")])
    assert [tool.name for tool in catalog] == ["good"]
    assert [(e.position, e.name) for e in catalog.report.quarantined] == [(0, "circle"), (1, "deep")]
    assert all(e.problems[-1].path.startswith("$.parameters") for e in catalog.report.quarantined)
    assert catalog.fingerprint


# --- BC-22: the top level is not an object

UNIONS = {
    "reported": (
        t(
            "ticket_find",
            "Find a ticket",
            {"anyOf": [obj(id={"type": "string"}), obj(email={"type": "string"})]},
        ),
        t("ticket_close", "Close a ticket", obj(id={"type": "string"})),
        ["id", "email"],
        {"id": "7"},
        {"id": [7], "email": [7]},
    ),
    "french camel": (
        t(
            "mesurerDistance",
            "Mesurer la distance entre deux lieux",
            {
                "oneOf": [
                    {**obj(ville={"type": "string"}), "required": ["ville"], "additionalProperties": False},
                    {**obj(lat={"type": "number"}, lon={"type": "number"}), "required": ["lat", "lon"]},
                ]
            },
        ),
        t("tracerCarte", "Tracer une carte"),
        ["ville", "lat", "lon"],
        {"lat": 1, "lon": 2},
        {"lat": 1},
    ),
    "cyrillic kebab": (
        t(
            "перевод-денег",
            "Перевести деньги на счёт",
            {
                "$ref": "#/$defs/Both",
                "$defs": {
                    "Both": {
                        "allOf": [
                            {"$ref": "#/$defs/From"},
                            {**obj(to={"type": "string"}), "required": ["to"]},
                        ]
                    },
                    "From": {**obj(amount={"type": "number"}), "required": ["amount"]},
                },
            },
        ),
        t("история", "Показать историю"),
        ["amount", "to"],
        {"amount": 1, "to": "x"},
        {"amount": 1},
    ),
}
unions = pytest.mark.parametrize(
    ("union", "other", "properties", "good", "bad"), UNIONS.values(), ids=list(UNIONS)
)


@unions
def test_bc22_top_level_unions(model, union, other, properties, good, bad):
    """Kind: schema. A top-level union travels as an object with all properties, checked as registered."""
    tools = [union, other]
    catalog = Catalog(tools, strict=True)
    for tool in tools:
        assert best(model, tools, tool["description"]) == {(None, tool["name"])}
    projected, _ = wire_projection(catalog[0].parameters)
    assert projected["type"] == "object"
    assert list(projected["properties"]) == properties
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & projected.keys()
    assert catalog[0].parameters == union["parameters"]
    assert check(catalog[0], good) == good
    with pytest.raises(ArgumentsError):
        check(catalog[0], bad)


@ways
@unions
def test_bc22_the_projection_is_accepted_and_calls_go_through(union, other, properties, good, bad, api, mode):
    """Kind: schema. Each interface takes the request, and the call comes back as the union has it."""
    schema, arguments = searched_and_called([union, other], api, mode, union["description"], good)
    assert arguments == good
    assert schema["type"] == "object"
    assert list(schema["properties"]) == properties


@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"type": "array", "items": {}}, {"oneOf": [{"type": "null"}]}]
)
def test_bc22_no_projection_means_quarantine(schema):
    """Kind: schema. Without an object form the tool is left out with a reason, the other untouched."""
    catalog = Catalog([t("ticket_find", "Find a ticket", schema), t("ticket_close", "Close a ticket")])
    assert [tool.name for tool in catalog] == ["ticket_close"]
    assert "object" in catalog.report.quarantined[0].problems[-1].reason


# --- BC-24: the revealed schema is complete

DOSE = {
    "required": ["patient"],
    "definitions": {"Dose": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}},
    "properties": {
        "patient": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
        "dosis": {"anyOf": [{"$ref": "#/definitions/Dose"}, {"type": "null"}], "default": None},
    },
    "type": "object",
    "dependentRequired": {"dosis": ["patient"]},
}
SEATS = {
    "type": "object",
    "properties": {
        "座席": {
            "type": "array",
            "items": {"type": "string", "const": "窓"},
            "minItems": 1,
            "uniqueItems": True,
        },
        "日付": {"type": "string", "format": "date", "examples": ["2025-01-02"]},
    },
    "patternProperties": {"^x-": {"type": "string"}},
    "propertyNames": {"maxLength": 8},
    "minProperties": 1,
}
COMPLETE = {
    "reported": (t("order_query", "Query orders", ORDER), {"cond": {"id": 1, "kind": None}}),
    "dose": (t("Dosis.Planen", "Dosis planen", DOSE), {"patient": "AB12", "dosis": 1.5}),
    "seats": (t("座席予約", "座席を予約する", SEATS), {"座席": ["窓"]}),
}


@ways
@pytest.mark.parametrize(("tool", "good"), COMPLETE.values(), ids=list(COMPLETE))
def test_bc24_the_revealed_schema_is_complete(tool, good, api, mode):
    """Kind: schema. What the model has after the search is the schema as it was registered, to the byte."""
    catalog = Catalog([tool], strict=True)
    assert catalog.report.ok
    assert wire_projection(catalog[0].parameters)[1] == ()
    schema, arguments = searched_and_called(
        [tool, t("note_add", "Add a note")], api, mode, tool["description"], good
    )
    assert json.dumps(schema) == json.dumps(tool["parameters"])
    assert arguments == good
