"""Drawings of an evaluation: what stands in them, that they are the same twice, and that pages can colour them."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from reported import made_up, words

from semantic_toolsearch.evaluation.report.cost_grids import sizes_by_task
from semantic_toolsearch.evaluation.report.grids import legend
from semantic_toolsearch.evaluation.report.plots import (
    conversation_costs,
    latency,
    quality_by_size,
    recall_curve,
    tokens_by_size,
)
from semantic_toolsearch.evaluation.report.svg import page_svg
from semantic_toolsearch.evaluation.results import TaskResult

SVG = "{http://www.w3.org/2000/svg}"


def drawings():
    evaluation = made_up()
    shared = legend(evaluation)
    task, sizes = evaluation.tasks[0], sizes_by_task(evaluation)["office"]
    return {
        "recall": recall_curve(task, shared),
        "latency": latency(task, shared),
        "size": quality_by_size(sizes, shared, "nDCG@10"),
        "tokens": tokens_by_size(sizes),
        "conversations": conversation_costs(evaluation.conversations),
    }


DRAWN = drawings()


def parsed(drawing):
    return ET.fromstring(drawing)  # noqa: S314 - written by this library, not by a stranger


def texts(drawing):
    return [element.text for element in parsed(drawing).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_is_svg_with_a_name_and_without_anything_from_elsewhere(name):
    root = parsed(DRAWN[name])
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == root.get("aria-label")
    assert root.get("aria-label").startswith("office")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|<script|<metadata", DRAWN[name])


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_is_the_same_twice(name):
    assert drawings()[name] == DRAWN[name]


@pytest.mark.parametrize("name", DRAWN)
def test_every_colour_is_a_variable_of_the_page(name):
    colours = set(re.findall(r"(var\([^)]*, )?(#[0-9a-f]{6})\b", DRAWN[name]))
    assert colours
    assert all(variable for variable, _ in colours), colours


@pytest.mark.parametrize("name", DRAWN)
def test_every_reference_in_a_drawing_leads_somewhere(name):
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', DRAWN[name]))
    known = set(re.findall(r' id="([^"]+)"', DRAWN[name]))
    assert {first or second for first, second in used} == known


def test_drawings_of_one_page_do_not_share_ids():
    ids = [found for drawing in DRAWN.values() for found in re.findall(r' id="([^"]+)"', drawing)]
    assert len(ids) == len(set(ids))


def test_every_line_is_named_at_its_end():
    assert {"words", "meaning", "anthropic-bm25 (emulated)"} <= set(texts(DRAWN["recall"]))
    assert {"words", "meaning"} <= set(texts(DRAWN["size"]))
    assert {"full", "hosted", "hosted, responses", "bridge"} <= set(texts(DRAWN["tokens"]))


def test_lines_that_end_together_have_names_apart():
    evaluation = made_up()
    task = evaluation.tasks[0]
    arms = tuple(words(arm=f"arm {number}") for number in range(6))
    same = task.model_copy(update={"arms": arms})
    drawing = recall_curve(same, legend(evaluation.model_copy(update={"tasks": (same,)})))
    named = [each for each in parsed(drawing).iter(f"{SVG}text") if each.text.startswith("arm")]
    heights = sorted(float(each.get("y")) for each in named)
    assert len(heights) == 6
    assert min(later - before for before, later in pairwise(heights)) > 9


def test_figures_stand_where_they_belong():
    assert "0.21 to 12" in texts(DRAWN["latency"])
    assert "3.4 to 140" in texts(DRAWN["latency"])
    assert {"50", "1,200"} <= set(texts(DRAWN["size"]))
    assert {"20,000 (100 %)", "2,500 (12 %)"} <= set(texts(DRAWN["conversations"]))
    assert {"1 user message", "5 user messages"} <= set(texts(DRAWN["conversations"]))


def test_recall_is_drawn_to_scale():
    root = parsed(DRAWN["recall"])
    lines = {}
    for path in root.iter(f"{SVG}path"):
        points = re.findall(r"[ML] ([\d.]+) ([\d.]+)", path.get("d"))
        if len(points) == 10:
            lines[re.search(r"stroke: var\((--series-\d)", path.get("style"))[1]] = [
                float(y) for _, y in points
            ]
    first, last = lines["--series-1"][0], lines["--series-1"][-1]  # words: 0.25 and 0.625
    top = lines["--series-2"][-1]  # meaning: 1.0
    assert (first - top) / (last - top) == pytest.approx(0.75 / 0.375, rel=1e-3)


def test_nothing_is_drawn_where_there_is_nothing_to_compare():
    evaluation = made_up()
    shared = legend(evaluation)
    bare = TaskResult(
        name="t", split="test", tools=1, arms=(words(failed="no"), words(recall_at=(), times={}))
    )
    assert recall_curve(bare, shared) == ""
    assert latency(bare, shared) == ""
    assert quality_by_size(evaluation.sizes[:1], shared, "nDCG@10") == ""
    assert tokens_by_size(evaluation.sizes[:1]) == ""
    assert conversation_costs(evaluation.conversations[:1]) == ""
    assert conversation_costs(()) == ""


def test_names_of_any_script_and_with_signs_of_formulas_are_drawn_as_they_are():
    task = made_up().tasks[0]
    odd = task.model_copy(update={"name": "<&> $x_1$ 搜索", "arms": (words(arm="$\\frac{1}{2}$ 搜索 <b>"),)})
    drawing = recall_curve(odd, legend(made_up(tasks=(odd,))))
    assert "$\\frac{1}{2}$ 搜索 <b>" in texts(drawing)
    assert parsed(drawing).get("aria-label").startswith("<&> $x_1$ 搜索: ")


def test_only_svg_becomes_page_svg():
    with pytest.raises(ValueError, match="no SVG document"):
        page_svg("<html>", "t", {})


def test_matplotlib_is_loaded_by_drawing_alone():
    script = (
        "import sys; import semantic_toolsearch.evaluation.report.html, semantic_toolsearch.evaluation.report.table; "
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
