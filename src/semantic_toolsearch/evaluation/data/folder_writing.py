"""A dataset in; a folder in the layout of `folder` out, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Final

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.data.judgements import HEADER
from semantic_toolsearch.evaluation.data.lines import identifier_fault
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.writing import folder_in_the_making

__all__ = ["write_dataset"]

_WRITTEN: Final = frozenset({"tools.jsonl", "queries.jsonl", "qrels.tsv", "qrels_lenient.tsv", "meta.json"})
_KEPT: Final = ("description", "parameters", "namespace")
_DEFAULTS: Final = {
    "defer": "automatic",
    "aliases": (),
    "tags": (),
    "registered": True,
    "provider_fields": {},
}


def write_dataset(dataset: Dataset, path: str | PathLike[str]) -> None:
    """Write a folder that ``read_dataset`` reads as the same dataset.

    Of a near copy only the query is written; where a query has several gold tools, reading finds anew by names and
    texts which one it stands for.

    Args:
        dataset: What to write.
        path: The folder; made when missing, replaced when it is empty or holds a dataset's files only.

    Raises:
        DatasetError: The folder holds something else, cannot be written, or an id cannot stand in its files.
    """
    folder = Path(path).resolve()
    _check_ids(dataset)
    try:
        others = sorted({each.name for each in folder.iterdir()} - _WRITTEN) if folder.exists() else []
        if others:
            raise DatasetError(
                f"holds {others[0]!r}, which is no file of a dataset: choose a new folder.", folder
            )
        with folder_in_the_making(folder) as fresh:
            _write_files(dataset, fresh)
            if not folder.exists():
                fresh.rename(folder)
                return
            old = folder.with_name(f"{fresh.name}.old")
            folder.rename(old)
            try:
                fresh.rename(folder)
            except OSError:
                old.rename(folder)
                raise
            shutil.rmtree(old)
    except (OSError, UnicodeError) as error:  # a text with half of a surrogate pair cannot be encoded
        reason = error.strerror if isinstance(error, OSError) else None
        raise DatasetError(f"cannot be written: {reason or error}.", folder) from error


def _check_ids(dataset: Dataset) -> None:
    for each in (*dataset.ids, *dataset.unusable, *(query.id for query in dataset.queries)):
        if fault := identifier_fault(each):
            raise DatasetError(f"{dataset.name}: the id {each!r} {fault}.")


def _write_files(dataset: Dataset, folder: Path) -> None:
    tools = (_tool(each, tool) for each, tool in zip(dataset.ids, dataset.tools, strict=True))
    unusable = ({"id": each, "unusable": reason} for each, reason in dataset.unusable.items())
    _write(folder / "tools.jsonl", map(_line, (*tools, *unusable)))
    _write(folder / "queries.jsonl", (_line(_query(query)) for query in dataset.queries))
    _write(folder / "qrels.tsv", _rows(dataset, lenient=False))
    if any(dataset.copies.get(query.id) for query in dataset.queries):
        _write(folder / "qrels_lenient.tsv", _rows(dataset, lenient=True))
    _write(folder / "meta.json", [_line({"name": dataset.name, "description": dataset.description})])


def _write(path: Path, lines: Iterator[str] | list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _tool(each: str, tool: ToolDefinition) -> dict[str, Any]:
    values = tool.__dict__
    fields = {"id": each, "name": tool.name, **{key: values[key] for key in _KEPT}}
    return fields | {key: values[key] for key, default in _DEFAULTS.items() if values[key] != default}


def _query(query: Query) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": query.id, "text": query.text, "split": query.split}
    said = {"kind": query.kind, "language": query.language, "part": query.part}
    fields |= {key: value for key, value in said.items() if value is not None}
    return fields if query.answerable else fields | {"answerable": False}


def _rows(dataset: Dataset, *, lenient: bool) -> Iterator[str]:
    yield "\t".join(HEADER)
    for query in dataset.queries:
        golden = dataset.gold.get(query.id, {})
        for tool, grade in golden.items():
            yield f"{query.id}\t{tool}\t{grade}"
        if lenient:
            for tool, stood_for in dataset.copies.get(query.id, {}).items():
                yield f"{query.id}\t{tool}\t{golden[stood_for]}"
