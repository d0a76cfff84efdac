"""A Gemini-style request in, the rules that it breaks out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from semantic_toolsearch.providers.rules_chat import search_fields, too_many
from semantic_toolsearch.providers.violations import Violation, entries_at, name_problems
from semantic_toolsearch.support import MOST_TOOLS

__all__ = ["RULES", "check"]

RULES: Final[Mapping[str, str]] = {
    "declaration_shape": "A function declaration has a description and at most one schema, of type object.",
    "empty_properties": "An object in parameters has at least one property.",
    "search_field": "There is no provider's tool search here, and no deferral.",
    "tool_name": "Names are 1 to 64 of letters, digits, _ . : and -, and start with a letter or _.",
    "unique_names": "No two functions have the same name.",
    "tool_limit": "At most 128 functions.",
    "choice_unknown": "Allowed function names are functions of the request.",
    "result_count": "Function responses stand right behind their calls, one for each.",
}

_NAME: Final = "[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
_SCHEMAS: Final = (
    ("parameters",),
    ("parametersJsonSchema", "parameters_json_schema"),
)


def check(tools: Any, contents: Any, tool_choice: Any) -> Iterator[Violation]:
    """Check a request's tools, its function calling config and its contents."""
    named = []
    for path, tool in entries_at(tools, "$.tools"):
        yield from search_fields(path, tool)
        key = "functionDeclarations" if "functionDeclarations" in tool else "function_declarations"
        for place, function in entries_at(tool.get(key), f"{path}.{key}"):
            named.append((f"{place}.name", function.get("name")))
            yield from search_fields(place, function)
            yield from _function(place, function)
    yield from name_problems(named, _NAME)
    yield from too_many(len(named), MOST_TOOLS["gemini"])
    yield from _choice(tool_choice, {str(name) for _, name in named})
    yield from _history(contents)


def _function(path: str, function: dict[str, Any]) -> Iterator[Violation]:
    if not function.get("description"):
        yield Violation("declaration_shape", f"{path}.description", "a function needs a description.")
    given = [key for keys in _SCHEMAS for key in keys if function.get(key) is not None]
    if len(given) > 1:
        yield Violation("declaration_shape", path, f"{' and '.join(given)}: only one schema is allowed.")
    for key in given:
        schema = function[key]
        if not isinstance(schema, Mapping) or str(schema.get("type")).lower() != "object":
            yield Violation("declaration_shape", f"{path}.{key}", "a schema of type 'object'.")
        elif key == "parameters" and not schema.get("properties"):
            reason = "an object without properties is refused: leave the schema out, or name a property."
            yield Violation("empty_properties", f"{path}.{key}.properties", reason)


def _choice(choice: Any, names: set[str]) -> Iterator[Violation]:
    config = choice if isinstance(choice, Mapping) else {}
    config = config.get("functionCallingConfig") or config.get("function_calling_config") or config
    allowed = config.get("allowedFunctionNames") or config.get("allowed_function_names") or ()
    for name in (name for name in allowed if name not in names):
        yield Violation("choice_unknown", "$.toolConfig", f"no function is called {name!r}.")


def _history(contents: Any) -> Iterator[Violation]:
    calls, place = 0, ""
    for path, content in entries_at(contents, "$.contents"):
        parts = [part for _, part in entries_at(content.get("parts"), path)]
        answers = sum("functionResponse" in part or "function_response" in part for part in parts)
        if answers != calls and (answers or place):
            where = path if answers else place
            yield Violation("result_count", where, f"{calls} calls are followed by {answers} responses.")
        calls = sum("functionCall" in part or "function_call" in part for part in parts)
        place = path if calls else ""
    if calls:
        yield Violation("result_count", place, f"{calls} calls are followed by no response.")
