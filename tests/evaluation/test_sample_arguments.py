"""Arguments that a schema takes, for the calls of a scripted model."""

from __future__ import annotations

import pytest

from semantic_toolsearch import arguments
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.evaluation.costs.sample_arguments import sample_arguments


def sample(properties, required=None, **more):
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        **more,
    }
    tool = ToolDefinition(name="t", parameters=parameters)
    given = sample_arguments(tool)
    assert arguments.check(tool, given) == given
    return given


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "string", "minLength": 40},
        {"type": "string", "maxLength": 2},
        {"type": "string", "format": "date-time"},
        {"type": "string", "pattern": "^[A-Z]{3}$"},
        {"type": "string", "pattern": "^([01]?[0-9]|2[0-3]):[0-5][0-9]$"},
        {"type": "string", "enum": ["north", "south"]},
        {"const": 7},
        {"type": "integer", "minimum": 5, "maximum": 9},
        {"type": "integer", "exclusiveMinimum": 5, "multipleOf": 4},
        {"type": "number", "exclusiveMaximum": 0},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "number", "multipleOf": 0.5, "maximum": 0.5},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["null", "integer"]},
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 2, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 2},
        {
            "type": "object",
            "properties": {"deep": {"type": "object", "required": ["x"]}},
            "required": ["deep"],
        },
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "minProperties": 1,
        },
        {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 3}]},
        {"oneOf": [{"type": "string", "pattern": "^(?!)"}, {"type": "boolean"}]},
        {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "integer"}}}]},
        {},
    ],
)
def test_a_required_parameter_gets_a_value_of_its_kind(schema):
    assert list(sample({"value": schema})) == ["value"]


def test_parameters_that_may_be_left_out_are():
    assert sample({"needed": {"type": "string"}, "spare": {"type": "integer"}}, ["needed"]) == {
        "needed": "text"
    }
    assert sample({"spare": {"type": "integer"}}, []) == {}


def test_references_are_followed_and_do_not_run_in_circles():
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}, "size": {"type": "integer"}}}
    given = sample({"tree": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": {**node, "required": ["size"]}}})
    assert given == {"tree": {"size": 1}}
    endless = ToolDefinition(
        name="t",
        parameters={
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/node"}},
            "required": ["tree"],
            "$defs": {"node": {**node, "required": ["child"]}},
        },
    )
    assert "tree" in sample_arguments(endless)  # no finite value fits, and the nearest is given
