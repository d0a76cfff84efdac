"""The short notation of the public reports: a tool in one line, and what a search found."""

from __future__ import annotations

import json

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.providers.anthropic_arguments import TOGETHER


def obj(**props):
    return {"type": "object", "properties": props}


def t(name, description="", parameters=None, server=None, **kw):
    tool = {
        "name": name,
        "description": description,
        "parameters": obj() if parameters is None else parameters,
        **kw,
    }
    return tool if server is None else {**tool, "namespace": server}


def raw_names(hits):
    return [hit.tool.name for hit in hits]


def found(search, query, **options):
    """Raw names of all hits, loaded before hinted at."""
    result = search.search(query, **options)
    return raw_names((*result.tools, *result.hints))


def asked(search, arguments, **options):
    """The record that a model gets for one call of the search tool."""
    made = {"name": "tool_search", "arguments": json.dumps(arguments, ensure_ascii=False)}
    message = {"role": "assistant", "tool_calls": [{"id": "s1", "type": "function", "function": made}]}
    usual = {"mode": "stub", "deferred_tools": search.catalog.wire_names}
    turn = search.turn([], model="llama-4", **{**usual, **options})
    (result,) = turn.answer({"choices": [{"finish_reason": "tool_calls", "message": message}]})
    return json.loads(result["content"])


def best(model, tools, query):
    """(namespace, name) of the best hit, loaded or hinted at, by words and by the default ranker; one if they agree."""
    hits = set()
    for ranker in ("bm25", "hybrid"):
        result = ToolSearch(tools, ranker=ranker, embedder=model, cache=False).search(query)
        hit = next(iter((*result.tools, *result.hints)), None)
        hits.add(hit and (hit.tool.namespace, hit.tool.name))
    return hits


def sent_schema(view, name):
    """The schema that a model has of a tool in one request, however that interface writes it."""
    (surface,) = [each for each in view.surfaces if each.name == name and each.visible]
    # Argument names that Anthropic refuses travel inside one argument.
    return surface.parameters.get("properties", {}).get(TOGETHER, surface.parameters)
