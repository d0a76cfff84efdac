"""What all wire formats share."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.providers import base

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def test_a_projection_is_made_once_and_goes_with_its_definition():
    gc.collect()
    before = len(base._PROJECTIONS)
    tool = ToolDefinition(
        name="only_here", parameters={"type": "object", "properties": {"a": {"type": "string"}}}
    )
    first = base.wire_schema(tool)
    first["properties"]["a"]["type"] = "number"
    assert base.wire_schema(tool) == tool.parameters
    assert len(base._PROJECTIONS) == before + 1
    assert base.wire_schema(tool.model_copy(update={"parameters": {"type": "object"}}))["properties"] == {}
    del tool
    gc.collect()
    assert len(base._PROJECTIONS) == before


@given(st.text(max_size=200), st.integers(min_value=6, max_value=150))
def test_x21_a_cut_is_marked_and_never_too_long(text, most):
    cut = base.cut_description(text, most)
    assert len(cut) <= most or cut == base.CUT_MARK
    assert (cut == text) == (len(text) <= most) or text.endswith(base.CUT_MARK)
    if len(text) > most:
        assert cut.endswith(base.CUT_MARK)
        assert text.startswith(cut.removesuffix(base.CUT_MARK))


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=4))
def test_bc44_what_stands_beside_the_bridge_is_never_lost(given_arguments):
    name, arguments = base.unwrap_bridge(given_arguments)
    beside = {key: value for key, value in given_arguments.items() if key not in ("name", "arguments")}
    if isinstance(arguments, dict):
        assert name == given_arguments["name"].strip()
        assert arguments in (beside, base.parse_arguments(given_arguments.get("arguments")))
        assert arguments == beside or not beside
    else:
        assert base.parse_arguments(arguments) == arguments  # a text that is no object


@given(json_values)
def test_parse_arguments_gives_an_object_or_a_text(value):
    read = base.parse_arguments(value)
    assert isinstance(read, dict | str)
    if isinstance(value, dict):
        assert read == value


@pytest.mark.parametrize("value", ["\ud800", {"a": ["\udfff"]}, "ä", {"k\ud800": 1}])
def test_bc29_json_text_encodes(value):
    base.json_text(value).encode("utf-8")
