"""Which tools a caller may see, as names or as a function, in; the mask that rankers and rules obey out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import ConfigError

if TYPE_CHECKING:
    from semantic_toolsearch.catalog import Catalog
    from semantic_toolsearch.rankers.protocol import Visible

__all__ = ["VisibleTools", "visible_mask"]

VisibleTools: TypeAlias = Iterable[str] | Callable[[ToolDefinition], bool] | None
"""What a caller may see: names of tools, a function that says it of each, or None for all."""

logger = logging.getLogger("semantic_toolsearch")


def visible_mask(catalog: Catalog, visible: VisibleTools) -> Visible | None:
    """Read a permission literally: what is not surely allowed is not visible.

    Args:
        catalog: The tools.
        visible: Names (wire names, unique raw names, ``server.name``), or a function of a definition; None for
            all. A name that no tool has allows nothing, nor does one that several have, which is logged.

    Returns:
        bool ``[n]``; None where everything is visible.

    Raises:
        ConfigError: It is neither.
    """
    if visible is None:
        return None
    if callable(visible):
        return np.fromiter((bool(visible(tool)) for tool in catalog), dtype=np.bool_, count=len(catalog))
    if isinstance(visible, str | bytes) or not isinstance(visible, Iterable):
        raise ConfigError(
            f"visible is {visible!r}; pass a collection of tool names, or a function of a tool."
        )
    mask = np.zeros(len(catalog), dtype=np.bool_)
    for name in visible:
        if not isinstance(name, str):
            raise ConfigError(f"visible holds a {type(name).__name__}; pass tool names.")
        places = catalog.exact(name)
        if len(places) == 1:
            mask[places[0]] = True
        elif places:
            logger.warning(
                "visible names %r, which %d tools bear; none was allowed. Use one of: %s",
                name, len(places), ", ".join(catalog.wire_names[place] for place in places),
            )  # fmt: skip
    return mask
