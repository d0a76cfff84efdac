"""The files of the package `bfcl-eval` in; the Berkeley Function Calling Leaderboard as a dataset out.

The package is never imported, as that loads much else; only its data files are read.

What is read: the single-turn categories that come with possible answers, `simple_*`, `multiple`, `parallel`,
`parallel_multiple` and their `live_*` twins. A question's gold tools are the functions of its possible answers.
The catalog pools the functions given with all questions, those of the `irrelevance` and `relevance` categories too.

What is not: the questions of `irrelevance`. None of the functions given with such a question answers it, but one of
the other thousands may, so they say nothing about a pooled catalog. `live_relevance` has no answers to compare with,
and the multi-turn, memory and web categories need state.

Functions with equal names and descriptions are one tool. Tools of one name, however it is spelled, whose descriptions
share at least half of their words are near copies: many questions bring their own wording of the same function.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation.data.copies import jaccard
from semantic_toolsearch.evaluation.data.lines import Record, json_records
from semantic_toolsearch.evaluation.data.schema_types import json_schema
from semantic_toolsearch.evaluation.dataset import Dataset, Query, told_apart
from semantic_toolsearch.names import squash
from semantic_toolsearch.reading import read_definition

__all__ = ["read_bfcl"]

_INSTALL: Final = "pip install --no-deps bfcl-eval"
_ANSWERED: Final = (
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple",
)  # fmt: skip
_ONLY_TOOLS: Final = ("irrelevance", "live_irrelevance", "live_relevance")
_EXPECTED: Final = "a file of the package bfcl-eval: one object with id, question and function a line"
_NEAR: Final = 0.5
_DEV_OF: Final = 5


def read_bfcl(folder: str | PathLike[str] | None = None, *, strict: bool = False) -> Dataset:
    """Read the leaderboard's data.

    A fifth of the questions, drawn by a hash of their id, is the split ``dev``. ``kind`` and ``part`` are the
    category. A question asked twice word for word is kept once.

    Args:
        folder: Holds ``BFCL_v*_simple_python.json`` and the like, and ``possible_answer``; None for the installed
            package's.
        strict: Count near copies of gold tools as wrong.

    Raises:
        ConfigError: The package is not installed.
        DatasetError: A file is missing or not what it should be.
    """
    data = _installed() if folder is None else Path(folder)
    hashes: dict[str, str] = {}
    pool = _Pool()
    queries: dict[str, Query] = {}
    gold: dict[str, dict[str, int]] = {}
    for category in _ANSWERED:
        path = _file(data, category)
        answers = _answers(data / "possible_answer" / path.name, hashes)
        for record in json_records(path, hashes, _EXPECTED):
            given = pool.add(record)
            text = _text(record)
            if text in queries:
                continue
            each = record.identifier("id")
            named = answers.get(each)
            if not named:
                raise record.fault(f"the question {each!r} has no possible answer.")
            if missing := [name for name in named if name not in given]:
                raise record.fault(
                    f"the answer to {each!r} calls {missing[0]!r}, which is not given with it."
                )
            queries[text] = Query(each, text, _split(each), kind=category, part=category)
            gold[each] = {given[name]: 1 for name in named}
    for category in _ONLY_TOOLS:
        for record in json_records(_file(data, category), hashes, _EXPECTED):
            pool.add(record)
    return Dataset(
        name="bfcl",
        tools=told_apart(tuple(pool.tools.values())),
        ids=tuple(pool.tools),
        queries=tuple(queries.values()),
        gold=gold,
        copies={} if strict else _copies(gold, pool.tools),
        unusable=pool.unusable,
        sha256=hashes,
        description="Berkeley Function Calling Leaderboard, single turns, from bfcl-eval; functions of all pooled.",
    )


class _Pool:
    """The functions of all questions, each once."""

    def __init__(self) -> None:
        self.tools: dict[str, ToolDefinition] = {}
        self.unusable: dict[str, str] = {}
        self._ids: dict[tuple[str, str], str] = {}

    def add(self, record: Record) -> dict[str, str]:
        """Take the functions of a question; return the id of each by its name."""
        functions = record.fields.get("function")
        listed = functions if isinstance(functions, list) else [functions]
        given = {}
        for function in listed:
            if not isinstance(function, dict) or not isinstance(function.get("name"), str):
                raise record.fault("'function' is no list of functions with names.")
            given[function["name"]] = self._id(function["name"], function)
        return given

    def _id(self, name: str, function: Mapping[str, Any]) -> str:
        description = str(function.get("description") or "")
        if (known := self._ids.get((name, description))) is not None:
            return known
        each = name
        if each in self.tools or each in self.unusable:
            each = f"{name}#{hashlib.sha256(description.encode()).hexdigest()[:6]}"
        self._ids[name, description] = each
        parameters = json_schema(function.get("parameters") or {})
        reading = read_definition({"name": name, "description": description, "parameters": parameters})
        if reading.tool is None:
            self.unusable[each] = str(reading.problems[-1])
        else:
            self.tools[each] = reading.tool
        return each


def _installed() -> Path:
    spec = importlib.util.find_spec("bfcl_eval")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (data := Path(place) / "data").is_dir():
            return data
    raise ConfigError(
        f"The dataset bfcl is read from the package bfcl-eval, which is not installed: {_INSTALL}"
    )


def _file(folder: Path, category: str) -> Path:
    """The file of a category, of the newest version there is."""
    found = sorted(folder.glob(f"BFCL_v*_{category}.json"), key=lambda path: (len(path.name), path.name))
    named = [path for path in found if path.stem.split("_", 2)[2] == category]
    if not named:
        raise DatasetError(
            f"holds no BFCL_v*_{category}.json. Expected is the data folder of bfcl-eval.", folder
        )
    return named[-1]


def _answers(path: Path, hashes: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Names of the functions that answer, by question."""
    answers = {}
    expected = "one object with id and ground_truth a line"
    for record in json_records(path, hashes, expected, name=f"possible_answer/{path.name}"):
        calls = record.fields.get("ground_truth")
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            raise record.fault("'ground_truth' is no list of calls.")
        answers[record.identifier("id")] = tuple(dict.fromkeys(name for call in calls for name in call))
    return answers


