"""How long the state machines run: briefly and always the same, or with fresh steps as ``FUZZ_EXAMPLES`` says."""

from __future__ import annotations

import os

from hypothesis import settings

MANY = int(os.environ.get("FUZZ_EXAMPLES", "0"))

LONG_STEPS = 60

_WORTH = 10
"""Single inputs for which there is one long run of a machine."""


def run_settings(examples, steps):
    """Settings of one machine: so many runs of so many steps, or long ones in number as the variable says."""
    if MANY:
        most = max(MANY // _WORTH, 1)
        return settings(max_examples=most, stateful_step_count=LONG_STEPS, database=None, print_blob=True)
    return settings(max_examples=examples, stateful_step_count=steps, derandomize=True)
