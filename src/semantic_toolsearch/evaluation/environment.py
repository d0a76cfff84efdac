"""Nothing in; versions that figures depend on, packages that are missing, and the memory taken so far, out."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from typing import Final

from semantic_toolsearch import __version__
from semantic_toolsearch.errors import MissingExtraError

__all__ = ["NEEDED_FOR", "check_installed", "peak_mb", "versions"]

NEEDED_FOR: Final = {"ir_measures": "Measuring rankings", "matplotlib": "Drawing plots"}
"""Packages of the extra ``eval``, and what needs them."""

_PACKAGES: Final = (
    "numpy",
    "faiss-cpu",
    "onnxruntime",
    "tokenizers",
    "bm25s",
    "PyStemmer",
    "ir-measures",
    "scipy",
)


def versions() -> dict[str, str]:
    """Versions of the library, Python, and the packages that figures depend on, as far as they are installed."""
    found = {"semantic_toolsearch": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def peak_mb() -> float:
    """Most memory that this process has held so far, in 10^6 bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 1e6 if sys.platform == "darwin" else peak * 1_024 / 1e6)


def check_installed(*packages: str) -> None:
    """Say that a package of the extra ``eval`` is missing before work is done that would be in vain.

    Args:
        packages: Names as they are imported; keys of ``NEEDED_FOR``.

    Raises:
        MissingExtraError: One is not installed.
    """
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(NEEDED_FOR[package], "eval")
