"""Raw tool names in; their words, their comparison key and their provider-legal wire names out."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from heapq import nlargest

from .cleaning import strip_hidden

__all__ = [
    "MAX_WIRE_NAME",
    "MCP_PREFIX",
    "RESERVED_NAMES",
    "nearest",
    "split_identifier",
    "squash",
    "wire_name",
    "wire_names",
    "wire_namespace",
    "wire_namespaces",
]

MAX_WIRE_NAME = 64
"""The longest name that every provider accepts, in characters."""

MCP_PREFIX = "mcp__"
"""What some clients put before the server's name in every name of a server's tools (``mcp__server__name``)."""

RESERVED_NAMES = frozenset({"tool_search", "call_tool", "tool_search_tool_bm25", "tool_search_tool_regex"})
"""Names of this library's own tools and of a provider's hosted search, which stand in the same list; a catalog's tool
of such a name travels with a hash behind it."""

# Words written in mixed case that their readers take for one word.
# fmt: off
_BRANDS = (
    "OAuth", "OpenAI", "OpenAPI", "GitHub", "GitLab", "BitBucket", "YouTube", "LinkedIn", "WhatsApp",
    "PayPal", "WordPress", "HubSpot", "SharePoint", "OneDrive", "OneNote", "PowerPoint", "JavaScript",
    "TypeScript", "GraphQL", "PostgreSQL", "MySQL", "SQLite", "NoSQL", "MongoDB", "DynamoDB", "BigQuery",
    "ClickHouse", "DevOps", "WebSocket", "WiFi", "LaTeX", "PyPI", "iOS", "iPadOS", "iPhone", "iPad", "iCloud",
    "macOS", "eBay",
)
# fmt: on
_BRAND = re.compile(f"(?:{'|'.join(_BRANDS)})(?![a-z])")

# Each character is mapped to one letter (U upper, l lower, s the letter s, d digit, o other letter, m mark),
# and words are found in that shadow of the name: "parseHTTPHeader2" -> "lllslUUUUUllllld".
_WORD = re.compile(
    r"U{2,}s(?![ls])"  # plural acronym: URLs, IDs
    r"|[Um]+(?![lsm])"  # acronym, up to the capital that starts the next word
    r"|U?m*[ls][lsm]*"  # Word or word
    r"|d+"
    r"|o[om]*"  # scripts without case
    r"|m+"
)


class _Classes(dict[int, str]):
    """Code point -> class letter, for `str.translate`; computed once per code point."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category in ("Lu", "Lt"):
            shade = "U"
        elif category == "Ll":
            shade = "s" if char == "s" else "l"
        elif category[0] == "L":
            shade = "o"
        elif category[0] == "M":
            shade = "m"
        else:
            shade = "d" if category[0] == "N" else "-"
        self[code] = shade
        return shade


_CLASSES = _Classes()
_NOT_ASCII_WORD = re.compile(r"[^a-z0-9]+")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")
_LEGAL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
# Latin letters that Unicode does not decompose, by the spelling their languages use without them.
_LATIN = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
     "ł": "l", "Ł": "L",
     "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i"}
)  # fmt: skip


