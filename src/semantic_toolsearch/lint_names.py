"""A catalog in; its tools and servers whose names could be taken for another's, or pretend to be, out."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from semantic_toolsearch.cleaning import clean_prose, has_hidden, strip_hidden
from semantic_toolsearch.lookalikes import describe_characters, mixed_scripts, neighbours, skeleton
from semantic_toolsearch.names import squash
from semantic_toolsearch.schemas import schema_fields

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.definitions import ToolDefinition

__all__ = ["SimilarNames", "odd_characters", "similar_names"]


class SimilarNames(NamedTuple):
    """Tools, or servers as `name/*`, with the same name or with names that look alike."""

    kind: Literal["same-name", "look-alike"]
    tools: tuple[str, ...]
    message: str


def similar_names(catalog: Catalog) -> list[SimilarNames]:
    """Compare the names of all servers, then those of all tools.

    Alike are names with the same skeleton, wherever they stand, and names one character apart on different
    servers (within one server, `list_table` beside `list_tables` is ordinary).
    """
    servers = [_Name("server", owner, owner, f"{owner}/*") for owner in catalog.namespaces]
    tools = [
        _Name("tool", tool.name, tool.namespace, label)
        for tool, label in zip(catalog, catalog.wire_names, strict=True)
    ]
    return [*_similar(servers), *_similar(tools)]


def odd_characters(tool: ToolDefinition) -> str | None:
    """Say which characters of its name, its server's or a parameter's are hidden or foreign; None for none."""
    names = [("Its name", tool.name), ("Its server's name", tool.namespace or "")]
    names += [("The name of its parameter", field.name) for field in schema_fields(tool.parameters)]
    for what, name in names:
        shown = strip_hidden(name)
        if clean_prose(name)[0] != name:
            hidden = "".join(char for char in name if has_hidden(char))
            return f"{what} {shown!r} holds characters that are not seen: {describe_characters(hidden)}."
        if any(unicodedata.category(char) == "Co" for char in name):
            return f"{what} {shown!r} holds characters without any meaning: {describe_characters(name)}."
        scripts = mixed_scripts(name)
        if scripts:
            return f"{what} {shown!r} mixes {' and '.join(scripts)} in one word: {describe_characters(name)}."
    return None


class _Name(NamedTuple):
    what: Literal["server", "tool"]
    text: str
    owner: str | None
    label: str


def _similar(names: Sequence[_Name]) -> list[SimilarNames]:
    by_look: defaultdict[str, list[_Name]] = defaultdict(list)
    by_key: defaultdict[str, list[_Name]] = defaultdict(list)
    for name in names:
        by_look[skeleton(name.text)].append(name)
        by_key[squash(name.text)].append(name)
    found = [_same_look(group) for look, group in by_look.items() if look and len(group) > 1]
    # A capital I looks like a small l, so that names equal but for case need not look the same.
    found += [
        _same_look(group)
        for key, group in by_key.items()
        if key and len({skeleton(name.text) for name in group}) > 1
    ]
    # A skeleton merges characters on purpose, so single errors are looked for in the names as written.
    for first, second in neighbours(by_key):
        group = by_key[first] + by_key[second]
        same_look = skeleton(by_key[first][0].text) == skeleton(by_key[second][0].text)
        if not same_look and len({name.owner for name in group}) > 1:
            message = f"The {group[0].what} names {_listed(group)} are one character apart."
            found.append(SimilarNames("look-alike", _labels(group), message))
    return found


def _same_look(group: Sequence[_Name]) -> SimilarNames:
    what, texts = group[0].what, {name.text for name in group}
    if len(texts) == 1:
        message = f"The {what} name {_listed(group)} is used by {len(group)} servers."
        return SimilarNames("same-name", _labels(group), message)
    if len({squash(text) for text in texts}) == 1:
        message = f"The {what} names {_listed(group)} differ in case or separators only."
        apart = what == "tool" and len({name.owner for name in group}) == len(group)
        return SimilarNames("same-name" if apart else "look-alike", _labels(group), message)
    odd = describe_characters("".join(sorted(texts)))
    message = f"The {what} names {_listed(group)} look the same{f' ({odd})' if odd else ''}."
    return SimilarNames("look-alike", _labels(group), message)


def _labels(group: Iterable[_Name]) -> tuple[str, ...]:
    return tuple(name.label for name in group)


def _listed(group: Iterable[_Name]) -> str:
    return ", ".join(repr(strip_hidden(text)) for text in sorted({name.text for name in group})[:5])
