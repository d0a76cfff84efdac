"""Folders that cannot be written are noticed first, names stay inside them, and pieces of other runs stay."""

from __future__ import annotations

import pytest

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.errors import ConfigError, DatasetError
from semantic_toolsearch.evaluation.arms.parsing import parse_arm
from semantic_toolsearch.evaluation.baseline import check_baselines, write_baselines
from semantic_toolsearch.evaluation.compare import compare
from semantic_toolsearch.evaluation.data.sources import DatasetSource
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.files import read_results, write_results
from semantic_toolsearch.evaluation.parts import Parts
from semantic_toolsearch.evaluation.results import ArmResult, Evaluation, QueryRow, TaskResult
from semantic_toolsearch.evaluation.settings import RunSettings
from semantic_toolsearch.evaluation.suite import run_suite
from semantic_toolsearch.evaluation.writing import check_writable, file_name, write_text

PIECE = ArmResult(arm="bm25")


def evaluation(name="numbers", failed=None, values=(1.0, 0.0), tools=2, ranked=((0,), (1,))):
    """One task of two queries and one arm."""
    rows = (QueryRow(id="a", gold=(0,)), QueryRow(id="b", gold=(1,)))
    arm = ArmResult(arm="bm25", failed=failed, values={"hit@1": values}, ranked=ranked)
    return Evaluation(tasks=(TaskResult(name=name, split="test", tools=tools, queries=rows, arms=(arm,)),))


def test_a_file_is_no_folder_to_write_to(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("n" * 300), tmp_path / "a\0b"):
        with pytest.raises(DatasetError, match="cannot be written"):
            check_writable(place)
    check_writable(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []


@pytest.mark.parametrize("name", ["../../x", "a/b", "a\0b", "y" * 5_000, ".", "", "\udcff", "con: |x|"])
def test_any_name_makes_one_file_of_its_own(name, tmp_path):
    made = file_name(name)
    assert len(made) < 100
    assert (tmp_path / f"{made}.json").resolve().parent == tmp_path.resolve()
    assert made != file_name(f"{name}!")
    assert file_name("library") == "library"


@pytest.mark.parametrize("name", ["../../x", "two/sets", "y" * 5_000])
def test_baselines_stay_inside_their_folder(name, tmp_path):
    folder = tmp_path / "deep" / "baselines"
    (path,) = write_baselines(evaluation(name), folder)
    assert path.parent == folder
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]
    assert not check_baselines(evaluation(name), folder).worse


def test_s30_a_baseline_neither_holds_nor_passes_an_arm_that_failed(tmp_path):
    with pytest.raises(DatasetError, match="numbers: bm25 has failed: no memory"):
        write_baselines(evaluation(failed="no memory"), tmp_path)
    assert list(tmp_path.iterdir()) == []
    write_baselines(evaluation(), tmp_path)
    with pytest.raises(DatasetError, match="bm25 has failed"):
        check_baselines(evaluation(failed="no memory"), tmp_path)


def test_an_arm_that_lost_its_figures_is_lost():
    two = [evaluation(name).tasks[0] for name in ("one", "two")]
    broken = evaluation("two", failed="no memory").tasks[0]
    comparison = compare(Evaluation(tasks=two), Evaluation(tasks=(two[0], broken)))
    assert comparison.lost == (("two", "bm25"),)
    assert comparison.as_dict()["lost"] == [{"task": "two", "arm": "bm25"}]
    assert compare(Evaluation(tasks=(two[0], broken)), Evaluation(tasks=two)).lost == ()


def test_pieces_of_other_runs_and_files_of_others_stay(tmp_path):
    one, two = Parts(tmp_path / "parts"), Parts(tmp_path / "parts")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "precious.json").write_text("mine", encoding="utf-8")
    one.keep("a", "key", PIECE)
    two.keep("b", "key", PIECE)
    one.finish()
    assert Parts(tmp_path / "parts").find("a", "key", ArmResult) is None
    assert Parts(tmp_path / "parts").find("b", "key", ArmResult) == PIECE
    Parts(tmp_path / "parts").clear()
    assert [each.name for each in (tmp_path / "parts").iterdir()] == ["precious.json"]


def test_a_run_that_went_on_removes_what_it_found(tmp_path):
    Parts(tmp_path / "parts").keep("a", "key", PIECE)
    later = Parts(tmp_path / "parts")
    assert later.find("a", "key", ArmResult) == PIECE
    later.finish()
    assert not (tmp_path / "parts").exists()


def test_what_is_no_character_loses_no_file(tmp_path):
    write_text(tmp_path / "report.md", "a\udcffb")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == "a?b"
    strange = ArmResult(arm="x", notes=("\udcff",))
    Parts(tmp_path / "parts").keep("a", "key", strange)
    assert Parts(tmp_path / "parts").find("a", "key", ArmResult) == ArmResult(arm="x", notes=("?",))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"values": ()}, "bm25 has 0 rows of hit@1 for 2 queries"),
        ({"values": (1.0,)}, "bm25 has 1 rows of hit@1 for 2 queries"),
        ({"ranked": ((0,),)}, "bm25 has 1 rows of ranked for 2 queries"),
        ({"ranked": ((0,), (2,))}, "a place is none of the 2 tools"),
        ({"ranked": ((0,), (-1,))}, "a place is none of the 2 tools"),
        ({"tools": 1}, "a place is none of the 1 tools"),
        ({"values": (float("nan"), 0.0)}, "NaN is no figure"),
    ],
)
def test_s30_edited_results_are_refused(tmp_path, changes, told):
    write_results(evaluation(**changes), tmp_path / "results.json")
    with pytest.raises(DatasetError, match=told):
        read_results(tmp_path / "results.json")


def nothing_fits():
    return Dataset(
        "empty-handed",
        (ToolDefinition(name="paint"),),
        ("paint",),
        (Query("q", "sing", answerable=False),),
        {},
    )


def test_what_cannot_be_measured_is_said_and_costs_no_figures():
    suite = run_suite(
        [DatasetSource("empty-handed", nothing_fits)],
        [parse_arm("keyword")],
        RunSettings(sizes=(None,), conversations=(1,)),
    )
    assert [arm.failed for arm in suite.evaluation.tasks[0].arms] == [None]
    assert suite.evaluation.tasks[0].arms[0].returned["nothing_loaded"] == 1.0
    sizes, conversations = suite.missing
    assert sizes.startswith("There are no figures by catalog size: empty-handed: no query")
    assert conversations.startswith("There are no conversations: empty-handed: no query")


def test_conversations_need_a_catalog_that_an_agent_may_have():
    tools = tuple(ToolDefinition(name=f"t{number}") for number in range(501))
    large = Dataset("large", tools, tuple(tool.name for tool in tools), (Query("q", "t1"),), {"q": {"t1": 1}})
    suite = run_suite(
        [DatasetSource("large", lambda: large)],
        [parse_arm("full")],
        RunSettings(conversations=(1,)),
        details=0,
    )
    assert suite.missing == ("There are no conversations: each dataset has more than 500 tools.",)


def test_a_model_for_conversations_that_is_none_is_told_before_an_arm_is_asked():
    def unread():
        raise AssertionError("nothing is to be read")

    with pytest.raises(ConfigError, match="There is no embedding model 'nope'"):
        run_suite(
            [DatasetSource("x", unread)],
            [parse_arm("keyword")],
            RunSettings(embedder="nope", conversations=(1,)),
        )


def test_a_seed_below_0_is_refused():
    with pytest.raises(ConfigError, match="seed must be at least 0, not -1"):
        RunSettings(seed=-1)
