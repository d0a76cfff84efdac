"""Whatever a model sends as arguments, to whatever schema: checked arguments, or a text for the model."""

from __future__ import annotations

import json

from budget import attempt, bounded, fuzzed
from conversation_values import sent
from hypothesis import given
from hypothesis import strategies as st
from schema_values import NAMES, object_schemas
from strange_values import anything, json_values, leaves, texts

from semantic_toolsearch import arguments
from semantic_toolsearch.definitions import ToolDefinition, UnusableToolError
from semantic_toolsearch.errors import ArgumentsError

_values = st.recursive(
    leaves | st.sampled_from(["a" * 3_000 + "!", "1", "true", "[1]", '{"a": 1}', "3.0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)
given_arguments = st.one_of(
    st.dictionaries(st.sampled_from(NAMES), _values, max_size=4),
    st.dictionaries(st.sampled_from(NAMES), st.lists(_values, min_size=50, max_size=60), max_size=2),
    st.dictionaries(texts, json_values, max_size=3),
    sent,
    anything,
)


@fuzzed
@given(object_schemas, given_arguments)
def test_arguments_are_checked_or_the_model_is_told(schema, value):
    try:
        tool = ToolDefinition(name="tool", parameters=schema)
    except UnusableToolError:
        return
    with bounded():
        checked, refusal = attempt(lambda: arguments.check(tool, value), ArgumentsError)
    if checked is None:
        assert str(refusal).startswith("tool was not run")
        assert all(problem.message for problem in refusal.problems)
        json.dumps(str(refusal))
    else:
        json.dumps(checked, allow_nan=False)
        assert arguments.check(tool, checked) == checked


_deep = st.recursive(
    st.just(1), lambda inner: st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2), max_leaves=60
)


@fuzzed
@given(object_schemas, _deep, st.integers(0, 80))
def test_endless_schemas_meet_deep_arguments(schema, value, levels):
    for _ in range(levels):
        value = {"a": value, "b": [value]} if levels < 8 else {"a": value}
    try:
        tool = ToolDefinition(
            name="tool",
            parameters={**schema, "$defs": {"a": schema}, "properties": {"a": {"$ref": "#/$defs/a"}}},
        )
    except UnusableToolError:
        return
    with bounded():
        checked, refusal = attempt(lambda: arguments.check(tool, {"a": value}), ArgumentsError)
    assert checked is not None or refusal.problems
