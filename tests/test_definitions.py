"""Definitions: every known form becomes the same tool, and no foreign object raises."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.definitions import LONG_DESCRIPTION, ToolDefinition
from semantic_toolsearch.errors import InvalidToolError, ToolSearchError
from semantic_toolsearch.reading import read_definition

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def one(source):
    return Catalog([source], strict=True)[0]


def entry(source):
    (only,) = Catalog([source]).report.entries
    return only


class TestForms:
    @pytest.mark.parametrize(
        "source",
        [
            {
                "type": "function",
                "function": {"name": "find", "description": "Find it", "parameters": SCHEMA},
            },
            {"function": {"name": "find", "description": "Find it", "parameters": SCHEMA}},
            {"type": "function", "name": "find", "description": "Find it", "parameters": SCHEMA},
            {"name": "find", "description": "Find it", "input_schema": SCHEMA},
            {"type": "custom", "name": "find", "description": "Find it", "input_schema": SCHEMA},
            {"name": "find", "description": "Find it", "inputSchema": SCHEMA},
            {"name": "find", "description": "Find it", "parameters": SCHEMA},
            ToolDefinition(name="find", description="Find it", parameters=SCHEMA),
        ],
    )
    def test_every_form_gives_the_same_tool(self, source):
        definition = one(source)
        assert definition == ToolDefinition(name="find", description="Find it", parameters=SCHEMA)
        assert entry(source).status == "ok"

    def test_unknown_keys_are_kept_as_provider_fields(self):
        chat = one({
            "type": "function",
            "cache_control": {"type": "ephemeral"},
            "function": {"name": "find", "parameters": SCHEMA, "strict": True},
        })  # fmt: skip
        assert chat.provider_fields == {"cache_control": {"type": "ephemeral"}, "strict": True}
        mcp = one({
            "name": "find", "title": "Finder", "inputSchema": SCHEMA, "outputSchema": SCHEMA,
            "annotations": {"readOnlyHint": True}, "_meta": {"x": 1},
        })  # fmt: skip
        assert mcp.provider_fields == {
            "title": "Finder",
            "outputSchema": SCHEMA,
            "annotations": {"readOnlyHint": True},
            "_meta": {"x": 1},
        }

    def test_mcp_sdk_objects(self):
        types = pytest.importorskip("mcp.types")
        sdk = types.Tool.model_validate({
            "name": "find", "title": "Finder", "description": "Find it", "inputSchema": SCHEMA,
            "annotations": {"readOnlyHint": True}, "_meta": {"deferred": True},
        })  # fmt: skip
        definition = one(sdk)
        assert (definition.name, definition.description, definition.parameters) == ("find", "Find it", SCHEMA)
        assert definition.provider_fields["title"] == "Finder"
        assert definition.provider_fields["annotations"] == {"readOnlyHint": True}
        assert definition.defer == "always"

    def test_free_text_tools_take_one_text(self):
        grammar = {"type": "grammar", "syntax": "lark", "definition": "start: x"}
        flat = one(
            {
                "type": "custom",
                "name": "run_sql",
                "description": "SQL",
                "format": grammar,
                "defer_loading": True,
            }
        )
        nested = one(
            {"type": "custom", "custom": {"name": "run_sql", "description": "SQL", "format": grammar}}
        )
        for definition in (flat, nested):
            assert list(definition.parameters["properties"]) == ["input"]
            assert definition.provider_fields == {"type": "custom", "format": grammar}
        assert (flat.defer, nested.defer) == ("always", "automatic")

    @pytest.mark.parametrize("key", ["namespace", "server"])
    def test_neutral_fields(self, key):
        definition = one({
            "name": "find", key: "shop", "aliases": ["seek"], "tags": {"b", "a"}, "registered": False,
            "defer": "never", "parameters": SCHEMA,
        })  # fmt: skip
        assert definition.namespace == "shop"
        assert (definition.aliases, definition.tags) == (("seek",), ("a", "b"))
        assert definition.registered is False
        assert definition.defer == "never"
        assert definition.provider_fields == {}

    @pytest.mark.parametrize(
        ("flags", "policy"),
        [
            ({"deferred": True}, "always"),
            ({"defer_loading": True}, "always"),
            ({"defer": True}, "always"),
            ({"defer": "always"}, "always"),
            ({"_meta": {"defer_loading": True}}, "always"),
            ({"defer_loading": False}, "automatic"),
            ({"defer": "never"}, "never"),
            ({}, "automatic"),
        ],
    )
    def test_c01_flags_become_the_policy(self, flags, policy):
        assert one({"name": "find", "input_schema": SCHEMA, **flags}).defer == policy
        inside = {"type": "function", "function": {"name": "find", "parameters": SCHEMA, **flags}}
        assert one(inside).defer == policy

    def test_e32_automatic_is_the_default(self):
        assert ToolDefinition(name="find").defer == "automatic"

    def test_a_dumped_definition_reads_back_equal(self):
        definition = ToolDefinition(
            name="find", description="x", parameters=SCHEMA, namespace="n", defer="always", aliases=("a",),
            provider_fields={"strict": True},
        )  # fmt: skip
        assert one(definition.model_dump()) == definition
        assert one(json.loads(definition.model_dump_json())) == definition
        assert ToolDefinition.model_validate(definition.model_dump()) == definition
        assert pickle.loads(pickle.dumps(definition)) == definition  # noqa: S301 - our own bytes


class TestNotTools:
    @pytest.mark.parametrize(
        ("source", "words"),
        [
            ({"type": "web_search"}, "beside the catalog"),
            ({"type": "bash_20250124", "name": "bash"}, "beside the catalog"),
            ({"type": "mcp_toolset", "mcp_server_name": "x", "defer_loading": True}, "beside the catalog"),
            ({"type": "object", "properties": {"a": {}}}, "bare JSON Schema"),
            ({"name": "x", "parameters": {"type": "string"}}, "allow an object"),
            ([{"name": "x"}], "flat list"),
            (7, "no tool definition"),
            (None, "no tool definition"),
        ],
    )
    def test_x09_what_is_no_callable_tool_is_quarantined_with_the_reason(self, source, words):
        told = entry(source)
        assert told.status == "quarantined"
        assert words in told.problems[-1].reason

    @pytest.mark.parametrize(
        ("extra", "path"),
        [
            ({"description": None}, "$.description"),
            ({"description": ["a"]}, "$.description"),
            ({"server": 7}, "$.namespace"),
            ({"defer": "sometimes"}, "$.defer"),
            ({"defer_loading": "yes"}, "$.defer"),
            ({"registered": "yes"}, "$.registered"),
            ({"aliases": 3}, "$.aliases"),
            ({"tags": ["ok", 3, " "]}, "$.tags"),
            ({"input_schema": {"type": "object", "properties": {}}}, "$.parameters"),
            ({"annotations": {"x": float("inf")}}, "$.provider_fields.annotations.x"),
            ({"outputSchema": {"s": {1, 2}}}, "$.provider_fields.outputSchema.s"),
        ],
    )
    def test_x09_wrong_parts_are_mended_and_reported(self, extra, path):
        told = entry({"name": "find", "parameters": SCHEMA, **extra})
        assert told.status == "repaired"
        assert [problem.path for problem in told.problems] == [path]

    def test_x09_a_recursive_output_schema_costs_itself_only(self):
        output = {"type": "object"}
        output["properties"] = {"child": output}
        catalog = Catalog([{"name": "find", "inputSchema": SCHEMA, "outputSchema": output}])
        assert catalog[0].provider_fields == {}
        assert catalog.report.repaired[0].problems[0].path.startswith("$.provider_fields.outputSchema")

    def test_x09_deep_sdk_objects(self):
        class Sdk(pydantic.BaseModel):
            name: str
            inputSchema: dict  # noqa: N815 - the field's name on the wire

        nested = {}
        for _ in range(3_000):
            nested = {"properties": {"a": nested}}
        told = entry(Sdk.model_construct(name="deep", inputSchema=nested))
        assert (told.status, told.name) == ("quarantined", "deep")


class TestDefinition:
    def test_e61_the_definition_is_independent_of_its_source(self):
        schema = copy.deepcopy(SCHEMA)
        source = {"name": "find", "parameters": schema, "annotations": {"a": [1]}}
        read, made = one(source), ToolDefinition(name="find", parameters=schema)
        schema["properties"]["q"]["type"] = "integer"
        source["annotations"]["a"].append(2)
        assert read.parameters == made.parameters == SCHEMA
        assert read.provider_fields == {"annotations": {"a": [1]}}
        assert source["name"] == "find"

    def test_it_cannot_be_changed(self):
        with pytest.raises(pydantic.ValidationError):
            ToolDefinition(name="find").name = "other"

    @pytest.mark.parametrize(
        "fields",
        [
            {"name": 7},
            {"name": "x", "unknown": 1},
            {"name": "x", "defer": "later"},
            {"name": "x", "aliases": "a"},
        ],
    )
    def test_a_programmers_wrong_field_raises_at_once(self, fields):
        with pytest.raises(pydantic.ValidationError):
            ToolDefinition(**fields)

    @pytest.mark.parametrize(
        "fields",
        [
            {"name": ""},
            {"name": "\u200b \u2060"},
            {"name": "x" * 2_000},
            {"name": "x", "namespace": "n" * 2_000},
            {"name": "x", "parameters": {"type": "array"}},
            {"name": "x", "parameters": {"a": float("nan")}},
        ],
    )
    def test_an_unusable_definition_raises_at_once(self, fields):
        with pytest.raises(InvalidToolError, match=r"^\$\."):
            ToolDefinition(**fields)

    def test_x21_texts_are_cleaned_and_told(self):
        definition = ToolDefinition(
            name="mail\u200b_send\ud83d",
            description="Send\u200b a mail",
            namespace="po\ud83dst",
            aliases=("po\u200bst",),
        )
        assert definition.name == "mail\u200b_send\ufffd"
        assert definition.description == "Send a mail"
        assert definition.namespace == "po\ufffdst"
        assert definition.aliases == ("post",)
        told = [problem.path for problem in definition.problems]
        assert sorted(told) == ["$.aliases", "$.description", "$.name", "$.name", "$.namespace"]
        assert entry(definition).status == "repaired"

    def test_x21_a_long_description_is_a_remark_not_a_repair(self):
        told = entry({"name": "find", "description": "word " * LONG_DESCRIPTION, "parameters": SCHEMA})
        assert told.status == "ok"
        assert told.problems[0].path == "$.description"

    def test_ways_around_the_checks_are_checked_by_the_catalog(self):
        good = ToolDefinition(name="find", parameters=SCHEMA)
        tricks = [
            good.model_copy(update={"parameters": {"type": "string"}}),
            good.model_copy(update={"name": 7}),
            good.model_copy(update={"defer": "later"}),
            ToolDefinition.model_construct(name=None),
            ToolDefinition.model_construct(),
        ]
        assert [e.status for e in Catalog(tricks).report.entries] == ["quarantined"] * len(tricks)
        mended = good.model_copy(update={"parameters": {"properties": None}})
        assert Catalog([mended])[0].parameters == {"properties": {}}
        assert good.recheck() is good
        assert good.model_copy(update={"defer": "always"}).recheck().defer == "always"

    def test_equality_and_hash(self):
        a, b = (ToolDefinition(name="find", description="x\u200b", parameters=SCHEMA) for _ in range(2))
        clean = ToolDefinition(name="find", description="x", parameters=SCHEMA)
        assert a == b == clean
        assert len({a, b, clean}) == 1
        assert a != ToolDefinition(name="find", description="y", parameters=SCHEMA)
        assert a != "find"


class Hostile:
    """Raises whenever anything is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


