"""Broken rules of a schema in; what to tell the model about them, in words and with the nearest names, out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.errors import ArgumentProblem
from semantic_toolsearch.json_values import json_path
from semantic_toolsearch.names import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jsonschema.exceptions import ValidationError

    from semantic_toolsearch.schema_walk import Path, References

__all__ = ["Findings", "describe", "path_text"]

_MISSING: Final = frozenset({"required", "dependentRequired", "dependencies"})
_UNEXPECTED: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_UNIONS: Final = ("anyOf", "oneOf")
_MAX_SHOWN: Final = 80
_MAX_NAMES: Final = 30
_MAX_BRANCHES: Final = 5
_MAX_SUGGESTED: Final = 30
"""Unexpected names for which the nearest parameters are looked for: each costs a comparison with all of them."""

_WORDS: Final = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} entries",
    "maxProperties": "must have at most {} entries",
    "pattern": "must match the pattern {}",
    "const": "must be {}",
    "contains": "must hold an item that fits {}",
    "minContains": "must hold at least {} items of the kind that is asked for",
    "maxContains": "must hold at most {} items of the kind that is asked for",
    "not": "must not fit {}",
}


class Findings:
    """What is wrong with the arguments of one call.

    Attributes:
        problems: Wrong values, then what is missing, then what is no parameter.
        missing: Paths of required parameters that are not there.
        unexpected: Paths of what is no parameter.
    """

    def __init__(
        self, broken: Iterable[ValidationError], arguments: dict[str, Any], references: References
    ) -> None:
        self._arguments, self._references = arguments, references
        self._suggested = 0
        self._root = references.resolve("#")
        wrong: dict[ArgumentProblem, None] = {}
        missing: dict[Path, ArgumentProblem] = {}
        unexpected: dict[Path, ArgumentProblem] = {}
        for finding in _leaves(broken):
            path = tuple(finding.absolute_path)
            rule = str(finding.validator or "false")
            if _is_name(finding) and finding.validator in _MISSING:
                missing.setdefault(path, ArgumentProblem(path_text(path), rule, finding.message))
            elif _is_name(finding):
                words = self._no_parameter(path)
                unexpected.setdefault(path, ArgumentProblem(path_text(path), rule, words))
            else:
                wrong[ArgumentProblem(path_text(path), rule, describe(finding))] = None
        # Where something is missing, an extra that the schema does not forbid may be meant for it.
        for place in dict.fromkeys(path[:-1] for path in missing):
            for path in self._unknown_names(place):
                problem = ArgumentProblem(path_text(path), "properties", self._no_parameter(path))
                unexpected.setdefault(path, problem)
        self.problems = (*wrong, *missing.values(), *unexpected.values())
        self.missing = tuple(map(path_text, missing))
        self.unexpected = tuple(map(path_text, unexpected))

    def _no_parameter(self, path: Path) -> str:
        self._suggested += 1
        if self._suggested > _MAX_SUGGESTED:
            return "is no parameter"
        known = self._declared(path[:-1])[0]
        given = _at(self._arguments, path[:-1])
        free = [name for name in known if name not in given]
        similar = nearest(str(path[-1]), free) or nearest(str(path[-1]), known)
        if similar:
            return f"is no parameter; nearest: {', '.join(similar)}"
        if not known:
            return "is no parameter; there are none here"
        more = f" and {len(known) - _MAX_NAMES} more" if len(known) > _MAX_NAMES else ""
        return f"is no parameter; the parameters here are {', '.join(known[:_MAX_NAMES])}{more}"

    def _unknown_names(self, place: Path) -> Iterator[Path]:
        known, open_ended = self._declared(place)
        if known and not open_ended:
            yield from ((*place, name) for name in _at(self._arguments, place) if name not in known)

    def _declared(self, place: Path) -> tuple[list[str], bool]:
        """Return the parameters that the schema names at a place, and whether it describes others too."""
        schemas = self._same_value([self._root[1] if self._root else {}])
        for key in place:
            below = [part for schema in schemas for part in _below(schema, key)]
            schemas = self._same_value(below)
        names = dict.fromkeys(name for schema in schemas for name in schema.get("properties", {}))
        open_ended = any(
            "patternProperties" in schema or isinstance(schema.get("additionalProperties"), dict)
            for schema in schemas
        )
        return list(names), open_ended

    def _same_value(self, schemas: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the schemas and all that they apply to the same value."""
        found: dict[int, dict[str, Any]] = {}
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop(0)
            if not isinstance(schema, dict) or id(schema) in found:
                continue
            found[id(schema)] = schema
            target = self._references.resolve(schema.get("$ref"))
            waiting += [target[1]] if target else []
            for keyword in ("allOf", *_UNIONS):
                waiting += schema.get(keyword, ())
            waiting += [schema[keyword] for keyword in ("if", "then", "else") if keyword in schema]
            waiting += schema.get("dependentSchemas", {}).values()
        return list(found.values())


