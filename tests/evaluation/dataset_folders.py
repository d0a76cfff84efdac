"""Small dataset folders for tests: a good one, and strategies for whole datasets."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import strategies as st

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import InvalidToolError
from semantic_toolsearch.evaluation.dataset import Dataset, Query, told_apart

TOOLS = [
    {
        "id": "mail/send",
        "name": "send_mail",
        "description": "Send a message to somebody.",
        "parameters": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
        "namespace": "mail",
    },
    {
        "id": "mail/list",
        "name": "list_mail",
        "description": "List messages.",
        "parameters": {},
        "namespace": "mail",
    },
    {"id": "cal/add", "name": "add_event", "description": None, "parameters": None, "namespace": None},
]
QUERIES = [
    {
        "id": "q1",
        "text": "write to Ann",
        "split": "dev",
        "kind": "paraphrase",
        "language": "en",
        "part": "office",
    },
    {"id": "q2", "text": "note the meeting and tell Bob", "split": "test"},
    {"id": "q3", "text": "sing a song", "answerable": False},
]
QRELS = [("q1", "mail/send", 2), ("q2", "cal/add", 1), ("q2", "mail/send", 1), ("q1", "cal/add", 0)]


def write_folder(folder: Path, tools=TOOLS, queries=QUERIES, qrels=QRELS, lenient=None, meta=None) -> Path:
    """A dataset folder of plain values; everything can be replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tools.jsonl").write_text("".join(json.dumps(tool) + "\n" for tool in tools), encoding="utf-8")
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in queries), encoding="utf-8"
    )
    write_qrels(folder / "qrels.tsv", qrels)
    if lenient is not None:
        write_qrels(folder / "qrels_lenient.tsv", lenient)
    if meta is not None:
        (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return folder


def write_qrels(path: Path, rows) -> None:
    """A file of judgements."""
    lines = ["query-id\ttool-id\tgrade", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


_characters = st.characters(exclude_categories=["Cs"])
_texts = st.text(_characters, max_size=20)
_said = st.text(_characters, min_size=1, max_size=20).filter(str.strip)
_ids = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=8
).filter(str.strip)
_words = st.from_regex(r"[A-Za-z_.-]{1,8}", fullmatch=True)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
_schemas = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(_texts, st.fixed_dictionaries({"title": _texts})),
    }
)


@st.composite
def definitions(draw) -> ToolDefinition:
    """A tool with any field set."""
    fields = {
        "name": _said,
        "description": _texts,
        "parameters": _schemas,
        "namespace": st.none() | _said,
        "defer": st.sampled_from(["never", "automatic", "always"]),
        "aliases": st.lists(_words, max_size=2),
        "tags": st.lists(_words, max_size=2),
        "registered": st.booleans(),
        "provider_fields": st.dictionaries(_texts, _json, max_size=2),
    }
    try:
        return ToolDefinition(**{key: draw(values) for key, values in fields.items()})
    except InvalidToolError:  # a name of characters that cannot be seen
        return ToolDefinition(name="plain")


@st.composite
def datasets(draw) -> Dataset:
    """A consistent dataset of a few tools and queries, with copies, unusable tools and unanswerable queries."""
    ids = draw(st.lists(_ids, min_size=1, max_size=6, unique=True))
    known = draw(st.integers(1, len(ids)))
    queries, gold, copies = [], {}, {}
    for each in draw(st.lists(_ids, min_size=1, max_size=5, unique=True)):
        golden = draw(st.dictionaries(st.sampled_from(ids), st.integers(1, 3), max_size=3))
        near = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))
        queries.append(
            Query(
                id=each,
                text=draw(_said),
                split=draw(_words),
                kind=draw(st.none() | _texts),
                language=draw(st.none() | _texts),
                part=draw(st.none() | _texts),
                answerable=bool(golden),
            )
        )
        if golden:
            gold[each] = golden
            if len(golden) == 1 and (further := [tool for tool in near if tool not in golden]):
                copies[each] = dict.fromkeys(further, next(iter(golden)))
    return Dataset(
        name=draw(_said).strip(),
        tools=told_apart(tuple(draw(definitions()) for _ in ids[:known])),
        ids=tuple(ids[:known]),
        queries=tuple(queries),
        gold=gold,
        copies=copies,
        unusable={each: draw(_texts) for each in ids[known:]},
        description=draw(_texts),
    )
