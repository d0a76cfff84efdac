"""A hosted search call and the request's deferred tools in; the tools it finds out. Emulated.

The real services do not publish how they rank. What is known is kept: the searched texts are name, description,
argument names and argument descriptions; at most five results unless the call asks for another number; no result is
padded in; regular expressions ignore case and are limited in length; OpenAI loads exact names.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import regex

from semantic_toolsearch.names import split_identifier

from .refusal import ScriptError
from .view import Surface

if TYPE_CHECKING:
    from .script import Search

__all__ = ["SearchFailure", "by_bm25", "by_paths", "by_regex", "choose_paths", "fields"]

MAX_PATTERN: Final = 200
MAX_QUERY: Final = 500
_DEFAULT_RESULTS: Final = 5
_MOST_RESULTS: Final = 20
_K1: Final = 1.2
_B: Final = 0.75
_SECONDS: Final = 0.5
_WORD: Final = re.compile(r"[^\W_]+")


class SearchFailure(Exception):  # noqa: N818 - it is an answer of the search
    """The search answers with an error code, at HTTP status 200."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def fields(surface: Surface) -> tuple[str, ...]:
    """The searched texts of a tool, one for each field."""
    name = surface.name
    return (name, " ".join(split_identifier(name)), surface.description, *_argument_texts(surface.parameters))


def by_bm25(query: str, limit: Any, surfaces: Sequence[Surface]) -> list[Surface]:
    """Rank by Okapi BM25 over one joined document a tool; equal scores keep the order of the request.

    Raises:
        SearchFailure: The query is longer than 500 characters.
    """
    if len(query) > MAX_QUERY:
        raise SearchFailure("invalid_tool_input", f"Query exceeds {MAX_QUERY} characters")
    ranked = _ranked(query, [" ".join(fields(surface)) for surface in surfaces])
    return [surfaces[position] for position in ranked][: _limit(limit)]


def by_regex(pattern: str, limit: Any, surfaces: Sequence[Surface]) -> list[Surface]:
    """Return the tools with a field that the pattern matches, in the order of the request.

    Raises:
        SearchFailure: The pattern is too long, is none, or takes too long.
    """
    if len(pattern) > MAX_PATTERN:
        raise SearchFailure("invalid_tool_input", f"Pattern exceeds {MAX_PATTERN} characters")
    try:
        re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise SearchFailure("invalid_tool_input", f"Invalid regular expression pattern: {error}") from None
    try:
        compiled = regex.compile(pattern, regex.IGNORECASE | regex.VERSION0)
        found = [s for s in surfaces if any(compiled.search(text, timeout=_SECONDS) for text in fields(s))]
    except regex.error as error:
        raise SearchFailure("invalid_tool_input", f"Invalid regular expression pattern: {error}") from None
    except TimeoutError:
        raise SearchFailure("execution_time_exceeded", "The search took too long") from None
    return found[: _limit(limit)]


def by_paths(paths: Sequence[str], surfaces: Sequence[Surface]) -> list[Surface]:
    """Return the deferred functions that OpenAI would load: a flat name, a namespace, or ``namespace.function``.

    Unknown paths and repeats are skipped.

    Raises:
        ScriptError: A path means two things.
    """
    deferred = [surface for surface in surfaces if surface.deferred]
    found: list[Surface] = []
    for path in paths:
        flat = [s for s in deferred if not s.grouped and s.name == path]
        group = [s for s in deferred if s.grouped and s.namespace == path]
        one = [s for s in deferred if s.grouped and f"{s.namespace}.{s.name}" == path]
        meanings = [meaning for meaning in (flat, group, one) if meaning]
        if len(meanings) > 1:
            raise ScriptError(f"the path {path!r} is both a function and a namespace")
        found.extend(s for meaning in meanings for s in meaning if not any(s is other for other in found))
    return found


def choose_paths(
    step: Search, up_front: Sequence[Mapping[str, Any]], surfaces: Sequence[Surface] = ()
) -> list[str]:
    """The names that the model loads (emulated).

    Those given, else those that stand in the query, else the best by what the model reads, else, as a lucky guess, by
    what stays hidden in them.
    """
    if step.paths is not None:
        return list(step.paths)
    shown = {_label(entry): entry for entry in up_front if _loadable(entry)}
    words = step.query.split()
    named = [name for name in shown if any(word.strip("`'\".,()") == name for word in words)]
    if named:
        return named
    read = [
        f"{name} {' '.join(split_identifier(name))} {entry.get('description') or entry.get('server_description') or ''}"
        for name, entry in shown.items()
    ]
    hidden = [
        " ".join(text for s in surfaces if s.deferred and s.namespace == name for text in fields(s))
        for name in shown
    ]
    chosen = _ranked(step.query, read) or _ranked(step.query, hidden)
    return [list(shown)[position] for position in chosen][: step.limit or 1]


def _label(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or entry.get("server_label") or "")


def _loadable(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == "namespace" or bool(entry.get("defer_loading"))


def _limit(limit: Any) -> int:
    if not isinstance(limit, int) or isinstance(limit, bool):
        return _DEFAULT_RESULTS
    return max(1, min(limit, _MOST_RESULTS))


def _words(text: str) -> list[str]:
    return [word for run in _WORD.findall(text) for word in split_identifier(run)]


def _ranked(query: str, documents: Sequence[str]) -> list[int]:
    """Positions with a score above zero, best first."""
    counts = [Counter(_words(document)) for document in documents]
    lengths = [sum(count.values()) for count in counts]
    average = (sum(lengths) / len(lengths) if lengths else 0) or 1.0
    scores = [0.0] * len(documents)
    for word in dict.fromkeys(_words(query)):
        holders = sum(1 for count in counts if word in count)
        weight = math.log(1 + (len(counts) - holders + 0.5) / (holders + 0.5))
        for position, count in enumerate(counts):
            if frequency := count[word]:
                norm = _K1 * (1 - _B + _B * lengths[position] / average)
                scores[position] += weight * frequency * (_K1 + 1) / (frequency + norm)
    return sorted((p for p, score in enumerate(scores) if score > 0), key=lambda p: -scores[p])


def _argument_texts(schema: Any) -> Iterator[str]:
    pending = [schema]
    while pending:
        node = pending.pop(0)
        if not isinstance(node, Mapping):
            continue
        properties = node.get("properties")
        for name, child in (properties if isinstance(properties, Mapping) else {}).items():
            yield str(name)
            if isinstance(child, Mapping) and isinstance(child.get("description"), str):
                yield child["description"]
            pending.append(child)
        pending.append(node.get("items"))
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = node.get(keyword)
            pending.extend(branches if isinstance(branches, list) else ())
        definitions = node.get("$defs")
        pending.extend(definitions.values() if isinstance(definitions, Mapping) else ())
