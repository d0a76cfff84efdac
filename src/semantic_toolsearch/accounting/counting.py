"""A text or JSON value in; its tokens, and how they were counted, out."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from semantic_toolsearch.providers.base import json_text
from semantic_toolsearch.threshold import estimate_tokens

__all__ = ["CHARACTERS", "TokenCount", "TokenCounter", "count_tokens", "default_counter"]

_TABLES: Final = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""tiktoken's encodings, newest first, with the SHA-256 of their tables."""

_TABLE_URL: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens, and how they were counted.

    Attributes:
        tokens: Their number.
        label: The counter's name, such as ``chars/4``.
    """

    tokens: int
    label: str

    def __int__(self) -> int:
        return self.tokens

    def __str__(self) -> str:
        return f"{self.tokens:,} tokens ({self.label})"


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way to count tokens; called with a text or a JSON value it gives their number.

    Attributes:
        label: What reports call it.
        count: Tokens of a text.
    """

    label: str
    count: Callable[[str], int]

    def __call__(self, value: Any) -> int:
        """Return the tokens of a text, or of a value written as compact JSON."""
        return self.count(value if isinstance(value, str) else json_text(value))


CHARACTERS: Final = TokenCounter("chars/4", estimate_tokens)
"""A quarter of the characters: what is counted with where there is no tokenizer."""


def count_tokens(value: Any, counter: TokenCounter | None = None) -> TokenCount:
    """Count the tokens of a text, or of a value written as compact JSON.

    Args:
        value: The text or JSON value.
        counter: How to count; by default as `default_counter` says.
    """
    counter = counter or default_counter()
    return TokenCount(counter(value), counter.label)


@cache
def default_counter() -> TokenCounter:
    """Return tiktoken where it is installed and its tables are on this machine, else a quarter of the characters.

    Nothing is downloaded. The choice is made once per process.
    """
    for name, digest in _TABLES.items():
        if not _is_there(name, digest):
            continue
        try:
            encoding = import_module("tiktoken").get_encoding(name)
        except ImportError:
            break
        return TokenCounter(f"tiktoken {name}", partial(_encoded_length, encoding))
    return CHARACTERS


def _encoded_length(encoding: Any, text: str) -> int:
    return len(encoding.encode(text, disallowed_special=()))


def _is_there(name: str, digest: str) -> bool:
    """Whether tiktoken would find the table; one that it would not trust, it would fetch anew."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return False
    home = Path(tempfile.gettempdir(), "data-gym-cache") if folder is None else Path(folder)
    table = home / hashlib.sha1(_TABLE_URL.format(name).encode(), usedforsecurity=False).hexdigest()
    try:
        return hashlib.sha256(table.read_bytes()).hexdigest() == digest
    except OSError:
        return False