class HostileDump:
    name = "hostile"

    def model_dump(self, **_):
        raise ValueError("\ud800")


class HostileDict(dict):
    def items(self):
        raise RuntimeError("items")

    def get(self, *_):
        raise RuntimeError("get")


class HostileText(str):
    def isascii(self):
        raise RuntimeError("isascii")


JSON_LIKE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.binary(max_size=3)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    ["name", "type", "function", "custom", "tools", "parameters", "inputSchema", "server"]
                ),
                st.sampled_from(
                    ["description", "defer", "aliases", "tags", "result", "_meta", "provider_fields"]
                ),
                st.integers(),
                st.text(max_size=4),
            ),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=25,
)


@given(JSON_LIKE)
def test_x09_reading_anything_gives_a_tool_or_a_reason(source):
    reading = read_definition(source)
    assert (reading.tool is None) <= bool(reading.problems)


@given(st.lists(JSON_LIKE, max_size=6))
def test_x09_a_list_of_anything_becomes_a_catalog(sources):
    catalog = Catalog(sources)
    assert len(catalog) == len(catalog.report.ok) + len(catalog.report.repaired)
    assert len(catalog.wire_names) == len(catalog)
    str(catalog.report).encode()
    json.dumps([tool.model_dump() for tool in catalog], ensure_ascii=False, allow_nan=False).encode()


@given(st.one_of(JSON_LIKE, st.sampled_from([HostileDict(a=1), HostileDump(), 3, "x", b"x", object(), len])))
def test_a_wrong_collection_raises_within_the_error_tree(source):
    with contextlib.suppress(ToolSearchError):
        assert isinstance(Catalog(source), Catalog)


@pytest.mark.parametrize(
    "make",
    [
        Hostile,
        HostileDump,
        lambda: HostileDict(name="x"),
        lambda: {"name": HostileText("x")},
        lambda: {"name": "x", "parameters": HostileDict(a=1)},
    ],
)
def test_x09_hostile_objects_cost_their_own_tool_only(make):
    catalog = Catalog([{"name": "before"}, make(), {"name": "after"}])
    assert {"before", "after"} <= {tool.name for tool in catalog}
    assert catalog.report.entries[1].position == 1
