"""Bytes in, one part of the library run on what they spell; an error means that a promise is broken.

Used by `coverage_guided.py`, which instruments what is imported here.
"""

from __future__ import annotations

import json
from pathlib import Path

from budget import attempt
from json_mutation import value_of
from test_fuzz_catalog import check_catalog
from test_fuzz_history import CATALOG, SEARCH, size
from test_fuzz_history import TARGETS as MODELS
from test_fuzz_responses import TURNS, check_turn
from test_fuzz_search import SEARCHES, VAULT, allowed

from library_tools import hashed
from semantic_toolsearch import arguments
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.compaction import compact
from semantic_toolsearch.definitions import ToolDefinition, UnusableToolError
from semantic_toolsearch.errors import ArgumentsError, CatalogError, ConversationError, IndexFileError
from semantic_toolsearch.history import read
from semantic_toolsearch.index.manifest import IndexManifest, manifest_bytes, parse_manifest
from semantic_toolsearch.loaded import loaded_names
from semantic_toolsearch.mcp.listing import MessageTap
from semantic_toolsearch.providers.validate import validate
from semantic_toolsearch.saved_tools import SavedTools, tool_line
from semantic_toolsearch.schema_projection import wire_projection
from semantic_toolsearch.schema_repair import repair_schema
from semantic_toolsearch.schemas import schema_fields
from semantic_toolsearch.tool_files import catalog_of_json
from semantic_toolsearch.trimming import clear_outputs, fit_history

GOLDEN = Path(__file__).parents[1] / "providers" / "golden"
GOLDEN_REQUESTS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(GOLDEN.glob("*.json"))]
GOLDEN_TOOLS = [entry for request in GOLDEN_REQUESTS for entry in request["tools"]]


def definitions(data):
    """Tool definitions as a server lists them: a catalog that can be searched and sent."""
    try:
        catalog = Catalog(value_of(data))
    except CatalogError:
        return
    check_catalog(catalog)
    for api, model in MODELS:
        tools = hashed(catalog, ranker="bm25").turn([], api=api, model=model).tools
        broken = [each for each in validate(api, tools) if each.severity == "error"]
        assert not broken, broken


def schemas(data):
    """A schema, and arguments for it where there are some."""
    value = value_of(data)
    schema, sent = value if isinstance(value, list) and len(value) == 2 else (value, {"a": "a", "b": [1]})
    mended, _ = repair_schema(schema)
    schema_fields(schema)
    if mended is None:
        return
    assert repair_schema(mended)[0] == mended
    try:
        tool = ToolDefinition(name="tool", parameters=schema)
    except UnusableToolError:
        return
    assert wire_projection(tool.parameters)[0]["type"] == "object"
    try:
        assert arguments.check(tool, arguments.check(tool, sent)) is not None
    except ArgumentsError as error:
        json.dumps(str(error))


def conversations(data):
    """A conversation: read, shortened, planned for."""
    value = value_of(data)
    messages = value if isinstance(value, list) else [value]
    read(messages)
    loaded = loaded_names(messages, CATALOG)
    assert loaded_names(compact(messages, range(0, len(messages), 2), CATALOG), CATALOG) == loaded
    assert loaded_names(clear_outputs(messages, 1), CATALOG) == loaded
    fit_history(messages, 2, size, CATALOG)
    for api, model in MODELS:
        turn = SEARCH.turn(messages, api=api, model=model, visible=CATALOG.wire_names[:4])
        json.dumps([turn.tools, turn.instructions])
        validate(api, turn.tools, messages=messages)


def responses(data):
    """A complete response of each provider."""
    value = value_of(data)
    for turn in TURNS:
        try:
            check_turn(turn, value)
        except ConversationError:
            continue


def streams(data):
    """The events of a stream of each provider."""
    value = value_of(data)
    events = value if isinstance(value, list) else [value]
    for turn in TURNS:
        try:
            check_turn(turn, turn.assemble(json.loads(json.dumps(events))))
        except ConversationError:
            continue


