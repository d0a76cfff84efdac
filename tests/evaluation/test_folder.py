"""Folders of tools, queries and judgements: what is read, what is refused, and that writing keeps everything."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from dataset_folders import QRELS, QUERIES, TOOLS, datasets, write_folder, write_qrels
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.data.folder import dataset_name, is_dataset, read_dataset, write_dataset
from semantic_toolsearch.evaluation.dataset import Query, told_apart


def test_s26_a_folder_is_read_whole(tmp_path):
    folder = write_folder(tmp_path / "office", meta={"name": "Office", "description": "Made for a test."})
    dataset = read_dataset(folder)
    assert (dataset.name, dataset.description) == ("Office", "Made for a test.")
    assert dataset.ids == ("mail/send", "mail/list", "cal/add")
    assert dataset.tools[0] == ToolDefinition(
        name="send_mail",
        description="Send a message to somebody.",
        parameters=TOOLS[0]["parameters"],
        namespace="mail",
    )
    assert dataset.tools[2] == ToolDefinition(name="add_event")
    assert dataset.queries == (
        Query("q1", "write to Ann", "dev", "paraphrase", "en", "office"),
        Query("q2", "note the meeting and tell Bob"),
        Query("q3", "sing a song", answerable=False),
    )
    assert dataset.gold == {
        "q1": {"mail/send": 2},
        "q2": {"cal/add": 1, "mail/send": 1},
    }  # grade 0 answers nothing
    assert dataset.sha256 == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("meta.json", "tools.jsonl", "queries.jsonl", "qrels.tsv")
    }


def test_name_and_origin_come_from_the_folder_where_meta_is_silent(tmp_path):
    assert read_dataset(write_folder(tmp_path / "plain")).name == "plain"
    folder = write_folder(
        tmp_path / "public", meta={"source": "A/B", "queries": "written by people", "size": 3}
    )
    assert (dataset_name(folder), read_dataset(folder).description) == ("public", "A/B; written by people")


def test_blank_lines_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path):
    folder = write_folder(tmp_path / "windows")
    expected = read_dataset(folder)
    for file in folder.iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert replace(read_dataset(folder), sha256={}) == replace(expected, sha256={})


def test_tools_of_one_name_are_told_apart_and_unusable_ones_reported(tmp_path):
    twins = [{"id": str(number), "name": "ping", "namespace": "net"} for number in range(3)]
    folder = write_folder(
        tmp_path / "twins",
        [*twins, {"id": "bad", "name": " "}, {"id": "odd", "name": "odd", "parameters": {"properties": 7}}],
        [{"id": "q", "text": "ping it"}],
        [("q", "2", 1), ("q", "bad", 1)],
    )
    dataset = read_dataset(folder)
    assert [tool.namespace for tool in dataset.tools] == ["net", "net 2", "net 3"]
    assert len(dataset.catalog) == 3
    assert set(dataset.unusable) == {"bad", "odd"}
    assert "name" in dataset.unusable["bad"]
    assert "properties" in dataset.unusable["odd"]
    assert dataset.gold_places("q") == (2,)


def test_numbers_that_tell_tools_apart_avoid_names_in_use():
    tools = [ToolDefinition(name="ping", namespace=space) for space in ("net", "net", "net 2", "net", "2")]
    tools += [ToolDefinition(name="ping"), ToolDefinition(name="ping")]
    told = told_apart(tools)
    assert len({tool.identity for tool in told}) == len(tools)
    assert [tool.namespace for tool in told] == ["net", "net 3", "net 2", "net 4", "2", None, "3"]


def test_further_tools_of_the_lenient_file_stand_for_the_gold_tool_they_copy(tmp_path):
    tools = [
        {"id": "g1", "name": "books.find", "description": "Find a book by its title"},
        {"id": "g2", "name": "films.find_film", "description": "Find a film by its title"},
        {"id": "same leaf", "name": "library__find", "description": "Film film film by its title"},
        {"id": "same words", "name": "cinema", "description": "A film, by title: find it"},
    ]
    queries = [{"id": "both", "text": "books and films"}, {"id": "one", "text": "films"}]
    strict = [("both", "g1", 1), ("both", "g2", 1), ("one", "g2", 1)]
    further = [("both", "same leaf", 1), ("both", "same words", 1), ("one", "same leaf", 1), ("one", "g1", 0)]
    folder = write_folder(tmp_path / "copies", tools, queries, strict, [*strict, *further])
    dataset = read_dataset(folder)
    assert dataset.copies == {"both": {"same leaf": "g1", "same words": "g2"}, "one": {"same leaf": "g2"}}
    assert read_dataset(folder, strict=True).copies == {}
    assert read_dataset(folder, strict=True).gold == dataset.gold


def test_beirs_own_layout_is_read(tmp_path):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "d1", "title": "ping", "text": "Send a ping."},
        {"_id": "d2", "title": "", "text": "Other."},
    ]
    asked = [
        {"_id": "q1", "text": "is it up?", "metadata": {}},
        {"_id": "q2", "text": "x"},
        {"_id": "q3", "text": "y"},
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n", encoding="utf-8"
    )
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td2\t2\n", encoding="utf-8")
    dataset = read_dataset(folder)
    assert dataset.tools == (
        ToolDefinition(name="ping", description="Send a ping."),
        ToolDefinition(name="d2", description="Other."),
    )
    assert dataset.queries == (Query("q1", "is it up?", "test"), Query("q3", "y", "dev"))
    assert dataset.gold == {"q1": {"d1": 1}, "q3": {"d2": 2}}
    write_qrels(folder / "qrels" / "dev.tsv", [("q1", "d2", 1)])
    with pytest.raises(DatasetError, match=r"test\.tsv, line 2: 'q1' is judged in qrels/dev\.tsv too"):
        read_dataset(folder)
    write_qrels(folder / "qrels" / "dev.tsv", [])
    write_qrels(folder / "qrels" / "test.tsv", [("q1", "d2", 0)])
    with pytest.raises(DatasetError, match="judges no tool"):
        read_dataset(folder)
    (folder / "qrels" / "test.tsv").unlink()
    with pytest.raises(DatasetError, match=r"test\.tsv: is missing"):
        read_dataset(folder)


# What is wrong, by file: the text that replaces it, the line that is named, words of the message.
FAULTS = {
    "no tools": ("tools.jsonl", None, None, "is missing. Expected is one tool a line"),
    "no queries": ("queries.jsonl", None, None, "is missing. Expected is one query a line"),
    "no judgements": ("qrels.tsv", None, None, "is missing. Expected is a tab-separated file"),
    "empty tools": ("tools.jsonl", "", None, "is empty"),
    "blank queries": ("queries.jsonl", "\n \n", None, "is empty"),
    "empty judgements": ("qrels.tsv", "", None, "is empty"),
    "no judgement": ("qrels.tsv", "query-id\ttool-id\tgrade\n", None, "judges no tool"),
    "only grade 0": ("qrels.tsv", "query-id\ttool-id\tgrade\nq1\tcal/add\t0\n", None, "judges no tool"),
    "latin 1": ("queries.jsonl", b'{"id": "q1", "text": "caf\xe9"}\n', 1, "not UTF-8"),
    "no JSON": ("tools.jsonl", '{"id": "a", "name": "a"}\n{"id": }\n', 2, "column 8: not JSON"),
    "a huge number": ("tools.jsonl", '{"id": ' + "9" * 5_000 + "}\n", 1, "not JSON that can be read"),
    "too deep": ("tools.jsonl", "[" * 100_000 + "\n", 1, "not JSON that can be read"),
    "a list": ("tools.jsonl", "[1]\n", 1, "a list; a JSON object is expected"),
    "no id": ("tools.jsonl", '{"name": "a"}\n', 1, "the field 'id' is missing; there is 'name'"),
    "id a number": ("tools.jsonl", '{"id": 7, "name": "a"}\n', 1, "'id' is a number; text is expected"),
    "id null": ("queries.jsonl", '{"id": null, "text": "a"}\n', 1, "'id' is null"),
    "id with a tab": ("tools.jsonl", '{"id": "a\\tb", "name": "a"}\n', 1, "holds a tab"),
    "half a character": ("queries.jsonl", '{"id": "q1", "text": "\\ud800"}\n', 1, "half of a surrogate pair"),
    "no name": ("tools.jsonl", '{"id": "a"}\n', 1, "the field 'name' is missing"),
    "name a list": ("tools.jsonl", '{"id": "a", "name": ["a"]}\n', 1, "'name' is a list"),
    "description": (
        "tools.jsonl",
        '{"id": "a", "name": "a", "description": 1}\n',
        1,
        "'description' is a number",
    ),
    "parameters": (
        "tools.jsonl",
        '{"id": "a", "name": "a", "parameters": [1]}\n',
        1,
        "'parameters' is no object",
    ),
    "parameters true": ("tools.jsonl", '{"id": "a", "name": "a", "parameters": true}\n', 1, "'parameters'"),
    "namespace": (
        "tools.jsonl",
        '{"id": "a", "name": "a", "namespace": {}}\n',
        1,
        "'namespace' is an object",
    ),
    "no text": ("queries.jsonl", '{"id": "q1", "query": "a"}\n', 1, "the field 'text' is missing"),
    "blank text": ("queries.jsonl", '{"id": "q1", "text": "  "}\n', 1, "'text' is blank"),
    "split": (
        "queries.jsonl",
        '{"id": "q1", "text": "a", "split": "two words"}\n',
        1,
        "one word is expected",
    ),
    "split a number": ("queries.jsonl", '{"id": "q1", "text": "a", "split": 1}\n', 1, "'split' is a number"),
    "kind": ("queries.jsonl", '{"id": "q1", "text": "a", "kind": []}\n', 1, "'kind' is a list"),
    "answerable": ("queries.jsonl", '{"id": "q1", "text": "a", "answerable": "no"}\n', 1, "true or false"),
    "tool twice": (
        "tools.jsonl",
        '{"id": "a", "name": "a"}\n\n{"id": "a", "name": "b"}\n',
        3,
        "on line 1 already",
    ),
    "query twice": (
        "queries.jsonl",
        '{"id": "q", "text": "a"}\n{"id": "q", "text": "b"}\n',
        2,
        "on line 1 already",
    ),
    "header": ("qrels.tsv", "q1\tmail/send\t1\n", 1, "the header is"),
    "spaces": ("qrels.tsv", "query-id tool-id grade\n", 1, "tabs between"),
    "columns": ("qrels.tsv", "query-id\ttool-id\tgrade\nq1\tmail/send\n", 2, "2 columns"),
    "grade": ("qrels.tsv", "query-id\ttool-id\tgrade\nq1\tmail/send\tgood\n", 2, "the grade 'good'"),
    "grade below 0": ("qrels.tsv", "query-id\ttool-id\tgrade\nq1\tmail/send\t-1\n", 2, "the grade '-1'"),
    "grade of parts": ("qrels.tsv", "query-id\ttool-id\tgrade\nq1\tmail/send\t0.5\n", 2, "the grade '0.5'"),
    "unknown query": (
        "qrels.tsv",
        "query-id\ttool-id\tgrade\nq9\tmail/send\t1\n",
        2,
        "the query 'q9' is unknown",
    ),
    "unknown tool": ("qrels.tsv", "query-id\ttool-id\tgrade\nq1\tmail/sent\t1\n", 2, "Nearest: mail/send"),
    "row twice": (
        "qrels.tsv",
        "query-id\ttool-id\tgrade\nq1\tcal/add\t1\nq1\tcal/add\t1\n",
        3,
        "line 2 already",
    ),
    "grade in the millions": (
        "qrels.tsv",
        "query-id\ttool-id\tgrade\nq1\tcal/add\t9999999\n",
        2,
        "from 0 to 1,000",
    ),
    "unanswerable": ("qrels.tsv", "query-id\ttool-id\tgrade\nq3\tcal/add\t1\n", 2, "'answerable': false"),
    "lenient grade": (
        "qrels_lenient.tsv",
        "query-id\ttool-id\tgrade\nq1\tmail/send\tx\n",
        2,
        "the grade 'x'",
    ),
    "no original": ("qrels_lenient.tsv", "query-id\ttool-id\tgrade\nq3\tmail/send\t1\n", 2, "no gold tool"),
    "meta": ("meta.json", "{\n oops}", None, "line 2: not JSON"),
    "meta a list": ("meta.json", "[]", None, "a JSON object is expected"),
    "meta name": ("meta.json", '{"name": 3}', None, "'name' is a number"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_s26_bad_data_is_an_error_that_names_file_and_line(fault, tmp_path):
    file, content, line, words = FAULTS[fault]
    path = write_folder(tmp_path / "bad", lenient=QRELS) / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DatasetError) as caught:
        read_dataset(path.parent)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert line is None or f"line {line}" in str(caught.value)


def test_a_query_without_gold_says_how_to_mark_it(tmp_path):
    folder = write_folder(tmp_path / "bad", queries=[*QUERIES, {"id": "q4", "text": "fly me to the moon"}])
    with pytest.raises(DatasetError, match='mark it with "answerable": false') as caught:
        read_dataset(folder)
    assert (caught.value.path, caught.value.line) == (folder / "queries.jsonl", 4)


def test_queries_that_nothing_answers_need_no_judgements(tmp_path):
    dataset = read_dataset(write_folder(tmp_path / "none", queries=QUERIES[2:], qrels=[]))
    assert [query.answerable for query in dataset.queries] == [False]


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"is no folder. Expected is one with tools.jsonl"):
        read_dataset(tmp_path / "absent")
    (tmp_path / "folder" / "tools.jsonl").mkdir(parents=True)
    assert not is_dataset(tmp_path / "folder")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_dataset(tmp_path / "folder")


@given(datasets())
@settings(max_examples=60)
def test_writing_and_reading_give_the_same_dataset(dataset):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set"
        write_dataset(dataset, path)
        read = read_dataset(path)
        assert replace(read, sha256={}) == dataset
        write_dataset(read, path)
        assert read_dataset(path) == read
        assert [each.name for each in Path(folder).iterdir()] == ["set"]


_LINES = st.sampled_from(["tools.jsonl", "queries.jsonl", "qrels.tsv"])
_BREAKS = {
    "cut": lambda line: line[: len(line) // 2],
    "quoted": lambda line: json.dumps(line.decode()).encode(),
    "undecodable": lambda line: line + b"\xff",
    "doubled": lambda line: line + line,
    "null": lambda line: b"null",
    "spaces for tabs and braces": lambda line: line.replace(b"\t", b" ").replace(b"{", b" "),
}


@given(file=_LINES, number=st.integers(0, 3), how=st.sampled_from(sorted(_BREAKS)))
@settings(max_examples=80)
def test_s26_any_broken_line_is_an_error_that_names_file_and_line(file, number, how):
    with tempfile.TemporaryDirectory() as folder:
        path = write_folder(Path(folder) / "set") / file
        lines = path.read_bytes().splitlines()
        place = number % len(lines)
        lines[place] = _BREAKS[how](lines[place])
        path.write_bytes(b"\n".join(lines) + b"\n")
        with pytest.raises(DatasetError) as caught:
            read_dataset(path.parent)
        assert (caught.value.path, caught.value.line) == (path, place + 1)


@given(
    st.sampled_from(["tools.jsonl", "queries.jsonl", "qrels.tsv", "qrels_lenient.tsv", "meta.json"]),
    st.binary(),
)
@settings(max_examples=60)
def test_s26_garbage_is_never_another_error(file, content):
    with tempfile.TemporaryDirectory() as folder:
        path = write_folder(Path(folder) / "set") / file
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=file.replace(".", r"\.")):
            read_dataset(path.parent)


def test_writing_replaces_a_dataset_and_nothing_else(tmp_path):
    dataset = read_dataset(write_folder(tmp_path / "old", lenient=[*QRELS, ("q1", "mail/list", 1)]))
    assert dataset.copies == {"q1": {"mail/list": "mail/send"}}
    write_dataset(dataset.split("test"), tmp_path / "old")
    assert not (tmp_path / "old" / "qrels_lenient.tsv").exists()
    assert [query.id for query in read_dataset(tmp_path / "old").queries] == ["q2", "q3"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"holds 'thesis.txt', which is no file of a dataset"):
        write_dataset(dataset, tmp_path / "mine")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DatasetError, match="cannot be written"):
        write_dataset(dataset, tmp_path / "file")
    assert {each.name for each in tmp_path.iterdir()} == {"old", "mine", "file"}


def test_a_failed_write_leaves_what_was_there(tmp_path):
    folder = write_folder(tmp_path / "set")
    before = read_dataset(folder)
    broken = replace(before, queries=(replace(before.queries[0], kind="\ud800"), *before.queries[1:]))
    with pytest.raises(DatasetError, match="cannot be written"):
        write_dataset(broken, folder)
    assert read_dataset(folder) == before
    with pytest.raises(DatasetError, match="tab or a line break"):
        write_dataset(replace(before, ids=("a\tb", *before.ids[1:]), gold={}, queries=()), folder)
    shutil.rmtree(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.data
def test_public_data_has_the_counts_that_its_page_states(public_data):
    sizes = {
        "restbench": 94, "apibank": 53, "tooltalk": 28, "sgd": 88, "hass": 33, "metatool": 100, "azure_mcp": 401,
        "rotbench": 553, "acebench_zh": 1_952, "acebench_en": 2_318, "bfcl": 2_849, "toolbench": 16_000,
        "pool_all": 29_316,
    }  # fmt: skip
    for name, tools in sizes.items():
        dataset = read_dataset(public_data / name)
        assert len(dataset.tools) == len(dataset.catalog) == tools
        assert dataset.unusable == {}
        assert all(dataset.right_places(query.id) for query in dataset.queries)
        lines = Counter(
            line.split("\t")[0]
            for line in (public_data / name / "qrels.tsv").read_text(encoding="utf-8").splitlines()
        )
        assert {query: len(golden) for query, golden in dataset.gold.items()} == {
            query: count for query, count in lines.items() if query != "query-id"
        }
