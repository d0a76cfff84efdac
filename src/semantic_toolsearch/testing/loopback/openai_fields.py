"""Objects of an OpenAI request in; a refusal in the provider's words where a field is missing, unknown or wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from .json_schema import openai_reason
from .refusal import Refusal

__all__ = [
    "check_function",
    "check_name",
    "fields_of",
    "invalid_value",
    "list_of",
    "missing",
    "text_of",
    "too_long",
    "unknown",
]

_NAME: Final = "^[a-zA-Z0-9_-]+$"
_LONGEST_NAME: Final = 64
_KINDS: Final = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}


def fields_of(
    value: Any, where: str, required: tuple[str, ...], optional: tuple[str, ...]
) -> Mapping[str, Any]:
    """Check that a value is an object with these fields and no others."""
    if not isinstance(value, Mapping):
        raise _wrong_type(value, where, "an object")
    prefix = f"{where}." if where else ""
    for name in required:
        if name not in value:
            raise missing(f"{prefix}{name}")
    for name in value:
        if name not in required and name not in optional:
            raise unknown(f"{prefix}{name}")
    return value


def missing(where: str) -> Refusal:
    """A required parameter is not there."""
    return Refusal(f"Missing required parameter: '{where}'.", param=where, code="missing_required_parameter")


def unknown(where: str) -> Refusal:
    """A parameter is not known."""
    return Refusal(f"Unknown parameter: '{where}'.", param=where, code="unknown_parameter")


def invalid_value(value: Any, where: str, allowed: tuple[str, ...]) -> Refusal:
    """A value is none of those supported."""
    listed = ", ".join(f"'{one}'" for one in allowed)
    return Refusal(
        f"Invalid value: '{value}'. Supported values are: {listed}.", param=where, code="invalid_value"
    )


def too_long(text: str, where: str, most: int) -> None:
    """Check a text's length."""
    if len(text) > most:
        raise Refusal(
            f"Invalid '{where}': string too long. Expected a string with maximum length {most}, but got a string with "
            f"length {len(text)} instead.",
            param=where,
            code="string_above_max_length",
        )


def text_of(value: Any, where: str) -> str:
    """Check that a value is a text."""
    if not isinstance(value, str):
        raise _wrong_type(value, where, "a string")
    return value


def list_of(value: Any, where: str) -> list[Any]:
    """Check that a value is a list."""
    if not isinstance(value, list):
        raise _wrong_type(value, where, "an array")
    return value


def check_name(value: Any, where: str) -> None:
    """Check a function's or namespace's name."""
    name = text_of(value, where)
    if not re.fullmatch(_NAME.strip("^$"), name):
        raise Refusal(
            f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern '{_NAME}'.",
            param=where,
            code="invalid_value",
        )
    too_long(name, where, _LONGEST_NAME)


def check_function(function: Mapping[str, Any], where: str) -> None:
    """Check name, description, parameters and strictness of a function, in either interface's form."""
    check_name(function["name"], f"{where}.name")
    if function.get("description") is not None:
        text_of(function["description"], f"{where}.description")
    for name in ("strict", "defer_loading"):
        if function.get(name) is not None and not isinstance(function[name], bool):
            raise _wrong_type(function[name], f"{where}.{name}", "a boolean")
    schema = function.get("parameters")
    if schema is None:
        return
    if not isinstance(schema, Mapping):
        raise _wrong_type(schema, f"{where}.parameters", "an object")
    reason = openai_reason(schema, strict=bool(function.get("strict")))
    if reason:
        raise Refusal(
            f"Invalid schema for function '{function['name']}': {reason}",
            param=f"{where}.parameters",
            code="invalid_function_parameters",
        )


def _wrong_type(value: Any, where: str, expected: str) -> Refusal:
    kind = "null" if value is None else _KINDS.get(type(value), "value")
    article = "an" if kind[0] in "aio" else "a"
    got = kind if value is None else f"{article} {kind}"
    return Refusal(
        f"Invalid type for '{where}': expected {expected}, but got {got} instead.",
        param=where,
        code="invalid_type",
    )
