"""Arrays of numbers go in; the bytes of ``.npy`` files come out, and back. Nothing is ever unpickled."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.errors import IndexCorruptError
from semantic_toolsearch.index.manifest import MEND


def encode_array(array: npt.NDArray[Any]) -> bytes:
    """Write an array as an ``.npy`` file.

    Raises:
        ValueError: It holds Python objects.
    """
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def decode_array(data: bytes, name: str) -> npt.NDArray[Any]:
    """Read what `encode_array` wrote.

    Args:
        data: The whole file.
        name: The file's name, for messages.

    Returns:
        A writable array of its own.

    Raises:
        IndexCorruptError: The bytes are no ``.npy`` file of numbers, or there are more of them.
    """
    buffer = io.BytesIO(data)
    try:
        array: npt.NDArray[Any] = np.lib.format.read_array(buffer, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, MemoryError) as error:
        raise IndexCorruptError(f"{name} is no array of numbers ({error}): {MEND}") from error
    if buffer.read(1):
        raise IndexCorruptError(f"{name} has bytes after its array: {MEND}")
    return array
