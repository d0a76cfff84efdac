"""A folder of tools, queries and judgements in; a dataset out, and back.

The layout, as BEIR has it, with tools for documents:

    tools.jsonl         one tool a line: id, name, description, parameters (JSON Schema), namespace, and what else
                        `ToolDefinition` holds
    queries.jsonl       one query a line: id, text, and if known split (dev | test), kind, language, part;
                        "answerable": false where no tool fits
    qrels.tsv           query-id, tool-id, grade: which tools answer a query; grade 0 is a tool that does not
    qrels_lenient.tsv   optional, the same columns: further tools that are near copies of a gold tool
    meta.json           optional: name, description

BEIR's own layout is read too: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/dev.tsv and
qrels/test.tsv; queries that neither judges are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.data.copies import stood_for
from semantic_toolsearch.evaluation.data.folder_writing import write_dataset
from semantic_toolsearch.evaluation.data.judgements import read_judgements
from semantic_toolsearch.evaluation.data.lines import Record, json_records, read_json
from semantic_toolsearch.evaluation.dataset import Dataset, Query, told_apart
from semantic_toolsearch.reading import read_definition

__all__ = ["dataset_name", "is_dataset", "read_dataset", "write_dataset"]

_FILES: Final = ("tools.jsonl", "queries.jsonl", "qrels.tsv")
_TOOLS: Final = "one tool a line: {'id': ..., 'name': ..., 'description': ..., 'parameters': {...}}"
_QUERIES: Final = "one query a line: {'id': ..., 'text': ...}"
_META: Final = "{'name': ..., 'description': ...}"
_NO_GOLD: Final = "judges no tool to answer a query; give at least one row of grade 1."
_UNANSWERABLE: Final = 'mark it with "answerable": false'


class _Tool(NamedTuple):
    """A tool of a file: its line, and its definition or why there is none."""

    line: int | None
    definition: ToolDefinition | None
    reason: str = ""


class _Asked(NamedTuple):
    record: Record
    query: Query


_Tools = dict[str, _Tool]
_Queries = dict[str, _Asked]
_Gold = dict[str, dict[str, int]]


def is_dataset(folder: Path) -> bool:
    """Whether a folder is meant as a dataset: it holds queries or tools."""
    return any((folder / name).is_file() for name in ("queries.jsonl", "tools.jsonl", "corpus.jsonl"))


def dataset_name(folder: Path) -> str:
    """Return the name of the dataset in a folder: what ``meta.json`` says, else the folder's.

    Raises:
        DatasetError: ``meta.json`` cannot be read.
    """
    return _meta(folder, {})[0]


def read_dataset(path: str | PathLike[str], *, strict: bool = False) -> Dataset:
    """Read a folder of tools, queries and judgements; see *The data* in ``docs/evaluation.md``.

    Tools of the same namespace and name are told apart by numbers; a definition that no catalog takes goes to
    ``Dataset.unusable``, the rest stays.

    Args:
        path: The folder.
        strict: Count exactly the judgements of ``qrels.tsv``: leave near copies of gold tools out.

    Raises:
        DatasetError: The folder or a file is missing, empty, or wrong somewhere; the message names file and line.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise DatasetError(f"is no folder. Expected is one with {', '.join(_FILES)}.", folder)
    hashes: dict[str, str] = {}
    name, description = _meta(folder, hashes)
    beir = (folder / "corpus.jsonl").is_file() and not (folder / "tools.jsonl").exists()
    tools = _corpus(folder, hashes) if beir else _tools(folder / "tools.jsonl", hashes)
    queries = _queries(folder / "queries.jsonl", hashes, "_id" if beir else "id")
    if beir:
        queries, gold = _beir_gold(folder, queries, tools, hashes)
    else:
        gold = _gold(folder / "qrels.tsv", queries, tools, hashes)
    lenient = folder / "qrels_lenient.tsv"
    copies = {} if strict or not lenient.exists() else _copies(lenient, queries, tools, gold, hashes)
    usable = {each: tool.definition for each, tool in tools.items() if tool.definition is not None}
    return Dataset(
        name=name,
        tools=told_apart(tuple(usable.values())),
        ids=tuple(usable),
        queries=tuple(asked.query for asked in queries.values()),
        gold=gold,
        copies=copies,
        unusable={each: tool.reason for each, tool in tools.items() if tool.definition is None},
        sha256=hashes,
        description=description,
    )


def _meta(folder: Path, hashes: dict[str, str]) -> tuple[str, str]:
    path = folder / "meta.json"
    if not path.exists():
        return folder.resolve().name, ""
    record = read_json(path, hashes, _META)
    name = record.text("name") if "name" in record.fields else folder.resolve().name
    description = record.optional("description")
    if description is None:  # how public collections say where they come from
        said = (record.optional(key) for key in ("source", "queries"))
        description = "; ".join(filter(None, said))
    return name.strip(), description


