"""A call's arguments and its tool in; the arguments as the tool's own schema wants them, or what is wrong, out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.argument_problems import Findings
from semantic_toolsearch.bounded_rules import MAX_STEPS, TooMuchWorkError
from semantic_toolsearch.coercion import put_right
from semantic_toolsearch.errors import ArgumentProblem, ArgumentsError
from semantic_toolsearch.hidden_text import led_back, may_hide, seen, seen_schema
from semantic_toolsearch.json_values import NotJsonError, copy_json
from semantic_toolsearch.validation import checker_of

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["check"]

_ROUNDS: Final = 5
"""Passes that put slips right: JSON written as text may hold JSON written as text."""

_MAX_DEPTH: Final = 64
"""Objects and lists inside each other in one call's arguments."""

_MAX_TOLD: Final = 20
"""Problems spelled out; nobody mends more in one go."""


def check(tool: ToolDefinition, arguments: Any, *, name: str | None = None) -> dict[str, Any]:
    """Return a call's arguments, checked against the tool's schema as it was registered.

    Harmless slips of type are put right where the schema leaves one reading only (see `coercion`). Defaults
    are not filled in. The arguments given are not altered, and nothing is run.

    Args:
        tool: The called tool.
        arguments: A mapping, or the JSON text of an object; None and blank text are a call without arguments.
        name: What the model calls the tool, for the message; the raw name without it.

    Raises:
        ArgumentsError: They do not fit. The text can be sent to the model as it is.
        InvalidToolError: The definition went around its own checks and has no usable schema.
    """
    tool = tool.recheck()
    label = name or tool.name
    try:
        return _checked(tool, arguments, label)
    except ArgumentsError:
        schema = json.dumps(tool.parameters, ensure_ascii=False)
        if may_hide(schema):  # then the problems are told in the words that the model knows
            seen_as = tool.model_copy(update={"parameters": seen_schema(json.loads(schema))})
            _checked(seen_as.recheck(), arguments, label)
        raise


def _checked(tool: ToolDefinition, arguments: Any, label: str) -> dict[str, Any]:
    try:
        value = _read(arguments)
    except _UnreadableError as error:
        raise _error(tool, label, (ArgumentProblem("", "json", str(error)),)) from None
    checker, steps = checker_of(tool), [MAX_STEPS]
    if checker.registered:
        value = led_back(value, checker.registered)
    try:
        broken = checker.findings(value, steps)
        for _ in range(_ROUNDS):
            if not broken or not put_right(value, broken):
                break
            broken = checker.findings(value, steps)
    except TooMuchWorkError:
        problem = ArgumentProblem("", "size", "too large or too deeply nested to be checked; send less")
        raise _error(tool, label, (problem,)) from None
    if not broken:
        return value
    found = Findings(broken, value, checker.references)
    raise _error(tool, label, found.problems, found.missing, found.unexpected)


class _UnreadableError(Exception):
    """Arguments are no JSON object."""


def _read(arguments: Any) -> dict[str, Any]:
    """Return a copy of the arguments as plain JSON, which may be altered."""
    value = arguments
    for _ in range(2):  # some models write the JSON text as JSON text
        if not isinstance(value, str):
            break
        value = _parsed(value) if value.strip() else {}
    if value is None:
        value = {}
    if not isinstance(value, Mapping):
        kinds = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "an array"}
        kind = kinds.get(type(value), type(value).__name__)
        raise _UnreadableError(f"must be one JSON object with the parameters by name, not {kind}")
    try:
        copied: dict[str, Any] = copy_json(value, "arguments", max_depth=_MAX_DEPTH)[0]
    except NotJsonError as error:
        raise _UnreadableError(f"must be plain JSON; {error}") from None
    return copied


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        near = text[max(error.pos - 40, 0) : error.pos + 80]
        reason = f"{error.msg} at character {error.pos} of {len(text)}, near {json.dumps(near)}"
        raise _UnreadableError(f"must be one JSON object, and this text is no JSON: {reason}") from None
    except (ValueError, RecursionError):
        raise _UnreadableError(
            "must be one JSON object; this text holds a number or a nesting beyond all use"
        ) from None


def _error(
    tool: ToolDefinition,
    label: str,
    problems: tuple[ArgumentProblem, ...],
    missing: tuple[str, ...] = (),
    unexpected: tuple[str, ...] = (),
) -> ArgumentsError:
    lines = [f"{label} was not run: its arguments do not fit its schema."]
    lines += [f"- {problem}" for problem in problems[:_MAX_TOLD]]
    if len(problems) > _MAX_TOLD:
        lines.append(f"- and {len(problems) - _MAX_TOLD:,} more")
    for title, names in (("Missing", missing), ("Unexpected", unexpected)):
        if names:
            more = f" and {len(names) - _MAX_TOLD:,} more" if len(names) > _MAX_TOLD else ""
            lines.append(f"{title}: {', '.join(names[:_MAX_TOLD])}{more}.")
    schema = json.dumps(seen(tool.parameters), ensure_ascii=False, separators=(",", ":"))
    lines.append(f"Call {label} again with arguments that fit this schema: {schema}")
    return ArgumentsError(seen("\n".join(lines)), problems, missing, unexpected)
