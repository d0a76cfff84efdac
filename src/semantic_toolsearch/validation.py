"""A tool's schema and a value in, every rule of the schema that the value breaks out: bounded, offline.

`jsonschema` does the work, by the draft that `$schema` names (2020-12 without one), with these differences:
nothing is ever fetched; a pattern that is no regular expression, or takes too long, is no rule; each missing
and each unexpected name is a finding of its own; older spellings of tuples and exclusive bounds count in every
draft; an integer is written without a fraction, so that 3.0 is seen and can be made 3.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from weakref import WeakKeyDictionary

from semantic_toolsearch.bounded_rules import Keyword, compiled, counted, matches, working
from semantic_toolsearch.hidden_text import registered_names
from semantic_toolsearch.schema_walk import References, walk

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["SchemaChecker", "checker_of"]


class SchemaChecker:
    """Checks values by one schema.

    Args:
        schema: A repaired schema; not altered.

    Attributes:
        registered: The names of parameters that a model sees by another one; see ``hidden_text``.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        from referencing import Registry

        named = schema.get("$schema")
        self.registered = registered_names(schema)
        self.root: dict[str, Any] = json.loads(json.dumps(schema))
        for node in walk(self.root, follow=True):
            # All references are resolved from the root; one draft holds for the whole document.
            node.schema.pop("$id", None)
            node.schema.pop("$schema", None)
            _spell_out_false(node.schema)
        _point(self.root)
        if _has_slow_names(self.root):
            # There, names are matched without a limit of time.
            for node in walk(self.root, follow=True):
                node.schema.pop("unevaluatedProperties", None)
        self.references = References(self.root)
        self._validator: Validator = _validator_class(_draft(named))(self.root, registry=Registry())

    def findings(self, value: Any, steps: list[int]) -> list[ValidationError]:
        """Return every broken rule, in the schema's order.

        Args:
            value: Plain JSON.
            steps: How many steps may be taken; one number, lowered by what was taken.

        Raises:
            TooMuchWorkError: The steps are used up, or schema and value are nested too deep together.
        """
        with working(steps):
            return list(self._validator.iter_errors(value))


_CHECKERS: Final[WeakKeyDictionary[ToolDefinition, SchemaChecker]] = WeakKeyDictionary()


def checker_of(tool: ToolDefinition) -> SchemaChecker:
    """Return the checker of a tool's schema as registered; it is made once per definition."""
    checker = _CHECKERS.get(tool)
    if checker is None:
        checker = _CHECKERS[tool] = SchemaChecker(tool.parameters)
    return checker


def _spell_out_false(schema: dict[str, Any]) -> None:
    """Write `false` as a schema that says the same: jsonschema loses the path of what it refuses."""
    for keyword in ("properties", "patternProperties", "prefixItems", "items"):
        inner: Any = schema.get(keyword)
        keys: Any = inner if isinstance(inner, dict) and keyword != "items" else ()
        for key in list(keys) or (range(len(inner)) if isinstance(inner, list) else ()):
            if inner[key] is False:
                inner[key] = {"not": {}}


def _point(root: dict[str, Any]) -> None:
    """Write every reference as a pointer from the root: anchors are looked for elsewhere in every draft."""
    references = References(root)
    for node in walk(root, follow=True):
        for keyword in ("$ref", "$dynamicRef"):
            target = references.resolve(node.schema.get(keyword))
            if target is not None:
                keys = (str(key).replace("~", "~0").replace("/", "~1") for key in target[0])
                node.schema[keyword] = "#" + "".join(f"/{quote(key)}" for key in keys)


def _draft(named: Any) -> str:
    text = named if isinstance(named, str) else ""
    if any(draft in text for draft in ("draft-03", "draft-04", "draft-06", "draft-07")):
        return "7"  # what 3, 4 and 6 spell otherwise is understood in every draft
    return "2019-09" if "2019-09" in text else "2020-12"


@cache
def _validator_class(draft: str) -> Any:
    import jsonschema
    from jsonschema import validators

    extend: Any = validators.extend  # not annotated by its stubs
    bases = {"7": jsonschema.Draft7Validator, "2019-09": jsonschema.Draft201909Validator}
    base: Any = bases.get(draft, jsonschema.Draft202012Validator)
    keywords: dict[str, Keyword] = {**base.VALIDATORS, **_KEYWORDS}
    keywords["items"] = _items_or_tuple(base.VALIDATORS["items"])
    if "unevaluatedProperties" in keywords:
        keywords["unevaluatedProperties"] = _unevaluated_properties(keywords["unevaluatedProperties"])
    return extend(
        base,
        {keyword: counted(check) for keyword, check in keywords.items()},
        type_checker=base.TYPE_CHECKER.redefine("integer", _is_integer),
    )


def _is_integer(checker: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _broken(message: str, *path: str | int) -> ValidationError:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message, path=path)


def _pattern(validator: Any, pattern: Any, value: Any, schema: Any) -> Iterator[Any]:
    if isinstance(value, str) and matches(pattern, value) is False:
        yield _broken(f"does not match {pattern}")


