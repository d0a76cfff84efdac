"""Nothing in; the versions that figures depend on, and the memory that this process has taken, out."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from typing import Final

from semantic_toolsearch import __version__

__all__ = ["peak_mb", "versions"]

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
