"""Values of several arms for the same queries in; which differences are more than chance, out.

Two arms are compared by the paired randomisation test (Smucker, Allan, Carterette, "A comparison of statistical
significance tests for information retrieval evaluation", CIKM 2007): if both were equally good, each query's
difference could as well have the other sign. p is the share of all choices of signs whose mean difference is at
least as far from 0 as the one seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.evaluation.results import MEASURES

__all__ = ["RESAMPLES", "PairedTest", "beats", "holm", "paired_test"]

RESAMPLES: Final = 10_000
"""Choices of signs, and samples of queries, that are drawn."""

EXACT: Final = 12
"""All choices of signs are tried where at most so many queries differ: zeros have no sign."""

_CHUNK: Final = 500
"""Samples drawn at a time, which bounds memory."""

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedTest:
    """How one arm differs from another over the same queries.

    Attributes:
        difference: Mean of the first minus mean of the second.
        low: Lower end of the 95 % bootstrap interval of the difference (Efron's percentile interval over queries).
        high: Its upper end.
        p: Two-sided p-value of the randomisation test, not corrected for other comparisons.
    """

    difference: float
    low: float
    high: float
    p: float


def paired_test(first: Sequence[float], second: Sequence[float], *, seed: int) -> PairedTest:
    """Compare the values of two arms.

    Args:
        first: One value a query; answerable queries only, since the others are no part of a mean.
        second: The other arm's values for the same queries, in the same order.
        seed: Of what is drawn; the same seed gives the same result.

    Raises:
        ValueError: The arms have different numbers of values, or none.
    """
    differences = _differences(first, second)
    rng = np.random.default_rng([seed, 1])
    size = len(differences)
    drawn = [
        differences[rng.integers(size, size=(_CHUNK, size))].mean(axis=1) for _ in range(RESAMPLES // _CHUNK)
    ]
    low, high = np.quantile(np.concatenate(drawn), [0.025, 0.975])
    return PairedTest(
        difference=float(differences.mean()),
        low=float(low),
        high=float(high),
        p=float(_p_values(differences[:, None], seed)[0]),
    )


def beats(
    values_by_arm: Mapping[str, Mapping[str, Sequence[float]]],
    measures: Iterable[str] = MEASURES,
    *,
    seed: int,
    alpha: float = 0.05,
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Tell which arms are significantly better than which.

    For each measure all pairs of arms are tested at once, and the p-values are corrected by Holm's step-down method
    ("A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 1979): the chance
    that any of the claims about one measure is wrong is at most ``alpha``.

    Args:
        values_by_arm: By arm and measure, one value a query; all arms answer the same queries in the same order.
            Arms without values of a measure are no part of its comparison.
        measures: The measures to compare.
        seed: Of the signs that are drawn; the order of arms and of measures changes nothing.
        alpha: Chance of a wrong claim that is accepted.

    Returns:
        By arm and measure, the names of the arms that it is better than, in the order given.

    Raises:
        ValueError: Arms have different numbers of values.
    """
    won: dict[str, dict[str, tuple[str, ...]]] = {arm: {} for arm in values_by_arm}
    pairs: list[tuple[str, str, str]] = []
    for measure in measures:
        arms = [arm for arm, values in values_by_arm.items() if values.get(measure)]
        for arm in arms:
            won[arm][measure] = ()
        pairs += [(measure, *pair) for pair in combinations(arms, 2)]
    if not pairs:
        return won
    columns = [
        _differences(values_by_arm[first][measure], values_by_arm[second][measure])
        for measure, first, second in pairs
    ]
    differences = np.stack(columns, axis=1)
    p_values = _p_values(differences, seed)
    for measure in dict.fromkeys(measure for measure, _, _ in pairs):
        places = [place for place, pair in enumerate(pairs) if pair[0] == measure]
        better = set()
        for place, p in zip(places, holm(p_values[places].tolist()), strict=True):
            if p >= alpha:
                continue
            _, first, second = pairs[place]
            better.add((first, second) if columns[place].sum() > 0 else (second, first))
        for winner in won:
            if measure in won[winner]:
                losers = tuple(loser for loser in values_by_arm if (winner, loser) in better)
                won[winner][measure] = losers
    return won


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for being many, by Holm's step-down method.

    Args:
        p_values: One a comparison.

    Returns:
        The corrected ones in the same order, at most 1. Calling those under alpha significant makes the chance that any
        of these calls is wrong at most alpha, however the comparisons depend on each other.
    """
    corrected, highest = [1.0] * len(p_values), 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, (len(p_values) - done) * p_values[place])
        corrected[place] = min(1.0, highest)
    return corrected


def _differences(first: Sequence[float], second: Sequence[float]) -> _Floats:
    if len(first) != len(second) or not len(first):
        raise ValueError(
            f"A paired test needs values for the same queries, at least one: got {len(first)} and {len(second)}."
        )
    return np.asarray(first, np.float64) - np.asarray(second, np.float64)


def _p_values(differences: _Floats, seed: int) -> _Floats:
    """The two-sided p-value of each column of ``[n, pairs]``.

    Where signs are drawn, the one seen counts as drawn too, so that p is never 0 (Phipson, Smyth, "Permutation
    P-values Should Never Be Zero", 2010).
    """
    differing = np.count_nonzero(differences, axis=0)
    p_values = np.ones(differences.shape[1])
    for place in np.flatnonzero((differing > 0) & (differing <= EXACT)):
        column = differences[differences[:, place] != 0, place]
        numbers = np.arange(2 ** len(column))
        signs = 1.0 - 2.0 * (numbers[:, None] >> np.arange(len(column)) & 1)
        p_values[place] = _as_far(signs @ column[:, None], column[:, None]).mean()
    drawn = np.flatnonzero(differing > EXACT)
    if len(drawn):
        columns = differences[:, drawn]
        rng = np.random.default_rng([seed, 0])
        count = np.ones(len(drawn))
        for _ in range(RESAMPLES // _CHUNK):
            signs = 1.0 - 2.0 * rng.integers(2, size=(_CHUNK, len(columns)), dtype=np.int8)
            count += _as_far(signs @ columns, columns).sum(axis=0)
        p_values[drawn] = count / (RESAMPLES + 1)
    return p_values


def _as_far(sums: _Floats, columns: _Floats) -> npt.NDArray[np.bool_]:
    """Which sums are as far from 0 as the sum of the column; rounding must not break a tie."""
    least: _Floats = np.abs(columns.sum(axis=0)) - 1e-12 * np.abs(columns).sum(axis=0)
    return np.greater_equal(np.abs(sums), least)
