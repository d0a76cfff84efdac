"""FAISS itself: loaded on first use, and kept in the calling thread where its loops would start others."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any


def load_faiss() -> Any:
    """The FAISS module. Untyped, because its own stubs lack half of what is called here."""
    return importlib.import_module("faiss")


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
