"""Items and the tools list of a Responses request in; the items with the namespaces that the provider wants out.

A call is replayed with the namespace that its function has. A function that was sent in full, or as a stub, has none;
where a later request of that conversation defers it, the provider refuses the call as it came ("Missing namespace for
function_call").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semantic_toolsearch.history import plain as plain_of
from semantic_toolsearch.providers.rules_responses import Declared

__all__ = ["with_namespaces"]


def with_namespaces(items: Sequence[Any], tools: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Give calls without a namespace the one that their function has now; all else is the caller's own object.

    Args:
        items: The request's input items, as dicts or SDK objects.
        tools: Its tools list.
    """
    plain = [plain_of(item) for item in items]
    declared = Declared(tools)
    flat, spaces = set(declared.flat), _spaces(declared)
    for value in plain:
        if _kind(value) == "tool_search_output":
            found = Declared(value.get("tools"))
            spaces = {**dict(zip(found.flat, found.flat, strict=True)), **_spaces(found), **spaces}
        elif _kind(value) == "additional_tools":
            added = Declared(value.get("tools"))
            flat |= added.flat
            spaces = {**_spaces(added), **spaces}
    return [
        {**value, "namespace": spaces[value["name"]]}
        if _kind(value) in ("function_call", "custom_tool_call")
        and not value.get("namespace")
        and isinstance(value.get("name"), str)
        and value["name"] in spaces
        and value["name"] not in flat
        else item
        for item, value in zip(items, plain, strict=True)
    ]


def _spaces(declared: Declared) -> dict[str, str]:
    """The namespace of each function that has one; a flat deferred function has one of its own name."""
    inner = {name: space for space, names in declared.inner.items() for name in names}
    return inner | {name: name for name in declared.deferred}


def _kind(item: Any) -> Any:
    return item.get("type") if isinstance(item, Mapping) else None