def split_identifier(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words, whatever its case style or script.

    `parseHTTPHeader2` -> parse, http, header, 2. Capitals, digits, separators of any kind and a change of
    script divide words; hidden characters do not.
    """
    text = strip_hidden(name)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if not (text.islower() or text.isupper()):
        text = _BRAND.sub(_one_word, text)
    shadow = text.translate(_CLASSES)
    return tuple(text[m.start() : m.end()].lower() for m in _WORD.finditer(shadow))


def squash(name: str) -> str:
    """Return the case-folded letters and digits only: one key for addGuest, ADD_GUEST and "add guest".

    Works for any script; combining marks belong to their letters and stay. May be empty ("+++").
    """
    if name.isascii():
        return _NOT_ASCII_WORD.sub("", name.lower())
    text = unicodedata.normalize("NFKC", strip_hidden(name)).casefold()
    text = unicodedata.normalize("NFKC", text)
    kept = "".join(c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M")
    return unicodedata.normalize("NFC", kept)


def wire_namespace(label: str) -> str:
    """Return a namespace's provider-safe name: letters, digits, `_`, `-`; at most 64 characters.

    Each run of other characters becomes one `_`. A pure function of the label; two labels may become equal,
    see `wire_namespaces`.
    """
    legal = _ILLEGAL.sub("_", _ascii(label))
    if not legal.strip("_-"):
        return f"ns_{_digest(None, label, 8)}"
    if len(legal) > MAX_WIRE_NAME:
        return f"{legal[: MAX_WIRE_NAME - 9]}_{_digest(None, label, 8)}"
    return legal


def wire_namespaces(labels: Sequence[str]) -> tuple[str, ...]:
    """Return distinct wire names (ignoring case) for distinct labels, whatever the order of labels."""
    taken: set[str] = set()
    chosen: dict[str, str] = {}
    for label in sorted(set(labels)):
        plain = wire_namespace(label)
        chosen[label] = _claim(plain, plain, None, label, taken)
    return tuple(chosen[label] for label in labels)


def wire_name(namespace: str | None, name: str) -> str:
    """Return the wire name of one identity on its own.

    `namespace__name`, or the bare name without a namespace or where the name already starts with it. A name
    that had to be changed or cut ends in eight hex digits of its identity's hash. A pure function of the
    identity: a conversation's tool names stay valid in another catalog, except where two identities collide
    (see `wire_names`). Names start with a letter or `_`, as one provider demands.
    """
    legal, head = _plain(namespace, name)
    return legal or _hashed(head, namespace, name, 8)


def wire_names(identities: Sequence[tuple[str | None, str]]) -> tuple[str, ...]:
    """Return one wire name per (namespace, name): legal, at most 64 characters, unique ignoring case.

    The result does not depend on the order of identities: where legal names are equal ignoring case, the
    first in sorted order keeps it and the others get their identity's hash. Equal identities get equal names.
    """
    taken: set[str] = set()
    chosen: dict[tuple[str | None, str], str] = {}
    changed: list[tuple[str | None, str, str]] = []
    for namespace, name in sorted(set(identities), key=_sort_key):
        legal, head = _plain(namespace, name)
        if legal and legal.lower() not in taken:
            taken.add(legal.lower())
            chosen[namespace, name] = legal
        else:
            changed.append((namespace, name, head))
    for (
        namespace,
        name,
        head,
    ) in changed:  # after all unchanged ones, so that a hash never takes a tool's own name
        chosen[namespace, name] = _claim(_hashed(head, namespace, name, 8), head, namespace, name, taken)
    return tuple(chosen[identity] for identity in identities)


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return at most `limit` candidates that look like the name, best first; () when none does.

    Bounded for large catalogs: letter pairs choose at most 100 candidates, only those are compared fully.
    """
    wanted = squash(name[:200])
    pairs = _pairs(wanted)
    if not pairs:
        return ()
    rough = []
    for candidate in dict.fromkeys(candidates):
        key = squash(candidate[:200])
        other = _pairs(key)
        if common := len(pairs & other):
            rough.append((2 * common / (len(pairs) + len(other)), candidate, key))
    best = []
    for _, candidate, key in nlargest(100, rough):
        ratio = SequenceMatcher(None, wanted, key, autojunk=False).ratio()
        if len(wanted) >= 4 and wanted in key:
            ratio = max(ratio, 0.7)  # a whole part of a long prefixed name is what people remember
        if ratio >= 0.6:
            best.append((-ratio, candidate))
    return tuple(candidate for _, candidate in sorted(best)[: max(limit, 0)])


def _one_word(brand: re.Match[str]) -> str:
    before = brand.string[brand.start() - 1 : brand.start()]
    inside = before.isalpha() if brand[0][0].islower() else before.isupper()
    return brand[0] if inside else brand[0].capitalize()


def _pairs(key: str) -> set[str]:
    return {key[i : i + 2] for i in range(len(key) - 1)} or ({key} if key else set())


def _sort_key(identity: tuple[str | None, str]) -> tuple[str, bool, str]:
    namespace, name = identity
    return namespace or "", namespace is not None, name


def _ascii(text: str) -> str:
    if text.isascii():
        return text if text.isprintable() else strip_hidden(text)
    decomposed = unicodedata.normalize("NFKD", strip_hidden(text).translate(_LATIN))
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")


def _plain(namespace: str | None, name: str) -> tuple[str | None, str]:
    """Return the name that needs no change, if any, and the readable head of a hashed one."""
    tail = _ILLEGAL.sub("_", _ascii(name))
    if namespace is None or _has_prefix(namespace, name, tail):
        legal = name if _LEGAL_NAME.fullmatch(name) else None
        head = tail
    else:
        joined = f"{namespace}__{name}"
        legal = joined if _LEGAL_NAME.fullmatch(joined) else None
        space = _ILLEGAL.sub("_", _ascii(namespace))
        room = MAX_WIRE_NAME - 9
        # A long namespace must not push the tool's own name out of sight.
        space = space[: max(room - 2 - len(tail), 16)]
        head = f"{space}__{tail}"
    if legal in RESERVED_NAMES:
        legal = None
    if not head.strip("_-"):
        head = "tool"
    return legal, head if head[0].isalpha() or head[0] == "_" else f"_{head}"


def _has_prefix(namespace: str, name: str, tail: str) -> bool:
    lowered = (name.lower(), tail.lower())
    for prefix in {namespace.lower(), wire_namespace(namespace).lower()}:
        for text in lowered:
            rest = text.removeprefix(MCP_PREFIX)
            if rest.startswith(prefix) and rest[len(prefix) : len(prefix) + 1] in ("_", "-", ".", "/", ":"):
                return True
    return False


def _claim(first: str, head: str, namespace: str | None, name: str, taken: set[str]) -> str:
    choice, digits = first, 8
    while choice.lower() in taken:
        choice = _hashed(head, namespace, name, digits)
        digits += 4
    taken.add(choice.lower())
    return choice


def _hashed(head: str, namespace: str | None, name: str, digits: int) -> str:
    return f"{head[: MAX_WIRE_NAME - 1 - digits].rstrip('_-') or '_'}_{_digest(namespace, name, digits)}"


def _digest(namespace: str | None, name: str, digits: int) -> str:
    return hashlib.sha256(json.dumps([namespace, name]).encode()).hexdigest()[:digits]
