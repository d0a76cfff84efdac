"""The tools and choice of an OpenAI Responses request in, the rules that they break out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.providers import rules_openai_schemas
from semantic_toolsearch.providers.openai_namespaces import MAX_FUNCTIONS
from semantic_toolsearch.providers.violations import Entry, Violation, entries_at, name_problems

__all__ = ["RULES", "Declared", "check"]

RULES: Final[Mapping[str, str]] = {
    "flat_shape": "A function is flat: type, name, parameters and strict stand side by side.",
    **rules_openai_schemas.RULES,
    "foreign_field": "No field of another provider's tools.",
    "tool_name": "Names are 1 to 64 of letters, digits, _ and -.",
    "unique_names": "Names are unique at the top, and within each namespace.",
    "deferred_needs_search": "Deferred tools need a tool_search entry.",
    "search_needs_deferred": "Hosted tool_search needs a deferred tool.",
    "one_search": "At most one tool_search entry.",
    "client_search_fields": "A client-executed tool_search has a description and parameters.",
    "search_fields": "execution is server or client; only a client's search has description and parameters.",
    "namespace_fields": "A namespace has a name, a description and tools.",
    "namespace_deferred": "defer_loading stands on the functions in a namespace, never on itself.",
    "namespace_members": "In a namespace there are flat functions and custom tools only.",
    "namespace_size": "The provider advises fewer than 10 functions in a namespace.",
    "namespace_clash": "A function and a namespace of one name are undocumented.",
    "defer_unsupported": "Only functions, custom tools and MCP servers can be deferred, by true or false.",
    "flat_deferral_dropped": "OpenRouter drops defer_loading outside of namespaces.",
    "choice_search": "tool_choice cannot name the search.",
    "choice_deferred": "tool_choice cannot name a function that is only deferred.",
    "choice_namespace": "tool_choice cannot name a namespace, or a function by its bare name in one.",
    "choice_unknown": "tool_choice names a function of the request.",
    "choice_unreachable": "A call is required, but all tools are deferred and nothing searches.",
    "choice_allowed": "A list of allowed tools should hold the search beside deferred tools.",
    "model_too_old": "Tool search needs gpt-5.4 or later.",
}

_FLAT: Final = ("name", "parameters", "strict")
_FOREIGN: Final = ("input_schema", "cache_control", "input_examples", "eager_input_streaming")
_DEFERRABLE: Final = ("function", "custom", "mcp")
_GPT: Final = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?![\d.])")
_FIRST_MODEL: Final = (5, 4)


class Declared:
    """What a request's tools declare, by name.

    Attributes:
        flat: Functions and custom tools at the top that are not deferred.
        deferred: Those that are.
        inner: Names in each namespace.
        search: The tool_search entries.
        defers: Whether anything is deferred.
    """

    def __init__(self, tools: Any) -> None:
        self.flat: set[str] = set()
        self.deferred: set[str] = set()
        self.inner: dict[str, set[str]] = {}
        self.search: list[Entry] = []
        self.defers = False
        self.entries = list(entries_at(tools, "$.tools"))
        for path, tool in self.entries:
            kind, name = tool.get("type"), str(tool.get("name"))
            self.defers = self.defers or tool.get("defer_loading") is True
            if kind == "namespace":
                members = [member for _, member in entries_at(tool.get("tools"), "")]
                self.inner.setdefault(name, set()).update(str(member.get("name")) for member in members)
                self.defers = self.defers or any(member.get("defer_loading") is True for member in members)
            elif kind == "tool_search":
                self.search.append((path, tool))
            elif kind in ("function", "custom"):
                (self.deferred if tool.get("defer_loading") is True else self.flat).add(name)

    @property
    def hosted(self) -> bool:
        """Whether the provider searches."""
        return any(tool.get("execution", "server") == "server" for _, tool in self.search)


def check(
    tools: Any, tool_choice: Any, transport: str | None, settings: Mapping[str, Any]
) -> Iterator[Violation]:
    """Check a request's tools, choice and model."""
    declared = Declared(tools)
    for kinds in (("function", "custom"), ("namespace",)):
        named = [entry for entry in declared.entries if entry[1].get("type") in kinds]
        yield from name_problems((f"{path}.name", tool.get("name")) for path, tool in named)
    for path, tool in declared.entries:
        yield from _entry(path, tool, transport)
        if tool.get("type") == "namespace":
            yield from _namespace(path, tool)
    for name in sorted((declared.deferred | declared.flat) & declared.inner.keys()):
        reason = f"a function and a namespace are both called {name!r}: calls may not tell them apart."
        yield Violation("namespace_clash", "$.tools", reason, "warning")
    yield from _search(declared)
    yield from _choice(declared, tool_choice)
    model = _GPT.match(str(settings.get("model") or ""))
    if model and (int(model[1]), int(model[2] or 0)) < _FIRST_MODEL and (declared.search or declared.defers):
        yield Violation("model_too_old", "$.model", f"{settings['model']!r} is older than gpt-5.4.")


def shape_problems(path: str, tool: Mapping[str, Any], required: Iterable[str]) -> Iterator[Violation]:
    """Check one function or custom tool, wherever it stands."""
    if isinstance(tool.get("function"), Mapping) or isinstance(tool.get("custom"), Mapping):
        yield Violation("flat_shape", path, "nested as for Chat Completions: write its fields side by side.")
        return
    for key in (key for key in required if key not in tool):
        yield Violation("flat_shape", path, f"{key!r} is missing.")
    yield from rules_openai_schemas.check(
        f"{path}.parameters", tool.get("parameters"), strict=tool.get("strict") is True
    )
    for key in (key for key in _FOREIGN if key in tool):
        yield Violation("foreign_field", f"{path}.{key}", "this API does not know it.")


