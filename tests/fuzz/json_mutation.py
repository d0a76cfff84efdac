"""Bytes that a fuzzer drew in, a JSON value out; and a JSON text in, one that differs in a place or two out."""

from __future__ import annotations

import json
import random

from conversation_values import CALLED
from schema_values import DRAFTS, NAMES, PATTERNS, REFERENCES, TYPES
from strange_values import WORDS

KEYS = (
    "name", "type", "description", "parameters", "input_schema", "inputSchema", "properties", "required", "items",
    "anyOf", "oneOf", "allOf", "$ref", "$defs", "enum", "const", "pattern", "role", "content", "parts", "tool_calls",
    "tool_use_id", "tool_call_id", "call_id", "id", "input", "arguments", "output", "tools", "function", "functionCall",
    "functionResponse", "args", "response", "choices", "message", "delta", "index", "candidates", "finish_reason",
    "stop_reason", "execution", "namespace", "query", "queries", "names", "limit", "loaded", "tool_name", "caller",
    "additionalProperties", "unevaluatedProperties", "patternProperties", "multipleOf", "$anchor", "$dynamicRef",
)  # fmt: skip
KINDS = (
    "tool_use", "tool_result", "text", "server_tool_use", "tool_reference", "tool_search_tool_result", "function",
    "function_call", "function_call_output", "tool_search_call", "tool_search_output", "custom_tool_call", "namespace",
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "assistant",
    "input_json_delta", "user", "system", "tool", "model", "response.completed", "response.output_item.done",
)  # fmt: skip
TEXTS = (*KEYS, *KINDS, *WORDS, *CALLED, *NAMES, *REFERENCES, *PATTERNS, *DRAFTS, *TYPES)
NUMBERS = (0, 1, -1, 2, 0.5, 1e308, 5e-324, 10**400, 2**63, True, False, None)


def value_of(data):
    """The JSON value that the bytes spell; where they spell none, one that they choose from the words above."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return _drawn(random.Random(data), 5)


def _drawn(source, levels):
    kind = source.randrange(6 if levels else 3)
    if kind == 0:
        return source.choice(NUMBERS)
    if kind < 3:
        return source.choice(TEXTS)
    if kind == 3:
        return [_drawn(source, levels - 1) for _ in range(source.randrange(4))]
    return {source.choice(KEYS): _drawn(source, levels - 1) for _ in range(source.randrange(5))}


def mutate(data, max_size, seed, otherwise):
    """A custom mutator for libFuzzer: mostly one change within the JSON, sometimes one of the bytes."""
    source = random.Random(seed)
    if source.randrange(8) == 0:
        return otherwise(data, max_size)
    try:
        value = [json.loads(data.decode("utf-8", "surrogatepass"))]
        for _ in range(source.randrange(1, 4)):
            _change(source, value)
        changed = json.dumps(value[0]).encode()
    except (ValueError, RecursionError):
        return otherwise(data, max_size)
    return changed if len(changed) <= max_size else data[:max_size]


def _change(source, holder):
    """Change one place below a container, in place."""
    while True:
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        if not keys:
            return
        key = source.choice(keys)
        if isinstance(holder[key], dict | list) and holder[key] and source.randrange(4):
            holder = holder[key]
            continue
        break
    action = source.randrange(6)
    if action == 0 and isinstance(holder, dict) and len(holder) > 1:
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        holder[source.choice(KEYS)] = holder[key]
    elif action == 2 and isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))
    elif action == 3:
        holder[key] = source.choice([[holder[key]], {source.choice(KEYS): holder[key]}])
    else:
        holder[key] = _drawn(source, 2)