def searches(data):
    """What a model sends to the search, before tools of which it may not see one."""
    value = value_of(data)
    asked = value if isinstance(value, dict) else {"query": value}
    for ranker in ("bm25", "hybrid", "regex"):
        given = {key: asked.get(key) for key in ("query", "queries", "names", "limit")}
        result = SEARCHES[ranker].search(**given, visible=allowed)
        told = json.dumps(result.as_dict(), allow_nan=False)
        assert VAULT not in told or VAULT in json.dumps(given)
        assert result.total == 2


def files(data):
    """A file of tools, a manifest, a saved line of a catalog, and a server's page, from the same bytes."""
    catalog, refusal = attempt(lambda: catalog_of_json(data, "tools.json"), CatalogError)
    assert catalog is not None or "tools.json" in str(refusal)
    if catalog is not None:
        check_catalog(catalog)
    attempt(lambda: parse_manifest(data, Path("manifest.json")), IndexFileError)
    attempt(lambda: list(SavedTools([data])), IndexFileError)
    _Page(value_of(data)).read()


class _Page:
    """A server's answer to `tools/list` on its way through the tap."""

    def __init__(self, result):
        self.result = result

    @property
    def message(self):
        return self

    @message.setter
    def message(self, changed):
        self.result = changed.result

    def model_copy(self, update):
        return _Page(update["result"])

    def read(self):
        tap = MessageTap(None)
        tap._keep(self)
        page = tap.take_page()
        if page is not None:
            assert len(self.result["tools"]) <= len(page["tools"])
            Catalog(page["tools"])


_MANIFEST = IndexManifest(embedder="e", dimension=3, recipe="4", catalog="c", tools=2)
_CALLS = [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {"query": "a"}}]
_SEEDS = {
    "definitions": [request["tools"] for request in GOLDEN_REQUESTS],
    "schemas": [
        [entry.get("input_schema") or entry.get("parameters"), {"amount": 1}] for entry in GOLDEN_TOOLS[:60]
    ],
    "conversations": [
        [
            {"role": "assistant", "content": _CALLS},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]},
            {"type": "tool_search_call", "call_id": "s1", "execution": "client", "arguments": {"query": "x"}},
            {"type": "tool_search_output", "call_id": "s1", "execution": "client", "tools": GOLDEN_TOOLS[:1]},
        ],
        [
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "tool_search", "arguments": '{"query": "x"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": '{"loaded": ["read_file"]}'},
            {"role": "model", "parts": [{"functionCall": {"name": "tool_search", "args": {"query": "x"}}}]},
            {
                "parts": [
                    {
                        "functionResponse": {
                            "name": "tool_search",
                            "response": {"output": '{"loaded": ["gone"]}'},
                        }
                    }
                ]
            },
            {"role": "system", "content": "[tool_search loaded: read_file]"},
        ],
    ],
    "responses": [
        {"content": _CALLS, "stop_reason": "tool_use"},
        {
            "output": [
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "call_tool",
                    "arguments": '{"name": "gone"}',
                }
            ]
        },
        {
            "choices": [
                {
                    "message": {
                        "tool_calls": [{"id": "c", "function": {"name": "tool_search", "arguments": "{}"}}]
                    }
                }
            ]
        },
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "read_file", "args": {}}}]}}]},
    ],
    "streams": [
        [
            {"type": "message_start", "message": {"content": []}},
            {"type": "content_block_start", "index": 0, "content_block": _CALLS[0]},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": "{}"},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        ],
        [
            {"type": "response.created", "response": {"output": []}},
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": {"type": "function_call", "name": "a"},
            },
            {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"},
            {"type": "response.completed", "response": {"output": [], "status": "completed"}},
        ],
        [
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "a"}}]},
                    }
                ]
            }
        ],
        [{"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}],
    ],
    "searches": [{"query": "read", "queries": ["open"], "names": ["read_file"], "limit": "3"}],
    "files": [GOLDEN_TOOLS[:3], {"tools": GOLDEN_TOOLS[:2], "nextCursor": "x"}],
}
TARGETS = {
    each.__name__: each for each in (definitions, schemas, conversations, responses, streams, searches, files)
}
SEEDS = {name: [json.dumps(value).encode() for value in values] for name, values in _SEEDS.items()}
SEEDS["files"] += [manifest_bytes(_MANIFEST), tool_line("a", None, CATALOG[0]).encode()]
