"""The project's own evaluation data keep what their READMEs promise; read as plain JSON, without the loader."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from semantic_toolsearch import Catalog
from semantic_toolsearch.documents import shared_words
from semantic_toolsearch.names import squash
from semantic_toolsearch.tokens import tokenize

FOLDER = Path(__file__).parents[2] / "eval" / "datasets"
NAMES = ("library", "workplace")
KINDS = (
    "exact-name",
    "paraphrase",
    "no-shared-word",
    "misspelt",
    "abbreviated",
    "non-english",
    "multi-tool",
    "look-alike",
    "nothing-fits",
)
FEWEST = {"workplace": 45, "library": 4}
FEWEST_OF_KIND = {"workplace": {"paraphrase": 80, "non-english": 80, "nothing-fits": 60}, "library": {}}
NEAR_DUPLICATE = 0.6
"""Share of common words from which two queries count as the same question asked twice."""


@cache
def lines(name, file):
    text = (FOLDER / name / file).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def tools(name):
    return lines(name, "tools.jsonl")


def queries(name):
    return lines(name, "queries.jsonl")


@cache
def judgements(name):
    with (FOLDER / name / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [(row["query-id"], row["tool-id"], int(row["grade"])) for row in rows]


def gold(name):
    found = defaultdict(set)
    for query, tool, grade in judgements(name):
        if grade == 2:
            found[query].add(tool)
    return found


@cache
def catalog(name):
    return Catalog([{key: value for key, value in tool.items() if key != "id"} for tool in tools(name)])


def definitions(name):
    return dict(zip((tool["id"] for tool in tools(name)), catalog(name), strict=True))


each = pytest.mark.parametrize("name", NAMES)


@each
def test_every_tool_is_used_as_it_is_written(name):
    wrong = [str(entry) for entry in catalog(name).report.entries if entry.status != "ok"]
    assert wrong == []
    assert len(catalog(name)) == len(tools(name))


@each
def test_tools_have_the_documented_fields_and_an_id_of_namespace_and_name(name):
    for tool in tools(name):
        assert list(tool) == ["id", "name", "description", "parameters", "namespace"]
        assert tool["id"] == f"{tool['namespace']}/{tool['name']}"
        assert tool["parameters"]["type"] == "object"


def test_workplace_is_a_large_and_uneven_catalog():
    mine = tools("workplace")
    assert 140 <= len(mine) <= 160
    assert len({tool["namespace"] for tool in mine}) >= 14
    names = [tool["name"] for tool in mine]
    for style in ("_", "-", "."):
        assert any(style in each for each in names)
    assert any(each[0].isupper() for each in names)
    assert any(each[0].islower() and not each.islower() and each.isalnum() for each in names)
    assert any(not tool["parameters"]["properties"] for tool in mine)
    assert max(Counter(map(squash, names)).values()) == 3  # one name on three servers


def test_library_has_twelve_tools_of_three_namespaces():
    mine = tools("library")
    assert len(mine) == 12
    assert {tool["namespace"] for tool in mine} == {"catalogue", "loans", "members"}


@each
def test_ids_are_unique_and_no_text_is_asked_twice(name):
    for values in (
        [tool["id"] for tool in tools(name)],
        [query["id"] for query in queries(name)],
        [query["text"].casefold() for query in queries(name)],
        [(query, tool) for query, tool, _ in judgements(name)],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


@each
def test_queries_have_one_kind_one_split_and_a_language(name):
    for query in queries(name):
        assert query["kind"] in KINDS
        assert query["split"] in ("dev", "test")
        assert query["language"]
        assert query["text"] == query["text"].strip() != ""
        assert (query["language"] != "en") == (query["kind"] == "non-english") or query[
            "kind"
        ] == "nothing-fits"
    assert [query["kind"] for query in queries(name)] == sorted(
        (query["kind"] for query in queries(name)), key=KINDS.index
    )


@each
def test_every_kind_has_enough_queries_in_both_splits(name):
    for kind in KINDS:
        mine = [query for query in queries(name) if query["kind"] == kind]
        assert len(mine) >= FEWEST_OF_KIND[name].get(kind, FEWEST[name]), kind
        dev = sum(query["split"] == "dev" for query in mine)
        assert 0.25 <= dev / len(mine) <= 0.5, kind
        if name == "workplace":
            assert 0.37 <= dev / len(mine) <= 0.43, kind


@each
def test_judgements_name_what_exists_and_cover_what_is_answerable(name):
    tool_ids = {tool["id"] for tool in tools(name)}
    query_ids = {query["id"] for query in queries(name)}
    for query, tool, grade in judgements(name):
        assert query in query_ids
        assert tool in tool_ids
        assert grade in (1, 2)
    right = gold(name)
    judged = {query for query, _, _ in judgements(name)}
    for query in queries(name):
        answerable = query.get("answerable", True)
        assert answerable == (query["kind"] != "nothing-fits")
        assert answerable == (query["id"] in judged)
        if answerable:
            wanted = (2, 3, 4) if query["kind"] == "multi-tool" else (1,)
            assert len(right[query["id"]]) in wanted, query


@each
def test_every_tool_is_wanted_by_some_query(name):
    wanted = {tool for _, tool, _ in judgements(name)}
    assert {tool["id"] for tool in tools(name)} - wanted == set()


@each
def test_no_shared_word_shares_none(name):
    by_id, right = definitions(name), gold(name)
    shared = {
        query["text"]: found
        for query in queries(name)
        if query["kind"] == "no-shared-word"
        for tool in right[query["id"]]
        if (found := shared_words(by_id[tool], query["text"]))
    }
    assert shared == {}


@each
def test_an_exact_name_holds_the_name_of_its_tool(name):
    by_id, right = definitions(name), gold(name)
    for query in queries(name):
        if query["kind"] == "exact-name":
            (tool,) = right[query["id"]]
            assert squash(by_id[tool].name) in squash(query["text"]), query


def test_workplace_is_asked_in_many_languages_and_lengths():
    mine = queries("workplace")
    spoken = {query["language"].split("-")[0] for query in mine if query["kind"] == "non-english"}
    assert len(spoken) >= 8
    assert spoken >= {"ar", "de", "es", "fr", "hi", "ja", "ko", "pt", "ru", "zh"}
    lengths = [len(query["text"].split()) for query in mine]
    assert min(lengths) == 1
    assert 40 <= max(lengths) <= 60


def test_workplace_has_near_misses_and_other_worlds():
    parts = Counter(query.get("part") for query in queries("workplace") if query["kind"] == "nothing-fits")
    assert set(parts) == {"workplace", "elsewhere"}
    assert min(parts.values()) >= 30


def test_no_tool_of_workplace_is_gold_in_both_splits():
    right = gold("workplace")
    wanted = {"dev": set(), "test": set()}
    for query in queries("workplace"):
        if query["kind"] not in ("multi-tool", "nothing-fits"):
            wanted[query["split"]] |= right[query["id"]]
    assert wanted["dev"] & wanted["test"] == set()


@each
def test_no_question_stands_in_both_splits(name):
    words = [(query, frozenset(tokenize(query["text"]))) for query in queries(name)]
    dev, test = ([row for row in words if row[0]["split"] == split] for split in ("dev", "test"))
    close = [
        (one["text"], other["text"])
        for one, mine in dev
        for other, theirs in test
        if mine and len(mine & theirs) >= NEAR_DUPLICATE * len(mine | theirs)
    ]
    assert close == []


@each
def test_meta_says_what_it_is_and_defines_every_kind(name):
    meta = json.loads((FOLDER / name / "meta.json").read_text(encoding="utf-8"))
    assert meta["name"] == name
    assert meta["licence"] == "Apache-2.0"
    assert meta["written"] == "for this project"
    assert tuple(meta["kinds"]) == KINDS
    assert all(meta["kinds"].values())
    assert meta["version"] == 1


@each
def test_the_readme_counts_what_is_there(name):
    readme = (FOLDER / name / "README.md").read_text(encoding="utf-8")
    for kind in KINDS:
        splits = Counter(query["split"] for query in queries(name) if query["kind"] == kind)
        assert f"| {kind} | {splits['dev']} | {splits['test']} | {splits.total()} |" in readme
