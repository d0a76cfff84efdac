"""Whatever a caller holds its tools in comes in; each definition, with place and namespace, comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import CatalogError
from semantic_toolsearch.functions import is_function
from semantic_toolsearch.reading import SCHEMA_KEYS

__all__ = ["Place", "places"]

_ADVICE = "Give a list of tool definitions, a tools/list result, or a mapping of server names to such lists."


class Place(NamedTuple):
    """One input position: index, the same as text, the namespace around it, and the definition."""

    position: int
    where: str
    namespace: str | None
    source: Any


def places(tools: Any, descriptions: dict[str, str]) -> Iterator[Place]:
    """Yield the definitions in order.

    Args:
        tools: An iterable of definitions, `tools/list` results and namespaces, freely mixed; one such
            result; or a mapping of namespaces to lists or results.
        descriptions: Filled with the descriptions of the namespaces met.

    Raises:
        CatalogError: The input as a whole is none of these, or its iteration failed.
    """
    if isinstance(tools, Mapping):
        try:
            mapping = dict(tools)
        except Exception as error:
            raise CatalogError(
                f"The mapping of tools raised {type(error).__name__} when it was read."
            ) from error
        yield from _from_mapping(mapping, descriptions)
        return
    page = _page(tools)
    if page is not None:
        for position, source in enumerate(page):
            yield Place(position, f"tools[{position}]", None, source)
        return
    for position, source in enumerate(_iterate(tools)):
        try:
            group = _group(source)
        except Exception:  # a foreign object that cannot even be looked at: reading it says so
            group = None
        if group is None:
            yield Place(position, f"[{position}]", None, source)
            continue
        namespace, members = group
        _describe(namespace, source, descriptions)
        for index, member in enumerate(members):
            yield Place(position, f"[{position}].tools[{index}]", namespace, member)


def _iterate(tools: Any) -> Iterator[Any]:
    if isinstance(tools, ToolDefinition) or is_function(tools) or hasattr(tools, "model_dump"):
        raise CatalogError(
            f"One tool ({type(tools).__name__}) was given where several are expected: pass [tool]."
        )
    if isinstance(tools, str | bytes | bytearray) or not isinstance(tools, Iterable):
        hint = " Await the call that lists the tools first." if hasattr(tools, "__await__") else ""
        raise CatalogError(f"Tools cannot be read from {_shown(tools)}. {_ADVICE}{hint}")
    count = 0
    try:
        for source in tools:
            yield source
            count += 1
    except CatalogError:
        raise
    except Exception as error:
        raise CatalogError(
            f"The iterable of tools raised {type(error).__name__} after {count} of them."
        ) from error


def _shown(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _from_mapping(tools: Mapping[Any, Any], descriptions: dict[str, str]) -> Iterator[Place]:
    group = _group(tools)
    if group is not None:
        namespace, members = group
        _describe(namespace, tools, descriptions)
        for position, member in enumerate(members):
            yield Place(position, f"tools[{position}]", namespace, member)
        return
    if "name" in tools or "type" in tools or any(key in tools for key in SCHEMA_KEYS):
        raise CatalogError("One tool definition was given where several are expected: pass [definition].")
    servers = []
    for server, value in tools.items():
        listed = value if isinstance(value, list | tuple) else _members(value)
        if not isinstance(server, str) or listed is None:
            raise CatalogError(
                f"A mapping gives each server's name a list of tools; under {str(server)[:80]!r} stands "
                f"{_shown(value)}. {_ADVICE}"
            )
        servers.append((server, listed))
    for server, listed in servers:
        for position, source in enumerate(listed):
            yield Place(position, f"{server}[{position}]", server, source)


def _group(source: Any) -> tuple[str | None, Iterable[Any]] | None:
    """Return namespace and members of a page or namespace; None for a single definition."""
    members = _members(source)
    if members is None:
        return None
    if isinstance(source, Mapping):
        for key in ("name", "namespace", "server"):
            if isinstance(source.get(key), str):
                return source[key], members
    return None, members


def _members(source: Any) -> Iterable[Any] | None:
    if isinstance(source, dict):
        result = source.get("result")  # a JSON-RPC answer as it came over the wire
        if "tools" not in source and isinstance(result, dict):
            source = result
        tools = source.get("tools")
        single = any(key in source for key in SCHEMA_KEYS)
        return tools if isinstance(tools, list | tuple) and not single else None
    return _page(source)


def _page(source: Any) -> Iterable[Any] | None:
    """Return the tools of an SDK's list result; None for everything else."""
    if isinstance(source, ToolDefinition | Mapping | str | list | tuple) or not hasattr(
        type(source), "model_dump"
    ):
        return None
    try:
        tools = source.tools
    except Exception:  # an object without tools, or one that raises when asked
        return None
    return tools if isinstance(tools, list | tuple) else None


def _describe(namespace: str | None, source: Any, descriptions: dict[str, str]) -> None:
    if namespace is not None and isinstance(source, Mapping):
        description = source.get("description")
        if isinstance(description, str) and description:
            descriptions.setdefault(namespace, description)
