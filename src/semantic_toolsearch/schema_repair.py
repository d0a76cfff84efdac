"""A tool's schema as its server sent it in; a well-formed, closed JSON Schema and what was mended out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from semantic_toolsearch.json_values import MAP_KEYWORDS, NotJsonError, copy_json, json_path
from semantic_toolsearch.report import Problem
from semantic_toolsearch.schema_walk import LIST_KEYWORDS, SINGLE_KEYWORDS, Node, References, subschemas, walk

__all__ = ["WHERE", "empty_object", "repair_schema"]

WHERE: Final = "$.parameters"
"""Where a schema stands in a definition; all reported paths start with it."""

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_ANNOTATIONS = frozenset({"$schema", "$id", "$comment", "title", "description"})
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")


def empty_object() -> dict[str, Any]:
    """Return a new schema of a call without arguments."""
    return {"type": "object", "properties": {}}


def repair_schema(value: Any) -> tuple[dict[str, Any] | None, tuple[Problem, ...]]:
    """Copy a tool's parameter schema and mend what is malformed in it.

    A missing or empty schema becomes an empty object schema; null and wrongly typed keywords are dropped; a
    `$ref` that points at nothing, outside of the document (never fetched), or in a circle without ever
    reaching a value becomes the open schema, its siblings kept. What is well formed keeps its meaning and
    its order.

    Returns:
        The mended copy, or None when no schema can be made of the value; and the problems found, the last of
        which is the reason in that case.
    """
    if value is None:
        return empty_object(), (Problem(WHERE, "no schema: read as a call without arguments"),)
    if value is True:
        return empty_object(), (Problem(WHERE, "the schema `true`: read as a call without arguments"),)
    try:
        schema, problems = copy_json(value, WHERE, "schema")
    except NotJsonError as error:
        return None, (error.problem,)
    if not isinstance(schema, dict):
        return None, (Problem(WHERE, f"a schema is a JSON object, not {type(value).__name__}"),)
    if schema.get("properties") and not isinstance(schema["properties"], dict):
        kind = type(schema["properties"]).__name__
        return None, (*problems, Problem(f"{WHERE}.properties", f"maps names to schemas; this is {kind}"))
    referring = False
    for node in walk(schema, follow=True):
        problems.extend(_mend(node))
        referring = referring or "$ref" in node.schema or "$dynamicRef" in node.schema
    if referring:
        problems.extend(_mend_references(schema))
    if not schema.keys() - _ANNOTATIONS:
        schema |= empty_object()
        problems.append(Problem(WHERE, "an empty schema: read as a call without arguments"))
    return schema, tuple(problems)


def _mend(node: Node) -> Iterator[Problem]:
    """Mend the keywords of one subschema in place, so that everything below it can be walked."""
    schema = node.schema
    for keyword in list(schema):
        fault: str | None = None
        value = schema[keyword]
        if keyword in _CHECKS:
            if value is None:
                fault = "null"
            else:
                value, fault = _CHECKS[keyword](value)
        elif keyword in MAP_KEYWORDS:
            value, fault = _schema_map(keyword, value)
        elif isinstance(value, list) and keyword in LIST_KEYWORDS:
            value, fault = _schema_list(value)
        elif keyword in SINGLE_KEYWORDS or keyword in LIST_KEYWORDS:
            usable = isinstance(value, dict | bool) and keyword in SINGLE_KEYWORDS
            fault = None if usable else f"{_kind(value)} instead of a schema"
            value = value if usable else None
        if fault is None:
            continue
        here = json_path(WHERE, *node.path, keyword)
        if value is None:
            del schema[keyword]
            yield Problem(here, f"{fault}: dropped")
        else:
            schema[keyword] = value
            yield Problem(here, fault)


def _type(value: Any) -> tuple[Any, str | None]:
    if isinstance(value, str) and value in _TYPES:
        return value, None
    names = value if isinstance(value, list) else [value]
    known = [n.lower() for n in names if isinstance(n, str) and n.lower() in _TYPES]
    known = list(dict.fromkeys(known))
    if not known:
        return None, f"{_short(value)} is no JSON Schema type"
    if known == names:
        return value, None
    mended = known if isinstance(value, list) else known[0]
    return mended, f"{_short(value)} read as {_short(mended)}"


def _required(value: Any) -> tuple[Any, str | None]:
    if not isinstance(value, list):
        return None, f"{_kind(value)} instead of a list of names"
    names = [n for n in value if isinstance(n, str)]
    names = list(dict.fromkeys(names))
    return names, None if names == value else "kept each name once, left out what is no name"


def _enum(value: Any) -> tuple[Any, str | None]:
    if isinstance(value, list) and value:
        return value, None
    return (
        None,
        "an empty list allows nothing" if value == [] else f"{_kind(value)} instead of a list of values",
    )


def _text(value: Any) -> tuple[Any, str | None]:
    return (value, None) if isinstance(value, str) else (None, f"{_kind(value)} instead of text")


def _number(value: Any) -> tuple[Any, str | None]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (value, None) if number else (None, f"{_short(value)} instead of a number")


def _bound(value: Any) -> tuple[Any, str | None]:
    return (value, None) if isinstance(value, bool) else _number(value)  # a flag before draft 6


def _step(value: Any) -> tuple[Any, str | None]:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None, f"{_short(value)} instead of a number above 0"
    return value, None


def _count(value: Any) -> tuple[Any, str | None]:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
        return None, f"{_short(value)} instead of a count"
    return value, None


def _flag(value: Any) -> tuple[Any, str | None]:
    return (value, None) if isinstance(value, bool) else (None, f"{_short(value)} instead of true or false")


def _list(value: Any) -> tuple[Any, str | None]:
    return (value, None) if isinstance(value, list) else (None, f"{_kind(value)} instead of a list")


def _map(value: Any) -> tuple[Any, str | None]:
    return (value, None) if isinstance(value, dict) else (None, f"{_kind(value)} instead of a map")


def _needs(value: Any) -> tuple[Any, str | None]:
    if isinstance(value, dict) and all(_required(names) == (names, None) for names in value.values()):
        return value, None
    return None, "not a map of lists of names"


def _anchor(value: Any) -> tuple[Any, str | None]:
    named = isinstance(value, str) and re.fullmatch(r"[A-Za-z_][-A-Za-z0-9._]*", value) is not None
    return (value, None) if named else (None, f"{_short(value)} is no anchor")


def _id(value: Any) -> tuple[Any, str | None]:
    named = isinstance(value, str) and "#" not in value[:-1]
    return (value, None) if named else (None, f"{_short(value)} is no identifier of a document")


_TEXTS = "$schema $ref $dynamicRef $comment title description pattern format"
_COUNTS = "minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties"
_CHECKS: Final[dict[str, Callable[[Any], tuple[Any, str | None]]]] = {
    **dict.fromkeys((*_TEXTS.split(), "contentEncoding", "contentMediaType"), _text),
    **dict.fromkeys(_COUNTS.split(), _count),
    **dict.fromkeys(("minimum", "maximum"), _number),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _bound),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _flag),
    **dict.fromkeys(("$anchor", "$dynamicAnchor"), _anchor),
    "$id": _id,
    "type": _type,
    "required": _required,
    "enum": _enum,
    "multipleOf": _step,
    "examples": _list,
    "dependentRequired": _needs,
    "$vocabulary": _map,
}


def _schema_map(keyword: str, value: Any) -> tuple[Any, str | None]:
    if value is None:
        return ({}, "null read as {}") if keyword == "properties" else (None, "null")
    if value == []:  # how some languages write an empty map
        return {}, "[] read as {}"
    if not isinstance(value, dict):
        return None, f"{_kind(value)} instead of a map of schemas"
    wrong = [
        name
        for name, child in value.items()
        if not isinstance(child, dict | bool)
        and not (keyword == "dependencies" and isinstance(child, list) and _required(child) == (child, None))
    ]
    if not wrong:
        return value, None
    mended = value | {name: {} for name in wrong}
    return mended, f"no schema for {', '.join(map(_short, wrong[:5]))}: open schema instead"


def _schema_list(value: list[Any]) -> tuple[Any, str | None]:
    schemas = [child for child in value if isinstance(child, dict | bool)]
    if not schemas:
        return None, "no schema in the list"
    return schemas, None if len(schemas) == len(value) else "left out what is no schema"


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _mend_references(root: dict[str, Any]) -> Iterator[Problem]:
    references = References(root)
    own_id = root.get("$id", "").removesuffix("#")
    nodes = []
    for node in walk(root, follow=True):
        nodes.append(node)
        for keyword in ("$ref", "$dynamicRef"):
            reference = node.schema.get(keyword)
            if reference is None:
                continue
            here = json_path(WHERE, *node.path, keyword)
            if own_id and reference.startswith(f"{own_id}#"):
                reference = reference.removeprefix(own_id)
                node.schema[keyword] = reference
                yield Problem(here, f"refers to this document by its own $id: written as {_short(reference)}")
            target = references.resolve(reference)
            if target is None or not isinstance(target[1], dict | bool):
                del node.schema[keyword]
                local = reference.startswith("#")
                why = "points at nothing" if local else "is outside of the document and never fetched"
                yield Problem(here, f"{_short(reference)} {why}: open schema instead")
    yield from _break_circles(nodes, references)


_Following: TypeAlias = Iterator[tuple[dict[str, Any] | None, dict[str, Any]]]
_Step: TypeAlias = tuple[dict[str, Any], _Following, dict[str, Any] | None]


def _break_circles(nodes: list[Node], references: References) -> Iterator[Problem]:
    """Drop each `$ref` that leads back to its own schema for the same value: validators never end on it.

    A recursive schema that passes through a property or an item is fine; one that applies itself to the very
    value it is checking is not.
    """
    places = {id(node.schema): node.path for node in nodes}
    finished: set[int] = set()
    for node in nodes:
        if id(node.schema) in finished:
            continue
        # One entry per schema on the way: itself, what it applies to the same value, and the schema whose
        # `$ref` led here (None where it was entered from the schema around it).
        stack: list[_Step] = [(node.schema, _same_value(node.schema, references), None)]
        active = {id(node.schema)}
        while stack:
            schema, following, _ = stack[-1]
            for referrer, target in following:
                if id(target) in active:
                    culprit = referrer or _last_referrer(stack, target)
                    if culprit is not None and "$ref" in culprit:
                        here = json_path(WHERE, *places.get(id(culprit), ()), "$ref")
                        reference = _short(culprit.pop("$ref"))
                        yield Problem(here, f"{reference} leads back to itself: open schema instead")
                elif id(target) not in finished:
                    active.add(id(target))
                    stack.append((target, _same_value(target, references), referrer))
                    break
            else:
                stack.pop()
                active.discard(id(schema))
                finished.add(id(schema))


def _last_referrer(stack: list[_Step], target: dict[str, Any]) -> dict[str, Any] | None:
    for schema, _, referrer in reversed(stack):
        if schema is target:
            return None
        if referrer is not None:
            return referrer
    return None


def _same_value(schema: dict[str, Any], references: References) -> _Following:
    """Yield the schemas that apply to the same value, each with the schema whose `$ref` names it."""
    if "$ref" in schema:
        target = references.resolve(schema["$ref"])
        if target is not None and isinstance(target[1], dict):
            yield schema, target[1]
    for path, _, child in subschemas(schema):
        if path[0] in _IN_PLACE:
            yield None, child
