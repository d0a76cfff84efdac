"""FAISS itself: loaded on first use, and kept in the calling thread where its loops would start others."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from semantic_toolsearch.errors import ToolSearchError, described


def load_faiss() -> Any:
    """The FAISS module. Untyped, because its own stubs lack half of what is called here.

    Raises:
        ToolSearchError: It cannot be loaded.
    """
    try:
        return importlib.import_module("faiss")
    except (
        Exception
    ) as error:  # not only ImportError: a library of its own may be missing or of another machine
        raise ToolSearchError(
            f"FAISS cannot be loaded ({described(error)}). Install it again: "
            f"pip install --force-reinstall faiss-cpu"
        ) from error


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keep FAISS's loops in the calling thread; OpenMP holds this setting for each thread by itself."""
    faiss = load_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
