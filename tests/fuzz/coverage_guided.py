"""Target names and seconds in; a coverage-guided run of each, its number of inputs, and what broke it out.

    python tests/fuzz/coverage_guided.py --seconds 150            every target, the time shared out
    python tests/fuzz/coverage_guided.py --seconds 60 schemas     one of them
    python tests/fuzz/coverage_guided.py --replay FILE schemas    one input again, with its traceback

The exit status is 1 where an input broke a promise; where atheris is not installed, the run says so and is over.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("definitions", "schemas", "conversations", "responses", "streams", "searches", "files")
SLOW = 3.0
"""Seconds of processor time for one input; the instrumented code is a few times slower than without."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", choices=[*NAMES, []], help="all of them when none is named")
    parser.add_argument("--seconds", type=int, default=150, help="for all targets together")
    parser.add_argument(
        "--folder", type=Path, default=Path(".data/fuzz"), help="where inputs and findings are kept"
    )
    parser.add_argument("--replay", type=Path, help="an input to run once")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options, rest = parser.parse_known_args()
    names = options.targets or list(NAMES)
    if options.replay:
        _import_paths()
        from targets import TARGETS

        TARGETS[names[0]](options.replay.read_bytes())
        return 0
    if find_spec("atheris") is None:
        sys.stdout.write(
            "atheris is not installed here (it has no wheel for this Python): no coverage-guided run.\n"
        )
        return 0
    if options.inside:
        return _fuzz(names[0], rest)
    results = [_run(name, options.folder / name, max(options.seconds // len(names), 1)) for name in names]
    sys.stdout.write("\n".join(["", *results, ""]))
    return 1 if any("FOUND" in result for result in results) else 0


def _run(name, folder, seconds):
    """Fuzz one target in a process of its own; a line that says how it went."""
    corpus, findings = folder / "corpus", folder / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    started = time.monotonic()
    command = [
        sys.executable, __file__, name, "--inside", str(corpus), f"-max_total_time={seconds}", "-timeout=30",
        "-max_len=20000", "-len_control=20", "-rss_limit_mb=6000", "-print_final_stats=1",
        f"-artifact_prefix={findings}/",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    output = done.stdout + done.stderr
    (folder / "log.txt").write_text(output, encoding="utf-8")
    tried = re.findall(r"number_of_executed_units:\s*(\d+)", output) or re.findall(
        r"^#(\d+)\s", output, re.MULTILINE
    )
    covered = re.findall(r"cov: (\d+) ft: (\d+)", output)
    told = f"{name:<14} {int(tried[-1]) if tried else 0:>9,} inputs in {time.monotonic() - started:4.0f} s"
    told += f", {int(covered[-1][0]):,} edges, {int(covered[-1][1]):,} features" if covered else ""
    if done.returncode == 0:
        return told
    found = re.findall(r"Test unit written to (\S+)", output)
    replay = f"replay: {sys.executable} {__file__} --replay {found[-1]} {name}" if found else ""
    return f"{told}\n  FOUND (status {done.returncode}): see {folder / 'log.txt'}; {replay}"


def _import_paths():
    sys.path[:0] = [str(HERE), str(HERE.parent)]


def _fuzz(name, rest):
    """Inside the process of one target."""
    import atheris

    _import_paths()
    with atheris.instrument_imports(include=["semantic_toolsearch"], enable_loader_override=False):
        from targets import SEEDS, TARGETS
    from json_mutation import mutate

    target = TARGETS[name]
    folder = Path(rest[0])
    for place, seed in enumerate(SEEDS[name]):
        (folder / f"seed_{place:02}").write_bytes(seed)
        target(seed)  # what is imported or loaded at first use is no input's fault

    def one(data):
        started = time.thread_time()
        target(data)
        if (taken := time.thread_time() - started) > SLOW:
            raise TimeoutError(f"{taken:.1f} s of processor time")

    def mutator(data, max_size, seed):
        return mutate(data, max_size, seed, atheris.Mutate)

    atheris.Setup([sys.argv[0], *rest], one, custom_mutator=mutator)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
