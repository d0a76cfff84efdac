"""A number of tools and a model in; what importing, indexing and searching them costs on this machine out.

Every figure comes from fresh processes that do nothing else, with one thread and without the user's embedding
cache. Nothing here is asserted anywhere: machines differ, and a figure is to be read, not to be passed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from semantic_toolsearch.embedding import DEFAULT_MODEL, resolve_embedder, shipped_name

__all__ = ["HEAVY", "Figure", "measure"]

HEAVY: Final = ("torch", "onnxruntime", "openai", "anthropic", "mcp", "sentence_transformers")
"""Packages that importing this one must not load."""

ROUNDS: Final = 5
"""Fresh processes for each short measurement; the median is reported, and the slowest."""

QUERIES: Final = 200
"""Different queries, each asked once, whose times are split into embedding and all else."""

_TARGETS: Final = {"toolsearch-small": (100, 3.0), "toolsearch-nano": (1000, 0.3)}
"""What a model should reach: tools indexed in a second of processor time, and milliseconds that a query takes."""

Unit: TypeAlias = Literal["s", "ms", "tools/CPU s", "MB", "packages"]

_ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value.

    Attributes:
        name: What was measured.
        value: The typical value: a median, or the only one.
        unit: Of `value`, `high` and `target`.
        high: The 95th percentile of many values, or the worst of a few; None where there is one.
        target: What the value should stay under (for tools/CPU s: reach); None where nothing is asked.
        note: What else belongs to it.
    """

    name: str
    value: float
    unit: Unit
    high: float | None = None
    target: float | None = None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The figure as plain JSON values, without parts that are empty."""
        values = {name: getattr(self, name) for name in ("name", "value", "unit", "high", "target", "note")}
        return {name: value for name, value in values.items() if value not in (None, "")}


def measure(
    tools: int, progress: Callable[[str], None] = lambda step: None, *, embedder: str = DEFAULT_MODEL
) -> list[Figure]:
    """Measure everything.

    Args:
        tools: Size of the synthetic catalog; building its index takes most of the time.
        progress: Called with the name of each step before it starts.
        embedder: Name of a shipped model.

    Raises:
        ValueError: `tools` is below 1.
        ConfigError: There is no such model.
        EmbedderError: This installation lacks it.
        RuntimeError: One of the processes failed; the message ends with what it wrote.
    """
    if tools < 1:
        raise ValueError(f"The benchmark needs at least 1 tool, not {tools}.")
    resolve_embedder(embedder)
    model = shipped_name(embedder) or DEFAULT_MODEL
    figures = []
    progress("importing")
    figures += _imports()
    with tempfile.TemporaryDirectory(prefix="toolsearch-bench-") as name:
        folder = Path(name) / "index"
        progress(f"embedding {tools:,} tools")
        figures += _building(tools, folder, model)
        progress("answering from the saved index")
        figures += _first_answer(tools, folder, model)
        progress(f"asking {QUERIES} queries")
        figures += _latency(tools, folder, model)
    return figures


def _imports() -> list[Figure]:
    package = [_child(_IMPORT.format(what="import semantic_toolsearch")) for _ in range(ROUNDS)]
    searching = [
        _child(_IMPORT.format(what="from semantic_toolsearch import ToolSearch")) for _ in range(ROUNDS)
    ]
    heavy = sorted({name for run in (*package, *searching) for name in run["heavy"]})
    return [
        _figure("import semantic_toolsearch", [run["seconds"] for run in package], "s", 0.15),
        _figure("import ToolSearch", [run["seconds"] for run in searching], "s"),
        Figure(
            "heavy packages loaded by that", len(heavy), "packages", target=0, note=", ".join(heavy) or "none"
        ),
    ]


def _building(tools: int, folder: Path, model: str) -> list[Figure]:
    run = _child(_BUILD, str(tools), str(folder), model)
    return [
        Figure(
            f"build and save an index of {tools:,} tools",
            tools / run["cpu"],
            "tools/CPU s",
            target=_TARGETS[model][0],
            note=f"{model}; {run['wall']:.1f} s in all, {run['bytes'] / 1e6:.1f} MB on disk",
        ),
        *_memory("peak memory while building", run),
    ]


def _first_answer(tools: int, folder: Path, model: str) -> list[Figure]:
    seconds, parts, run = [], [], dict[str, Any]()
    for _ in range(ROUNDS + 1):
        started = time.monotonic()
        run = _child(_ANSWER, str(folder), model)
        run["python"] = run["begun"] - started
        seconds.append(run["answered"] - started)
        parts.append(run)
    del seconds[0], parts[0]  # the first process reads the files from disk, the others as a user's next one
    split = ", ".join(
        f"{part} {statistics.median(run[part] for run in parts):.2f}"
        for part in ("python", "imports", "load", "search")
    )
    name = f"process start to first answer, {tools:,} tools saved"
    return [
        _figure(name, seconds, "s", 1.0, note=split),
        *_memory("peak memory, load and search", run),
    ]


def _latency(tools: int, folder: Path, model: str) -> list[Figure]:
    run = _child(_QUERIES, str(folder), str(QUERIES), model)
    embedding = [1000 * seconds for seconds in run["embedding"]]
    others = [1000 * (whole - part) for whole, part in zip(run["whole"], run["embedding"], strict=True)]
    return [
        _figure("one query: the embedding", embedding, "ms", _TARGETS[model][1], model),
        _figure(f"one query: all else, {tools:,} tools", others, "ms", 2.0),
    ]


def _memory(name: str, run: Mapping[str, Any]) -> list[Figure]:
    """Nothing where the system does not tell a process's peak."""
    return [] if run["peak"] is None else [Figure(name, run["peak"] / 1e6, "MB", target=300)]


