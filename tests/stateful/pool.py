"""Tools whose every text tells which tool it is of, so that a leak of one can be seen in any output."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from semantic_toolsearch.names import wire_name

Identity = tuple[str | None, str]

SPACES = (None, "wiki nk1", "Desk_nk2", "海運nk3", "zq20_rates")
"""The last namespace has the name of a tool, which providers cannot tell apart unless one of them is changed."""

_STYLES = ("zq{:02}_{}_{}", "zq{:02}-{}-{}", "zq{:02}.{}.{}", "zq{:02} {} {}", "zq{:02}発注_{}_{}")
_VERBS = ("renew", "send", "find", "close", "print")
_NOUNS = ("loan", "ticket", "page", "freight", "invoice", "room")
_TOKEN = re.compile(r"zq(\d\d)|nk(\d)|qz(\d\d)v(\d+)z", re.IGNORECASE)


def _name(number: int) -> str:
    return _STYLES[number % 5].format(number, _VERBS[number % 5], _NOUNS[number % 6])


# Every namespace holds a tool called like one of another namespace.
POOL: tuple[Identity, ...] = (
    *((SPACES[number % 4], _name(number)) for number in range(20)),
    *((space, _name(7)) for space in SPACES[:3]),
    (None, "zq20_rates"),
    ("zq20_rates", "zq21_convert"),
    ("zq20_rates", "zq20_rates"),
)
WIRE = {identity: wire_name(*identity) for identity in POOL}
"""Names on the wire: the pool holds no two that collide, so each is a function of its identity alone."""


@dataclass(frozen=True)
class Version:
    """One state of one tool."""

    number: int
    defer: str = "automatic"
    registered: bool = True


def marker(identity: Identity, version: Version) -> str:
    """A word that only this version of this tool has."""
    return f"qz{POOL.index(identity):02}v{version.number}z"


def definition(identity: Identity, version: Version) -> dict:
    """The tool as its server describes it; it must be given a whole number."""
    space, name = identity
    number, mark = POOL.index(identity), marker(identity, version)
    properties = {mark: {"type": "string", "description": f"Part of {mark}"}, "count": {"type": "integer"}}
    return {
        "name": name,
        "namespace": space,
        "description": f"{_VERBS[number % 5]} a {_NOUNS[number % 6]} of kind {mark}",
        "parameters": {"type": "object", "properties": properties, "required": ["count"]},
        "defer": version.defer,
        "registered": version.registered,
    }


def leaks(output: object, seen: dict[Identity, Version], said: object = "") -> set[str]:
    """Words of tools that are not there to be seen, other than those that the model itself had said."""
    allowed = {word.lower() for word in _words(said)}
    for identity, version in seen.items():
        allowed |= {word.lower() for word in _words([*identity, WIRE[identity], marker(identity, version)])}
    return {word for word in _words(output) if word.lower() not in allowed}


def _words(value: object) -> set[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return {match[0] for match in _TOKEN.finditer(text)}
