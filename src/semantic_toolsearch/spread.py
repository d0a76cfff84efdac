"""A full page of tools and those that wait behind it in; the place that one server must give to another, out.

Whoever offers a tool writes its texts, and thirty near copies of another's tool cost nothing: ranked by text alone they
fill every place. So tools of one server never take all places while another's tool is an answer as well. Tools that
belong to no server are the application's own and need not make room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from semantic_toolsearch.names import MCP_PREFIX

__all__ = ["LENIENCE", "Standing", "places_to_swap", "server_of"]

LENIENCE: Final = 0.8
"""Share of what the band asks that is enough for the place kept for another server: who copies the very words of a
request scores as high as can be, and would push everybody else under the band."""


class Standing(NamedTuple):
    """One tool of a page, or behind it.

    Attributes:
        server: Whose tool it is, see ``server_of``.
        named: Whether the query names it.
    """

    server: str | None
    named: bool


def server_of(namespace: str | None, name: str) -> str | None:
    """The namespace, or the server that a flat name (``mcp__server__name``) tells; None for neither."""
    if namespace is None and name.startswith(MCP_PREFIX):
        server, separator, _ = name.removeprefix(MCP_PREFIX).partition("__")
        return server if separator and server else None
    return namespace


def places_to_swap(page: Sequence[Standing], waiting: Sequence[Standing]) -> tuple[int, int] | None:
    """Find who makes room for whom.

    Args:
        page: The tools to return, best first.
        waiting: Those that would answer too and have no place, best first.

    Returns:
        Index of the tool that goes, the last of the page, and of the one that comes, the best of another server or of
        none; None where nobody has to. A tool that the query names makes way for another such tool only.
    """
    servers = {tool.server for tool in page}
    if len(page) < 2 or len(servers) > 1 or None in servers:
        return None
    last = len(page) - 1
    for index, tool in enumerate(waiting):
        if tool.server not in servers and (tool.named or not page[last].named):
            return last, index
    return None
