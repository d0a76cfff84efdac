"""A call of somebody else's code in; its outcome within some seconds, or the news that it goes on, out."""

from __future__ import annotations

import contextvars
import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from semantic_toolsearch.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Overdue", "TimedCall"]

T = TypeVar("T")


class Overdue(EmbedderError):  # noqa: N818 - a state of a call, told as the reason of an outage
    """A call has not returned within its time; nothing can stop it, so it goes on by itself."""


class TimedCall(Generic[T]):
    """One call on a thread of its own, which does not keep the program from ending.

    Started at once, in a copy of the caller's context variables.

    Args:
        action: What to do.
    """

    def __init__(self, action: Callable[[], T]) -> None:
        self._outcome: list[T] = []
        self._fault: BaseException | None = None
        self._returned = threading.Event()
        self._leaving = threading.Lock()
        self._afterwards: Callable[[float | None], None] | None = None
        work = contextvars.copy_context().run
        threading.Thread(
            target=work, args=(self._work, action), name="toolsearch-embedder", daemon=True
        ).start()

    def wait(self, seconds: float) -> bool:
        """Wait so long at most; whether the call has returned."""
        return self._returned.wait(seconds)

    def result(self) -> T:
        """What the call returned.

        Raises:
            BaseException: What it raised.
        """
        if self._fault is not None:
            try:
                raise self._fault
            finally:
                self._fault = None  # its traceback leads back to this object
        return self._outcome[0]

    def leave(self, afterwards: Callable[[float | None], None]) -> bool:
        """Stop waiting, unless it has just returned.

        Args:
            afterwards: Called in the call's own thread once it returns: with the seconds that it took, or with None
                where it raised.

        Returns:
            Whether it goes on; False where there is a result after all.
        """
        with self._leaving:
            if self._returned.is_set():
                return False
            self._afterwards = afterwards
            return True

    def _work(self, action: Callable[[], T]) -> None:
        began = time.monotonic()
        try:
            self._outcome.append(action())
        except BaseException as fault:  # handed to whoever waits
            self._fault = fault
        with self._leaving:
            self._returned.set()
        if self._afterwards is not None:
            self._afterwards(None if self._fault is not None else time.monotonic() - began)
