"""Types and parameters in other notations, as JSON Schema."""

from __future__ import annotations

import pytest

from semantic_toolsearch.evaluation.data.schema_types import json_schema, json_type, schema_of_parameters


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dict", "object"), ("HashMap", "object"), ("ArrayList", "array"), ("tuple", "array"), ("List[str]", "array"),
        ("float, optional", "number"), ("STRING", "string"), ("Optional[int]", "integer"), ("long", "integer"),
        ("Boolean", "boolean"), ("none", "null"), ("any", None), ("Union[str, int]", None), ("", None),
        ("widget", None), (7, None), (None, None),
    ],
)  # fmt: skip
def test_names_of_types(name, expected):
    assert json_type(name) == expected


def test_schemas_are_converted_where_types_stand_and_nowhere_else():
    given = {
        "type": "dict",
        "properties": {
            "type": {"type": "String", "default": {"type": "dict"}, "enum": ["dict"]},
            "pairs": {"type": "array", "items": [{"type": "float"}, {"type": "any"}]},
            "either": {"anyOf": [{"type": "int"}, {"type": "tuple", "items": {"type": "char"}}]},
            "maybe": {"type": ["float", "null"]},
            "odd": {"type": ["float", "widget"]},
            "open": {"type": "HashMap", "additionalProperties": {"type": "double"}},
            "closed": {"type": "dict", "additionalProperties": False},
        },
        "required": ["type"],
    }
    assert json_schema(given) == {
        "type": "object",
        "properties": {
            "type": {"type": "string", "default": {"type": "dict"}, "enum": ["dict"]},
            "pairs": {"type": "array", "items": [{"type": "number"}, {}]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
            "maybe": {"type": ["number", "null"]},
            "odd": {},
            "open": {"type": "object", "additionalProperties": {"type": "number"}},
            "closed": {"type": "object", "additionalProperties": False},
        },
        "required": ["type"],
    }


@pytest.mark.parametrize(
    ("given", "properties", "required"),
    [
        (None, {}, None),
        ("none", {}, None),
        ([], {}, None),
        ({"type": "dict", "properties": {"a": {"type": "int"}}, "required": ["a"]}, {"a": {"type": "integer"}}, ["a"]),
        ({"a": {"type": "int", "required": True}, "b": "str"},
         {"a": {"type": "integer"}, "b": {"type": "string"}}, ["a"]),
        ({"a": {"type": "dict", "properties": {"c": {}}, "required": ["c"]}},
         {"a": {"type": "object", "properties": {"c": {}}, "required": ["c"]}}, None),
        ({"a": "How many days to wait", "b": 3}, {"a": {"description": "How many days to wait"}, "b": {}}, None),
        ([{"name": "a", "type": "float"}, "b", 3, {"type": "int"}], {"a": {"type": "number"}, "b": {}}, None),
    ],
)  # fmt: skip
def test_parameters_in_the_usual_forms(given, properties, required):
    expected = {"type": "object", "properties": properties}
    assert schema_of_parameters(given) == (expected | {"required": required} if required else expected)