def _tools(path: Path, hashes: dict[str, str]) -> _Tools:
    tools: _Tools = {}
    for record in json_records(path, hashes, _TOOLS):
        tool = _new(record, "id", tools)
        tools[tool] = _definition(record)
    return tools


def _definition(record: Record) -> _Tool:
    fields = {key: value for key, value in record.fields.items() if key != "id"}
    if (reason := record.optional("unusable")) is not None:
        return _Tool(record.line, None, reason)
    if not isinstance(fields.get("name"), str):
        record.text("name")  # raises: missing, or no text
    for key in ("description", "namespace"):
        if record.optional(key) is None:
            fields.pop(key, None)
    parameters = fields.get("parameters")
    if not parameters and parameters is not False:
        fields.pop("parameters", None)
    elif not isinstance(parameters, dict):
        raise record.fault("'parameters' is no object; a JSON Schema is expected, or {} for no arguments.")
    reading = read_definition(fields)
    return _Tool(record.line, reading.tool, "" if reading.tool else str(reading.problems[-1]))


def _corpus(folder: Path, hashes: dict[str, str]) -> _Tools:
    tools: _Tools = {}
    expected = "one tool a line: {'_id': ..., 'title': the name, 'text': the description}"
    for record in json_records(folder / "corpus.jsonl", hashes, expected):
        tool = _new(record, "_id", tools)
        title = record.optional("title") or ""
        reading = read_definition(
            {"name": title if title.strip() else tool, "description": record.optional("text") or ""}
        )
        tools[tool] = _Tool(record.line, reading.tool, "" if reading.tool else str(reading.problems[-1]))
    return tools


def _queries(path: Path, hashes: dict[str, str], key: str) -> _Queries:
    queries: _Queries = {}
    for record in json_records(path, hashes, _QUERIES):
        query = Query(
            id=_new(record, key, queries),
            text=record.text("text"),
            split=record.word("split", "test"),
            kind=record.optional("kind"),
            language=record.optional("language"),
            part=record.optional("part"),
            answerable=record.flag("answerable", True),
        )
        queries[query.id] = _Asked(record, query)
    return queries


def _new(record: Record, key: str, known: Mapping[str, _Tool | _Asked]) -> str:
    """The id of a record, which none before it has."""
    each = record.identifier(key)
    if (first := known.get(each)) is not None:
        line = first.line if isinstance(first, _Tool) else first.record.line
        raise record.fault(f"the id {each!r} is on line {line} already.")
    return each


def _gold(path: Path, queries: _Queries, tools: _Tools, hashes: dict[str, str]) -> _Gold:
    gold: _Gold = {}
    for row in read_judgements(path, queries, tools, hashes):
        if row.grade:
            if not queries[row.query].query.answerable:
                raise DatasetError(
                    f"{row.query!r} is marked with 'answerable': false but has a gold tool.", path, row.line
                )
            gold.setdefault(row.query, {})[row.tool] = row.grade
    without = [asked for each, asked in queries.items() if asked.query.answerable and each not in gold]
    if without and not gold:
        raise DatasetError(_NO_GOLD, path)
    for record, query in without:
        raise record.fault(
            f"the query {query.id!r} has no gold tool in {path.name}; add one, or {_UNANSWERABLE} if nothing fits."
        )
    return gold


def _beir_gold(
    folder: Path, queries: _Queries, tools: _Tools, hashes: dict[str, str]
) -> tuple[_Queries, _Gold]:
    """The judged queries, each in the split whose file judges it, and their gold tools."""
    gold: _Gold = {}
    judged: _Queries = {}
    for split in ("dev", "test"):
        path = folder / "qrels" / f"{split}.tsv"
        if split == "dev" and not path.exists():
            continue
        for row in read_judgements(path, queries, tools, hashes, name=f"qrels/{split}.tsv"):
            if not row.grade:
                continue
            asked = queries[row.query]
            first = judged.setdefault(row.query, asked._replace(query=replace(asked.query, split=split)))
            if first.query.split != split:
                other = f"qrels/{first.query.split}.tsv"
                raise DatasetError(f"{row.query!r} is judged in {other} too.", path, row.line)
            gold.setdefault(row.query, {})[row.tool] = row.grade
    if not gold:
        raise DatasetError(_NO_GOLD, folder / "qrels")
    return {each: judged[each] for each in queries if each in judged}, gold


def _copies(
    path: Path, queries: _Queries, tools: _Tools, gold: _Gold, hashes: dict[str, str]
) -> dict[str, dict[str, str]]:
    copies: dict[str, dict[str, str]] = {}
    for row in read_judgements(path, queries, tools, hashes):
        golden = gold.get(row.query, {})
        if not row.grade or row.tool in golden:
            continue
        if not golden:
            raise DatasetError(
                f"{row.query!r} has no gold tool in qrels.tsv to be a copy of.", path, row.line
            )
        known = [(each, tools[each].definition) for each in golden]
        copies.setdefault(row.query, {})[row.tool] = stood_for(tools[row.tool].definition, known)
    return copies
