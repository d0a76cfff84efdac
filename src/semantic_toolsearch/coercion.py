"""Broken rules and the value that breaks them in; the value with harmless slips of type put right out.

What is put right, and only where the schema refuses what was sent: the text of a number, of true or false, of
null, of an object or of a list, where that is what the schema wants; a listed value without the characters that
hide in it; a whole number without its fraction (3.0); a whole number where text is wanted; null for a parameter
that may be left out but not be null (it is left out).
Where alternatives would give different values, nothing is changed. A single value never becomes a list, words
such as "yes" never become true, and no default is filled in.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.hidden_text import meant
from semantic_toolsearch.json_values import NotJsonError, copy_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonschema.exceptions import ValidationError

    from semantic_toolsearch.schema_walk import Path

__all__ = ["put_right"]

_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_LONGEST_NUMBER: Final = 400
_NOTHING: Final = object()
_LEFT_OUT: Final = object()


def put_right(value: Any, broken: Iterable[ValidationError]) -> bool:
    """Alter a value in place where a slip of type can be put right in one way only; return whether it was.

    Args:
        value: Plain JSON of the caller's own.
        broken: All rules that the value breaks.
    """
    changes: dict[Path, Any] = {}
    disputed: set[Path] = set()
    for finding in broken:
        for path, new in (_changes(finding) or {}).items():
            if path in changes and not _same(changes[path], new):
                disputed.add(path)
            changes[path] = new
    changed = False
    for path, new in changes.items():
        if path and path not in disputed:
            changed = _put(value, path, new) or changed
    return changed


def _changes(finding: ValidationError) -> dict[Path, Any] | None:
    """Return what would satisfy one rule, by path; None where nothing harmless would."""
    if finding.validator in ("anyOf", "oneOf"):
        return _changes_of_branches(finding)
    value: Any = finding.instance
    rule: Any = finding.validator_value
    if finding.validator == "type":
        new = _of_type(value, (rule,) if isinstance(rule, str) else tuple(rule))
    elif finding.validator in ("enum", "const"):
        allowed = rule if finding.validator == "enum" else [rule]
        read = _LEFT_OUT if value is None else _read(value) if isinstance(value, str) else _NOTHING
        found = read is _LEFT_OUT or any(_same(read, one) for one in allowed)
        new = read if found else _NOTHING
        if new is _NOTHING and isinstance(value, str) and (text := meant(value, allowed)) is not None:
            new = text
    else:
        return None
    if new is _LEFT_OUT and not isinstance(finding.absolute_path[-1] if finding.absolute_path else 0, str):
        return None  # an item of a list has a place, and cannot be left out
    return None if new is _NOTHING else {tuple(finding.absolute_path): new}


def _changes_of_branches(finding: ValidationError) -> dict[Path, Any] | None:
    branches: dict[Any, dict[Path, Any] | None] = {}
    for inner in finding.context or ():
        branch = inner.relative_schema_path[0]
        known = branches.setdefault(branch, {})
        if known is None:
            continue
        new = _changes(inner)
        if new is None or any(path in known and not _same(known[path], new[path]) for path in new):
            branches[branch] = None
        else:
            known.update(new)
    usable = [changes for changes in branches.values() if changes]
    first = usable[0] if usable else None
    if first is None or not all(_same_changes(first, other) for other in usable):
        return None
    return first


def _of_type(value: Any, kinds: tuple[str, ...]) -> Any:
    if value is None:
        return _LEFT_OUT
    if isinstance(value, str):
        read = _read(value)
        return (
            read if read is not _NOTHING and any(_is(read, kind) for kind in kinds) else _whole(read, kinds)
        )
    if isinstance(value, int) and not isinstance(value, bool) and "string" in kinds:
        return str(value)
    return _whole(value, kinds)


def _whole(value: Any, kinds: tuple[str, ...]) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and "integer" in kinds else _NOTHING


def _read(text: str) -> Any:
    """Return the JSON value that a text spells, texts excepted; the nothing mark where it spells none."""
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text == "null":
        return None
    number = len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) is not None
    if not number and not text.startswith(("{", "[")):
        return _NOTHING
    try:
        return copy_json(json.loads(text), "")[0]
    except (ValueError, RecursionError, NotJsonError):
        return _NOTHING


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    kinds: dict[type, tuple[str, ...]] = {
        int: ("integer", "number"),
        float: ("number",),
        dict: ("object",),
        list: ("array",),
        type(None): ("null",),
    }
    return kind in kinds.get(type(value), ())


def _same(one: Any, other: Any) -> bool:
    """Equality as JSON has it: true is not 1."""
    if one is other:
        return True
    if one is _LEFT_OUT or other is _LEFT_OUT or one is _NOTHING or other is _NOTHING:
        return False
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _same_changes(one: dict[Path, Any], other: dict[Path, Any]) -> bool:
    return one.keys() == other.keys() and all(_same(one[path], other[path]) for path in one)


def _put(value: Any, path: Path, new: Any) -> bool:
    for key in path[:-1]:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return False  # another change took its place away
    if new is _LEFT_OUT:
        return isinstance(value, dict) and value.pop(path[-1], _NOTHING) is not _NOTHING
    if not isinstance(value, dict | list):
        return False
    value[path[-1]] = new  # type: ignore[index] # the path was found in this very value
    return True
