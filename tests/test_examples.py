"""The examples run as they stand: without a key each talks to a scripted model and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SOURCE = Path(__file__).parents[1] / "src"
RAN = "running refund_order {'order_id': 'A7', 'amount': 25}"
DONE = "Order A7 is refunded."
LAST_LINES = {
    "anthropic_loop": [RAN, "reference: our ranker by reference", "loaded: refund_order", DONE],
    "chat_completions": [RAN, "stub: our ranker by stub", "loaded: refund_order", DONE],
    "hosted_anthropic": [RAN, "hosted: anthropic searches", "loaded: refund_order", DONE],
    "hosted_openai": [RAN, "hosted: openai searches", "loaded: refund_order", DONE],
    "openai_loop": [RAN, "output: our ranker by output", "loaded: refund_order", DONE],
    "resume_after_compaction": [
        "compacted: 6 items to 2",
        "loaded: refund_order",
        "running refund_order {'order_id': 'A8', 'amount': 25}",
        "loaded: refund_order",
        "Order A8 is refunded.",
    ],
    "streaming_anthropic": [RAN, DONE, "loaded: refund_order"],
    "streaming_openai": [RAN, DONE, "loaded: refund_order"],
}
"""How the last lines of each example's output begin."""


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*LAST_LINES, "shop_tools"}


@pytest.mark.parametrize("name", LAST_LINES)
def test_an_example_runs_without_a_key(name, tmp_path):
    kept = {
        key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TOOLSEARCH_CACHE_DIR") if key in os.environ
    }
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        env={**kept, "PYTHONPATH": str(SOURCE)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "a scripted model on this machine answers." in lines[0]
    wanted = LAST_LINES[name]
    for line, start in zip(lines[-len(wanted) :], wanted, strict=True):
        assert line.startswith(start)
