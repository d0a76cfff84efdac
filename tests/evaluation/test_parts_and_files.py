"""Finished pieces survive, broken files are named, and equal results are equal bytes."""

from __future__ import annotations

import json
import os

import pytest

from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.files import read_results, without_times, write_results
from semantic_toolsearch.evaluation.parts import Parts
from semantic_toolsearch.evaluation.results import ArmResult, Evaluation, TaskResult

PIECE = ArmResult(arm="bm25", measures={"MRR": 0.5}, ranked=((1, 2), ()))
EVALUATION = Evaluation(
    config={"seed": 7},
    tasks=(TaskResult(name="numbers", split="test", tools=4, arms=(PIECE,)),),
    times={"seconds": 1.5},
)


def test_a_piece_is_found_under_its_key_alone(tmp_path):
    parts = Parts(tmp_path / "parts")
    assert parts.find("numbers--bm25", {"seed": 7}, ArmResult) is None
    parts.keep("numbers--bm25", {"seed": 7}, PIECE)
    assert parts.find("numbers--bm25", {"seed": 7}, ArmResult) == PIECE
    assert parts.find("numbers--bm25", {"seed": 8}, ArmResult) is None
    assert parts.find("numbers--hybrid", {"seed": 7}, ArmResult) is None


def test_a_piece_that_was_cut_off_counts_as_not_there(tmp_path):
    parts = Parts(tmp_path)
    parts.keep("x", 1, PIECE)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    assert parts.find("x", 1, ArmResult) is None


def test_names_with_slashes_stay_inside_the_folder(tmp_path):
    parts = Parts(tmp_path / "parts")
    parts.keep("../../own/x--st:a/b", 1, PIECE)
    assert parts.find("../../own/x--st:a/b", 1, ArmResult) == PIECE
    assert [path.parent.name for path in tmp_path.rglob("*.json")] == ["parts"]


def test_cleared_pieces_are_gone_and_no_folder_keeps_nothing(tmp_path):
    parts = Parts(tmp_path / "parts")
    parts.keep("x", 1, PIECE)
    parts.clear()
    assert not (tmp_path / "parts").exists()
    nowhere = Parts(None)
    nowhere.keep("x", 1, PIECE)
    assert nowhere.find("x", 1, ArmResult) is None
    nowhere.clear()


def test_results_are_read_back_as_they_were_and_equal_results_are_equal_bytes(tmp_path):
    write_results(EVALUATION, tmp_path / "deep" / "a.json")
    write_results(Evaluation.model_validate(EVALUATION.model_dump()), tmp_path / "b.json")
    assert read_results(tmp_path / "deep" / "a.json") == EVALUATION
    assert (tmp_path / "deep" / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_times_are_left_out_wherever_they_stand():
    later = EVALUATION.model_copy(
        update={
            "times": {"seconds": 99.0},
            "tasks": tuple(
                task.model_copy(
                    update={
                        "arms": tuple(arm.model_copy(update={"times": {"p50_ms": 9.0}}) for arm in task.arms)
                    }
                )
                for task in EVALUATION.tasks
            ),
        }
    )
    assert later != EVALUATION
    assert without_times(later) == without_times(EVALUATION)
    assert "times" not in json.dumps(without_times(later))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "no results file of the format"),
        ('{"format": "something else 3"}', "it says 'something else 3'"),
        (
            '{"format": "semantic_toolsearch evaluation 1", "tasks": [{"name": 3}]}',
            r"damaged at tasks\.0\.name",
        ),
        ('{"format": "semantic_toolsearch evaluation 1", "taks": []}', "damaged at taks"),
    ],
)
def test_a_file_that_is_no_results_file_is_named_with_the_reason(tmp_path, content, told):
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(DatasetError, match=told) as caught:
        read_results(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_that_cannot_be_written_are_named(tmp_path):
    with pytest.raises(DatasetError, match="cannot be read"):
        read_results(tmp_path / "none.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="cannot be written"):
        write_results(EVALUATION, tmp_path / "file" / "results.json")
    with pytest.raises(DatasetError, match="cannot be written"):
        Parts(tmp_path / "file" / "parts").keep("x", 1, PIECE)
    assert os.listdir(tmp_path) == ["file"]
