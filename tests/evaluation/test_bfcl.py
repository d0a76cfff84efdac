"""The Berkeley Function Calling Leaderboard: from files of its format, and from the installed package."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import Counter

import pytest

from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation.data.bfcl import read_bfcl
from semantic_toolsearch.names import squash

ANSWERED = (
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple",
)  # fmt: skip
ONLY_TOOLS = ("irrelevance", "live_irrelevance", "live_relevance")

installed = pytest.mark.skipif(
    importlib.util.find_spec("bfcl_eval") is None,
    reason="the package bfcl-eval is not installed: pip install --no-deps bfcl-eval",
)


def function(name, description, **properties):
    return {
        "name": name,
        "description": description,
        "parameters": {"type": "dict", "properties": properties},
    }


def entry(each, functions, *messages):
    said = [{"role": role, "content": text} for role, text in messages]
    return {"id": each, "question": [said], "function": functions}


AREA = function("area", "Area of a square by its side", side={"type": "float"})
AREA_TOO = function(
    "area", "The area of a square, given its side", side={"type": "tuple", "items": {"type": "any"}}
)
AREA_ELSE = function("area", "Postal region of a town", town={"type": "String"})
MAIL = function("mail.send", "Send a message", to={"type": ["string", "null"]})


def rows(path, values):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """The least that the format holds: one question a category, and some with more to them."""
    for category in ANSWERED:
        rows(
            tmp_path / f"BFCL_v4_{category}.json",
            [entry(f"{category}_0", [MAIL], ("user", f"Ask {category}"))],
        )
        rows(
            tmp_path / "possible_answer" / f"BFCL_v4_{category}.json",
            [{"id": f"{category}_0", "ground_truth": [{"mail.send": {"to": ["Ann"]}}]}],
        )
    for category in ONLY_TOOLS:
        rows(
            tmp_path / f"BFCL_v4_{category}.json",
            [entry("x", [function(category, "No answer")], ("user", "?"))],
        )
    rows(
        tmp_path / "BFCL_v4_simple_python.json",
        [
            entry(
                "a",
                [AREA, MAIL],
                ("system", "Be nice"),
                ("user", "How big?"),
                ("assistant", "Side?"),
                ("user", "3"),
            ),
            entry("b", [AREA_TOO], ("user", "Size of it")),
            entry("c", [AREA_ELSE, AREA_TOO], ("user", "Size of it")),
        ],
    )
    calls = [{"area": {"side": [3]}}, {"area": {"side": [4]}}, {"mail.send": {}}]
    rows(
        tmp_path / "possible_answer" / "BFCL_v4_simple_python.json",
        [{"id": "a", "ground_truth": calls}, {"id": "b", "ground_truth": calls[:1]}],
    )
    return tmp_path


def test_s23_questions_functions_and_answers_become_a_dataset(folder):
    dataset = read_bfcl(folder)
    texts = {query.id: query.text for query in dataset.queries}
    assert (texts["a"], texts["b"], "c" in texts) == ("How big?\n3", "Size of it", False)
    other = [each for each in dataset.ids if each.startswith("area#")]
    assert set(dataset.ids) == {"area", *other, "mail.send", *ONLY_TOOLS}
    assert len(dataset.catalog) == len(dataset.ids)
    assert dataset.gold["a"] == {"area": 1, "mail.send": 1}
    assert dataset.gold["b"] == {other[0]: 1}
    assert dataset.copies == {"a": {other[0]: "area"}, "b": {"area": other[0]}}  # not the postal region
    assert read_bfcl(folder, strict=True).copies == {}
    assert (
        {query.kind for query in dataset.queries}
        == {query.part for query in dataset.queries}
        == set(ANSWERED)
    )
    assert set(dataset.sha256) == {
        *(f"BFCL_v4_{category}.json" for category in (*ANSWERED, *ONLY_TOOLS)),
        *(f"possible_answer/BFCL_v4_{category}.json" for category in ANSWERED),
    }


def test_types_of_other_languages_become_json_schema(folder):
    dataset = read_bfcl(folder)
    schemas = {each: tool.parameters for each, tool in zip(dataset.ids, dataset.tools, strict=True)}
    assert schemas.pop("area") == {"type": "object", "properties": {"side": {"type": "number"}}}
    assert schemas.pop("mail.send") == {"type": "object", "properties": {"to": {"type": ["string", "null"]}}}
    others = [schema["properties"] for each, schema in schemas.items() if each.startswith("area#")]
    assert others == [{"side": {"type": "array", "items": {}}}, {"town": {"type": "string"}}]


def test_a_function_that_no_catalog_takes_costs_that_tool_only(folder):
    unusable = {"name": "far.off", "description": "x", "parameters": {"type": "dict", "properties": "none"}}
    questions = [
        entry("parallel_0", [MAIL], ("user", "Ask parallel")),
        entry("far", [unusable], ("user", "Far")),
    ]
    rows(folder / "BFCL_v4_parallel.json", questions)
    answers = [
        {"id": "parallel_0", "ground_truth": [{"mail.send": {}}]},
        {"id": "far", "ground_truth": [{"far.off": {}}]},
    ]
    rows(folder / "possible_answer" / "BFCL_v4_parallel.json", answers)
    dataset = read_bfcl(folder)
    assert set(dataset.unusable) == {"far.off"}
    assert dataset.gold["far"] == {"far.off": 1}
    assert dataset.gold_places("far") == ()


@pytest.mark.parametrize(
    ("file", "value", "words"),
    [
        ("BFCL_v4_multiple.json", entry("a", [], ("user", "?")), "no possible answer"),
        (
            "BFCL_v4_multiple.json",
            entry("multiple_0", [AREA], ("user", "?")),
            "calls 'mail.send', which is not given",
        ),
        ("BFCL_v4_multiple.json", entry("multiple_0", [MAIL], ("system", "?")), "no message of a user"),
        ("BFCL_v4_multiple.json", {"id": "a", "question": 3, "function": [MAIL]}, "no message of a user"),
        (
            "BFCL_v4_multiple.json",
            {"id": "a", "question": [], "function": ["x"]},
            "no list of functions with names",
        ),
        ("BFCL_v4_live_irrelevance.json", {"id": "a"}, "no list of functions with names"),
        (
            "possible_answer/BFCL_v4_multiple.json",
            {"id": "multiple_0", "ground_truth": ["f()"]},
            "no list of calls",
        ),
    ],
)
def test_s26_a_bad_record_is_named(folder, file, value, words):
    rows(folder / file, [value])
    with pytest.raises(DatasetError, match=words) as caught:
        read_bfcl(folder)
    assert (caught.value.path, caught.value.line) == (folder / file, 1)


def test_missing_files_are_named(folder):
    (folder / "BFCL_v4_parallel.json").unlink()  # not to be mistaken for live_parallel
    with pytest.raises(DatasetError, match=r"holds no BFCL_v\*_parallel.json"):
        read_bfcl(folder)


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install --no-deps bfcl-eval"):
        read_bfcl()


@installed
def test_the_installed_package_is_read_whole():
    dataset = read_bfcl()
    assert 2_500 < len(dataset.tools) == len(dataset.catalog) < 3_000
    assert dataset.unusable == {}
    assert len(dataset.queries) > 2_300
    assert {query.kind for query in dataset.queries} == set(ANSWERED)
    splits = Counter(query.split for query in dataset.queries)
    assert splits["dev"] == pytest.approx(len(dataset.queries) / 5, rel=0.1)
    places = {query.text: [dataset.tools[place].name for place in dataset.gold_places(query.id)]
              for query in dataset.queries}  # fmt: skip
    assert places["Calculate the factorial of 5 using math functions."] == ["math.factorial"]
    for query, copies in dataset.copies.items():
        for copy, original in copies.items():
            assert original in dataset.gold[query]
            names = [dataset.tools[dataset.places[each]].name for each in (copy, original)]
            assert squash(names[0]) == squash(names[1])


@installed
def test_the_package_itself_is_never_imported():
    code = (
        "import sys; from semantic_toolsearch.evaluation.data.bfcl import read_bfcl; read_bfcl(); "
        "sys.exit(any(name.split('.')[0] == 'bfcl_eval' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
