"""Request texts in, simulated prompt-cache reads and writes in tokens out.

Real caches differ in detail; here a prefix that an earlier request of the same model has written is read. Anthropic
writes at explicit marks only, OpenAI writes everything in steps of 128 tokens.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from .view import tokens_of

__all__ = ["CacheUse", "PromptCache", "Segment"]

_STEP = 128


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the canonical prompt, and whether a cache mark stands behind it."""

    text: str
    mark: bool = False


@dataclass(frozen=True, slots=True)
class CacheUse:
    """Tokens of one request: read from the cache, written to it, and neither."""

    read: int = 0
    written: int = 0
    fresh: int = 0

    @property
    def total(self) -> int:
        """All tokens of the prompt."""
        return self.read + self.written + self.fresh


class PromptCache:
    """Remembers prompts; safe in threads."""

    def __init__(self, minimum: int) -> None:
        self._minimum = minimum
        self._marks: set[str] = set()
        self._prompts: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def marked(self, model: str, segments: Sequence[Segment]) -> CacheUse:
        """Use of a cache that is written at marks."""
        digest = hashlib.sha256(model.encode())
        length = read = written = 0
        marks: list[str] = []
        with self._lock:
            for segment in segments:
                digest.update(f"{len(segment.text)}:{segment.text}".encode(errors="surrogatepass"))
                length += len(segment.text)
                key = digest.hexdigest()
                if key in self._marks:
                    read = length
                if segment.mark and -(-length // 4) >= self._minimum:
                    written = length
                    marks.append(key)
            self._marks.update(marks)
        read_tokens, end = -(-read // 4), max(-(-written // 4), -(-read // 4))
        return CacheUse(read_tokens, end - read_tokens, -(-length // 4) - end)

    def automatic(self, model: str, segments: Sequence[Segment]) -> CacheUse:
        """Use of a cache that needs no marks."""
        prompt = "\n".join(segment.text for segment in segments)
        with self._lock:
            known = self._prompts.setdefault(model, [])
            common = max((_common(prompt, other) for other in known), default=0)
            known.append(prompt)
        step = _STEP if self._minimum else 1
        total, read = tokens_of(prompt), common // 4 // step * step
        read = read if read >= max(self._minimum, 1) else 0
        end = total // step * step if total >= self._minimum else 0
        return CacheUse(read, max(end - read, 0), total - max(end, read))


def _common(one: str, other: str) -> int:
    """Length of the common prefix, by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
