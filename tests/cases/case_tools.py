"""The short notation of the public reports: a tool in one line, and what a search found."""

from __future__ import annotations


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
