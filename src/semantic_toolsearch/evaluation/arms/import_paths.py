"""``package.module:Name`` in; the object that it names out."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.names import nearest

__all__ = ["imported"]


def imported(path: str) -> Any:
    """Import an object by its path; modules in the current folder can be imported, as with ``python -m``.

    Args:
        path: A module and a name in it, which may be dotted: ``my_package.rankers:Fast`` or ``my_rankers:made.fast``.

    Raises:
        ConfigError: The path has no such form, the module cannot be imported, or the name is not in it.
    """
    module_name, _, name = path.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *name.split("."))):
        raise ConfigError(f"{path!r} is no import path; write package.module:Name.")
    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as fault:  # a module may run anything while it is imported
        raise ConfigError(
            f"{path}: importing {module_name} failed with {type(fault).__name__}: {fault}"
        ) from fault
    for part in name.split("."):
        if not hasattr(found, part):
            similar = nearest(part, [each for each in dir(found) if not each.startswith("_")])
            hint = f"; did you mean {' or '.join(similar)}?" if similar else "."
            raise ConfigError(f"{path}: {module_name} has no {name}{hint}")
        found = getattr(found, part)
    return found
