"""JSON of a tool's owner in; the same as a model may see it out, and what the model then sends led back.

What is registered keeps its characters: its owner knows its parameters and values by them. What a model reads holds
none that a person who looks at it would not see.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.cleaning import HIDDEN, clean_prose
from semantic_toolsearch.schema_projection import wire_projection
from semantic_toolsearch.schema_repair import repair_schema
from semantic_toolsearch.schema_walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["led_back", "may_hide", "meant", "registered_names", "seen", "seen_schema"]

_ESCAPED: Final = re.compile(r"\\u00|\\[bfr]|\x7f")
"""How JSON writes control characters; a backslash before a letter may look like one, which costs a closer look."""


def may_hide(json_text: str) -> bool:
    """Whether JSON text (written with ``ensure_ascii=False``) may hold hidden characters."""
    if _ESCAPED.search(json_text):
        return True
    return not json_text.isascii() and HIDDEN.search(json_text) is not None


def seen(value: Any) -> Any:
    """Return a copy of a JSON value without hidden characters, in keys as well; see ``cleaning.clean_prose``."""
    if isinstance(value, str):
        return clean_prose(value)[0]
    if isinstance(value, dict):
        fields = {}
        for key, item in value.items():
            fields[clean_prose(key)[0] if isinstance(key, str) else key] = seen(item)
        return fields
    if isinstance(value, list | tuple):
        items = []
        for item in value:
            items.append(seen(item))  # noqa: PERF401 - a comprehension would halve the depth that can be copied
        return items
    return value


def seen_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in its wire form without hidden characters, and as well formed as it was."""
    mended, _ = repair_schema(seen(schema))
    if mended is None:  # a name that is a keyword but for its hidden characters
        return {"type": "object", "properties": {}}
    for node in walk(mended, follow=True):
        values = node.schema.get("enum")
        if isinstance(values, list):  # two may look the same now
            node.schema["enum"] = [value for place, value in enumerate(values) if value not in values[:place]]
    return wire_projection(mended)[0]


def registered_names(schema: dict[str, Any]) -> dict[str, str]:
    """Return the parameters that a model sees by another name than theirs: the registered name by the seen one."""
    names: dict[str, str] = {}
    plain: set[str] = set()
    for node in walk(schema, follow=True):
        properties = node.schema.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            shown = name if name.isascii() and name.isprintable() else clean_prose(name)[0]
            if shown == name:
                plain.add(name)
            else:
                names.setdefault(shown, name)
    return {shown: name for shown, name in names.items() if shown not in plain}


def led_back(value: Any, names: Mapping[str, str]) -> Any:
    """Return a call's arguments, as ``arguments.check`` copied them, under the registered names."""
    if isinstance(value, dict):
        fields = {}
        for key, item in value.items():
            fields[names.get(key, key)] = led_back(item, names)
        return fields
    if isinstance(value, list):
        for place, item in enumerate(value):
            value[place] = led_back(item, names)
    return value


def meant(text: str, allowed: Iterable[Any]) -> str | None:
    """Return the one allowed text that a model sees as this text; None where there is none, or are several."""
    found = [one for one in allowed if isinstance(one, str) and one != text and clean_prose(one)[0] == text]
    return found[0] if len(found) == 1 else None