def _pattern_properties(validator: Any, patterns: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for pattern, rule in patterns.items():
        for name, item in value.items():
            if matches(pattern, name):
                yield from validator.descend(item, rule, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, item in value.items():
        if name in known or any(matches(pattern, name) is not False for pattern in patterns):
            continue
        if rule is False:
            yield _broken("is no parameter", name)
        elif rule is not True:
            yield from validator.descend(item, rule, path=name)


class _Recorder:
    """A validator that keeps the names of the properties which `unevaluatedProperties` refuses."""

    def __init__(self, validator: Any, rule: Any) -> None:
        self._validator, self._rule = validator, rule
        self.refused: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._validator, name)

    def descend(self, instance: Any, schema: Any, path: Any = None, **places: Any) -> Iterator[Any]:
        for broken in self._validator.descend(instance, schema, path=path, **places):
            if schema is self._rule and path is not None and path not in self.refused:
                self.refused.append(path)
            yield broken


def _unevaluated_properties(original: Keyword) -> Keyword:
    def check(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
        recorder = _Recorder(validator, rule)
        if next(iter(original(recorder, rule, value, schema) or ()), None) is not None:
            message = "is no parameter" if rule is False else "is no parameter, and not what others may be"
            yield from (_broken(message, name) for name in recorder.refused)

    return check


def _has_slow_names(root: dict[str, Any]) -> bool:
    """Return whether names are matched by a pattern that may take long, or that Python does not read."""
    for node in walk(root, follow=True):
        for pattern in node.schema.get("patternProperties", {}):
            repeats = pattern.count("*") + pattern.count("+") + pattern.count("{")
            # One repeat is fast only where the match cannot start anew at every character.
            if repeats > pattern.startswith("^") or ")" in pattern or compiled(pattern) is None:
                return True
            if not _is_of_python(pattern):
                return True
    return False


def _is_of_python(pattern: str) -> bool:
    """Return whether Python's own engine reads a pattern, and without a warning that it may mean something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern)
        except (re.error, Warning, OverflowError, RecursionError):
            return False
    return True


def _required(validator: Any, names: Any, value: Any, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict) and isinstance(names, list):
        yield from (_broken("is missing", name) for name in names if name not in value)


def _dependent_required(validator: Any, needs: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for name, names in needs.items():
        if name in value:
            yield from (
                _broken(f"is missing, and {name} needs it", each) for each in names if each not in value
            )


def _dependencies(validator: Any, needs: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for name, need in needs.items():
        if isinstance(need, list):
            yield from _dependent_required(validator, {name: need}, value, schema)
        elif name in value:
            yield from validator.descend(value, need, schema_path=name)


def _multiple_of(validator: Any, step: Any, value: Any, schema: Any) -> Iterator[Any]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and not _divides(step, value):
        yield _broken(f"is no multiple of {step}")


def _divides(step: Any, value: Any) -> bool:
    """Return whether a step divides a value, as near as floats can tell, and exactly where they cannot."""
    try:
        if not isinstance(step, float):
            return bool(value % step == 0)
        quotient = value / step
        return bool(int(quotient) == quotient)
    except OverflowError:  # beyond floats, or infinitely many steps
        return Fraction(value) % Fraction(step) == 0


def _unique_items(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
    if rule is True and isinstance(value, list):
        seen = {json.dumps(_plain_numbers(item), sort_keys=True) for item in value}
        if len(seen) < len(value):
            yield _broken("holds the same item twice")


def _plain_numbers(value: Any) -> Any:
    """Return the value with whole floats as integers: to JSON they are the same number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    return [_plain_numbers(item) for item in value] if isinstance(value, list) else value


def _items_or_tuple(original: Keyword) -> Keyword:
    def check(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(rule, list):
            yield from original(validator, rule, value, schema) or ()
        elif isinstance(value, list):
            rest = schema.get("additionalItems", True)
            for place, item in enumerate(value):
                at = rule[place] if place < len(rule) else rest
                yield from validator.descend(item, {"not": {}} if at is False else at, path=place)

    return check


def _no_rule(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
    yield from ()


def _exclusive(bound: str, words: str, beyond: Callable[[Any, Any], bool]) -> Keyword:
    def check(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
        limit = schema.get(bound) if rule is True else rule
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and limit is not None and not isinstance(limit, bool) and beyond(value, limit):
            yield _broken(f"must be {words} {limit}")

    return check


_KEYWORDS: Final[dict[str, Keyword]] = {
    "additionalItems": _no_rule,  # part of a tuple, and checked with it
    "additionalProperties": _additional_properties,
    "dependencies": _dependencies,
    "dependentRequired": _dependent_required,
    "exclusiveMaximum": _exclusive("maximum", "less than", lambda value, limit: bool(value >= limit)),
    "exclusiveMinimum": _exclusive("minimum", "more than", lambda value, limit: bool(value <= limit)),
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "required": _required,
    "uniqueItems": _unique_items,
}
