"""An embedder in, one that is safe to lean on out: it fails in one known way and is not asked too often."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from semantic_toolsearch.embedding import checked
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

_REMEMBERED_QUERIES: Final = 256

_LONGEST_QUERY: Final = 10_000
"""Characters of a query that are embedded; models read less."""

Kind: TypeAlias = Literal["documents", "queries"]

T = TypeVar("T")

logger = logging.getLogger("semantic_toolsearch")


class Unavailable(Exception):  # noqa: N818 - a state to be handled, not an error that a user meets
    """There are no vectors for this search; the text says why."""


class GuardedEmbedder:
    """An ``Embedder`` that is used inside ``attempt``, where whatever it raises becomes ``Unavailable``.

    An outage is logged once, when it begins, and how often the model is asked meanwhile is bounded. The latest
    queries are remembered. Safe to share between threads, and between the generations of a catalog.

    Args:
        embedder: The model.
        clock: Monotonic seconds.
    """

    def __init__(self, embedder: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._state = threading.Lock()
        # Apart for documents and queries: an endpoint that does the one need not do the other.
        self._in_a_row: dict[Kind, int] = {"documents": 0, "queries": 0}
        self._asked_at: dict[Kind, float] = {"documents": 0.0, "queries": 0.0}
        self._reason = ""
        self._remembered: dict[str, Matrix] = {}

    @classmethod
    def over(cls, embedder: Embedder) -> GuardedEmbedder:
        """A guard over this embedder; the embedder itself where it is one already."""
        return embedder if isinstance(embedder, cls) else cls(embedder)

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

    def query_vector(self, query: str, dimension: int) -> Matrix:
        """One query as float32 ``[1, dimension]``, embedded unless it was asked lately.

        Raises:
            Unavailable: As in ``attempt``; also where the vector is unusable or of another length.
        """
        query = query[:_LONGEST_QUERY]
        vector = self._remembered.get(query)
        if vector is None or vector.shape[1] != dimension:
            with self.attempt("queries"):
                vector = checked(self.encode_query([query]), 1, dimension, self.id)
            with self._state:
                while len(self._remembered) >= _REMEMBERED_QUERIES:
                    del self._remembered[next(iter(self._remembered))]
                self._remembered[query] = vector
        return vector

    @contextmanager
    def attempt(self, kind: Kind) -> Iterator[None]:
        """Use the model inside this block, for documents or for queries.

        Raises:
            Unavailable: The model failed inside the block, or may not be asked yet.
        """
        with self._state:
            now = self._clock()
            if self._in_a_row[kind] > FIRST_RETRIES and now - self._asked_at[kind] < RETRY_SECONDS:
                raise Unavailable(self._reason)
            self._asked_at[kind] = now
        try:
            yield
        except EmbedderError as fault:
            raise self._failed(kind, fault) from fault
        with self._state:
            before = any(self._in_a_row.values())
            self._in_a_row[kind] = 0
            recovered = before and not any(self._in_a_row.values())
        if recovered:
            logger.info("The embedding model works again.")

    def _guarded(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except EmbedderError:
            raise
        except Exception as fault:  # anybody's code: whatever it raises, the model failed and not the search
            raise EmbedderError(f"{type(fault).__name__}: {fault}") from fault

    def _failed(self, kind: Kind, fault: EmbedderError) -> Unavailable:
        with self._state:
            first = not any(self._in_a_row.values())
            self._in_a_row[kind] += 1
            self._asked_at[kind] = self._clock()
            self._reason = (
                f"The embedding model failed, so words alone decide ({str(fault)[:_LONGEST_REASON]})"
            )
        if first:
            logger.warning("%s; it is tried again by later searches.", self._reason)
        return Unavailable(self._reason)
