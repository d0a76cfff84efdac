"""A Chat Completions request in, the rules that it breaks out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.providers import rules_openai_schemas
from semantic_toolsearch.providers.violations import Violation, entries_at, name_problems
from semantic_toolsearch.support import MOST_TOOLS

__all__ = ["RULES", "check", "search_fields", "too_many"]

RULES: Final[Mapping[str, str]] = {
    "nested_shape": "A function stands as {type: function, function: {name, parameters}}.",
    **rules_openai_schemas.RULES,
    "search_field": "There is no provider's tool search here, and no deferral.",
    "tool_name": "Names are 1 to 64 of letters, digits, _ and -.",
    "unique_names": "No two tools have the same name.",
    "tool_limit": "At most 128 functions.",
    "choice_unknown": "tool_choice names a function of the request.",
    "call_unanswered": "Every tool call is answered right behind its message.",
    "result_orphan": "Every tool message answers a call of the message before it.",
    "result_duplicate": "A call is answered once.",
}

_SEARCH_KEYS: Final = ("defer_loading", "tool_references", "execution")
_SEARCH_TYPES: Final = ("tool_search", "namespace", "tool_reference", "mcp_toolset")


def check(tools: Any, messages: Any, tool_choice: Any) -> Iterator[Violation]:
    """Check a request's tools, choice and messages."""
    named = []
    for path, tool in entries_at(tools, "$.tools"):
        yield from search_fields(path, tool)
        kind = tool.get("type")
        inner = tool.get(str(kind))
        if kind in ("function", "custom") and isinstance(inner, Mapping):
            named.append((f"{path}.{kind}.name", inner.get("name")))
            yield from search_fields(f"{path}.{kind}", inner)
            yield from rules_openai_schemas.check(
                f"{path}.{kind}.parameters", inner.get("parameters"), strict=inner.get("strict") is True
            )
        elif kind not in _SEARCH_TYPES:
            yield Violation("nested_shape", path, f"a tool of type {kind!r} needs its fields under its type.")
    yield from name_problems(named)
    yield from too_many(len(named), MOST_TOOLS["chat"])
    chosen = tool_choice.get("function") if isinstance(tool_choice, Mapping) else None
    if isinstance(chosen, Mapping) and chosen.get("name") not in [name for _, name in named]:
        reason = f"no function is called {chosen.get('name')!r}."
        yield Violation("choice_unknown", "$.tool_choice.function.name", reason)
    yield from _history(messages)


def too_many(functions: int, most: int) -> Iterator[Violation]:
    """Report a list that is longer than the interface takes."""
    if functions > most:
        yield Violation("tool_limit", "$.tools", f"{functions} functions, at most {most} can be sent.")


def search_fields(path: str, tool: Mapping[str, Any]) -> Iterator[Violation]:
    """Report what only a provider with tool search of its own understands."""
    kind = str(tool.get("type"))
    if kind in _SEARCH_TYPES or kind.startswith("tool_search_tool"):
        yield Violation("search_field", f"{path}.type", f"{kind!r} does not exist here.")
    for key in (key for key in _SEARCH_KEYS if key in tool):
        yield Violation("search_field", f"{path}.{key}", "this interface does not know it.")


def _history(messages: Any) -> Iterator[Violation]:
    open_calls: dict[str, str] = {}
    answered: set[str] = set()
    for path, message in entries_at(messages, "$.messages"):
        if message.get("role") == "tool":
            identity = str(message.get("tool_call_id"))
            if identity in answered:
                yield Violation("result_duplicate", path, f"the call {identity!r} has its result already.")
            elif open_calls.pop(identity, None) is None:
                yield Violation("result_orphan", path, f"no open call {identity!r} stands before it.")
            answered.add(identity)
            continue
        yield from _unanswered(open_calls)
        calls = entries_at(message.get("tool_calls"), f"{path}.tool_calls")
        open_calls = {str(call.get("id")): place for place, call in calls}
        answered = set()
    yield from _unanswered(open_calls)


def _unanswered(open_calls: Mapping[str, str]) -> Iterator[Violation]:
    for identity, path in open_calls.items():
        yield Violation("call_unanswered", path, f"the call {identity!r} has no tool message behind it.")