def _text(record: Record) -> str:
    said = [
        message["content"].strip()
        for message in _messages(record.fields.get("question"))
        if message.get("role") == "user" and isinstance(message.get("content"), str)
    ]
    text = "\n".join(filter(None, said))
    if not text:
        raise record.fault("'question' holds no message of a user.")
    return text


def _messages(question: Any) -> Iterator[Mapping[str, Any]]:
    for turn in question if isinstance(question, list) else ():
        for message in turn if isinstance(turn, list) else ():
            if isinstance(message, dict):
                yield message


def _split(each: str) -> str:
    number = int(hashlib.sha256(each.encode()).hexdigest()[:8], 16)
    return "dev" if number % _DEV_OF == 0 else "test"


def _copies(
    gold: Mapping[str, Mapping[str, int]], tools: Mapping[str, ToolDefinition]
) -> dict[str, dict[str, str]]:
    same_name: dict[str, list[str]] = defaultdict(list)
    for each, tool in tools.items():
        same_name[squash(tool.name)].append(each)
    near: dict[str, Sequence[str]] = {}
    copies: dict[str, dict[str, str]] = {}
    for query, golden in gold.items():
        for right in golden:
            if right not in tools:
                continue
            if right not in near:
                twins = same_name[squash(tools[right].name)]
                near[right] = [
                    each
                    for each in twins
                    if each != right and jaccard(tools[each].description, tools[right].description) >= _NEAR
                ]
            for each in near[right]:
                if each not in golden:
                    copies.setdefault(query, {}).setdefault(each, right)
    return copies
