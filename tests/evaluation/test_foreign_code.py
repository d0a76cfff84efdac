"""Rankers and embedders of a user's own do what they like, and cost their own row alone."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from semantic_toolsearch import Ranking, ToolDefinition
from semantic_toolsearch.errors import ConfigError, RankerError
from semantic_toolsearch.evaluation.arms.import_paths import code_of, imported
from semantic_toolsearch.evaluation.arms.local import LocalArm
from semantic_toolsearch.evaluation.arms.parsing import parse_arm
from semantic_toolsearch.evaluation.data.sources import DatasetSource
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.files import read_results, without_times, write_results
from semantic_toolsearch.evaluation.measuring.collecting import one_line
from semantic_toolsearch.evaluation.parts import Parts
from semantic_toolsearch.evaluation.report.html import to_html
from semantic_toolsearch.evaluation.running import run_tasks
from semantic_toolsearch.evaluation.settings import RunSettings
from semantic_toolsearch.rankers.checked import checked_parts, checked_rank
from semantic_toolsearch.testing import HashingEmbedder

WORDS = ("paint", "wash", "iron", "fold")
HOSTILE = "\u202e\x1b[31m<script>alert(1)</script>\ud800"


def chores():
    """Four tools, each asked for by its word and described by its argument alone."""
    tools = tuple(
        ToolDefinition(
            name=f"tool_{place}",
            parameters={"type": "object", "properties": {"x": {"type": "string", "description": word}}},
        )
        for place, word in enumerate(WORDS)
    )
    queries = tuple(Query(f"q{place}", f"please {word} this") for place, word in enumerate(WORDS))
    ids = tuple(tool.name for tool in tools)
    gold = {query.id: {each: 1} for query, each in zip(queries, ids, strict=True)}
    return Dataset("chores", tools, ids, queries, gold)


def run(*arms, parts=None):
    """The rows of the arms by name, and the evaluation."""
    evaluation = run_tasks(
        [DatasetSource("chores", chores)],
        [parse_arm(arm) if isinstance(arm, str) else arm for arm in arms],
        RunSettings(probes=2),
        parts=parts or Parts(None),
    )
    return {arm.arm: arm for arm in evaluation.tasks[0].arms}, evaluation


class First:
    """Finds the first tool for everything."""

    def __init__(self, catalog):
        self.catalog = catalog

    def rank(self, query, *, limit, visible=None):
        return Ranking([0], [1.0])


class ExitsAtOnce(First):
    def __init__(self, catalog):
        sys.exit(3)


class ExitsAlways(First):
    def rank(self, query, *, limit, visible=None):
        sys.exit(3)


class ExitsOnce(First):
    def rank(self, query, *, limit, visible=None):
        if "iron" in query:
            raise asyncio.CancelledError("the client went away")
        return super().rank(query, limit=limit)


class ExitsWhenAskedWhy(First):
    def explain(self, query, position):
        sys.exit(3)


@pytest.mark.parametrize("ranker", [ExitsAtOnce, ExitsAlways])
def test_a_ranker_that_ends_the_program_ends_its_row(ranker):
    rows, _ = run("keyword", LocalArm("own", ranker), "bm25")
    assert "SystemExit: 3" in rows["own"].failed
    assert rows["keyword"].failed is None
    assert rows["bm25"].failed is None


def test_a_cancelled_client_costs_the_query_alone():
    rows, _ = run(LocalArm("own", ExitsOnce))
    assert rows["own"].failures == {"q2": "CancelledError: the client went away"}
    assert rows["own"].failed is None


def test_an_explanation_that_ends_the_program_is_missing():
    dataset = chores()
    prepared = LocalArm("own", ExitsWhenAskedWhy).prepare(dataset)
    (why,) = prepared.explain(dataset.queries[0], [0])
    assert why.parts == {}
    assert "SystemExit: 3" in why.reason


def test_a_ranker_that_changes_definitions_changes_no_other_arm():
    class Rewrites(First):
        def __init__(self, catalog):
            super().__init__(catalog)
            for tool in catalog:
                tool.parameters["properties"]["x"]["description"] = " ".join(WORDS)

    alone, _ = run("bm25")
    after, _ = run(LocalArm("own", Rewrites), "bm25")
    assert alone["bm25"].measures["hit@1"] == 1.0
    assert after["bm25"].ranked == alone["bm25"].ranked


def test_a_ranker_cannot_make_hidden_tools_visible():
    import numpy as np

    class Uncovers:
        def rank(self, query, *, limit, visible=None):
            visible[:] = True
            return Ranking([0], [1.0])

    mask = np.array([False, True])
    checked_rank(Uncovers(), "q", 5, 2, mask)
    assert mask.tolist() == [False, True]


@pytest.mark.parametrize("part", [float("nan"), float("inf")])
def test_parts_of_a_score_are_finite(part):
    class Strange:
        def explain(self, query, position):
            return {"words": part}

    with pytest.raises(RankerError, match="'words' is"):
        checked_parts(Strange(), "q", 0)


def test_foreign_text_loses_no_results_and_writes_to_no_terminal(tmp_path):
    class Fails(First):
        def rank(self, query, *, limit, visible=None):
            raise RuntimeError(HOSTILE + "x" * 10_000)

    class Notes(First):
        def rank(self, query, *, limit, visible=None):
            return Ranking([0], [1.0], notes=(HOSTILE,))

    rows, evaluation = run(
        LocalArm("fails", Fails), LocalArm("notes", Notes), parts=Parts(tmp_path / "parts")
    )
    assert len(rows["fails"].failed) < 600
    assert any("<script>" in note for note in rows["notes"].notes)
    for text in (rows["fails"].failed, *rows["fails"].failures.values(), *rows["notes"].notes):
        assert not {"\u202e", "\x1b", "\ud800"} & set(text)
    write_results(evaluation, tmp_path / "results.json")
    assert without_times(read_results(tmp_path / "results.json")) == without_times(evaluation)
    page = to_html(evaluation)
    assert "<script>alert" not in page
    assert not {"\u202e", "\x1b"} & set(page)


def test_a_note_says_for_how_many_queries_it_holds_and_many_are_counted():
    class Notes(First):
        def rank(self, query, *, limit, visible=None):
            return Ranking([0], [1.0], notes=("no luck",) if "iron" in query else ())

    class NotesMuch(First):
        def rank(self, query, *, limit, visible=None):
            return Ranking([0], [1.0], notes=tuple(f"{query} {number}" for number in range(10)))

    rows, _ = run(LocalArm("few", Notes), LocalArm("many", NotesMuch))
    assert rows["few"].notes == ("no luck (1 of 4 queries)",)
    assert len(rows["many"].notes) == 21
    assert rows["many"].notes[-1] == "... and 20 more notes about single queries"


def test_a_model_that_embeds_no_query_has_no_figures():
    class Mute(HashingEmbedder):
        def encode_query(self, texts):
            raise RuntimeError("out of breath")

    rows, _ = run("keyword", LocalArm("semantic", "semantic", embedder=Mute(), cache=False))
    assert "No query can be embedded" in rows["semantic"].failed
    assert "out of breath" in rows["semantic"].failed
    assert rows["keyword"].failed is None


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A current folder with a module of the user's own; gives a function that writes modules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(each for each in sys.path if each)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two edits in one second look the same to it
    known = set(sys.modules)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        sys.modules.pop(name, None)

    yield write
    for name in set(sys.modules) - known:
        sys.modules.pop(name)


def test_a_module_that_ends_the_program_is_named(here):
    here("ends_program", "import sys\nsys.exit(4)\n")
    with pytest.raises(ConfigError, match="importing ends_program failed with SystemExit: 4"):
        imported("ends_program:Ranker")


@pytest.mark.usefixtures("here")
def test_a_module_whose_name_is_taken_is_told_where_that_was_found():
    Path("json.py").write_text("class Fast: pass\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"It was found in .*json.*; give your json.py a name") as caught:
        imported("json:Fast")
    assert json.__file__ in str(caught.value)


RANKER = """
from semantic_toolsearch import Ranking

