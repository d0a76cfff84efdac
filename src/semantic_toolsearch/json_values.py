"""Foreign Python values in, an independent plain-JSON copy out, or the path of what JSON cannot hold."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from semantic_toolsearch.cleaning import HIDDEN, clean_prose, replace_surrogates
from semantic_toolsearch.report import Problem

__all__ = ["MAX_DEPTH", "MAX_VALUES", "NotJsonError", "copy_json", "json_path"]

MAX_DEPTH: Final = 100
"""Containers inside containers; providers accept far fewer, and JSON libraries fail near 1,000."""

MAX_VALUES: Final = 100_000
"""Values in one definition, as JSON would write them: a shared object counts each time it is used."""

MAX_INTEGER_BITS: Final = 4_096
"""Python itself refuses to write integers above 4,300 digits."""

MAP_KEYWORDS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""JSON Schema keywords whose value maps free names to schemas."""

DATA_KEYWORDS: Final = frozenset({"default", "const", "enum", "examples", "example"})
"""JSON Schema keywords whose value is data: text below them must not be altered."""

_EXACT: Final = 2**53

Mode: TypeAlias = Literal["schema", "names", "data"]

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]{0,79}")


class NotJsonError(Exception):
    """A value cannot be written as JSON within this library's bounds."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.problem = Problem(path, reason)


def json_path(where: str, *keys: str | int) -> str:
    """Return a JSON path: `json_path("$", "enum", 0, "a b")` -> `$.enum[0]["a b"]`."""
    parts = [where]
    for key in keys:
        if isinstance(key, str):
            key = str.__str__(key)
            plain = _PLAIN_KEY.fullmatch(key) is not None or _is_word(key)
            parts.append(f".{key}" if plain else f"[{json.dumps(key[:80], ensure_ascii=True)}]")
        else:
            parts.append(f"[{key}]")
    return "".join(parts)


def _is_word(key: str) -> bool:
    """Whether a key is one word of any script, which its reader wants to see as it is written."""
    marked = (char for char in key if not char.isalnum() and char != "_")
    return (
        key[:1].isalpha() and len(key) <= 80 and all(unicodedata.category(char)[0] == "M" for char in marked)
    )


def copy_json(
    value: Any, where: str, mode: Mode = "data", *, max_depth: int = MAX_DEPTH, max_values: int = MAX_VALUES
) -> tuple[Any, list[Problem]]:
    """Copy a value into plain dicts, lists, strings, numbers, booleans and None, without recursion.

    Lone surrogates become U+FFFD everywhere; in mode "schema" hidden characters leave descriptions and
    titles, and are told of elsewhere. Tuples become lists, mappings dicts, subclasses of str, int and float
    their plain value.

    Returns:
        The copy, which shares nothing mutable with the original, and what was changed.

    Raises:
        NotJsonError: The value is cyclic, deeper than `max_depth`, larger than `max_values`, or holds
            something that JSON has no form for (NaN, sets, bytes, objects, keys that are not text).
    """
    copier = _Copier(where, max_depth, max_values)
    return copier.copy(value, mode), copier.problems


class _Frame:
    """One container that is being copied: what is left of it, and where its copy grows."""

    __slots__ = ("is_map", "items", "key", "mode", "source", "target")

    def __init__(self, source: Any, items: Iterator[tuple[Any, Any]], target: Any, mode: Mode) -> None:
        self.source, self.items, self.target, self.mode = source, items, target, mode
        self.key: Any = None
        self.is_map = type(target) is dict

    def store(self, key: Any, item: Any) -> None:
        if self.is_map:
            self.target[key] = item
        else:
            self.target.append(item)


class _Copier:
    """One copy under way: the containers being copied, outermost first, and what was changed so far."""

    def __init__(self, where: str, max_depth: int, max_values: int) -> None:
        self._where, self._max_depth, self._max_values = where, max_depth, max_values
        self._frames: list[_Frame] = []
        self._active: set[int] = set()
        self.problems: list[Problem] = []

    def copy(self, value: Any, mode: Mode) -> Any:
        top = _Frame(None, iter(((None, value),)), [], mode)
        self._frames.append(top)
        left = self._max_values
        while self._frames:
            frame = self._frames[-1]
            for key, item in frame.items:
                left -= 1
                if left < 0:
                    raise NotJsonError(self._where, f"more than {self._max_values:,} values")
                frame.key = key
                if frame.is_map and not (type(key) is str and key.isascii() and key.isprintable()):
                    frame.key = key = self._key(key, frame)
                kind = type(item)
                if kind is str:
                    if not (item.isascii() and item.isprintable()):
                        item = self._text(item, frame)
                elif item is not None and kind is not bool and not (kind is int and -_EXACT < item < _EXACT):
                    child = _container(item)
                    if child is not None:
                        frame.store(key, child.target)
                        self._enter(child, frame)
                        break
                    item = self._scalar(item, frame)
                if frame.is_map:  # as frame.store, without a call for every value
                    frame.target[key] = item
                else:
                    frame.target.append(item)
            else:
                self._frames.pop()
                self._active.discard(id(frame.source))
        return top.target[0]

    def _path(self) -> str:
        return json_path(self._where, *(frame.key for frame in self._frames[1:]))

    def _enter(self, child: _Frame, parent: _Frame) -> None:
        if id(child.source) in self._active:
            raise NotJsonError(self._path(), "the object contains itself")
        if len(self._frames) > self._max_depth:
            raise NotJsonError(self._where, f"nested deeper than {self._max_depth} levels")
        self._active.add(id(child.source))
        child.mode = _child_mode(parent.mode, parent.key) if parent.is_map else parent.mode
        self._frames.append(child)

    def _key(self, key: Any, frame: _Frame) -> str:
        if not isinstance(key, str):
            kind = type(key).__name__
            raise NotJsonError(self._path(), f"an object key of type {kind}; JSON keys are text")
        cleaned, surrogates = replace_surrogates(str.__str__(key))
        if surrogates:
            while cleaned in frame.target or cleaned in frame.source:
                cleaned += "\ufffd"
            frame.key = cleaned
            reason = f"{surrogates} lone surrogate(s) in the key became U+FFFD"
            self.problems.append(Problem(self._path(), reason))
        self._note_hidden(cleaned)
        return cleaned

    def _text(self, text: str, frame: _Frame) -> str:
        if frame.mode == "schema" and frame.key in ("description", "title"):
            cleaned, done = clean_prose(text)
            self.problems.extend(Problem(self._path(), reason) for reason in done)
            return cleaned
        cleaned, surrogates = replace_surrogates(text)
        if surrogates:
            self.problems.append(Problem(self._path(), f"{surrogates} lone surrogate(s) became U+FFFD"))
        self._note_hidden(cleaned)
        return cleaned

    def _note_hidden(self, text: str) -> None:
        if HIDDEN.search(text) and clean_prose(text)[0] != text:
            self.problems.append(Problem(self._path(), "hidden characters are left out of what a model sees"))

    def _scalar(self, item: Any, frame: _Frame) -> Any:
        if isinstance(item, int):
            number = int(item)
            if number.bit_length() > MAX_INTEGER_BITS:
                raise NotJsonError(self._path(), f"an integer of {number.bit_length():,} bits")
            return number
        if isinstance(item, float):
            if not math.isfinite(item):
                raise NotJsonError(self._path(), f"{float(item)!r} is not a JSON number")
            return float(item)
        if isinstance(item, str):
            return self._text(str.__str__(item), frame)
        raise NotJsonError(self._path(), f"a value of type {type(item).__name__} has no JSON form")


def _container(item: Any) -> _Frame | None:
    kind = type(item)
    if kind is dict or isinstance(item, Mapping):
        return _Frame(item, iter(list(item.items())), {}, "data")
    if kind is list or isinstance(item, list | tuple):
        return _Frame(item, iter(list(enumerate(item))), [], "data")
    return None


def _child_mode(mode: Mode, key: str) -> Mode:
    if mode == "schema":
        if key in MAP_KEYWORDS:
            return "names"
        return "data" if key in DATA_KEYWORDS else "schema"
    return "schema" if mode == "names" else "data"
