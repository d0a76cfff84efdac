"""How much the fuzz tests try and how long one input may take: few and repeatable by default, many on demand.

``FUZZ_EXAMPLES=2000`` makes every test of this folder try that many fresh inputs and holds each to one second of
processor time; without it a run is short, always the same, and only a real hang fails it.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from contextlib import contextmanager

from hypothesis import HealthCheck, Phase, settings

MANY = int(os.environ.get("FUZZ_EXAMPLES", "0"))
FEW = 10

SECONDS = 1.0
"""Processor time that one input may take in a long run."""

TRIED: Counter[str] = Counter()
"""Inputs by test; shrunk and repeated ones count too."""

_HANG = 60

fuzzed = settings(
    max_examples=MANY or FEW,
    derandomize=not MANY,
    database=None,
    deadline=None,
    print_blob=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
"""Decorator of every property in this folder."""


class TooSlowError(AssertionError):
    """An input took longer than any input may."""


@contextmanager
def bounded():
    """Run one input; a hang ends in an error wherever the system has alarms, slowness in long runs only."""
    alarms = hasattr(signal, "setitimer")
    if alarms:
        before = signal.signal(signal.SIGALRM, _hanging)
        signal.setitimer(signal.ITIMER_REAL, _HANG)
    TRIED[os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]] += 1
    started = time.thread_time()
    try:
        yield
        taken = time.thread_time() - started
        if MANY and taken > SECONDS:
            raise TooSlowError(f"{taken:.1f} s of processor time")
    finally:
        if alarms:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def attempt(run, *allowed):
    """Return what a call gives, and None; or None, and the error of an allowed kind that it raised."""
    try:
        return run(), None
    except allowed as error:
        return None, error


def _hanging(signum, frame):
    raise TooSlowError(f"still running after {_HANG} s")
