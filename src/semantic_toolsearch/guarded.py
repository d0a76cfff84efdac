"""An embedder in, one that is safe to lean on out: it fails in one known way, in bounded time, not too often."""

from __future__ import annotations

import operator
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from semantic_toolsearch.documents import DENSE_CHARACTERS
from semantic_toolsearch.embedding import OnnxEmbedder, StaticEmbedder, checked
from semantic_toolsearch.errors import EmbedderError, described
from semantic_toolsearch.outages import Outages, Part
from semantic_toolsearch.timed_calls import Overdue, TimedCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semantic_toolsearch.embedding import Embedder, Matrix

__all__ = ["PROBE_SECONDS", "GuardedEmbedder"]

PROBE_SECONDS: Final = 1.0
"""A search waits no longer for a model that hung before; what it answers later still tells that it is back."""

_CALLED_DIRECTLY: Final = (OnnxEmbedder, StaticEmbedder)
"""They compute in this process and ask nobody, so that there is nothing to wait for."""

_TEXTS_OF_A_LIMIT: Final = 16
"""For each so many documents of one call, its limit is granted once more."""

_READING: Final = 64
"""Reading an id or a dimension may load a model, and is given as long as so many texts."""

_MOST_DIMENSIONS: Final = 1_000_000

_REMEMBERED_QUERIES: Final = 256

T = TypeVar("T")


class GuardedEmbedder:
    """An ``Embedder`` that is used inside ``attempt``, where whatever it raises becomes ``Unavailable``.

    Its id and dimension are read once, and an embedder whose id is another later has failed. The latest queries
    are remembered. Safe to share between threads, and between the generations of a catalog.

    Args:
        embedder: The model.
        clock: Monotonic seconds, for the time between attempts.
        limit: Seconds that a call may take, and as many again for every 16 documents; None for no limit. With
            one, calls are made on threads of their own, save those of the models that come with the library.

    Attributes:
        outages: What failed, and when it may be asked again.
    """

    def __init__(
        self, embedder: Embedder, clock: Callable[[], float] = time.monotonic, *, limit: float | None = None
    ) -> None:
        self.outages = Outages(clock)
        self._embedder = embedder
        self._limit = None if type(embedder) in _CALLED_DIRECTLY else limit
        self._id: str | None = None
        self._dimension: int | None = None
        self._remembered: dict[str, Matrix] = {}

    @classmethod
    def over(cls, embedder: Embedder, limit: float | None = None) -> GuardedEmbedder:
        """A guard over this embedder; the embedder itself where it is one already."""
        return embedder if isinstance(embedder, cls) else cls(embedder, limit=limit)

    @property
    def id(self) -> str:
        """See ``Embedder.id``."""
        if self._id is None:
            self._id = self._ask("documents", lambda: _usable_id(self._embedder.id), _READING)
        return self._id

    @property
    def dimension(self) -> int:
        """See ``Embedder.dimension``."""
        if self._dimension is None:
            self._dimension = self._ask(
                "documents", lambda: _usable_dimension(self._embedder.dimension), _READING
            )
        return self._dimension

    def encode_document(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.encode_document``."""
        return self._encoded("documents", lambda: self._embedder.encode_document(texts), len(texts))

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.encode_query``."""
        return self._encoded("queries", lambda: self._embedder.encode_query(texts), len(texts))

    def query_vector(self, query: str, dimension: int) -> Matrix:
        """One query as float32 ``[1, dimension]``, embedded unless it was asked lately.

        Raises:
            Unavailable: As in ``attempt``; also where the vector is unusable or of another length.
        """
        query = query[:DENSE_CHARACTERS]
        vector = self._remembered.get(query)
        if vector is None or vector.shape[1] != dimension:
            with self.attempt("queries"):
                # A copy: an embedder may write its next answer into the same memory.
                vector = checked(self.encode_query([query]), 1, dimension, self.id).copy()
            self._remember(query, vector)
        return vector

    def _remember(self, query: str, vector: Matrix) -> None:
        """Keep a vector in place of the oldest; where other threads do so now, some more are kept for a while."""
        self._remembered[query] = vector
        while len(self._remembered) > _REMEMBERED_QUERIES:
            try:
                self._remembered.pop(next(iter(self._remembered)), None)
            except (
                RuntimeError,
                StopIteration,
            ):  # changed by another thread in between, which goes on removing
                return

    def attempt(self, part: Part) -> AbstractContextManager[None]:
        """Use the model inside this block, for documents or for queries; see ``Outages.attempt``."""
        return self.outages.attempt(part)

    def _encoded(self, part: Part, encode: Callable[[], Matrix], texts: int) -> Matrix:
        before = self.id
        matrix, after = self._ask(part, lambda: (encode(), self._embedder.id), texts)
        if after != before:
            raise EmbedderError(
                f"the embedder changed its id from {before!r} to {after!r}, so its vectors are not those of the "
                f"index; make a new ToolSearch for another model"
            )
        return matrix

    def _ask(self, part: Part, action: Callable[[], T], texts: int) -> T:
        try:
            if self._limit is None:
                return action()
            return self._within(self._limit * (1 + texts // _TEXTS_OF_A_LIMIT), part, action)
        except EmbedderError:
            raise
        except Exception as fault:  # anybody's code: whatever it raises, the model failed and not the search
            raise EmbedderError(described(fault)) from fault

    def _within(self, limit: float, part: Part, action: Callable[[], T]) -> T:
        """The result of a call that returns in time; one that does not is left to itself."""
        outages = self.outages
        patience = min(limit, PROBE_SECONDS) if outages.hangs(part) else limit
        call = TimedCall(action)
        returned = False
        try:
            returned = call.wait(patience)
        finally:  # also where Ctrl-C ends the waiting
            if not returned:
                outages.left()
                returned = not call.leave(
                    lambda seconds: outages.returned(part, in_time=seconds is not None and seconds <= limit)
                )
                if returned:
                    outages.returned(part, in_time=False)
        if returned:
            return call.result()
        raise Overdue(
            f"it gave no answer within {patience:g} s. If it is slow and not stuck, raise "
            f"SearchConfig.embedder_timeout"
        )


def _usable_id(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise EmbedderError(f"the embedder's id is {value!r}; it must be a text that names the model")
    value.encode()  # half of a surrogate pair fits into no file
    return value


def _usable_dimension(value: Any) -> int:
    try:
        dimension = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        dimension = 0
    if not 1 <= dimension <= _MOST_DIMENSIONS:
        raise EmbedderError(
            f"the embedder's dimension is {value!r}; it must be the number of columns of its vectors"
        )
    return dimension
