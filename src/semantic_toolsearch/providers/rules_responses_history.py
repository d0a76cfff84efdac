"""The input items and tools of an OpenAI Responses request in, the rules of replay that they break out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.providers.rules_responses import Declared, shape_problems
from semantic_toolsearch.providers.violations import Entry, Violation, entries_at

__all__ = ["RULES", "check", "missing_namespace"]

RULES: Final[Mapping[str, str]] = {
    "missing_namespace": "A replayed call keeps the namespace that it came with.",
    "namespace_unknown": "The namespace of a replayed call is declared, or loaded by the history.",
    "arguments_type": "A call's arguments are JSON text, a search's are an object.",
    "output_without_call": "Every output answers a call before it.",
    "output_duplicate": "A call is answered once.",
    "call_unanswered": "Every call and every client-executed search is answered.",
    "hosted_pair_broken": "A hosted search is replayed together with its output.",
    "search_output_fields": "A tool_search_output has a list of flat definitions.",
}

_CALLS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "tool_search_call": "tool_search_output",
}
_OUTPUTS: Final = {output: call for call, output in _CALLS.items()}


def check(tools: Any, items: Any, settings: Mapping[str, Any]) -> Iterator[Violation]:
    """Check the items of a request's input against the tools that it declares.

    With ``previous_response_id`` or ``conversation`` among the settings the provider has the calls, and
    outputs without them are in order.
    """
    entries = list(entries_at(items, "$.input"))
    for path, item in entries:
        yield from _shape(path, item)
    for path, name in missing_namespace(tools, items):
        reason = f"{name!r} is not in the default namespace: send the item as it came, namespace included."
        yield Violation("missing_namespace", path, reason)
    yield from _strangers(tools, entries)
    stored = any(settings.get(key) is not None for key in ("previous_response_id", "conversation"))
    yield from _pairs(entries, stored)
    yield from _hosted_pairs(entries, stored)


def missing_namespace(tools: Any, items: Any) -> Iterator[tuple[str, str]]:
    """Give the JSON path and name of each replayed call that must have a namespace and has none.

    That is the case where the function is deferred, stands in a namespace, or came with a search output, and
    no function of that name is sent in full.
    """
    declared = Declared(tools)
    flat = set(declared.flat)
    hidden = declared.deferred.union(*declared.inner.values())
    for path, item in entries_at(items, "$.input"):
        if item.get("type") == "tool_search_output":
            loaded = Declared(item.get("tools"))
            hidden = hidden.union(loaded.flat, loaded.deferred, *loaded.inner.values())
        elif item.get("type") == "additional_tools":
            added = Declared(item.get("tools"))
            flat |= added.flat
            hidden = hidden.union(added.deferred, *added.inner.values())
        elif item.get("type") in ("function_call", "custom_tool_call") and not item.get("namespace"):
            name = str(item.get("name"))
            if name in hidden and name not in flat:
                yield f"{path}.namespace", name


def _shape(path: str, item: dict[str, Any]) -> Iterator[Violation]:
    kind = item.get("type")
    if kind == "function_call" and not isinstance(item.get("arguments"), str):
        yield Violation("arguments_type", f"{path}.arguments", "a function_call's arguments are JSON text.")
    elif kind == "tool_search_call" and not isinstance(item.get("arguments"), Mapping):
        yield Violation(
            "arguments_type", f"{path}.arguments", "a tool_search_call's arguments are an object."
        )
    elif kind == "tool_search_output":
        if not isinstance(item.get("tools"), list | tuple):
            yield Violation("search_output_fields", f"{path}.tools", "a list of definitions, empty for none.")
        for where, tool in entries_at(item.get("tools"), f"{path}.tools"):
            members = entries_at(tool.get("tools"), f"{where}.tools")
            for place, member in members if tool.get("type") == "namespace" else [(where, tool)]:
                if member.get("type") in ("function", "custom"):
                    for problem in shape_problems(place, member, ("name",)):
                        yield Violation("search_output_fields", problem.where, problem.message)


def _strangers(tools: Any, entries: list[Entry]) -> Iterator[Violation]:
    declared = Declared(tools)
    known = {*declared.inner, *declared.deferred, *declared.flat}
    for path, item in entries:
        if item.get("type") in ("tool_search_output", "additional_tools"):
            loaded = Declared(item.get("tools"))
            known |= {*loaded.inner, *loaded.deferred, *loaded.flat}
        namespace = (
            item.get("namespace") if item.get("type") in ("function_call", "custom_tool_call") else None
        )
        if isinstance(namespace, str) and namespace and namespace not in known:
            reason = (
                f"neither the tools nor a search output have {namespace!r}; what follows is not documented."
            )
            yield Violation("namespace_unknown", f"{path}.namespace", reason, "warning")


def _pairs(entries: list[Entry], stored: bool) -> Iterator[Violation]:
    open_calls: dict[tuple[str, str], str] = {}
    answered: set[tuple[str, str]] = set()
    for path, item in entries:
        kind, identity = str(item.get("type")), item.get("call_id")
        if "tool_search" in kind and item.get("execution", "server") != "client":
            continue
        if kind in _CALLS:
            open_calls[kind, str(identity)] = path
        elif kind in _OUTPUTS:
            key = _OUTPUTS[kind], str(identity)
            if key in answered:
                yield Violation("output_duplicate", path, f"the call {identity!r} has its output already.")
            elif open_calls.pop(key, None) is None and not stored:
                yield Violation("output_without_call", path, f"no {key[0]} {identity!r} stands before it.")
            answered.add(key)
    for (kind, identity), path in open_calls.items():
        yield Violation("call_unanswered", path, f"the {kind} {identity!r} has no output.")


def _hosted_pairs(entries: list[Entry], stored: bool) -> Iterator[Violation]:
    """Hosted searches have no call id; each output belongs to the oldest call without one."""
    waiting: list[str] = []
    for path, item in entries:
        if item.get("execution", "server") != "server":
            continue
        if item.get("type") == "tool_search_call":
            waiting.append(path)
        elif item.get("type") == "tool_search_output":
            if waiting:
                waiting.pop(0)
            elif not stored:
                yield Violation("hosted_pair_broken", path, "its tool_search_call is missing.")
    for path in waiting:
        reason = "without its output the tools may not be loaded: replay the pair."
        yield Violation("hosted_pair_broken", path, reason, "warning")
