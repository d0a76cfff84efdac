"""Failures of other tool searches, from public reports: definitions with parts missing (BC-23, BC-30)."""

from __future__ import annotations

import jsonschema
import pytest
from case_tools import found, obj, t

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import InvalidToolError
from semantic_toolsearch.schema_projection import wire_projection
from semantic_toolsearch.testing.loopback import Call, LoopbackProvider, Parallel, Say
from turn_rounds import converse

SCENES = [
    {"name": "scene_list", "description": "Open scenes", "parameters": None},
    {"name": "scene_save", "description": "Save the scene"},
    {
        "name": "scene_dir",
        "description": None,
        "parameters": {"type": "object", "properties": None, "required": None},
    },
    {
        "name": "scene_tag",
        "description": "Tag it",
        "parameters": {"$schema": "http://json-schema.org/draft-07/schema#"},
    },
    t("scene_open", "Open a scene", obj(path={"type": "string"})),
]
PUMPS = [
    {"name": "pump.start", "inputSchema": {}},
    {"name": "pump.stop", "inputSchema": {"type": "object", "properties": []}, "description": 5},
    {"name": "pump.read", "inputSchema": {"type": "object", "properties": {"unit": None}}},
    {"name": "pump.log", "inputSchema": {"type": "object"}},
]
RATES = [
    {"type": "function", "function": {"name": "汇率"}},
    {"type": "function", "function": {"name": "换算", "parameters": {"properties": {"额": {"enum": None}}}}},
]
DOORS = [
    {"name": "باب-افتح", "description": None, "input_schema": None},
    {"name": "باب-أغلق", "input_schema": {"required": "all", "properties": {"باب": None}}},
    *({"name": f"باب-{i}", "description": f"باب رقم {i}", "input_schema": {"type": None}} for i in range(60)),
]
MISSING = {
    "reported": (SCENES, 4),
    "dotted, as MCP": (PUMPS, 3),
    "chinese, as OpenAI": (RATES, 2),
    "arabic, as Anthropic, 62": (DOORS, 62),
}
missing = pytest.mark.parametrize(("tools", "repaired"), MISSING.values(), ids=list(MISSING))


@missing
def test_bc23_missing_and_null_parts(tools, repaired):
    """Kind: schema. What is missing or null becomes an empty legal part, and the report says so."""
    catalog = Catalog(tools)
    assert len(catalog) == len(tools)
    assert len(catalog.report.repaired) == repaired
    assert all(entry.problems for entry in catalog.report.repaired)
    for tool in catalog:
        projected, _ = wire_projection(tool.parameters)
        jsonschema.Draft202012Validator.check_schema(projected)
        assert projected["type"] == "object"
        assert isinstance(projected["properties"], dict)
        assert None not in projected.values()
        assert isinstance(tool.description, str)


@missing
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
def test_bc23_each_repaired_tool_can_be_found_and_called(tools, repaired, api):
    """Kind: schema. Every interface accepts them all, and a call of each comes back."""
    search = ToolSearch(tools, ranker="bm25", cache=False)
    names = search.catalog.wire_names
    assert [found(search, tool.name)[0] for tool in search.catalog] == [tool.name for tool in search.catalog]
    with LoopbackProvider([Parallel([Call(name) for name in names]), Say("Done.")]) as server:
        run = converse(server, search, api, never_defer=names)
        assert (server.failures, server.remaining) == ([], 0)
    assert [call.wire_name for call in run.calls] == list(names)


@pytest.mark.parametrize(
    ("tools", "good"),
    [
        (
            [
                t("", "No name"),
                t("   ", "Blank"),
                {"name": None, "description": "Null"},
                {"name": 7, "description": "Number"},
                {"description": "Missing"},
                "not a dict",
                t("ok_tool", "Fine"),
            ],
            "ok_tool",
        ),
        (
            [
                {"type": "function", "function": {"description": "Missing", "parameters": obj()}},
                {"type": "function", "function": {"name": ["liste"]}},
                {"type": "function", "function": "prêt"},
                {"type": "function"},
                {"type": "function", "function": {"name": "prêt", "description": "Va bien"}},
            ],
            "prêt",
        ),
        (
            [
                {"name": "\u200b\u2060", "inputSchema": obj()},
                {"name": "\u3000\t", "inputSchema": obj()},
                {"name": {"en": "x"}, "inputSchema": obj()},
                None,
                3.5,
                b"tool",
                {"name": "よい", "inputSchema": obj()},
            ],
            "よい",
        ),
    ],
    ids=["reported", "french, as OpenAI", "japanese, as MCP"],
)
def test_bc30_names_that_are_not_names(tools, good):
    """Kind: schema. What has no name is quarantined with position and reason; strict reading raises."""
    catalog = Catalog(tools)
    assert [tool.name for tool in catalog] == [good]
    assert [entry.position for entry in catalog.report.quarantined] == list(range(len(tools) - 1))
    assert all(entry.problems[-1].reason for entry in catalog.report.quarantined)
    assert found(ToolSearch(tools, ranker="bm25", cache=False), good) == [good]
    with pytest.raises(InvalidToolError, match=r"\[0\]"):
        Catalog(tools, strict=True)
    for bad in tools[:-1]:
        with pytest.raises(InvalidToolError):
            Catalog([bad], strict=True)
