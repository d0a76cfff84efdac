"""A repaired schema in, the same call as an object schema that every provider accepts out."""

from __future__ import annotations

from typing import Any, Final

from semantic_toolsearch.errors import InvalidToolError
from semantic_toolsearch.json_values import MAX_DEPTH, MAX_VALUES, copy_json
from semantic_toolsearch.schema_repair import WHERE
from semantic_toolsearch.schema_walk import References, walk

__all__ = ["require_object", "wire_projection"]

MAX_MERGED: Final = 500
"""Union branches that are merged into one object; more than that is no tool's argument list."""

MAX_UNION_DEPTH: Final = 50
"""Unions inside unions at the top of one schema."""

_UNIONS: Final = ("allOf", "anyOf", "oneOf")
_FORBIDDEN: Final = (*_UNIONS, "not", "enum", "const")
_NO_OBJECT: Final = "arguments are passed by name, so the schema must allow an object"


def wire_projection(parameters: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the schema in the form that every provider accepts: an object at the top, no union beside it.

    A top-level union is merged into one object that has all properties of its branches; it requires what
    every branch of `anyOf`/`oneOf` requires, and all that the branches of `allOf` require. Keywords that
    JSON Schema 2020-12 spells otherwise (tuples as `items`, exclusive bounds as flags) are written its way.
    Everything else, nested unions and `$defs` included, stays as it is. Arguments are still validated by the
    schema as registered.

    Args:
        parameters: A repaired schema; not altered. The result shares its nested parts.

    Returns:
        The object schema, and one note per change of meaning.

    Raises:
        InvalidToolError: No call with named arguments can satisfy the schema.
    """
    merged, notes = _as_object(parameters)
    if merged is parameters:
        return _modern(_closed(parameters)), ()
    return _modern(_keep_targets(parameters, _closed(merged))), notes


def require_object(parameters: dict[str, Any]) -> None:
    """Raise InvalidToolError where `wire_projection` would; much cheaper for ordinary schemas."""
    _as_object(parameters)


def _as_object(parameters: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the schema itself where nothing needs merging, else the merged object and the notes on it."""
    if not any(keyword in parameters for keyword in (*_FORBIDDEN, "$ref")):
        if not _may_be_object(parameters):
            raise InvalidToolError(f"{WHERE}.type: {parameters['type']!r}; {_NO_OBJECT}")
        return parameters, ()
    merger = _Merger(parameters)
    merged = merger.merge(parameters, frozenset())
    if merged is None:
        reason = merger.failure or "no branch of the schema is an object"
        raise InvalidToolError(f"{WHERE}: {reason}; {_NO_OBJECT}")
    if _is_larger(merged, 2 * MAX_VALUES):
        # What many branches refer to would be written out for each of them.
        raise InvalidToolError(f"{WHERE}: merged unions of more than {2 * MAX_VALUES:,} values; {_NO_OBJECT}")
    return merged, tuple(dict.fromkeys(merger.notes))


def _is_larger(schema: dict[str, Any], most: int) -> bool:
    """Whether a schema, written out, holds more values than this."""
    waiting: list[Any] = [schema]
    while waiting and most >= 0:
        value = waiting.pop()
        most -= 1
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return most < 0


def _may_be_object(schema: dict[str, Any]) -> bool:
    kind = schema.get("type", "object")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Add the two keywords that providers want at the top, and leave what is there in its order."""
    closed = dict(schema) if "type" in schema else {"type": "object", **schema}
    closed["type"] = "object"
    closed.setdefault("properties", {})
    return closed


class _Merger:
    """Merges one schema's top-level references and unions."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._references = References(root)
        self._merged = 0
        self.notes: list[str] = []
        self.failure = ""

    def merge(self, schema: dict[str, Any], entered: frozenset[int]) -> dict[str, Any] | None:
        """Return one object schema without reference or union at its top; None when there is none."""
        self._merged += 1
        if self._merged > MAX_MERGED or len(entered) > MAX_UNION_DEPTH:
            self.failure = f"more than {MAX_MERGED:,} union branches, or {MAX_UNION_DEPTH} inside each other"
            return None
        if id(schema) in entered or not _may_be_object(schema):
            return None
        allowed = [*(schema.get("enum") or ()), *([schema["const"]] if "const" in schema else ())]
        if allowed and not any(isinstance(value, dict) for value in allowed):
            return None
        entered |= {id(schema)}
        merged = {key: value for key, value in schema.items() if key not in (*_FORBIDDEN, "$ref")}
        self.notes += [
            f"top-level {keyword} left out" for keyword in ("not", "enum", "const") if keyword in schema
        ]
        if "$ref" in schema:
            target = self._references.resolve(schema["$ref"])
            branch = self._branch(target[1] if target else True, entered)
            if branch is None:
                return None
            _combine(merged, [branch], everything=True)
        for keyword in _UNIONS:
            if keyword not in schema:
                continue
            branches = [self._branch(branch, entered) for branch in schema[keyword]]
            usable = [branch for branch in branches if branch is not None]
            if not usable or (keyword == "allOf" and len(usable) < len(branches)):
                return None
            _combine(merged, usable, everything=keyword == "allOf")
            self.notes.append(_union_note(keyword, usable, len(branches)))
        return merged

    def _branch(self, branch: Any, entered: frozenset[int]) -> dict[str, Any] | None:
        if isinstance(branch, dict):
            return self.merge(branch, entered)
        return {} if branch is True else None


def _union_note(keyword: str, branches: list[dict[str, Any]], total: int) -> str:
    text = f"top-level {keyword} of {total} merged into one object"
    if keyword == "allOf":
        return text
    sets = dict.fromkeys(", ".join(branch.get("required", ())) for branch in branches)
    if len(sets) < 2 or not all(sets):
        return text
    return f"{text}; each branch requires its own of these: {' or '.join(f'({names})' for names in sets)}"


def _combine(merged: dict[str, Any], branches: list[dict[str, Any]], *, everything: bool) -> None:
    """Merge branches into `merged`, in place; `everything` when all of them hold, else any one of them."""
    properties = _combined_properties(merged.get("properties", {}), branches, everything)
    if properties:
        merged["properties"] = properties
    lists = [branch.get("required", []) for branch in branches]
    shared = [n for names in lists for n in names if everything or all(n in other for other in lists)]
    required = list(dict.fromkeys([*merged.get("required", ()), *shared]))
    if required:
        merged["required"] = required
    for key in dict.fromkeys(key for branch in branches for key in branch):
        values = [branch[key] for branch in branches if key in branch]
        # What only some alternatives say, or say differently, cannot be said of all calls.
        said_of_all = everything or len(values) == len(branches)
        if key not in merged and said_of_all and all(value == values[0] for value in values):
            merged[key] = values[0]


def _combined_properties(
    own: dict[str, Any], branches: list[dict[str, Any]], everything: bool
) -> dict[str, Any]:
    variants: dict[str, list[Any]] = {}
    for branch in branches:
        for name, value in branch.get("properties", {}).items():
            known = variants.setdefault(name, [])
            if value not in known:
                known.append(value)
    properties = dict(own)
    for name, values in variants.items():
        value = values[0] if len(values) == 1 else {"allOf" if everything else "anyOf": values}
        if name not in properties or _is_open(properties[name]):
            properties[name] = value
        elif value != properties[name] and not _is_open(value):
            properties[name] = {"allOf": [properties[name], value]}
    return properties


def _is_open(schema: Any) -> bool:
    return schema is True or schema == {}


def _keep_targets(original: dict[str, Any], merged: dict[str, Any]) -> dict[str, Any]:
    """Keep references into the merged-away top level alive: its keywords move below `$defs`."""
    moved = {keyword: original[keyword] for keyword in _FORBIDDEN if keyword in original}
    definitions = merged.get("$defs", {})
    label = "registered"
    while label in definitions:
        label += "_"
    whole = {**merged, "$defs": {**definitions, label: moved}}
    here = References(merged)
    wanted = (node.schema["$ref"] for node in walk(merged, follow=True) if "$ref" in node.schema)
    if all(here.resolve(reference) for reference in wanted):
        return merged
    copy = _copy(whole)
    prefixes = tuple(f"#/{keyword}" for keyword in moved)
    for node in walk(copy):
        reference = node.schema.get("$ref", "")
        if reference.startswith(prefixes):
            node.schema["$ref"] = f"#/$defs/{label}{reference[1:]}"
    return copy


def _modern(schema: dict[str, Any]) -> dict[str, Any]:
    """Write the keywords of older drafts as draft 2020-12 does, which providers check against."""
    if not any(_is_dated(node.schema) for node in walk(schema, follow=True)):
        return schema
    copy = _copy(schema)
    for node in walk(copy, follow=True):
        part = node.schema
        if isinstance(part.get("items"), list):
            part["prefixItems"] = part.pop("items")
            if "additionalItems" in part:
                part["items"] = part.pop("additionalItems")
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(part.get(exclusive), bool) and part.pop(exclusive) and bound in part:
                part[exclusive] = part.pop(bound)
    # References by position into a tuple follow it to its new keyword.
    here = References(copy)
    for node in walk(copy):
        reference = node.schema.get("$ref", "")
        if reference.startswith("#/") and here.resolve(reference) is None:
            node.schema["$ref"] = reference.replace("/items/", "/prefixItems/")
    return copy


def _is_dated(schema: dict[str, Any]) -> bool:
    return (
        isinstance(schema.get("items"), list)
        or isinstance(schema.get("exclusiveMinimum"), bool)
        or isinstance(schema.get("exclusiveMaximum"), bool)
    )


def _copy(schema: dict[str, Any]) -> dict[str, Any]:
    copied: dict[str, Any] = copy_json(schema, WHERE, max_depth=2 * MAX_DEPTH, max_values=4 * MAX_VALUES)[0]
    return copied
