"""A turn's plan in, the tools list of OpenAI's Responses API out; a search in, its answering item out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.exchange import Mode, SearchCall, TurnRequest
from semantic_toolsearch.providers.base import (
    check_plan,
    json_text,
    own_tools,
    tools_named,
    unloaded_names,
    wire_text,
)
from semantic_toolsearch.providers.openai_entries import client_search, entry_of, own_function, stub_of
from semantic_toolsearch.providers.openai_namespaces import namespaces_of
from semantic_toolsearch.providers.openai_output import call_result, output_item, parse
from semantic_toolsearch.providers.openai_stream import assemble

__all__ = [
    "MODES",
    "assemble",
    "cache_key",
    "call_result",
    "parse",
    "render",
    "resolve",
    "search_answer",
]

MODES: Final[frozenset[Mode]] = frozenset({"full", "hosted", "output", "stub", "bridge"})


def render(request: TurnRequest) -> list[dict[str, Any]]:
    """Return the ``tools`` list; the same bytes for the same catalog, plan and extra entries.

    Order: the caller's own entries; functions sent in full, in the plan's order; then by mode

    - hosted: namespaces by name, deferred functions without a namespace, the activator;
    - output: our search as a client-executed ``tool_search``. Deferred tools are not declared, since the
      search output brings their definitions: the list stays as it is however much is loaded;
    - stub: our search as a function, then deferred functions with an open schema unless the plan omits them;
    - bridge: our search and the call tool as functions.

    The hosted activator is there exactly when something is deferred, be it only an entry of the caller's own.

    Raises:
        ConfigError: The plan is not for this API, or the caller's own entries hold a second search.
        UnknownToolError: The plan names a tool that the catalog does not hold.
    """
    check_plan(request, "responses", MODES)
    plan = request.plan
    entries = _extra(request)
    entries += [entry_of(name, tool) for name, tool in tools_named(request, plan.full)]
    if plan.mode == "hosted":
        entries += _deferred(request)
    elif plan.mode == "output" and request.search_tool is not None:
        entries.append(client_search(request.search_tool))
    else:
        entries += [own_function(tool) for tool in own_tools(request)]
        entries += [stub_of(name, tool) for name, tool in tools_named(request, unloaded_names(request))]
    if _defers(entries) and not any(entry.get("type") == "tool_search" for entry in entries):
        entries.append({"type": "tool_search"})
    return entries


def search_answer(call: SearchCall, record: dict[str, Any], request: TurnRequest) -> dict[str, Any]:
    """Return the item that answers a search, in the kind that its call asks for.

    A ``tool_search_call`` gets the definitions: those that the search loads, and those found that an earlier
    search had loaded, since there is no room for a text that says so. They are flat functions under their
    wire names; the model calls them with that name as namespace too. Nothing found is an empty list. A
    ``function_call`` gets the record as JSON text.

    Args:
        call: The search as `parse` gave it.
        record: From `exchange.search_record`.
        request: What the model was sent.

    Raises:
        UnknownToolError: The record names a tool that the catalog does not hold.
    """
    kind = call.raw.get("type")
    if kind != "tool_search_call" and (kind or request.plan.mode != "output"):
        return output_item("function_call_output", call.id, json_text(record), call.raw.get("caller"))
    again = (name for name in record.get("available", ()) if name in request.plan.deferred)
    names = dict.fromkeys((*record["loaded"], *again))
    return {
        "type": "tool_search_output",
        "call_id": wire_text(call.id),
        "execution": "client",
        "status": "completed",
        "tools": [entry_of(name, tool, deferred=True) for name, tool in tools_named(request, names)],
    }


def resolve(source: TurnRequest | Catalog, name: str, namespace: str | None = None) -> int | None:
    """Return the catalog position of the tool that a call with this name and namespace means, or None.

    See `Namespaces.position`: the pair counts, and a bare name never means a tool inside of a namespace.
    """
    if isinstance(source, Catalog):
        return namespaces_of(source).position(namespace, name)
    return namespaces_of(source.catalog, source.plan.namespace_max).position(namespace, name)


def cache_key(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return a SHA-256 in hex over a tools list: equal for equal lists, whatever the order of object keys."""
    text = json.dumps(tools, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _extra(request: TurnRequest) -> list[dict[str, Any]]:
    """Return copies of the caller's own entries; a hosted activator is left out, its place is the end."""
    kept = []
    for entry in request.extra:
        if entry.get("type") == "tool_search":
            if entry.get("execution") != "client":
                continue
            if request.plan.mode in ("hosted", "output"):
                raise ConfigError(
                    "extra holds a client-executed tool_search beside the one of this plan; use one."
                )
        kept.append(json.loads(json.dumps(entry)))
    return kept


def _deferred(request: TurnRequest) -> Iterator[dict[str, Any]]:
    catalog = request.catalog
    wanted = {catalog.position(name) for name in unloaded_names(request)}
    namespaces = namespaces_of(catalog, request.plan.namespace_max)
    for group in namespaces.groups:
        members = [position for position in group.positions if position in wanted]
        if not members:
            continue
        functions = [
            entry_of(namespaces.address(position)[1], catalog[position], deferred=True)
            for position in members
        ]
        yield {
            "type": "namespace",
            "name": group.name,
            "description": namespaces.describe(group, (function["name"] for function in functions)),
            "tools": functions,
        }
    for position in sorted(wanted):
        if catalog[position].namespace is None:
            yield entry_of(catalog.wire_names[position], catalog[position], deferred=True)


def _defers(entries: Iterable[Mapping[str, Any]]) -> bool:
    return any(
        entry.get("defer_loading") is True
        or (entry.get("type") == "namespace" and _defers(entry.get("tools") or ()))
        for entry in entries
    )
