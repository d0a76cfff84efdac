"""Run as a program: forks savers over a folder and kills each one, at a chosen step or after a chosen time.

    python killed_saver.py disk FOLDER STRIDE     one saver for every STRIDE-th call that touches the disk
    python killed_saver.py calls FOLDER STRIDE    the same for every call of a function in C
    python killed_saver.py times FOLDER COUNT     COUNT savers, each killed at a random moment of saving in a loop

A fork starts at once, where a new process would import for a second. After every kill the folder is loaded and must be
the old index or the new one; the next save must leave nothing of the dead. Prints what was found, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from saved_folders import ANSWERED, answers, build, load

DISK = {
    "write", "writelines", "flush", "fsync", "mkdir", "rmdir", "replace", "rename", "unlink", "open", "close", "flock",
    "scandir", "stat", "fstat", "read", "write_index", "file_digest",
}  # fmt: skip

SEARCHES = {which: build(which) for which in ("old", "new")}
for search in SEARCHES.values():
    search.prepare()


def dies_at(step: int, calls: set[str] | None) -> Callable[[FrameType, str, Any], None]:
    """A profiler that kills its process before or after the ``step``-th call of a function in C."""
    left = step

    def count(frame: FrameType, event: str, called: Any) -> None:
        nonlocal left
        if event in ("c_call", "c_return") and (calls is None or getattr(called, "__name__", "") in calls):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return count


def forked(work: Callable[[], None]) -> int:
    """Do the work in a process of its own; returns its id."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int) -> int:
    """0 for a saver that came to its end, else the signal that killed it."""
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"a saver failed: {status}"
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def which_is(folder: Path) -> str:
    """The index that the folder loads as; anything but one of the two fails."""
    if not (folder / "manifest.json").exists():
        return "none"
    found = answers(load(folder))
    (which,) = (name for name, expected in ANSWERED.items() if found == expected)
    return which


def tidy_after_a_save(folder: Path) -> None:
    SEARCHES["old"].save(folder)
    assert which_is(folder) == "old"
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 3, f"left behind: {names}"


def at_steps(folder: Path, calls: set[str] | None, stride: int, first: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    for step in range(0, 10**6, stride):
        if first:
            shutil.rmtree(folder, ignore_errors=True)

        def save() -> None:
            sys.setprofile(dies_at(step, calls))  # noqa: B023 - it runs before the next round
            SEARCHES["new"].save(folder)
            sys.setprofile(None)

        killed = ended(forked(save))
        which = which_is(folder)
        assert which in ({"none", "new"} if first else {"old", "new"}), which
        if not killed:
            assert which == "new"
            return found
        found[which] += 1
        tidy_after_a_save(folder)
    raise AssertionError("saving has no end")


def at_random_times(folder: Path, count: int) -> Counter[str]:
    found: Counter[str] = Counter()
    draws = random.Random(count)

    def save() -> None:
        while True:
            for which in ("new", "old"):
                SEARCHES[which].save(folder)

    for _ in range(count):
        child = forked(save)
        time.sleep(draws.uniform(0.002, 0.12))
        os.kill(child, signal.SIGKILL)
        assert ended(child) == signal.SIGKILL
        leftovers = len(list(folder.iterdir())) - 3
        found[which_is(folder)] += 1
        found["left something behind"] += leftovers > 0
        tidy_after_a_save(folder)
    return found


if __name__ == "__main__":
    way, path, how = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if way == "times":
        SEARCHES["old"].save(path)
        result = {"over": at_random_times(path, int(how))}
    else:
        calls = DISK if way == "disk" else None
        result = {"first": at_steps(path / "first", calls, int(how), first=True)}
        SEARCHES["old"].save(path / "over")
        result["over"] = at_steps(path / "over", calls, int(how), first=False)
    json.dump(result, sys.stdout)