def _entry(path: str, tool: dict[str, Any], transport: str | None) -> Iterator[Violation]:
    kind = tool.get("type")
    if kind in ("function", "custom"):
        yield from shape_problems(path, tool, _FLAT if kind == "function" else ("name",))
    flag = tool.get("defer_loading")
    if flag is None:
        return
    if kind == "namespace":
        yield Violation("namespace_deferred", f"{path}.defer_loading", "set it on each function inside.")
    elif kind not in _DEFERRABLE or not isinstance(flag, bool):
        yield Violation("defer_unsupported", f"{path}.defer_loading", f"{flag!r} on a tool of type {kind!r}.")
    elif flag and transport == "openrouter" and kind != "mcp":
        reason = "put the function into a namespace, or it is sent in full."
        yield Violation("flat_deferral_dropped", path, reason, "warning")


def _namespace(path: str, tool: dict[str, Any]) -> Iterator[Violation]:
    if not (isinstance(tool.get("description"), str) and tool["description"].strip()):
        yield Violation(
            "namespace_fields", f"{path}.description", "a namespace needs a description in words."
        )
    members = list(entries_at(tool.get("tools"), f"{path}.tools"))
    if not members:
        yield Violation("namespace_fields", f"{path}.tools", "a namespace needs tools.")
    for where, member in members:
        if member.get("type") not in ("function", "custom"):
            yield Violation(
                "namespace_members", where, f"{member.get('type')!r} cannot stand in a namespace."
            )
            continue
        yield from shape_problems(where, member, ("name",))
        if not isinstance(member.get("defer_loading", False), bool):
            yield Violation("defer_unsupported", f"{where}.defer_loading", "true or false.")
    yield from name_problems((f"{where}.name", member.get("name")) for where, member in members)
    if len(members) > MAX_FUNCTIONS:
        reason = f"{len(members)} functions; models do better with at most {MAX_FUNCTIONS}: split it."
        yield Violation("namespace_size", f"{path}.tools", reason, "warning")


def _search(declared: Declared) -> Iterator[Violation]:
    for path, _ in declared.search[1:]:
        yield Violation("one_search", path, f"there is a tool_search at {declared.search[0][0]} already.")
    if declared.defers and not declared.search:
        yield Violation("deferred_needs_search", "$.tools", 'add {"type": "tool_search"}, or defer nothing.')
    for path, tool in declared.search:
        execution = tool.get("execution", "server")
        if execution not in ("server", "client"):
            yield Violation(
                "search_fields", f"{path}.execution", f"{execution!r} is neither server nor client."
            )
        elif execution == "client":
            if not (isinstance(tool.get("description"), str) and tool["description"].strip()):
                yield Violation(
                    "client_search_fields", f"{path}.description", "the API refuses it without one."
                )
            if not isinstance(tool.get("parameters"), Mapping):
                yield Violation("client_search_fields", f"{path}.parameters", "the search needs a schema.")
        else:
            if not declared.defers:
                yield Violation("search_needs_deferred", path, "nothing is deferred: leave tool_search out.")
            for key in (key for key in ("description", "parameters") if tool.get(key) is not None):
                yield Violation("search_fields", f"{path}.{key}", "only a client's search has it.", "warning")


def _choice(declared: Declared, choice: Any) -> Iterator[Violation]:
    where = "$.tool_choice"
    kind = choice.get("type") if isinstance(choice, Mapping) else choice
    if kind == "tool_search":
        yield Violation("choice_search", where, "the search cannot be forced: use 'auto' or 'required'.")
    elif kind == "required":
        hidden = all(
            tool.get("defer_loading") is True or tool.get("type") == "namespace"
            for _, tool in declared.entries
        )
        if hidden and not declared.search:
            yield Violation("choice_unreachable", where, "no tool can be called: send one in full.")
    elif kind == "namespace":
        yield Violation(
            "choice_namespace", where, "a namespace cannot be forced: name a function sent in full."
        )
    elif kind in ("function", "custom"):
        yield from _forced(declared, str(choice.get("name")), f"{where}.name")
    elif kind == "allowed_tools" and declared.defers and declared.search:
        allowed = [tool.get("type") for _, tool in entries_at(choice.get("tools"), where)]
        if "tool_search" not in allowed:
            reason = "without the search no deferred tool can be reached."
            yield Violation("choice_allowed", f"{where}.tools", reason, "warning")


def _forced(declared: Declared, name: str, where: str) -> Iterator[Violation]:
    if name in declared.flat:
        return
    if name in declared.deferred:
        yield Violation("choice_deferred", where, f"{name!r} is deferred: send a forced tool in full.")
    elif name == "tool_search" and declared.search:
        yield Violation("choice_search", where, "the search cannot be forced: use 'auto' or 'required'.")
    elif name in declared.inner or any(name in names for names in declared.inner.values()):
        yield Violation(
            "choice_namespace", where, f"{name!r} is, or stands in, a namespace: send it in full."
        )
    else:
        yield Violation("choice_unknown", where, f"no function is called {name!r}.")