def describe(finding: ValidationError) -> str:
    """Return one broken rule in words that follow the path."""
    rule = finding.validator
    limit: Any = finding.validator_value
    value: Any = finding.instance
    if rule == "type":
        kinds = limit if isinstance(limit, list) else [limit]
        return f"must be {' or '.join(map(str, kinds))}, not {_kind(value)} {_shown(value)}".rstrip()
    if rule == "enum":
        similar = (
            nearest(value, [one for one in limit if isinstance(one, str)]) if isinstance(value, str) else ()
        )
        hint = f"; nearest: {', '.join(similar)}" if similar else ""
        listed = ", ".join(_shown(one) for one in limit[:_MAX_NAMES])
        more = f" or {len(limit) - _MAX_NAMES} more" if len(limit) > _MAX_NAMES else ""
        return f"must be one of {listed}{more}, not {_shown(value)}{hint}"
    if rule in _UNIONS:
        return _union(finding)
    if rule is None or (rule == "not" and limit == {}):
        return "is not allowed"
    if rule in _WORDS:
        told = "" if isinstance(value, dict | list) else f", not {_shown(value)}"
        return _WORDS[str(rule)].format(_shown(limit)) + told
    message = finding.message
    return message if len(message) <= 3 * _MAX_SHOWN else f"does not fit {rule}: {_shown(limit)}"


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as the model reads it: `guests[0].mail`; "" for the arguments as a whole."""
    return json_path("", *path).removeprefix(".")


def _leaves(broken: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """Give each finding, or, of alternatives of which only one is meant, the findings within that one."""
    for finding in broken:
        branch = _meant(finding) if finding.validator in _UNIONS else None
        if branch is None:
            yield finding
        else:
            yield from _leaves(branch)


def _branches(finding: ValidationError) -> list[list[ValidationError]]:
    branches: dict[Any, list[ValidationError]] = {}
    for inner in finding.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    return list(branches.values())


def _meant(finding: ValidationError) -> list[ValidationError] | None:
    """Return the findings of the only alternative whose kind of value and fixed values were given."""
    here = len(finding.absolute_path)
    candidates = []
    for branch in _branches(finding):
        other_kind = any(
            (inner.validator in ("type", "enum", "const") and len(inner.absolute_path) == here)
            or inner.validator == "const"
            or inner.validator is None
            for inner in branch
        )
        if not other_kind:
            candidates.append(branch)
    return candidates[0] if len(candidates) == 1 else None


def _union(finding: ValidationError) -> str:
    branches = _branches(finding)
    if not branches:
        return "fits more than one alternative, and must fit one only"
    here = len(finding.absolute_path)
    told = []
    for number, branch in enumerate(branches[:_MAX_BRANCHES], start=1):
        inner = branch[0]
        words = inner.message if _is_name(inner) else describe(inner)
        told.append(f"({number}) {path_text(list(inner.absolute_path)[here:])} {words}".replace("  ", " "))
    more = f"; and {len(branches) - _MAX_BRANCHES} more" if len(branches) > _MAX_BRANCHES else ""
    return f"fits none of {len(branches)} alternatives: {'; '.join(told)}{more}"


def _is_name(finding: ValidationError) -> bool:
    """Whether a finding is about a name rather than a value: its path then ends in that name."""
    if finding.validator in _MISSING:
        return bool(finding.relative_path)
    return finding.validator in _UNEXPECTED and finding.message.startswith("is no parameter")


def _below(schema: dict[str, Any], key: str | int) -> Iterator[Any]:
    if isinstance(key, str):
        properties = schema.get("properties", {})
        if key in properties:
            yield properties[key]
        else:
            yield schema.get("additionalProperties")
        return
    for keyword in ("prefixItems", "items"):
        rule = schema.get(keyword)
        if isinstance(rule, list):
            yield from rule[key : key + 1]
        else:
            yield rule


def _at(value: Any, path: Path) -> dict[str, Any]:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return {}
    return value if isinstance(value, dict) else {}


def _kind(value: Any) -> str:
    if value is None:
        return ""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "text", dict: "object", list: "array"}
    return kinds.get(type(value), "")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