def _figure(
    name: str, values: Sequence[float], unit: Unit, target: float | None = None, note: str = ""
) -> Figure:
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return Figure(name, statistics.median(ordered), unit, high, target, note)


def _child(code: str, *arguments: str) -> dict[str, Any]:
    """Run code in a fresh process without the user's cache; it writes one JSON object."""
    source = str(Path(__file__).resolve().parents[1])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(  # noqa: S603 - this interpreter, on the code below
        [sys.executable, "-c", _COMMON + code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"A process of the benchmark failed: {done.stderr.strip()[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


# What the processes do. A process that is timed as a whole imports nothing that a user's program would not.

_COMMON: Final = """
import sys, time
begun = time.monotonic()

def peak():
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024

def tell(**values):
    import json
    print(json.dumps(values))
"""

_IMPORT: Final = f"""
{{what}}
seconds = time.monotonic() - begun
tell(seconds=seconds, heavy=[name for name in {HEAVY!r} if name in sys.modules])
"""

_BUILD: Final = """
from pathlib import Path
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.synthetic import synthetic_tools
tools = synthetic_tools(int(sys.argv[1]))
wall, cpu = time.monotonic(), time.process_time()
ToolSearch(tools, embedder=sys.argv[3], cache=False).save(sys.argv[2])
wall, cpu = time.monotonic() - wall, time.process_time() - cpu
size = sum(path.stat().st_size for path in Path(sys.argv[2]).rglob("*") if path.is_file())
tell(wall=wall, cpu=cpu, bytes=size, peak=peak())
"""

_ANSWER: Final = """
from semantic_toolsearch import ToolSearch
imported = time.monotonic()
search = ToolSearch.load(sys.argv[1], embedder=sys.argv[2], cache=False)
loaded = time.monotonic()
result = search.search("plan a meeting with the new customer")
answered = time.monotonic()
assert result.tools or result.hints
tell(begun=begun, answered=answered, peak=peak(),
     imports=imported - begun, load=loaded - imported, search=answered - loaded)
"""

_QUERIES: Final = """
from semantic_toolsearch import SearchConfig, ToolSearch
from semantic_toolsearch.embedding import resolve_embedder
from semantic_toolsearch.synthetic import synthetic_queries

class Timed:
    def __init__(self, embedder):
        self.embedder, self.seconds = embedder, 0.0
        self.id, self.dimension = embedder.id, embedder.dimension
        self.encode_document = embedder.encode_document

    def encode_query(self, texts):
        started = time.perf_counter()
        try:
            return self.embedder.encode_query(texts)
        finally:
            self.seconds += time.perf_counter() - started

embedder = Timed(resolve_embedder(sys.argv[3]))
# Called like the model itself, which has no limit and no thread of its own.
config = SearchConfig(embedder_timeout=None)
search = ToolSearch.load(sys.argv[1], embedder=embedder, cache=False, config=config)
whole, embedding = [], []
for number, query in enumerate(synthetic_queries(int(sys.argv[2]) + 10)):
    embedder.seconds = 0.0
    started = time.perf_counter()
    search.search(query)
    if number >= 10:  # the first ones load and warm what the others use
        whole.append(time.perf_counter() - started)
        embedding.append(embedder.seconds)
tell(whole=whole, embedding=embedding)
"""
