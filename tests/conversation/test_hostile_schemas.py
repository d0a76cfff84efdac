"""Schemas that would hang, exhaust or break the checking of a call's arguments."""

from __future__ import annotations

import pytest

from semantic_toolsearch import arguments
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import ArgumentsError
from semantic_toolsearch.hostile_patterns import unusable

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


def check(value, **schema):
    return arguments.check(ToolDefinition(name="tool", parameters={"type": "object", **schema}), value)


@pytest.mark.parametrize(
    ("step", "value", "fits"),
    [
        (0.5, 10**400, True),
        (10**400, 0.5, False),
        (10**400, 3 * 10**400, True),
        (3, 10**400, False),
        (5e-324, 1e308, True),
        (0.1, 0.25, False),
        (2, 6.0, True),
    ],
)
def test_a_step_is_compared_with_numbers_of_any_size(step, value, fits):
    properties = {"a": {"type": "number", "multipleOf": step}}
    if fits:
        assert check({"a": value}, properties=properties) == {"a": value}
    else:
        with pytest.raises(ArgumentsError, match="multiple of"):
            check({"a": value}, properties=properties)


@pytest.mark.parametrize("draft", [DRAFT_7, DRAFT_2019, None])
@pytest.mark.parametrize("place", ["$defs", "dependencies", "dependentSchemas"])
@pytest.mark.parametrize("reference", ["#here", "#/{}/a~1b%25"])
def test_a_reference_is_followed_in_every_draft_and_from_every_place(draft, place, reference):
    schema = {
        "properties": {"x": {"$ref": reference.replace("{}", place)}},
        place: {"a/b%": {"$anchor": "here", "type": "string"}},
        **({"$schema": draft} if draft else {}),
    }
    assert check({"x": "text"}, **schema) == {"x": "text"}
    with pytest.raises(ArgumentsError, match="must be string"):
        check({"x": {}}, **schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_2019, "$recursiveRef": "#"},
        {"$dynamicRef": "#"},
        {"$dynamicAnchor": "me", "allOf": [{"$dynamicRef": "#me"}]},
        {"$dynamicRef": "#", "unevaluatedProperties": False},
        {"$schema": DRAFT_2019, "$recursiveRef": "#", "unevaluatedProperties": False},
    ],
)
def test_a_schema_without_end_refuses_a_call_and_breaks_nothing(schema):
    with pytest.raises(ArgumentsError, match="too deeply nested to be checked"):
        check({"a": 1}, **schema)


@pytest.mark.parametrize(
    "pattern",
    [
        "((b{1000}){1000}){1000}",
        f"b{{1,{'9' * 5_000}}}",
        "(?R)",
        "(?&x)(?P<x>b)",
        "(?|(b)|(c))",
        "b" * 50_000,
    ],
)
def test_a_pattern_that_takes_memory_to_compile_is_no_rule(pattern):
    assert check({"a": "aaa"}, properties={"a": {"pattern": pattern}}) == {"a": "aaa"}


@pytest.mark.parametrize("pattern", ["[[a-z]--[b]]", "a*b", "\\p{L}", "(?|(a)|(b))", "a++"])
def test_names_are_matched_by_nothing_that_is_slow_or_means_something_else(pattern):
    """The check of names left over has no limit of time and its own engine; there it is left out."""
    schema = {"patternProperties": {pattern: {}}, "unevaluatedProperties": False}
    assert check({"a" * 100_000: 1}, **schema) == {"a" * 100_000: 1}


def test_an_ordinary_count_is_a_rule():
    for pattern in ("^[a-z]{1,64}$", "^.{0,5000}$", "^a{2}(b{3})$"):
        assert unusable(pattern, 20_000) is None
    with pytest.raises(ArgumentsError, match="pattern"):
        check({"a": "bb"}, properties={"a": {"pattern": "^a{1,64}$"}})


def test_many_unexpected_names_are_all_told_and_some_with_the_nearest():
    with pytest.raises(ArgumentsError) as raised:
        check(
            {f"parameter_{number}x": 1 for number in range(500)},
            properties={f"parameter_{number}": {} for number in range(100)},
            additionalProperties=False,
        )
    assert len(raised.value.unexpected) == 500
    assert "nearest: parameter_0" in raised.value.problems[0].message
    assert raised.value.problems[-1].message == "is no parameter"
