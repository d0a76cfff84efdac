"""An embedder in, the same one out: it raises nothing but ``EmbedderError``, and is not asked too often."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from semantic_toolsearch.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from semantic_toolsearch.embedding import Embedder, Matrix

__all__ = ["FIRST_RETRIES", "RETRY_SECONDS", "GuardedEmbedder", "Unavailable"]

RETRY_SECONDS: Final = 30.0
"""Seconds between two attempts of a model that keeps failing."""

FIRST_RETRIES: Final = 2
"""So many failures are tried again at once: the first ones are often a hiccup."""

_LONGEST_REASON: Final = 300

T = TypeVar("T")

logger = logging.getLogger("semantic_toolsearch")


class Unavailable(Exception):  # noqa: N818 - a state to be handled, not an error that a user meets
    """There are no vectors for this search; the text says why."""


class GuardedEmbedder:
    """An ``Embedder`` whose use stands inside ``attempt``, where a failure becomes ``Unavailable``.

    The first failure of an outage is logged, once; how often the model is asked during one is bounded.

    Args:
        embedder: The model.
        clock: Monotonic seconds.

    Attributes:
        faults: Attempts that failed so far.
    """

    def __init__(self, embedder: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self.faults = 0
        self._embedder = embedder
        self._clock = clock
        self._state = threading.Lock()
        self._in_a_row = 0
        self._asked_at = 0.0
        self._reason = ""

    @property
    def id(self) -> str:
        """See ``Embedder.id``."""
        return self._guarded(lambda: self._embedder.id)

    @property
    def dimension(self) -> int:
        """See ``Embedder.dimension``."""
        return self._guarded(lambda: self._embedder.dimension)

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.encode_document``."""
        return self._guarded(lambda: self._embedder.encode_document(texts))

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.encode_query``."""
        return self._guarded(lambda: self._embedder.encode_query(texts))

    @contextmanager
    def attempt(self, since: int | None = None) -> Iterator[None]:
        """Use the model inside this block.

        Args:
            since: ``faults`` when the caller began to wait for another thread's attempt: if that one failed,
                its failure is the caller's too. None where nobody waited.

        Raises:
            Unavailable: The model failed inside the block, or may not be asked yet.
        """
        with self._state:
            now = self._clock()
            if since is not None and since != self.faults:
                raise Unavailable(self._reason)
            if self._in_a_row > FIRST_RETRIES and now - self._asked_at < RETRY_SECONDS:
                raise Unavailable(self._reason)
            self._asked_at = now
        try:
            yield
        except EmbedderError as fault:
            raise self._failed(fault) from fault
        with self._state:
            recovered, self._in_a_row = self._in_a_row > 0, 0
        if recovered:
            logger.info("The embedding model works again.")

    def _guarded(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except EmbedderError:
            raise
        except (
            Exception
        ) as fault:  # anybody's code: whatever it raises is the model's failure, not the search's
            raise EmbedderError(f"{type(fault).__name__}: {fault}") from fault

    def _failed(self, fault: EmbedderError) -> Unavailable:
        with self._state:
            first = not self._in_a_row
            self._in_a_row += 1
            self.faults += 1
            self._asked_at = self._clock()
            self._reason = (
                f"The embedding model failed, so words alone decide ({str(fault)[:_LONGEST_REASON]})"
            )
        if first:
            logger.warning("%s; it is tried again by later searches.", self._reason)
        return Unavailable(self._reason)
