from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.evaluation.measuring.significance import beats, holm, paired_test

SEED = 7


def test_the_exact_p_is_that_of_a_hand_count():
    # Differences 3, 2, 1: only + + + and - - - are as far from 0 as their sum of 6.
    assert paired_test([3.0, 2.0, 1.0], [0.0, 0.0, 0.0], seed=SEED).p == 2 / 8
    # 3, 2, -1 sum to 4: also + + + (6) and both with all signs turned.
    assert paired_test([3.0, 2.0, 0.0], [0.0, 0.0, 1.0], seed=SEED).p == 4 / 8


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=12))
def test_the_exact_p_is_the_share_of_all_signs(differences):
    observed = abs(sum(differences))
    sums = [
        sum(sign * each for sign, each in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(abs(each) >= observed for each in sums) / len(sums)
    found = paired_test([each / 8 for each in differences], [0.0] * len(differences), seed=SEED)
    assert found.p == pytest.approx(expected, abs=1e-12)
    assert found.difference == pytest.approx(np.mean(differences) / 8)


def test_queries_that_do_not_differ_change_no_p():
    few = paired_test([1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0], seed=SEED)
    many = paired_test(
        [1.0, 1.0, 1.0, 1.0, 0.0] + [0.5] * 500, [0.0, 0.0, 0.0, 0.0, 1.0] + [0.5] * 500, seed=SEED
    )
    assert few.p == many.p == 12 / 32


def test_the_drawn_p_is_that_of_scipy():
    from scipy.stats import permutation_test

    rng = np.random.default_rng(3)
    first, second = rng.random(80), rng.random(80) - 0.06
    theirs = permutation_test(
        (first - second,),
        lambda sample, axis: sample.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(4),
    )
    ours = paired_test(first.tolist(), second.tolist(), seed=SEED)
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.02)


def test_the_interval_is_that_of_scipy():
    from scipy.stats import bootstrap

    differences = np.random.default_rng(5).normal(0.1, 0.3, 200)
    theirs = bootstrap(
        (differences,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(6)
    ).confidence_interval
    ours = paired_test(differences.tolist(), [0.0] * 200, seed=SEED)
    assert ours.low == pytest.approx(theirs.low, abs=0.005)
    assert ours.high == pytest.approx(theirs.high, abs=0.005)
    assert ours.low < ours.difference < ours.high


def test_no_p_is_0_where_signs_are_drawn():
    assert 0 < paired_test([1.0] * 500, [0.0] * 500, seed=SEED).p < 1e-3


def test_one_side_or_the_other_is_the_same_p():
    rng = np.random.default_rng(8)
    first, second = rng.random(60).tolist(), rng.random(60).tolist()
    one, other = paired_test(first, second, seed=SEED), paired_test(second, first, seed=SEED)
    assert one.p == other.p
    assert one.difference == -other.difference
    assert one.low == pytest.approx(-other.high)


def test_equal_arms_never_win():
    values = np.random.default_rng(9).random(300).round(1).tolist()
    test = paired_test(values, values, seed=SEED)
    assert (test.difference, test.low, test.high, test.p) == (0.0, 0.0, 0.0, 1.0)
    arms = {"one": {"MRR": values}, "same": {"MRR": list(values)}}
    assert beats(arms, ["MRR"], seed=SEED) == {"one": {"MRR": ()}, "same": {"MRR": ()}}


def test_a_planted_difference_wins_on_its_measure_alone():
    rng = np.random.default_rng(10)
    base = rng.random(400)
    arms = {
        "plain": {"hit@1": base.tolist(), "MRR": base.tolist()},
        "better": {"hit@1": (base + rng.normal(0.05, 0.2, 400)).tolist(), "MRR": base.tolist()},
        "worse": {"hit@1": (base - rng.normal(0.05, 0.2, 400)).tolist(), "MRR": base.tolist()},
    }
    won = beats(arms, ["hit@1", "MRR"], seed=SEED)
    assert won == {
        "plain": {"hit@1": ("worse",), "MRR": ()},
        "better": {"hit@1": ("plain", "worse"), "MRR": ()},
        "worse": {"hit@1": (), "MRR": ()},
    }


def test_equal_pairs_are_called_different_as_often_as_alpha_says():
    rng = np.random.default_rng(11)
    called = 0
    for simulation in range(300):
        first, second = rng.random((2, 60))
        won = beats({"a": {"m": first.tolist()}, "b": {"m": second.tolist()}}, ["m"], seed=simulation)
        called += bool(won["a"]["m"] or won["b"]["m"])
    # Binomial(300, 0.05) has mean 15 and standard deviation 3.8.
    assert 5 <= called <= 27


def test_many_equal_arms_are_rarely_called_different_at_all():
    rng = np.random.default_rng(12)
    called = 0
    for simulation in range(200):
        arms = {str(number): {"m": rng.random(40).tolist()} for number in range(6)}
        called += any(won["m"] for won in beats(arms, ["m"], seed=simulation).values())
    # Without correction for 15 pairs it would be about 70 of 200; with it at most 10 are expected.
    assert called <= 20


def test_the_same_seed_gives_the_same_answer_and_the_order_of_arms_none_other():
    rng = np.random.default_rng(13)
    arms = {
        name: {"m": (rng.random(200) + shift).tolist()} for name, shift in (("a", 0), ("b", 0.1), ("c", 0.2))
    }
    won = beats(arms, ["m"], seed=SEED)
    assert beats(arms, ["m"], seed=SEED) == won
    turned = beats(dict(reversed(arms.items())), ["m"], seed=SEED)
    assert {arm: set(row["m"]) for arm, row in turned.items()} == {
        arm: set(row["m"]) for arm, row in won.items()
    }
    assert won["c"]["m"]
    assert paired_test(arms["a"]["m"], arms["b"]["m"], seed=1) == paired_test(
        arms["a"]["m"], arms["b"]["m"], seed=1
    )


def test_arms_without_an_order_are_compared_with_nothing():
    arms = {"a": {"m": [1.0] * 30}, "b": {"m": [0.0] * 30}, "unranked": {}}
    assert beats(arms, ["m"], seed=SEED) == {"a": {"m": ("b",)}, "b": {"m": ()}, "unranked": {}}
    assert beats({"alone": {"m": [1.0]}}, ["m"], seed=SEED) == {"alone": {"m": ()}}


def test_values_of_different_queries_are_refused():
    with pytest.raises(ValueError, match="got 2 and 1"):
        paired_test([1.0, 0.0], [1.0], seed=SEED)
    with pytest.raises(ValueError, match="at least one"):
        paired_test([], [], seed=SEED)


def test_holm_corrects_by_hand():
    # Holm 1979: 4 * 0.005, 3 * 0.011, 2 * 0.02, 1 * 0.04, none below the one before.
    assert holm([0.02, 0.005, 0.04, 0.011]) == pytest.approx([0.04, 0.02, 0.04, 0.033])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_rounding_breaks_no_tie():
    # In another order the same four numbers have another sum, by one unit in the last place.
    assert paired_test([1 / 3, 0.1, 0.3, 0.1], [0.0] * 4, seed=SEED).p == 2 / 16


def test_wins_need_a_p_below_alpha():
    def won(differing, **options):
        arms = {"a": {"m": [1.0] * differing + [0.5] * 9}, "b": {"m": [0.0] * differing + [0.5] * 9}}
        return bool(beats(arms, ["m"], seed=SEED, **options)["a"]["m"])

    assert not won(5)  # p = 2 / 32
    assert won(6)  # p = 2 / 64
    assert not won(6, alpha=2 / 64)
    assert won(5, alpha=0.07)


def test_another_seed_draws_other_signs_and_other_samples():
    first, second = np.random.default_rng(14).random((2, 60)).tolist()
    one, other = (paired_test(first, second, seed=seed) for seed in (1, 2))
    assert one.difference == other.difference
    assert one.p == pytest.approx(other.p, abs=0.03)
    assert one.p != other.p
    assert (one.low, one.high) != (other.low, other.high)