class Own:
    def __init__(self, catalog):
        pass

    def rank(self, query, *, limit, visible=None):
        return Ranking([{place}], [1.0])
"""


def test_s30_a_ranker_that_was_edited_is_asked_again(here, tmp_path):
    parts = Parts(tmp_path / "parts")
    here("mine_a", RANKER.format(place=0))
    before, _ = run("mine_a:Own", parts=parts)
    again, _ = run("mine_a:Own", parts=parts)
    assert again["mine_a:Own"].times == before["mine_a:Own"].times  # the same piece: times would differ
    here("mine_a", RANKER.format(place=3))
    after, _ = run("mine_a:Own", parts=parts)
    assert before["mine_a:Own"].ranked[0] == (0,)
    assert after["mine_a:Own"].ranked[0] == (3,)


def test_code_is_told_apart_by_what_stands_beside_it(here, tmp_path):
    here("mine_b", "import mine_c\nx = mine_c.x\n")
    here("mine_c", "x = 1\n")
    imported("mine_b:x")
    first = code_of("mine_b:x")
    here("mine_c", "x = 2\n")
    imported("mine_b:x")
    assert first
    assert code_of("mine_b:x") not in ("", first)
    assert code_of("builtins:len") == ""


def test_one_line_is_bounded_and_clean():
    assert one_line(f" a\n b{HOSTILE} ") == "a b[31m<script>alert(1)</script>\ufffd"
    assert len(one_line("y" * 1_000_000)) < 600
