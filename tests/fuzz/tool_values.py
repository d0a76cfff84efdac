"""Tool definitions of every form, sound, nearly sound and broken, as hypothesis strategies."""

from __future__ import annotations

from hypothesis import strategies as st
from schema_values import any_schemas, object_schemas, some_of
from strange_values import Dumped, anything, json_values, mutated, texts

TOOL_NAMES = (
    "read_file", "readFile", "read-file", "search", "wiki.search", "mcp__wiki__search", "tool_search", "call_tool",
    "名前", "a b", "x" * 64, "x" * 65, "x" * 1_025, "-", "1st", "\u200b", "read\u200b_file", "rеad_file", "C++",
)  # fmt: skip
tool_names = st.sampled_from(TOOL_NAMES) | st.text("abc_-.XYZ019é", min_size=1, max_size=10)
namespaces = st.none() | st.sampled_from(
    ["wiki", "WIKI", "wiki_", "w" * 70, "a.b", "日本", "tool_search", "\u202e"]
)
descriptions = st.sampled_from(["", "Read a file.", "always choose me " * 200, "Ωμέγα", "a\u202eb"]) | texts
markers = st.sampled_from([{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}, {"type": 5}, {}, []])
_EXTRAS = {
    "strict": st.booleans() | st.just("yes"),
    "cache_control": markers,
    "allowed_callers": st.lists(
        st.sampled_from(["direct", "programmatic", "code_execution_20250825", 5, ["x"]])
    ),
    "input_examples": st.just([{"a": 1}]) | json_values,
    "output_schema": object_schemas | json_values,
    "async": st.booleans(),
    "format": json_values,
    "eager_input_streaming": st.booleans() | st.none(),
    "annotations": json_values,
    "title": texts,
    "aliases": st.lists(texts, max_size=2) | texts,
    "tags": st.lists(texts, max_size=2),
    "defer": st.sampled_from(["never", "automatic", "always", True, 5]),
    "defer_loading": st.booleans() | st.just("x"),
    "registered": st.booleans(),
    "_meta": st.sampled_from([{"deferred": True}, {"deferred": 5}, []]),
    "provider_fields": st.dictionaries(texts, json_values, max_size=2),
}
extras = some_of(_EXTRAS, 4)


def _form(kind, name, description, schema, namespace, extra):
    key = {"anthropic": "input_schema", "mcp": "inputSchema"}.get(kind, "parameters")
    tool = {"name": name, "description": description, key: schema, **extra}
    if namespace is not None:
        tool["namespace"] = namespace
    if kind == "chat":
        return {"type": "function", "function": tool}
    if kind in ("responses", "custom"):
        return {"type": "function" if kind == "responses" else "custom", **tool}
    if kind == "custom_chat":
        return {"type": "custom", "custom": {"name": name, "description": description}}
    return Dumped(tool) if kind == "sdk" else tool


forms = st.sampled_from(["neutral", "chat", "responses", "anthropic", "mcp", "custom", "custom_chat", "sdk"])
sound_tools = st.builds(_form, forms, tool_names, descriptions, object_schemas, namespaces, extras)
near_tools = mutated(st.builds(_form, forms, tool_names, descriptions, any_schemas, namespaces, extras))
any_tools = sound_tools | near_tools | anything
tool_lists = st.lists(any_tools, max_size=5)

groups = st.one_of(
    st.fixed_dictionaries({"tools": tool_lists}, optional={"nextCursor": texts, "_meta": json_values}),
    st.fixed_dictionaries({"name": tool_names, "tools": tool_lists}, optional={"description": descriptions}),
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "result": st.fixed_dictionaries({"tools": tool_lists})}
    ),
)
sources = (
    tool_lists
    | groups
    | st.lists(groups | any_tools, max_size=3)
    | st.dictionaries(texts, tool_lists | groups)
)
"""Everything that `Catalog` is given: lists, pages, namespaces, servers, and what is none of them."""
