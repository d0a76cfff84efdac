"""``package.module:Name`` in; the object that it names, and what its code is recognised by, out."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.measuring.collecting import FAULTS, reason_of
from semantic_toolsearch.names import nearest

__all__ = ["code_of", "imported"]


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
    except FAULTS as fault:  # a module may run anything while it is imported
        raise ConfigError(f"{path}: importing {module_name} failed with {reason_of(fault)}") from fault
    module = found
    for part in name.split("."):
        if not hasattr(found, part):
            similar = nearest(part, [each for each in dir(found) if not each.startswith("_")])
            hint = f"; did you mean {' or '.join(similar)}?" if similar else "."
            raise ConfigError(f"{path}: {module_name} has no {name}{hint}{_shadowed(module, module_name)}")
        found = getattr(found, part)
    return found


def code_of(path: str) -> str:
    """What tells the code behind an import path from what it was before an edit.

    Args:
        path: What ``imported`` took.

    Returns:
        A hash of the sources: all of a package, or a file of its own with its neighbours. Empty where there are none.
    """
    name = path.partition(":")[0]
    module = sys.modules.get(name.partition(".")[0])
    file = getattr(module, "__file__", None) or getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return ""
    folder = Path(file).parent
    sources = folder.rglob("*.py") if hasattr(module, "__path__") else folder.glob("*.py")
    digest = hashlib.sha256()
    for source in sorted(sources):
        try:
            content = source.read_bytes()
        except OSError:
            continue
        digest.update(f"{source.relative_to(folder)}\0{len(content)}\0".encode("utf-8", "replace") + content)
    return digest.hexdigest()


def _shadowed(module: Any, name: str) -> str:
    """What to say where a file of the user's own has the name of a module that came first; else nothing."""
    own = Path(os.getcwd(), *name.split(".")).with_suffix(".py")
    file = getattr(module, "__file__", None)
    if not own.is_file() or (file is not None and Path(file).resolve() == own.resolve()):
        return ""
    return (
        f" It was found in {file or 'Python itself'}; give your {own.name} a name that no other module has."
    )
