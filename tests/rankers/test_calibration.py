"""How sure an answer is: the numbers that come along, what each signal does, and models without numbers."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from semantic_toolsearch.embedding import OnnxEmbedder, shipped_model
from semantic_toolsearch.rankers.calibration import (
    CALIBRATIONS,
    LEAST_WORDS,
    MOST_WORDS,
    NEAREST,
    Calibration,
    calibration_of,
    elsewhere,
)

SIGNALS = {"cosine": 0.5, "coverage": 0.2, "elsewhere": 0.35}


@pytest.fixture(scope="module")
def small():
    embedder = OnnxEmbedder(shipped_model("small"))
    return calibration_of(embedder.id, embedder.dimension)


def test_the_default_model_has_numbers_of_its_own(small):
    """After a change of its weights eval/fit_ranking must be run: cosines of other weights mean something else."""
    assert small.cohort is not None
    assert small.cohort.shape == (512, 384)
    assert np.allclose(np.linalg.norm(small.cohort, axis=1), 1, atol=1e-5)
    assert len(np.unique(small.cohort, axis=0)) == 512


@pytest.mark.parametrize("path", sorted(CALIBRATIONS.glob("*.json")), ids=lambda path: path.stem)
def test_stored_numbers_are_usable(path):
    numbers = json.loads(path.read_text(encoding="utf-8"))
    own = Calibration(**numbers)
    assert own.cosine > 0
    assert own.coverage > 0
    assert own.elsewhere <= 0
    assert 0 < own.strong < 1
    assert 0.5 <= own.foreign < 1
    assert 0 < own.strong_cosine < 1
    assert path.with_suffix(".npy").exists() == (own.elsewhere < 0)
    assert CALIBRATIONS.joinpath("any.json").exists()


def test_sureness_grows_with_each_arm_and_falls_with_what_is_elsewhere(small):
    middle = small.probability(**SIGNALS)
    assert 0 < middle < 1
    assert small.probability(**{**SIGNALS, "cosine": 0.6}) > middle
    assert small.probability(**{**SIGNALS, "coverage": 0.5}) > middle
    assert small.probability(**{**SIGNALS, "elsewhere": 0.5}) < middle
    assert small.probability(1.0, 1.0, 0.0) > 0.99
    assert small.probability(0.1, 0.0, 0.4) < 0.01


def test_no_odds_are_too_long():
    steep = Calibration(0.3, 0.1, 0.8, 1e6, 0, 0, -5e5, 0.5, 0.5)
    assert 0 < steep.probability(0.0, 0, 0) < 1e-9
    assert 1 - 1e-9 < steep.probability(1.0, 0, 0) <= 1


def test_words_weigh_more_among_more_tools(small):
    weights = [small.word_weight(tools) for tools in (0, 1, 20, 100, 400, 2_000, 10_000, 100_000, 10**9)]
    assert all(earlier <= later for earlier, later in pairwise(weights))
    assert (weights[0], weights[4], weights[-1]) == (LEAST_WORDS, small.words, MOST_WORDS)


def test_elsewhere_is_the_mean_of_the_nearest():
    random = np.random.default_rng(1)
    cohort = random.standard_normal((40, 8)).astype(np.float32)
    queries = random.standard_normal((5, 8)).astype(np.float32)
    exact = [np.sort(cohort @ query)[-NEAREST:].mean() for query in queries]
    assert np.allclose(elsewhere(queries, cohort), exact, atol=1e-5)
    known = Calibration(0.3, 0.1, 0.8, 1, 1, -1, 0, 0.5, 0.5, cohort)
    assert known.elsewhere_of(queries[:1]) == pytest.approx(exact[0], abs=1e-5)
    assert known.elsewhere_of(queries[0]) == pytest.approx(exact[0], abs=1e-5)
    assert Calibration(0.3, 0.1, 0.8, 1, 1, 0, 0, 0.5, 0.5).elsewhere_of(queries[:1]) == 0


@pytest.mark.parametrize("name", ["no-such-model", "", "..", "../any", "a/b", "x" * 500, "any\x00", "地図"])
def test_other_models_share_numbers(name):
    other = calibration_of(name, 64)
    assert other.cohort is None
    assert other.elsewhere == 0
    assert other == calibration_of("any", 64)


def test_a_model_of_a_known_name_and_another_dimension_is_another_model():
    embedder = OnnxEmbedder(shipped_model("small"))
    assert calibration_of(embedder.id, 64).cohort is None
