"""Whatever servers send as tools becomes a catalog with a report, and never an error of another kind."""

from __future__ import annotations

import json

import pytest
from budget import attempt, bounded, fuzzed
from hypothesis import given
from hypothesis import strategies as st
from schema_values import any_schemas, object_schemas
from strange_values import anything, texts
from tool_values import any_tools, namespaces, sources, tool_lists, tool_names

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.documents import dense_text, lexical_tokens, shared_words
from semantic_toolsearch.errors import CatalogError, InvalidToolError, ToolSearchError, UnknownToolError
from semantic_toolsearch.lookup import NameTable
from semantic_toolsearch.names import nearest, split_identifier, squash, wire_names, wire_namespaces
from semantic_toolsearch.reading import read_definition
from semantic_toolsearch.schema_projection import wire_projection
from semantic_toolsearch.schema_repair import repair_schema
from semantic_toolsearch.schemas import schema_fields
from semantic_toolsearch.tokens import tokenize
from semantic_toolsearch.tool_files import catalog_of_json

LEGAL = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def check_catalog(catalog):
    """What holds for every catalog, whatever it was made from."""
    assert len(catalog.wire_names) == len({name.lower() for name in catalog.wire_names}) == len(catalog)
    assert all(0 < len(name) <= 64 and set(name) <= LEGAL for name in catalog.wire_names)
    assert len(catalog.report.entries) == len(catalog) + len(catalog.report.quarantined)
    json.dumps(
        [tool.model_dump(mode="json") for tool in catalog], allow_nan=False, ensure_ascii=False
    ).encode()
    str(catalog.report).encode()
    assert catalog.fingerprint == Catalog(catalog).fingerprint
    for tool in catalog:
        lexical_tokens(tool)
        dense_text(tool).encode()
        projected, _ = wire_projection(tool.parameters)
        assert projected["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "not", "enum", "const"} & set(projected)


@fuzzed
@given(sources)
def test_any_collection_of_tools_is_a_catalog_or_a_catalog_error(given_):
    with bounded():
        try:
            catalog = Catalog(given_)
        except CatalogError:
            return
        check_catalog(catalog)


@fuzzed
@given(anything)
def test_anything_as_a_collection_is_a_catalog_or_a_catalog_error(given_):
    with bounded():
        try:
            check_catalog(Catalog(given_))
        except CatalogError:
            return


@fuzzed
@given(any_tools, namespaces)
def test_a_definition_is_read_or_refused_with_a_reason(source, namespace):
    with bounded():
        reading = read_definition(source, namespace)
    assert reading.tool is not None or reading.problems
    if reading.tool is not None:
        again = read_definition(reading.tool)
        assert again.tool == reading.tool


@fuzzed
@given(tool_lists, namespaces, tool_lists)
def test_a_replaced_namespace_touches_no_other(first, namespace, second):
    with bounded():
        before = Catalog(first)
        after = before.replace(namespace, second)
        check_catalog(after)
        owner = namespace if namespace and namespace.strip("\u202e \u200b") else None
        others = [tool for tool in before if tool.namespace != owner]
        assert [tool for tool in after if tool.namespace != owner] == others


@fuzzed
@given(tool_lists)
def test_strict_reading_raises_what_the_report_would_have_said(given_):
    with bounded():
        faults = Catalog(given_).report.quarantined
        if faults:
            with pytest.raises(CatalogError):
                Catalog(given_, strict=True)
        else:
            assert len(Catalog(given_, strict=True)) == len(Catalog(given_))


@fuzzed
@given(any_schemas | anything)
def test_a_schema_is_mended_once_and_then_stays(schema):
    with bounded():
        mended, _ = repair_schema(schema)
        schema_fields(schema)
        if mended is None:
            return
        text = json.dumps(mended, allow_nan=False)
        assert repair_schema(mended)[0] == json.loads(text)
        schema_fields(mended)
        try:
            projected, _ = wire_projection(mended)
        except InvalidToolError:
            return
        assert json.dumps(mended) == text
        again, _ = repair_schema(projected)
        assert again == projected


@fuzzed
@given(object_schemas)
def test_a_schema_of_an_object_keeps_its_properties_on_the_wire(schema):
    with bounded():
        mended, _ = repair_schema(schema)
        if mended is None:
            return
        try:
            projected, _ = wire_projection(mended)
        except InvalidToolError:
            return
        assert set(mended.get("properties", ())) <= set(projected["properties"])


@fuzzed
@given(st.lists(st.tuples(namespaces, tool_names | texts.filter(str.strip)), max_size=8), texts)
def test_names_have_legal_distinct_wire_names_and_are_found_again(identities, spelling):
    identities = [
        (owner, name.encode("utf-8", "replace").decode()) for owner, name in dict.fromkeys(identities)
    ]
    identities = list(dict.fromkeys(identities))
    with bounded():
        wire = wire_names(identities)
        assert len({name.lower() for name in wire}) == len(identities)
        assert all(0 < len(name) <= 64 and set(name) <= LEGAL for name in wire)
        assert wire_names(list(reversed(identities))) == tuple(reversed(wire))
        table = NameTable(identities, wire)
        for place, name in enumerate(wire):
            assert place in table.find(name)
        assert all(0 <= place < len(identities) for place in table.find(spelling))
        labels = [owner for owner, _ in identities if owner is not None]
        assert len(set(wire_namespaces(labels))) == len(set(labels))
        assert set(nearest(spelling, wire)) <= set(wire)


@fuzzed
@given(texts | st.text(max_size=200))
def test_any_text_has_words_and_tokens(text):
    with bounded():
        assert all(word for word in split_identifier(text))
        assert squash(squash(text)) == squash(text)
        assert all(tokenize(text))
        tokenize(text, keep_stop_words=True)


@fuzzed
@given(tool_lists, texts)
def test_words_shared_with_any_query_are_told(given_, query):
    with bounded():
        for tool in Catalog(given_):
            assert all(shared_words(tool, query).values())


@fuzzed
@given(
    sources | anything,
    st.binary(max_size=5),
    st.integers(0, 400),
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
)
def test_a_file_of_tools_is_read_or_refused_by_name(content, noise, cut, encoding):
    try:
        text = json.dumps(content, default=repr)
    except (ValueError, TypeError, RecursionError, RuntimeError):
        text = "[1" + "0" * 5_000 + "]"
    data = text.encode(encoding, "replace")
    data = data[:cut] + noise + data[cut:]
    with bounded():
        catalog, refusal = attempt(lambda: catalog_of_json(data, "tools.json"), CatalogError)
        assert catalog is not None or "tools.json" in str(refusal)
        if catalog is not None:
            check_catalog(catalog)


@fuzzed
@given(tool_lists, texts | st.sampled_from(["read", "readfile", "wiki/search"]))
def test_looking_up_any_name_finds_tools_or_names_the_nearest(given_, name):
    with bounded():
        catalog = Catalog(given_)
        found = catalog.find(name)
        assert all(0 <= place < len(catalog) for place in found)
        for look_up in (catalog.position, catalog.raw, catalog.__getitem__):
            try:
                look_up(name)
            except UnknownToolError as error:
                str(error).encode()
        try:
            catalog.with_policy(name, "always")
        except ToolSearchError as error:
            str(error).encode()
