"""What failed in; whether it may be asked again, what is logged, and why a result is degraded, out."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from semantic_toolsearch.errors import EmbedderError, described
from semantic_toolsearch.events import Degraded, Recovered
from semantic_toolsearch.timed_calls import Overdue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from semantic_toolsearch.events import EventHook

__all__ = ["FIRST_RETRIES", "RETRY_SECONDS", "Outages", "Part", "Unavailable"]

RETRY_SECONDS: Final = 30.0
"""Seconds between two attempts of what keeps failing."""

FIRST_RETRIES: Final = 2
"""So many failures are tried again at once: the first ones are often a hiccup."""

_LONGEST_REASON: Final = 300

Part: TypeAlias = Literal["documents", "queries", "index"]
"""Apart for documents and queries: an endpoint that does the one need not do the other."""

_CALLED: Final[dict[Part, Literal["embedding model", "vector index"]]] = {
    "documents": "embedding model",
    "queries": "embedding model",
    "index": "vector index",
}

logger = logging.getLogger("semantic_toolsearch")


class Unavailable(Exception):  # noqa: N818 - a state to be handled, not an error that a user meets
    """There are no vectors for this search; the text says why."""


@dataclass(slots=True)
class _Standing:
    """How it stands with one part.

    Attributes:
        failures: In a row, up to now.
        began: When the first of them was.
        closed_until: When it may be asked again.
        asking: Attempts that are being made, of those that began while it failed.
        hangs: Whether the latest failure was a call that did not return in time.
        reason: What the latest failure was.
    """

    failures: int = 0
    began: float = 0.0
    closed_until: float = 0.0
    asking: int = 0
    hangs: bool = False
    reason: str = ""


class Outages:
    """Bounds how often a failing part is asked, and logs an outage once when it begins and once when it ends.

    While a part fails, one search at a time asks it: after the first failures at once, then every
    ``RETRY_SECONDS``, and where calls hang that never return, each time after twice as long. Safe to share
    between threads; nothing is locked to learn that a part works.

    Args:
        clock: Monotonic seconds.

    Attributes:
        hook: Who is told when an outage begins and when it ends, or None.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.hook: EventHook | None = None
        self._clock = clock
        self._state = threading.Lock()
        self._parts: dict[Part, _Standing] = {part: _Standing() for part in _CALLED}
        self._stuck = 0  # calls that nobody waits for and that have not returned

    @contextmanager
    def attempt(self, part: Part, faults: type[Exception] = EmbedderError) -> Iterator[None]:
        """Use a part inside this block.

        Args:
            part: Which.
            faults: What counts as its failure; other exceptions pass.

        Raises:
            Unavailable: It failed inside the block, or may not be asked yet.
        """
        standing = self._parts[part]
        failing = standing.failures > 0
        if failing:
            self._ask(standing)
        try:
            yield
        except faults as fault:
            raise self.failed(part, fault) from fault
        else:
            self.worked(part)
        finally:
            if failing:
                with self._state:
                    standing.asking -= 1

    def _ask(self, standing: _Standing) -> None:
        with self._state:
            if standing.failures and (standing.asking or self._clock() < standing.closed_until):
                raise Unavailable(standing.reason)
            standing.asking += 1

    def failed(self, part: Part, fault: Exception) -> Unavailable:
        """Note a failure; returns what to raise."""
        text = described(fault)[:_LONGEST_REASON]
        reason = f"The {_CALLED[part]} failed, so words alone decide ({text})"
        with self._state:
            standing, now = self._parts[part], self._clock()
            first = not self._down(part)
            if not standing.failures:
                standing.began = now
            standing.failures += 1
            standing.hangs = isinstance(fault, Overdue)
            standing.reason = reason
            standing.closed_until = now
            if standing.hangs or standing.failures > FIRST_RETRIES:
                # Each call that never returns costs a thread: in an outage of any length there are but a few.
                standing.closed_until += max(RETRY_SECONDS, now - standing.began if self._stuck else 0.0)
        if first:
            logger.warning("%s; it is tried again by later searches.", reason)
            if self.hook is not None:
                self.hook.later(Degraded(_CALLED[part], reason))
        return Unavailable(reason)

    def worked(self, part: Part) -> None:
        """Note that a part works."""
        standing = self._parts[part]
        if not standing.failures:
            return
        with self._state:
            before = self._down(part)
            standing.failures, standing.hangs = 0, False
            recovered = before and not self._down(part)
        if recovered:
            logger.info("The %s works again.", _CALLED[part])
            if self.hook is not None:
                self.hook.later(Recovered(_CALLED[part]))

    def hangs(self, part: Part) -> bool:
        """Whether the latest call of a part did not return in time."""
        return self._parts[part].hangs

    def left(self) -> None:
        """Note that nobody waits for a call any more that has not returned."""
        with self._state:
            self._stuck += 1

    def returned(self, part: Part, *, in_time: bool) -> None:
        """Note that such a call has returned after all; where in time, the part may be asked again at once."""
        with self._state:
            self._stuck -= 1
            if in_time:
                standing = self._parts[part]
                standing.hangs, standing.closed_until = False, self._clock()

    def _down(self, part: Part) -> bool:
        """Whether what this part belongs to fails."""
        return any(
            standing.failures for each, standing in self._parts.items() if _CALLED[each] == _CALLED[part]
        )
