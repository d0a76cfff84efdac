"""The recipe of the ranking's numbers: it sees what the ranker sees, and its fit and thresholds are what they claim."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.embedding import EmbeddingCache
from semantic_toolsearch.rankers.calibration import calibration_of
from semantic_toolsearch.testing import HashingEmbedder

RECIPE = Path(__file__).parents[2] / "eval" / "fit_ranking"


@pytest.fixture(scope="module")
def recipe():
    sys.path.insert(0, str(RECIPE))
    try:
        yield {name: importlib.import_module(name) for name in ("tasks", "order", "sureness")}
    finally:
        sys.path.remove(str(RECIPE))
        for name in ("tasks", "order", "sureness"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def read(recipe, tmp_path_factory):
    cache = EmbeddingCache(tmp_path_factory.mktemp("cache") / "vectors.sqlite3")
    return recipe["tasks"].read_tasks(["own"], HashingEmbedder(64), cache)


def test_it_orders_and_trusts_as_the_ranker_does(recipe, read):
    shared = calibration_of("any", 64)
    cohort = np.eye(8, 64, dtype=np.float32)
    for task in read:
        ranker = ToolSearch(task.dataset.catalog, embedder=HashingEmbedder(64), cache=False).ranker
        weight = recipe["order"].word_weight(shared.words, shared.growth, len(task.dataset.tools))
        sums = recipe["order"].order_sums(task.own, weight)
        for place, query in enumerate(task.own.queries[:60]):
            ranking = ranker.rank(query.text, limit=len(task.dataset.tools))
            expected = np.sort(sums[place])[::-1]
            assert np.allclose(sums[place][ranking.positions], expected[: len(ranking)], atol=1e-5)
            assert (expected[len(ranking) :] < 1e-5).all()
            if task.own.one_word[place] or task.own.foreign[place] or not len(ranking):
                continue
            row = recipe["sureness"]._row(task, "answered", task.own, place, sums, cohort)
            assert ranking.scores[0] == pytest.approx(shared.probability(row[2], row[3], 0.0), abs=1e-4)


def test_hidden_tools_change_nothing_but_themselves(recipe, read):
    task = next(each for each in read if each.dataset.name == "workplace")
    right = [task.dataset.right_places(query.id) for query in task.own.queries]
    without = recipe["order"].order_sums(task.own, 0.3, right)
    for place, query in enumerate(task.own.queries[:40]):
        if not right[place]:
            continue
        assert not without[place][list(right[place])].any()
        visible = np.ones(len(task.dataset.tools), dtype=bool)
        visible[list(right[place])] = False
        search = ToolSearch(task.dataset.catalog, embedder=HashingEmbedder(64), cache=False)
        ranking = search.ranker.rank(query.text, limit=5, visible=visible)
        assert not set(ranking.positions.tolist()) & set(right[place])


def made_up_cases(recipe):
    """Three tasks whose answers have higher cosines, by an amount that a third signal takes back."""
    random = np.random.default_rng(4)
    task, kind, cosine, away = [], [], [], []
    for name in ("one", "two", "three"):
        for what, mean in (("answered", 0.6), ("stranger", 0.4)):
            shift = random.normal(0, 0.2, 200)
            task += [name] * 200
            kind += [what] * 200
            away += list(shift)
            cosine += list(mean + shift + random.normal(0, 0.05, 200))
    signals = {"cosine": np.array(cosine), "elsewhere": np.array(away)}
    return recipe["sureness"].Cases(np.array(task), np.array(kind), signals)


def test_the_fit_finds_what_separates(recipe):
    sureness, cases = recipe["sureness"], made_up_cases(recipe)
    weights = sureness.fit_odds(cases, ["cosine", "elsewhere"])
    assert weights[0] > 0 > weights[1]
    assert weights[0] == pytest.approx(-weights[1], rel=0.15)
    for signals, least, most in ((["cosine"], 0.1, 0.35), (["cosine", "elsewhere"], 0.85, 1.0)):
        odds = sureness.left_out_odds(cases, signals)
        threshold = sureness.threshold_at(cases, odds, 0.05)
        lost = sureness.below(cases, odds, "answered", threshold)
        assert 0.03 < lost <= 0.05
        assert least < sureness.below(cases, odds, "stranger", threshold) < most


def test_small_tasks_decide_less(recipe, read):
    order = recipe["order"]
    assert order.over_tasks(read, [0.0] * len(read)) == 0
    values = [1.0 if task.dataset.name == "workplace" else 0.0 for task in read]
    assert order.over_tasks(read, values) == 1.0  # the other own set is none of the tasks that decide


def test_rank_fusion_is_that_of_ranks(recipe, read):
    task = next(each for each in read if each.dataset.name == "library")
    fused = recipe["order"].rank_fusion(task)
    best = fused.argmax(axis=1)
    both = (task.own.shares.argmax(axis=1) == task.own.cosines.argmax(axis=1)) & (
        task.own.shares.max(axis=1) > 0
    )
    assert both.any()
    assert (best[both] == task.own.cosines.argmax(axis=1)[both]).all()
    assert fused.max() <= 2 / 61 + 1e-6
