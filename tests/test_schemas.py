"""Schemas: mending, searchable fields, and the provider-legal form."""

from __future__ import annotations

import copy
import json
import socket

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.errors import InvalidToolError
from semantic_toolsearch.json_values import MAX_DEPTH, MAX_VALUES
from semantic_toolsearch.schema_projection import wire_projection
from semantic_toolsearch.schema_repair import repair_schema
from semantic_toolsearch.schema_walk import walk
from semantic_toolsearch.schemas import schema_fields

EMPTY = {"type": "object", "properties": {}}


def obj(**properties):
    return {"type": "object", "properties": properties}


def paths(problems):
    return [problem.path for problem in problems]


def deep(levels, of=dict):
    value = inner = {} if of is dict else []
    for _ in range(levels):
        child = {} if of is dict else []
        if of is dict:
            inner["properties"] = child
        else:
            inner.append(child)
        inner = child
    return value


# Keywords, names and values that schemas are made of, so that random values look like schemas.
# fmt: off
KEYS = st.sampled_from([
    "type", "properties", "required", "items", "anyOf", "oneOf", "allOf", "not", "$ref", "$defs",
    "definitions", "enum", "const", "description", "title", "minimum", "exclusiveMinimum",
    "additionalProperties", "prefixItems",
    "default", "$id", "$anchor", "dependencies", "if", "then", "a", "b",
])
TEXTS = st.sampled_from([
    "object", "string", "OBJECT", "#", "#/$defs/a", "#/definitions/b", "#/properties/a", "#/anyOf/0", "#a",
    "a", "http://x.test/s.json", "file:///etc/passwd", "\ud800", "\u200b", "#/items/0",
    "#/properties/a/items/0",
])
# fmt: on
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=6)),
    max_leaves=40,
)
SCHEMAS = st.dictionaries(KEYS, VALUES, max_size=8)
ANY_KEYS = st.one_of(KEYS, st.integers(), st.text(max_size=3))
FOREIGN = st.one_of(
    VALUES,
    SCHEMAS,
    st.dictionaries(ANY_KEYS, st.one_of(VALUES, st.binary(), st.sets(st.integers()))),
)


