"""Tool retrieval sets as ToolRet publishes them, on a hub or in a folder, in; a dataset out.

What is assumed, as `mangopy/ToolRet-Queries` and `mangopy/ToolRet-Tools` have it: files in Parquet or JSON Lines,
one folder a subset, named `queries*` and `tools*`.

- A row of queries has `id`, `query`, and `labels`: a JSON text (or a list) of objects with `id`, `relevance` (1 where
  it is missing, 0 for a tool that does not answer) and perhaps `doc`, the tool's documentation. `instruction` and
  `category` are not used.
- A row of tools has `id` and `documentation`: JSON (see `toolret_tools`) or free text.

Queries without words or without a relevant tool are left out, and the description says how many. A gold tool that
no file of tools holds is taken from its label's `doc`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

from semantic_toolsearch.errors import DatasetError, MissingExtraError
from semantic_toolsearch.evaluation.data.judgements import MOST_GRADE
from semantic_toolsearch.evaluation.data.lines import Record, json_records
from semantic_toolsearch.evaluation.data.toolret_tools import definition_of
from semantic_toolsearch.evaluation.dataset import Dataset, Query, told_apart
from semantic_toolsearch.reading import Reading

__all__ = ["HubSpec", "parse_hub_spec", "read_hub", "read_toolret"]

_FORM: Final = "hub:ORG/QUERIES[/SUBSET][@REVISION][+ORG/TOOLS[/SUBSET][@REVISION]]"
_REPOSITORY = re.compile(
    r"(?P<repository>[\w.-]+/[\w.-]+)(?:/(?P<subset>[\w./-]+?))?(?:@(?P<revision>[\w./-]+))?"
)
_ENDINGS: Final = (".parquet", ".jsonl")
_QUERIES: Final = "one query a line: {'id': ..., 'query': ..., 'labels': [{'id': ..., 'relevance': 1}]}"
_TOOLS: Final = "one tool a line: {'id': ..., 'documentation': ...}"


class Repository(NamedTuple):
    """A dataset repository of a hub, or one subset of it.

    Attributes:
        name: ``organisation/name``.
        subset: Folder inside of it; "" for all.
        revision: Branch, tag or commit; None for the newest.
    """

    name: str
    subset: str
    revision: str | None


class HubSpec(NamedTuple):
    """Where queries and tools are.

    Attributes:
        queries: Repository of the queries.
        tools: Repository of the tools; the same one may hold both.
    """

    queries: Repository
    tools: Repository

    @property
    def name(self) -> str:
        """Name of the dataset: the repository's, and the subset's."""
        subset = f"/{self.queries.subset}" if self.queries.subset else ""
        return self.queries.name.rpartition("/")[2].removesuffix("-Queries") + subset


def parse_hub_spec(spec: str) -> HubSpec:
    """Read ``hub:ORG/QUERIES[/SUBSET][@REVISION][+ORG/TOOLS[/SUBSET][@REVISION]]``.

    Without a second part, tools are in the repository whose name ends with ``-Tools`` where that of the queries
    ends with ``-Queries``, else in the same one.

    Raises:
        DatasetError: The text has another form.
    """
    parts = spec.removeprefix("hub:").split("+")
    matches = [_REPOSITORY.fullmatch(part.strip()) for part in parts]
    repositories = [
        Repository(match["repository"], (match["subset"] or "").strip("/"), match["revision"])
        for match in matches
        if match
    ]
    if len(repositories) != len(parts) or len(parts) > 2:
        raise DatasetError(f"{spec!r} names no dataset of a hub. Expected is {_FORM}.")
    queries = repositories[0]
    if len(repositories) == 2:
        return HubSpec(queries, repositories[1])
    if queries.name.endswith("-Queries"):
        return HubSpec(queries, Repository(queries.name.removesuffix("-Queries") + "-Tools", "", None))
    return HubSpec(queries, queries)


def read_hub(spec: HubSpec, cache: str | PathLike[str] | None = None) -> Dataset:
    """Download a set, or what is not in the hub's cache on disk yet, and read it.

    The commit of each repository is part of the description and of the keys of ``Dataset.sha256``.

    Args:
        spec: See ``parse_hub_spec``.
        cache: Folder for the files; None for the one that ``huggingface_hub`` uses. The hub is that of the
            environment variable ``HF_ENDPOINT``, else huggingface.co.

    Raises:
        MissingExtraError: The extra ``hub`` is not installed.
        DatasetError: The hub cannot be reached, has no such repository, revision or files, or they are not of the
            format.
    """
    queries, queries_commit = _download(spec.queries, "queries", cache)
    tools, tools_commit = _download(spec.tools, "tools", cache)
    origin = f"{spec.queries.name}@{queries_commit} with tools of {spec.tools.name}@{tools_commit}"
    return _dataset(spec.name, queries, tools, origin)


def read_toolret(folder: str | PathLike[str], name: str | None = None) -> Dataset:
    """Read files of the same format from a folder and the folders inside of it.

    Args:
        folder: Holds files ``queries*.jsonl`` or ``.parquet``, and ``tools*``.
        name: Of the dataset; None for the folder's.

    Raises:
        DatasetError: There are no such files, or they are not of the format.
        MissingExtraError: There are Parquet files, and the extra ``hub`` is not installed.
    """
    root = Path(folder)
    files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}
    queries = {key: path for key, path in files.items() if _is(key, "queries")}
    tools = {key: path for key, path in files.items() if _is(key, "tools")}
    if not queries:
        raise DatasetError("holds no file queries*.parquet or queries*.jsonl.", root)
    return _dataset(name or root.resolve().name, queries, tools, "ToolRet format, from files")


_Files = dict[str, Path]


def _dataset(name: str, query_files: _Files, tool_files: _Files, origin: str) -> Dataset:
    hashes: dict[str, str] = {}
    readings: dict[str, Reading] = {}
    for key, path in tool_files.items():
        for record in _rows(key, path, hashes, _TOOLS):
            each = record.identifier("id")
            if each in readings:
                raise record.fault(f"the tool id {each!r} occurs twice.")
            readings[each] = definition_of(each, record.fields.get("documentation"))
    queries: dict[str, Query] = {}
    gold: dict[str, dict[str, int]] = {}
    left_out = 0
    for key, path in query_files.items():
        for record in _rows(key, path, hashes, _QUERIES):
            each = record.identifier("id")
            if each in queries:
                raise record.fault(f"the query id {each!r} occurs twice.")
            golden = _labels(record, readings)
            text = (record.optional("query") or "").strip()
            if not golden or not text:
                left_out += 1
                continue
            queries[each] = Query(each, text, part=_subset(key))
            gold[each] = golden
    if not queries:
        raise DatasetError(f"{name}: no query has words and a relevant tool.")
    usable = {each: reading.tool for each, reading in readings.items() if reading.tool is not None}
    return Dataset(
        name=name,
        tools=told_apart(tuple(usable.values())),
        ids=tuple(usable),
        queries=tuple(queries.values()),
        gold=gold,
        unusable={
            each: str(reading.problems[-1]) for each, reading in readings.items() if reading.tool is None
        },
        sha256=hashes,
        description=f"{origin}; {left_out} queries without words or relevant tools left out.",
    )


def _labels(record: Record, readings: dict[str, Reading]) -> dict[str, int]:
    """The gold tools of a query with their grades; those that are not known yet are added."""
    labels = record.fields.get("labels")
    if isinstance(labels, str):
        try:
            labels = json.loads(labels)
        except (ValueError, RecursionError) as error:
            raise record.fault(f"'labels' is not JSON ({error}).") from error
    golden = {}
    for label in labels if isinstance(labels, list) else [labels]:
        if not isinstance(label, dict) or not isinstance(label.get("id"), str):
            raise record.fault("'labels' is no list of objects with ids.")
        grade = label.get("relevance", 1)
        whole = isinstance(grade, int) or (isinstance(grade, float) and grade.is_integer())
        if not whole or isinstance(grade, bool) or not 0 <= grade <= MOST_GRADE:
            raise record.fault(f"the relevance {grade!r} is no whole number from 0 to {MOST_GRADE:,}.")
        if not grade:
            continue
        tool = label["id"]
        if tool not in readings:
            if not label.get("doc"):
                raise record.fault(f"the tool {tool!r} is in no file of tools, and its label has no 'doc'.")
            readings[tool] = definition_of(tool, label["doc"])
        golden[tool] = int(grade)
    return golden


def _rows(key: str, path: Path, hashes: dict[str, str], expected: str) -> Iterator[Record]:
    if path.suffix == ".jsonl":
        yield from json_records(path, hashes, expected, name=key)
        return
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Reading Parquet files", "hub") from error
    try:
        data = path.read_bytes()
        hashes[key] = hashlib.sha256(data).hexdigest()
        number = 0
        for batch in pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data)).iter_batches(1_000):
            for fields in batch.to_pylist():
                number += 1
                yield Record(path, number, fields)
    except pyarrow.ArrowException as error:
        raise DatasetError(f"is no Parquet file that can be read ({error}).", path) from error
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror or error}.", path) from error


def _is(file: str, what: str) -> bool:
    return file.rpartition("/")[2].startswith(what) and file.endswith(_ENDINGS)


def _subset(key: str) -> str | None:
    """The folder that a file is in; None for the top of a folder or repository."""
    name = key.rpartition("/")[0].rpartition("/")[2]
    return None if not name or "@" in name else name


def _download(repository: Repository, what: str, cache: str | PathLike[str] | None) -> tuple[_Files, str]:
    """The files of queries or tools, by a name that holds repository and commit, and the commit."""
    try:
        from huggingface_hub import HfApi, hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise MissingExtraError("Reading datasets from a hub", "hub") from error
    endpoint = os.environ.get("HF_ENDPOINT") or None
    label = f"the dataset repository {repository.name!r}"
    try:
        info = HfApi(endpoint=endpoint).dataset_info(repository.name, revision=repository.revision)
        commit = str(info.sha)
        wanted = _wanted([each.rfilename for each in info.siblings or ()], repository, what)
        files = {}
        for file in wanted:
            files[f"{repository.name}@{commit}/{file}"] = Path(
                hf_hub_download(
                    repository.name,
                    file,
                    repo_type="dataset",
                    revision=commit,
                    cache_dir=None if cache is None else Path(cache),
                    endpoint=endpoint,
                )
            )
    except DatasetError:
        raise
    except (HfHubHTTPError, HFValidationError) as error:
        reason = str(error).strip().splitlines()[0]
        raise DatasetError(f"The hub has no answer for {label}: {reason}") from error
    except Exception as error:  # by its version, the client speaks through one HTTP library or another
        raise DatasetError(
            f"The hub cannot be reached for {label} ({type(error).__name__}: {error}). Datasets of a hub need a "
            "network; without one, use 'own', 'bfcl' or a folder."
        ) from error
    return files, commit


def _wanted(files: Sequence[str], repository: Repository, what: str) -> list[str]:
    prefix = f"{repository.subset}/" if repository.subset else ""
    wanted = sorted(file for file in files if file.startswith(prefix) and _is(file, what))
    if not wanted:
        subsets = sorted({file.rpartition("/")[0] for file in files if _is(file, what)} - {""})
        hint = f" Its subsets: {', '.join(subsets)}." if subsets else ""
        where = f"the subset {repository.subset!r} of " if repository.subset else ""
        raise DatasetError(f"{where}{repository.name} holds no {what}*.parquet or .jsonl.{hint}")
    return wanted
