"""JSON Schemas as tool servers send them: sound, odd, hostile and broken, as hypothesis strategies."""

from __future__ import annotations

from hypothesis import strategies as st
from strange_values import json_values, leaves, mutated, numbers, texts

PATTERNS = (
    "^a+$", "(a+)+$", "(a|a)*b", "(?R)*", "(.*)*\\1$", "[", "(?<=a+)b",
    "\\p{L}+", "(?P<n>a)(?P=n)", "a{99999999}", "^(?:a?){500}a{500}$", "(?:" * 200 + ")" * 200, "\x00", "(?i:ß)",
    "(a*)*(a*)*(a*)*$", "(?:a.?)*(?:a.?)*!$", "", "[[a-z]--[b]]", "(?|(a)|(b))", "(?&x)(?P<x>a)",
)  # fmt: skip
NAMES = ("a", "b", "city", "guests", "a b", "$ref", "名", "", "x" * 70, "properties", "type")
REFERENCES = (
    "#", "#/", "#/$defs/a", "#/$defs/b", "#/definitions/a", "#/properties/a", "#/properties/a/items", "#/$defs/none",
    "#here", "#/$defs/a%2Fb", "#/$defs/a~1b", "#/anyOf/0", "#/required/0", "#/default", "https://example.test/s.json",
    "file:///etc/passwd", "other.json#/a", "#/$defs/a/$defs/a", "", "##", "#/prefixItems/0", "#%",
)  # fmt: skip
DRAFTS = (
    "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#", "nonsense",
)  # fmt: skip
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

names = st.sampled_from(NAMES)


def _pattern(at):
    return PATTERNS[at]


patterns = st.builds(_pattern, st.integers(0, len(PATTERNS) - 1))
types = st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)
counts = st.integers(0, 5)


@st.composite
def some_of(draw, fields, most):
    """An object with a few of these fields."""
    keys = draw(st.lists(st.sampled_from(list(fields)), unique=True, max_size=most))
    return {key: draw(fields[key]) for key in keys}


_PLAIN = {
    "type": types,
    "description": texts,
    "title": texts,
    "enum": st.lists(leaves, min_size=1, max_size=4),
    "const": json_values,
    "default": json_values,
    "examples": st.lists(json_values, max_size=2),
    "pattern": patterns,
    "format": st.sampled_from(["date", "uri", "regex", "email", "x" * 50]),
    "minimum": numbers,
    "maximum": numbers,
    "exclusiveMinimum": numbers | st.booleans(),
    "exclusiveMaximum": numbers | st.booleans(),
    "multipleOf": st.sampled_from([1, 2, 0.5, 1e-300, 5e-324, 1e308, 10**400, 0.1]),
    "minLength": counts,
    "maxLength": counts | st.just(10**400),
    "minItems": counts,
    "maxItems": counts,
    "uniqueItems": st.booleans(),
    "minProperties": counts,
    "$ref": st.sampled_from(REFERENCES),
    "$dynamicRef": st.sampled_from(REFERENCES),
    "$recursiveRef": st.just("#"),
    "$anchor": st.sampled_from(["here", "a", "0"]),
    "$dynamicAnchor": st.sampled_from(["here", "a"]),
    "$id": st.sampled_from(["https://example.test/s.json", "urn:x", "#a", "x/y", ""]),
    "$schema": st.sampled_from(DRAFTS),
}
"""Keywords that hold no schemas."""

_plain = some_of(_PLAIN, 4)


@st.composite
def _around(draw, inner):
    """A schema that holds others."""
    maps = st.dictionaries(names, inner, max_size=3)
    lists = st.lists(inner, min_size=1, max_size=3)
    ruled = inner | st.booleans()
    holders = {
        **dict.fromkeys(["properties", "dependentSchemas"], maps),
        **dict.fromkeys(["prefixItems", "anyOf", "oneOf", "allOf"], lists),
        **dict.fromkeys(["propertyNames", "contains", "not", "if", "then", "else", "contentSchema"], inner),
        **dict.fromkeys(
            ["additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems"], ruled
        ),
        "items": inner | lists,
        "required": st.lists(names, max_size=3),
        "patternProperties": st.dictionaries(patterns, inner, max_size=2),
        "minContains": counts,
        "maxContains": counts,
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2), max_size=2),
        "dependencies": st.dictionaries(names, inner | st.lists(names, max_size=2), max_size=2),
        "$defs": st.dictionaries(st.sampled_from(["a", "b", "a/b"]), inner, max_size=2),
        "definitions": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    }
    usual = (
        draw(st.fixed_dictionaries({"properties": maps, "$defs": holders["$defs"]}))
        if draw(st.booleans())
        else {}
    )
    return {**draw(_plain), **usual, **draw(some_of(holders, 4))}


schemas = st.recursive(_plain, _around, max_leaves=6)
"""Schemas whose keywords have values of the right type; what they say together may be nonsense or endless."""

object_schemas = schemas.map(lambda schema: {**schema, "type": "object"})
broken_schemas = mutated(object_schemas)
any_schemas = object_schemas | broken_schemas | st.recursive(
    schemas, lambda inner: st.dictionaries(names | texts, inner, max_size=3), max_leaves=4
)  # fmt: skip