class TestRepair:
    @pytest.mark.parametrize("value", [None, {}, True, {"$schema": "x"}, {"description": "no arguments"}])
    def test_x09_missing_and_empty_schemas_become_empty_objects(self, value):
        schema, problems = repair_schema(value)
        assert {**schema, **EMPTY} == schema
        assert paths(problems) == ["$.parameters"]

    @pytest.mark.parametrize(
        ("value", "schema", "path"),
        [
            ({"type": "object", "properties": None}, EMPTY, "$.parameters.properties"),
            ({"type": "object", "properties": []}, EMPTY, "$.parameters.properties"),
            ({**EMPTY, "required": None}, EMPTY, "$.parameters.required"),
            ({**EMPTY, "required": True}, EMPTY, "$.parameters.required"),
            (
                {**obj(a={}), "required": ["a", "a", 3]},
                {**obj(a={}), "required": ["a"]},
                "$.parameters.required",
            ),
            ({"type": "OBJECT", "properties": {}}, EMPTY, "$.parameters.type"),
            (obj(a={"type": "any"}), obj(a={}), "$.parameters.properties.a.type"),
            (
                obj(a={"type": ["STRING", "null"]}),
                obj(a={"type": ["string", "null"]}),
                "$.parameters.properties.a.type",
            ),
            (obj(a=None), obj(a={}), "$.parameters.properties"),
            (obj(a="string"), obj(a={}), "$.parameters.properties"),
            (obj(a={"enum": []}), obj(a={}), "$.parameters.properties.a.enum"),
            (obj(a={"items": None}), obj(a={}), "$.parameters.properties.a.items"),
            (
                obj(a={"anyOf": [None, {"type": "string"}]}),
                obj(a={"anyOf": [{"type": "string"}]}),
                "$.parameters.properties.a.anyOf",
            ),
            (obj(a={"minimum": "1"}), obj(a={}), "$.parameters.properties.a.minimum"),
            (obj(a={"minLength": -1}), obj(a={}), "$.parameters.properties.a.minLength"),
            ({**EMPTY, "additionalProperties": "false"}, EMPTY, "$.parameters.additionalProperties"),
            (
                obj(**{"a b": {"description": 3}}),
                obj(**{"a b": {}}),
                '$.parameters.properties["a b"].description',
            ),
            (
                {**EMPTY, "$defs": {"N": {"properties": {"x": {"required": None}}}}},
                {**EMPTY, "$defs": {"N": {"properties": {"x": {}}}}},
                "$.parameters.$defs.N.properties.x.required",
            ),
        ],
    )
    def test_x09_malformed_keywords_are_mended_and_reported_with_their_path(self, value, schema, path):
        mended, problems = repair_schema(value)
        assert mended == schema
        assert paths(problems) == [path]

    @pytest.mark.parametrize(
        ("value", "path"),
        [
            ("object", "$.parameters"),
            ([], "$.parameters"),
            (False, "$.parameters"),
            ({"properties": "name, age"}, "$.parameters.properties"),
            (obj(a={"default": float("nan")}), "$.parameters.properties.a.default"),
            (obj(a={"enum": {"x", "y"}}), "$.parameters.properties.a.enum"),
            (obj(a={"default": b"x"}), "$.parameters.properties.a.default"),
            (obj(a={"enum": [1, object()]}), "$.parameters.properties.a.enum[1]"),
            (obj(a={"properties": {7: {}}}), "$.parameters.properties.a.properties[7]"),
            (obj(a={"const": 1 << 50_000}), "$.parameters.properties.a.const"),
        ],
    )
    def test_x09_what_no_schema_can_be_made_of_is_refused_with_its_path(self, value, path):
        schema, problems = repair_schema(value)
        assert schema is None
        assert problems[-1].path == path

    def test_x09_an_object_that_contains_itself_is_refused(self):
        schema = obj(child={})
        schema["properties"]["child"]["properties"] = {"again": schema}
        assert repair_schema(schema)[0] is None
        assert "contains itself" in repair_schema(schema)[1][-1].reason

    @pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 3_000, 100_000])
    def test_x09_depth_is_bounded(self, levels):
        schema, problems = repair_schema(deep(levels))
        assert schema is None
        assert "deeper" in problems[-1].reason
        assert repair_schema({"enum": deep(levels, of=list)})[0] is None

    def test_x09_a_small_object_that_writes_out_huge_is_refused(self):
        value = {"type": "string"}
        for _ in range(40):
            value = {"anyOf": [value, value]}
        schema, problems = repair_schema(obj(a=value))
        assert schema is None
        assert f"{MAX_VALUES:,}" in problems[-1].reason

    def test_x09_external_references_are_open_and_never_fetched(self, monkeypatch):
        def refuse(*_, **__):
            raise AssertionError("a reference was fetched")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr("builtins.open", refuse)
        references = [
            "http://x.test/a.json",
            "https://x.test/a#/b",
            "file:///etc/passwd",
            "other.json",
            "urn:x:y",
            "//h/x",
        ]
        value = obj(**{f"p{i}": {"$ref": ref, "description": "kept"} for i, ref in enumerate(references)})
        schema, problems = repair_schema(value)
        assert all(child == {"description": "kept"} for child in schema["properties"].values())
        assert paths(problems) == [f"$.parameters.properties.p{i}.$ref" for i in range(len(references))]

    def test_x09_dangling_references_become_open_with_siblings_kept(self):
        schema, problems = repair_schema(
            obj(a={"$ref": "#/$defs/Gone", "title": "A"}, b={"$ref": "#/$defs/G/1"})
        )
        assert schema == obj(a={"title": "A"}, b={})
        assert len(problems) == 2

    @pytest.mark.parametrize(
        "value",
        [
            {**obj(a={"$ref": "#/$defs/N"}), "$defs": {"N": obj(next={"$ref": "#/$defs/N"})}},
            {**obj(a={"$ref": "#/definitions/a~1b"}), "definitions": {"a/b": {"type": "string"}}},
            {**obj(a={"$ref": "#/definitions/a%20b"}), "definitions": {"a b": {"type": "string"}}},
            {**obj(a={"$ref": "#here"}), "$defs": {"N": {"$anchor": "here", "type": "string"}}},
            obj(a={"type": "string"}, b={"$ref": "#/properties/a"}, c={"$ref": "#"}),
            obj(a={"anyOf": [{"type": "string"}, {"type": "null"}]}, b={"$ref": "#/properties/a/anyOf/0"}),
            {
                **obj(a={"$ref": "#/components/schemas/X"}),
                "components": {"schemas": {"X": {"type": "string"}}},
            },
        ],
    )
    def test_x10_local_references_are_kept(self, value):
        assert repair_schema(value) == (value, ())

    def test_x10_a_reference_by_the_documents_own_id_becomes_local(self):
        value = {
            "$id": "https://x.test/s",
            **obj(a={"$ref": "https://x.test/s#/$defs/A"}),
            "$defs": {"A": {"type": "string"}},
        }
        schema, problems = repair_schema(value)
        assert schema["properties"]["a"] == {"$ref": "#/$defs/A"}
        assert len(problems) == 1

    @pytest.mark.parametrize(
        "definitions",
        [
            {"A": {"$ref": "#/$defs/A"}},
            {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
            {
                "A": {"allOf": [{"$ref": "#/$defs/B"}]},
                "B": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/A"}]},
            },
            {"B": {"not": {"$ref": "#/$defs/A"}}, "A": {"if": {"$ref": "#/$defs/B"}}},
        ],
    )
    def test_x09_references_that_never_reach_a_value_are_broken(self, definitions):
        value = {**obj(a={"$ref": "#/$defs/A"}), "$defs": definitions}
        schema, problems = repair_schema(value)
        assert "leads back to itself" in problems[-1].reason
        jsonschema.Draft202012Validator(schema).is_valid({"a": "text"})  # ends, instead of recursing for ever

    def test_x09_embedded_schemas_outside_of_the_usual_places_are_mended_too(self):
        value = {
            **obj(a={"$ref": "#/components/X"}),
            "components": {"X": {"$ref": "http://x.test/", "required": None}},
        }
        schema, problems = repair_schema(value)
        assert schema["components"]["X"] == {}
        assert len(problems) == 2

    def test_x21_surrogates_and_hidden_text_are_cleaned_and_reported(self):
        value = obj(
            icon={"enum": ["\udc00", "star"], "title": "I\u200bcon", "description": "Sh\u202eown"},
            description={"type": "string", "default": {"description": "da\u200bta stays"}},
            **{f"k{chr(0xD800)}": {}, f"k{chr(0xD801)}": {}},
        )
        schema, problems = repair_schema(value)
        assert schema["properties"]["icon"] == {
            "enum": ["\ufffd", "star"],
            "title": "Icon",
            "description": "Shown",
        }
        assert schema["properties"]["description"]["default"] == {"description": "da\u200bta stays"}
        assert len(schema["properties"]) == 4
        json.dumps(schema, ensure_ascii=False).encode()
        assert len(problems) == 6
        assert (
            "$.parameters.properties.description.default.description: hidden characters are left out"
            in str([str(problem) for problem in problems])
        )

    def test_names_that_look_like_keywords_are_names(self):
        value = obj(
            properties={"type": "string"}, required={"type": "boolean"}, enum=obj(items={"type": "string"})
        )
        assert repair_schema(value) == (value, ())

    @given(FOREIGN)
    def test_never_raises_and_what_it_returns_is_json(self, value):
        schema, problems = repair_schema(value)
        if schema is None:
            assert problems
        else:
            assert json.loads(json.dumps(schema, allow_nan=False)) == schema
            json.dumps(schema, ensure_ascii=False).encode()

    @given(SCHEMAS)
    def test_mending_twice_changes_nothing_more(self, value):
        schema, _ = repair_schema(value)
        if schema is not None:
            again, problems = repair_schema(schema)
            assert again == schema
            assert {problem.reason for problem in problems} <= {
                "hidden characters are left out of what a model sees"
            }

    @given(SCHEMAS)
    def test_the_input_is_left_alone(self, value):
        before = copy.deepcopy(value)
        schema, _ = repair_schema(value)
        assert repr(value) == repr(before)
        if schema is not None and isinstance(value.get("properties"), dict):
            value["properties"]["later"] = {}
            assert "later" not in schema["properties"]


class TestFields:
    def test_every_subschema_once_with_parameters_first(self):
        schema = {
            "$defs": {
                "Guest": {
                    "type": "object",
                    "description": "a person",
                    "properties": {
                        "mail": {"type": "string", "description": "address"},
                        "host": {"$ref": "#/$defs/Guest"},
                    },
                },
                "Unused": {"properties": {"spare": {"enum": ["left over"]}}},
            },
            "type": "object",
            "properties": {
                "guest": {"$ref": "#/$defs/Guest", "description": "who stays"},
                "room": {"title": "Room", "enum": ["single", "double", None, 3, True, 2.5]},
                "extras": {"type": "array", "items": {"enum": ["breakfast"]}},
                "pay": {"anyOf": [{"const": "card", "title": "Plastic"}, {"const": "cash"}]},
            },
        }
        fields = schema_fields(schema)
        assert [(f.name, f.description, f.values) for f in fields] == [
            ("guest", "who stays", ()),
            ("room", "", ("single", "double", "3", "true", "2.5")),
            ("extras", "", ()),
            ("pay", "", ()),
            ("", "a person", ()),
            ("", "", ("breakfast",)),
            ("", "", ("card",)),
            ("", "", ("cash",)),
            ("mail", "address", ()),
            ("host", "", ()),
            ("spare", "", ("left over",)),
        ]
        assert [f.path for f in fields][:2] == ["$.properties.guest", "$.properties.room"]
        assert fields[-1].path == "$.$defs.Unused.properties.spare"

    def test_a_title_counts_where_it_says_more_than_the_name(self):
        fields = schema_fields(
            obj(
                readerCard={"title": "Reader Card"},
                nr={"title": "Booking number", "description": "of the stay"},
            )
        )
        assert [f.description for f in fields] == ["", "Booking number. of the stay"]

    def test_text_in_every_kind_of_subschema_is_found(self):
        keywords = {
            "patternProperties": {"^x": {"description": "one"}},
            "additionalProperties": {"description": "two"},
            "prefixItems": [{"description": "three"}],
            "dependentSchemas": {"a": {"description": "four"}},
            "if": {"description": "five"},
            "then": {"description": "six"},
            "not": {"description": "seven"},
            "items": [{"description": "eight"}],
            "definitions": {"D": {"description": "nine"}},
            "propertyNames": {"description": "ten"},
        }
        found = " ".join(f.description for f in schema_fields({"type": "object", **keywords}))
        assert sorted(found.split()) == [
            *("eight", "five", "four", "nine", "one", "seven", "six", "ten", "three", "two")
        ]

    @given(FOREIGN)
    def test_never_raises_on_unmended_values(self, value):
        assert len({field.path for field in schema_fields(value)}) == len(schema_fields(value))

    def test_cyclic_deep_and_huge_objects_end(self):
        cyclic = obj(a={"description": "seen"})
        cyclic["properties"]["again"] = cyclic
        assert [f.name for f in schema_fields(cyclic)] == ["a"]
        assert len(list(walk(deep(100_000)))) <= 2 * MAX_DEPTH + 1
        wide = obj(**{f"p{i}": {"type": "string"} for i in range(MAX_VALUES + 500)})
        assert len(schema_fields(wide)) < MAX_VALUES


class TestProjection:
    def project(self, schema):
        projected, notes = wire_projection(schema)
        assert projected["type"] == "object"
        assert isinstance(projected["properties"], dict)
        assert not {"anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"} & projected.keys()
        jsonschema.Draft202012Validator.check_schema(projected)
        return projected, notes

    def test_x10_a_legal_schema_stays_as_it_is(self):
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {
                "c": {"$ref": "#/$defs/C"},
                "k": {"enum": ["a", None]},
                "u": {"anyOf": [{"type": "null"}, {}]},
            },
            "type": "object",
            "required": ["c"],
            "additionalProperties": False,
            "$defs": {"C": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}}},
        }
        projected, notes = self.project(schema)
        assert json.dumps(projected) == json.dumps(schema)
        assert notes == ()

    def test_x10_type_and_properties_are_added(self):
        assert self.project({"properties": {"a": {}}})[0] == obj(a={})
        assert self.project({"type": "object"})[0] == EMPTY
        assert self.project({"type": ["object", "null"], "properties": {}})[0] == EMPTY

    @pytest.mark.parametrize(
        ("keyword", "required"), [("anyOf", ["kind"]), ("oneOf", ["kind"]), ("allOf", ["kind", "id", "mail"])]
    )
    def test_x10_a_union_is_merged_with_what_all_branches_require(self, keyword, required):
        schema = {
            "description": "who",
            keyword: [
                {**obj(kind={"type": "string"}, id={"type": "string"}), "required": ["kind", "id"]},
                {**obj(kind={"type": "string"}, mail={"type": "string"}), "required": ["mail", "kind"]},
            ],
        }
        projected, notes = self.project(schema)
        assert list(projected["properties"]) == ["kind", "id", "mail"]
        assert projected["required"] == required
        assert projected["description"] == "who"
        assert notes[0].startswith(f"top-level {keyword}")

    def test_x10_alternatives_of_one_property_stay_alternatives(self):
        schema = {
            "oneOf": [
                obj(kind={"const": "a"}, v={"type": "string"}),
                obj(kind={"const": "b"}, v={"type": "integer"}),
            ]
        }
        projected, _ = self.project(schema)
        assert projected["properties"]["kind"] == {"anyOf": [{"const": "a"}, {"const": "b"}]}
        assert projected["properties"]["v"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}

    def test_x10_either_or_requirements_beside_properties(self):
        schema = {**obj(a={}, b={}), "required": ["c"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
        projected, notes = self.project(schema)
        assert projected == {**obj(a={}, b={}), "required": ["c"]}
        assert "(a) or (b)" in notes[0]

    def test_x10_references_and_nested_unions_at_the_top(self):
        schema = {
            "$ref": "#/$defs/Args",
            "$defs": {
                "Args": {"oneOf": [{"$ref": "#/$defs/One"}, {"anyOf": [obj(c={}), {"type": "null"}]}]},
                "One": {**obj(a={"$ref": "#/$defs/Leaf"}), "additionalProperties": False},
                "Leaf": {"type": "string"},
            },
        }
        projected, _ = self.project(schema)
        assert projected["properties"] == {"a": {"$ref": "#/$defs/Leaf"}, "c": {}}
        assert projected["$defs"] == schema["$defs"]
        assert "additionalProperties" not in projected

    def test_x10_references_into_the_union_stay_alive(self):
        schema = {
            "anyOf": [
                obj(id={"type": "string", "minLength": 4}),
                obj(other={"$ref": "#/anyOf/0/properties/id"}),
            ]
        }
        projected, _ = self.project(schema)
        validator = jsonschema.Draft202012Validator(projected)
        assert validator.is_valid({"other": "long enough"})
        assert not validator.is_valid({"other": "no"})

    def test_x10_old_spellings_are_written_as_the_current_draft_does(self):
        schema = obj(
            point={
                "type": "array",
                "items": [{"type": "number"}, {"type": "string"}],
                "additionalItems": False,
            },
            above={"minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
            same={"$ref": "#/properties/point/items/1"},
        )
        projected, _ = self.project(schema)
        validator = jsonschema.Draft202012Validator(projected)
        assert validator.is_valid({"point": [1, "x"], "above": 9, "same": "x"})
        for wrong in ({"point": ["x", 1]}, {"point": [1, "x", 2]}, {"above": 1}, {"above": 10}, {"same": 1}):
            assert not validator.is_valid(wrong)
        assert "items" in schema["properties"]["point"]

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "string"},
            {"type": ["array", "null"]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"allOf": [obj(a={}), {"type": "string"}]},
            {"enum": ["a", "b"]},
            {"const": 3},
            {"$ref": "#/$defs/S", "$defs": {"S": {"type": "string"}}},
        ],
    )
    def test_x09_what_cannot_be_an_object_is_refused(self, schema):
        with pytest.raises(InvalidToolError, match="object"):
            wire_projection(schema)

    def test_x09_unions_that_multiply_are_refused_soon(self):
        definitions = {f"D{i}": {"anyOf": [{"$ref": f"#/$defs/D{i + 1}"}] * 2} for i in range(30)}
        schema = {"$ref": "#/$defs/D0", "$defs": {**definitions, "D30": obj(a={})}}
        with pytest.raises(InvalidToolError, match="union branches"):
            wire_projection(schema)
        chain = {f"D{i}": {"$ref": f"#/$defs/D{i + 1}"} for i in range(3_000)}
        with pytest.raises(InvalidToolError, match="union branches"):
            wire_projection({"$ref": "#/$defs/D0", "$defs": {**chain, "D3000": obj(a={})}})

    @given(SCHEMAS)
    def test_any_mended_schema_is_projected_legally_or_refused(self, value):
        schema, _ = repair_schema(value)
        if schema is None:
            return
        before = json.dumps(schema)
        try:
            self.project(schema)
        except InvalidToolError:
            assert not jsonschema.Draft202012Validator(schema).is_valid({}) or schema.keys() & {
                "allOf",
                "enum",
                "$ref",
            }
        assert json.dumps(schema) == before


# Hostile sizes -----------------------------------------------------------------------------------------


def test_a_property_list_of_a_server_that_writes_null_is_mended_whole():
    schema, _ = repair_schema({"type": "object", "properties": dict.fromkeys(map(str, range(40_000)))})
    assert len(schema["properties"]) == 40_000
    schema["properties"]["0"]["type"] = "string"
    assert schema["properties"]["1"] == {}


def test_a_union_that_would_write_one_definition_out_hundreds_of_times_is_no_tool():
    branches = [
        {"allOf": [{"$ref": "#/$defs/big"}], "properties": {"p": {"title": str(i)}}} for i in range(300)
    ]
    big = {"properties": {"p": {"enum": [str(i) for i in range(50_000)]}}}
    schema, _ = repair_schema({"type": "object", "$defs": {"big": big}, "anyOf": branches})
    with pytest.raises(InvalidToolError, match="merged unions of more than"):
        wire_projection(schema)
    few, _ = repair_schema({"type": "object", "$defs": {"big": big}, "anyOf": branches[:2]})
    assert set(wire_projection(few)[0]["properties"]) == {"p"}
