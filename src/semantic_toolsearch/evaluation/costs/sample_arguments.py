"""A tool in; the smallest arguments that its schema takes, for a scripted model to call it with, out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch import arguments
from semantic_toolsearch.errors import ArgumentsError
from semantic_toolsearch.schema_walk import References

if TYPE_CHECKING:
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["sample_arguments"]

_DEEPEST: Final = 12
"""Levels of required values; a schema that needs itself for ever has no finite value."""

_MOST_BRANCHES: Final = 6
"""Values that are tried for one parameter: alternatives of a union, texts for a pattern."""

_BY_FORMAT: Final = {
    "date": "2024-05-17",
    "date-time": "2024-05-17T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "PT1H",
    "email": "ann@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com",
    "url": "https://example.com",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}
_TEXTS: Final = (
    "text", "1", "A1", "EUR", "a-b", "09:30", "2024", "Text2024", "12345678", "#a1b2c3", "+4930123456",
    *_BY_FORMAT.values(),
)  # fmt: skip
"""Tried one after another where a pattern wants something special."""


def sample_arguments(tool: ToolDefinition) -> dict[str, Any]:
    """Give every required parameter a short value of its kind, and leave all others out.

    Args:
        tool: The tool; its schema may be anything that the catalog took.

    Returns:
        Arguments that pass the check of ``arguments.check``; where none were found, those that come nearest.
    """
    values = _Values(tool.parameters)
    first: dict[str, Any] | None = None
    for turn in range(_MOST_BRANCHES):
        sample = values.of(tool.parameters, turn)
        given = sample if isinstance(sample, dict) else {}
        first = given if first is None else first
        try:
            arguments.check(tool, given)
        except ArgumentsError:
            continue
        return given
    return first or {}


class _Values:
    """Makes values for the parts of one schema.

    Args:
        root: The whole schema, which references point into.
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self._references = References(root)

    def of(self, schema: Any, turn: int, depth: int = 0) -> Any:
        """Make a value.

        Args:
            schema: The part.
            turn: Which of several candidates to take, where there are several.
            depth: Levels above this one.
        """
        schema = self._whole(schema, turn, depth)
        if "const" in schema:
            return schema["const"]
        if isinstance(allowed := schema.get("enum"), Sequence) and allowed:
            return allowed[turn % len(allowed)]
        kind = _kind(schema, turn)
        if kind == "object":
            return self._object(schema, turn, depth)
        if kind == "array":
            return self._array(schema, turn, depth)
        if kind in ("integer", "number"):
            return _number(schema, whole=kind == "integer")
        if kind == "boolean":
            return True
        return None if kind == "null" else _text(schema, turn)

    def _object(self, schema: Mapping[str, Any], turn: int, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        least = schema.get("minProperties")
        if isinstance(least, int):
            names += [name for name in properties if name not in names][: max(0, least - len(names))]
        if depth >= _DEEPEST:
            return {}
        return {name: self.of(properties.get(name, {}), turn, depth + 1) for name in names}

    def _array(self, schema: Mapping[str, Any], turn: int, depth: int) -> list[Any]:
        least = schema.get("minItems")
        least = least if isinstance(least, int) else 0
        if depth >= _DEEPEST:
            return []
        firsts = schema.get("prefixItems")
        firsts = firsts if isinstance(firsts, list) else []
        # Each item takes another candidate, so that those of a set differ.
        return [
            self.of(
                firsts[place] if place < len(firsts) else schema.get("items", {}), turn + place, depth + 1
            )
            for place in range(min(least, 20))
        ]

    def _whole(self, schema: Any, turn: int, depth: int) -> dict[str, Any]:
        """A part with what it refers to and one branch of each union written into it."""
        whole: dict[str, Any] = {}
        for part in self._parts(schema, turn, depth):
            for key, value in part.items():
                if key == "required" and isinstance(value, list):
                    value = [*whole.get("required", ()), *(each for each in value if each is not None)]
                elif key == "properties" and isinstance(value, Mapping):
                    value = {**whole.get("properties", {}), **value}
                whole[key] = value
        if "required" in whole:
            whole["required"] = list(
                dict.fromkeys(each for each in whole["required"] if isinstance(each, str))
            )
        return whole

    def _parts(self, schema: Any, turn: int, depth: int) -> Iterator[Mapping[str, Any]]:
        if not isinstance(schema, Mapping) or depth > 2 * _DEEPEST:
            return
        yield {key: value for key, value in schema.items() if key not in ("$ref", "anyOf", "oneOf", "allOf")}
        if (target := self._references.resolve(schema.get("$ref"))) is not None:
            yield from self._parts(target[1], turn, depth + 1)
        for branch in schema["allOf"] if isinstance(schema.get("allOf"), list) else ():
            yield from self._parts(branch, turn, depth + 1)
        for union in ("anyOf", "oneOf"):
            branches = schema.get(union)
            if isinstance(branches, list) and branches:
                filled = [branch for branch in branches if not _is_null(branch)] or branches
                yield from self._parts(filled[turn % len(filled)], turn, depth + 1)


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _kind(schema: Mapping[str, Any], turn: int) -> str:
    named = schema.get("type")
    kinds = [named] if isinstance(named, str) else [each for each in named or () if each != "null"]
    if kinds:
        return str(kinds[turn % len(kinds)])
    if named:
        return "null"
    hints = {
        "object": ("properties", "required"),
        "array": ("items", "minItems"),
        "number": ("minimum", "maximum"),
    }
    return next((kind for kind, keys in hints.items() if any(key in schema for key in keys)), "string")


def _number(schema: Mapping[str, Any], *, whole: bool) -> float:
    """The number nearest to 1 that the bounds leave."""
    low = max(_bound(schema, "minimum", -math.inf), _bound(schema, "exclusiveMinimum", -math.inf))
    high = min(_bound(schema, "maximum", math.inf), _bound(schema, "exclusiveMaximum", math.inf))
    step = _bound(schema, "multipleOf", 1.0 if whole else 0.0)
    least, most = low, high
    if low == _bound(schema, "exclusiveMinimum", math.nan):
        least = low + (step or (min(high - low, 2.0) / 2))
    if high == _bound(schema, "exclusiveMaximum", math.nan):
        most = high - (step or (min(high - low, 2.0) / 2))
    value = min(max(1.0, least), most)
    if step:
        value = math.ceil(value / step) * step
        value = value - step if value > most else value
    return int(value) if value.is_integer() else value


def _bound(schema: Mapping[str, Any], key: str, default: float) -> float:
    value = schema.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def _text(schema: Mapping[str, Any], turn: int) -> str:
    least, most = schema.get("minLength"), schema.get("maxLength")
    text = _BY_FORMAT.get(str(schema.get("format")), _TEXTS[0])
    if isinstance(pattern := schema.get("pattern"), str):
        text = _matching(pattern, text)
    elif turn and "format" not in schema:
        text = f"{text} {turn}"
    if isinstance(least, int) and len(text) < least <= 1_000:
        text = (text * (least // len(text) + 1))[:least]
    return text[:most] if isinstance(most, int) else text


def _matching(pattern: str, text: str) -> str:
    import regex

    try:
        compiled = regex.compile(pattern)
        for candidate in (text, *_TEXTS):
            if compiled.search(candidate, timeout=0.05):
                return candidate
    except (regex.error, TimeoutError):
        return text
    return text
