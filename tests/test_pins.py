"""Pins: hashes of content that mean the same in every process, their file, and what differs between definitions."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from library_tools import LIB, TWO_SERVERS, t
from semantic_toolsearch import Catalog, ConfigError, ToolDefinition
from semantic_toolsearch.changes import MOST_CHANGES, Change, changes_between
from semantic_toolsearch.pins import content_hash, pins_text, read_pins

TOOL = ToolDefinition(
    name="send",
    namespace="mail",
    description="Send a mail",
    parameters={
        "type": "object",
        "properties": {"to": {"type": "string"}, "parts": {"type": "array", "items": [{"type": "string"}]}},
        "required": ["to"],
    },
    aliases=("post",),
    tags=("mail",),
    provider_fields={"annotations": {"readOnlyHint": False}},
)


def other(**changes):
    return ToolDefinition(**{**TOOL.model_dump(), **changes})


def test_a_pin_is_this_very_hash_in_every_process_and_version():
    text = (
        '{"aliases":[],"defer":"automatic","description":"\\u00e9","name":"a","namespace":null,'
        '"parameters":{"properties":{},"type":"object"},"provider_fields":{},"tags":[]}'
    )
    pin = content_hash(ToolDefinition(name="a", description="\u00e9"))
    assert pin == f"1:{hashlib.sha256(text.encode()).hexdigest()}"
    code = (
        "import json, sys; from semantic_toolsearch import Catalog; "
        "print(json.dumps(Catalog(json.loads(sys.argv[1])).pins()))"
    )
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code, json.dumps(LIB)],
            capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert json.loads(done.stdout) == Catalog(LIB).pins()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "sends"},
        {"namespace": "post"},
        {"namespace": None},
        {"description": "Send a mail."},
        {"parameters": {"type": "object", "properties": {}}},
        {"aliases": ()},
        {"tags": ("post",)},
        {"provider_fields": {"annotations": {"readOnlyHint": True}}},
        {"defer": "never"},
    ],
)
def test_every_part_of_the_content_counts(changes):
    assert content_hash(other(**changes)) != content_hash(TOOL)
    assert len(changes_between(TOOL, other(**changes))) >= 1


def test_what_is_no_content_does_not_count():
    turned = dict(reversed(TOOL.model_dump()["parameters"].items()))
    for same in (other(registered=False), other(parameters=turned), other(description="Send\u200b a mail")):
        assert content_hash(same) == content_hash(TOOL)
        assert changes_between(TOOL, same) == ()


def test_pins_do_not_depend_on_the_other_tools_or_on_their_order():
    catalog = Catalog(TWO_SERVERS)
    assert Catalog(TWO_SERVERS[::-1]).pins() == catalog.pins()
    assert Catalog(TWO_SERVERS[:1]).pins().items() <= catalog.pins().items()
    assert list(catalog.pins()) == list(catalog.wire_names)


def test_changes_are_told_by_path():
    changed = other(
        description="Send a mail, and a copy to us",
        parameters={
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "Address"},
                "bcc a": {"type": "string"},
                "parts": {"type": "array", "items": [{"type": "integer"}]},
            },
        },
    )
    assert set(map(str, changes_between(TOOL, changed))) == {
        "$.description changed",
        "$.parameters.properties.to.description added",
        '$.parameters.properties["bcc a"] added',
        "$.parameters.properties.parts.items[0].type changed",
        "$.parameters.required removed",
    }


def test_true_is_not_one():
    one, true = (
        other(parameters={"type": "object", "properties": {"a": {"const": value}}}) for value in (1, True)
    )
    assert changes_between(one, true) == (Change("$.parameters.properties.a.const", "changed"),)
    assert content_hash(one) != content_hash(true)


def test_long_lists_of_changes_are_cut():
    many = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(1000)}}
    assert len(changes_between(TOOL, other(parameters=many))) == MOST_CHANGES


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_hashes_differ_exactly_where_changes_are_found(one, two):
    first, second = (other(provider_fields={"x": value}) for value in (one, two))
    assert (content_hash(first) == content_hash(second)) == (changes_between(first, second) == ())


def test_pins_are_kept_as_a_small_json_file(tmp_path):
    pins = Catalog(TWO_SERVERS).pins()
    file = tmp_path / "pins.json"
    file.write_text(json.dumps(pins))
    assert read_pins(file) == read_pins(str(file)) == read_pins(pins) == pins
    text = pins_text(pins)
    assert json.loads(text) == pins
    assert len(text.splitlines()) == len(pins) + 2
    assert text.isascii()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"\xff", "no JSON file"),
        (b"[" * 100_000, "no JSON file"),
        (b"[]", "not list"),
        (b'{"a": 5}', "'a' has the pin '5'"),
        (b'{"a": "2:' + b"0" * 64 + b'"}', "pin them again"),
    ],
)
def test_a_file_that_holds_no_pins_is_named(tmp_path, content, said):
    file = tmp_path / "pins.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as raised:
        read_pins(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize("wrong", [5, ["a"], {"a": None}, {1: "1:" + "0" * 64}, b"pins.json"])
def test_what_is_no_mapping_of_pins_is_a_programmers_error(wrong):
    with pytest.raises(ConfigError):
        read_pins(wrong)


def test_held_tools_leave_the_names_of_others_alone():
    twins = Catalog([t("Send", "one"), t("send", "two")])
    first, second = twins.wire_names
    left = twins.without({first: "held for a test"})
    assert left.wire_names == (second,)
    assert [entry.status for entry in left.report.entries] == ["held", "ok"]
    assert "held for a test" in str(left.report)
    assert "1 held" in str(left.report)
    assert "held" not in str(twins.report)
