"""Tasks and a cohort of other people's tools in; the odds that a query is answered out, and what each signal adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from order import FULL_WEIGHT, order_sums, word_weight
from tasks import Asked, Floats, Task

from semantic_toolsearch.rankers.calibration import elsewhere
from semantic_toolsearch.rankers.hybrid import HEAD

Row: TypeAlias = "tuple[str, str, float, float, float, float]"
"""Task, kind, and the four signals in the order of ``read_cases``."""


@dataclass
class Cases:
    """Queries with what speaks for an answer, and whether there is one.

    ``kind`` is ``answered`` (a right tool is among the first five), ``stranger``, ``unanswerable`` (of the own sets)
    or ``without gold``.
    """

    task: npt.NDArray[np.str_]
    kind: npt.NDArray[np.str_]
    signals: dict[str, npt.NDArray[np.float64]]

    def score(self, numbers: npt.NDArray[np.float64], names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Log-odds by some of the signals."""
        matrix = np.stack([self.signals[name] for name in names], axis=1)
        odds: npt.NDArray[np.float64] = matrix @ numbers[:-1] + numbers[-1]
        return odds


def read_cases(tasks: Sequence[Task], words: float, growth: float, cohort: Floats) -> Cases:
    """Every query that the model reads, with and without its right tools, and the queries of others."""
    rows: list[Row] = []
    for task in tasks:
        # Left out: what is read by words alone, by nobody (50 languages), and a catalog too small to tell.
        if sum(task.own.foreign) * 2 > len(task.own.foreign) or task.dataset.name in ("hass", "library"):
            continue
        weight = word_weight(words, growth, len(task.dataset.tools))
        rows += _own_rows(task, weight, cohort)
        if task.strangers is not None:
            sums = order_sums(task.strangers, weight)
            rows += [
                _row(task, "stranger", task.strangers, place, sums, cohort)
                for place in range(len(sums))
                if not task.strangers.foreign[place]
            ]
    names, kinds, *columns = zip(*rows, strict=True)
    signals = dict(
        zip(("cosine", "coverage", "elsewhere", "first cosine"), map(np.array, columns), strict=True)
    )
    return Cases(np.array(names), np.array(kinds), signals)


def _own_rows(task: Task, weight: float, cohort: Floats) -> Iterator[Row]:
    """A task's own queries, those with right tools a second time without them."""
    right = [task.dataset.right_places(query.id) for query in task.own.queries]
    whole, without = order_sums(task.own, weight), order_sums(task.own, weight, right)
    for place, query in enumerate(task.own.queries):
        if task.own.foreign[place] or query.kind == "exact-name":
            continue
        if not query.answerable:
            yield _row(task, "unanswerable", task.own, place, whole, cohort)
        elif right[place]:
            if np.isin(_head(whole[place]), right[place]).any():
                yield _row(task, "answered", task.own, place, whole, cohort)
            yield _row(task, "without gold", task.own, place, without, cohort)


def _head(sums: Floats) -> npt.NDArray[np.int64]:
    order = np.argsort(-sums, kind="stable")[:HEAD]
    return order[sums[order] > 0]


def _row(task: Task, kind: str, asked: Asked, place: int, sums: Floats, cohort: Floats) -> Row:
    """What ``hybrid`` sees of a query: of a query of one word, no coverage."""
    head = _head(sums[place])
    coverage = 0.0 if asked.one_word[place] else float(asked.coverage[place][head].max(initial=0))
    return (
        task.dataset.name,
        kind,
        float(asked.cosines[place][head].max(initial=0)),
        coverage,
        float(elsewhere(asked.vectors[place : place + 1], cohort)[0]),
        float(asked.cosines[place][head[:1]].max(initial=0)),
    )


def fit_odds(cases: Cases, names: Sequence[str], without: str | None = None) -> npt.NDArray[np.float64]:
    """Logistic regression of answered queries against strangers and unanswerable ones, halves of equal weight.

    Args:
        cases: All of them.
        names: The signals to use.
        without: A task to leave out.

    Returns:
        One weight a signal, and the constant.
    """
    used = np.isin(cases.kind, ("answered", "stranger", "unanswerable")) & (cases.task != without)
    matrix = np.stack([cases.signals[name] for name in names], axis=1)[used]
    target = (cases.kind[used] == "answered").astype(float)
    weight = np.zeros(len(target))
    for task in np.unique(cases.task[used]):
        for kind in np.unique(cases.kind[used]):
            mine = (cases.task[used] == task) & (cases.kind[used] == kind)
            weight[mine] = min(mine.sum(), FULL_WEIGHT) / max(mine.sum(), 1)
    for half in (0, 1):
        weight[target == half] *= len(target) / 2 / weight[target == half].sum()
    center, spread = matrix.mean(axis=0), matrix.std(axis=0) + 1e-9
    design = np.c_[(matrix - center) / spread, np.ones(len(matrix))]
    ridge = np.diag(np.r_[np.ones(len(names)), 1e-6])
    beta = np.zeros(len(names) + 1)
    for _ in range(50):
        guess = 1 / (1 + np.exp(-design @ beta))
        slope = design.T @ (weight * (target - guess)) - ridge @ beta
        bend = (design * (weight * guess * (1 - guess))[:, None]).T @ design + ridge
        step = np.linalg.solve(bend, slope)
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    scaled = beta[:-1] / spread
    fitted: npt.NDArray[np.float64] = np.r_[scaled, beta[-1] - scaled @ center]
    return fitted


def left_out_odds(cases: Cases, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Log-odds of every case by a fit on the other tasks."""
    odds = np.zeros(len(cases.task))
    for task in np.unique(cases.task):
        mine = cases.task == task
        odds[mine] = cases.score(fit_odds(cases, names, task), names)[mine]
    return odds


def below(cases: Cases, odds: npt.NDArray[np.float64], kind: str, threshold: float) -> float:
    """Mean over tasks of the share of a kind's cases under a threshold."""
    shares = []
    for task in np.unique(cases.task):
        mine = odds[(cases.task == task) & (cases.kind == kind)]
        if len(mine):
            shares.append(float(np.mean(mine < threshold)))
    return float(np.mean(shares))


def threshold_at(cases: Cases, odds: npt.NDArray[np.float64], lost: float) -> float:
    """The highest threshold that takes at most this share of the answers away."""
    return float(
        max(
            (
                value
                for value in np.quantile(odds, np.linspace(0, 1, 800))
                if below(cases, odds, "answered", value) <= lost
            ),
            default=odds.min(),
        )
    )


def print_trade_offs(cases: Cases) -> None:
    """What each signal adds, each task judged by a fit on the others."""
    forms = {
        "first tool's cosine": ["first cosine"],
        "best cosine": ["cosine"],
        "cosine, coverage": ["cosine", "coverage"],
        "cosine, elsewhere": ["cosine", "elsewhere"],
        "all three": ["cosine", "coverage", "elsewhere"],
    }
    print(
        "\nNothing loaded (strangers / without gold / own unanswerable) where this share of the answers is lost"
    )
    for name, signals in forms.items():
        odds = left_out_odds(cases, signals)
        row = []
        for lost in (0.02, 0.03, 0.05, 0.08, 0.1, 0.15):
            at = threshold_at(cases, odds, lost)
            kinds = ("stranger", "without gold", "unanswerable")
            row.append(
                f"{100 * lost:.0f}%: " + "/".join(f"{100 * below(cases, odds, k, at):.0f}" for k in kinds)
            )
        print(f"{name:20s} " + "   ".join(row), flush=True)


def print_reliability(cases: Cases, names: Sequence[str], strong: float) -> None:
    """Whether a probability means the same everywhere, each task judged by a fit on the others."""
    sure = 1 / (1 + np.exp(-left_out_odds(cases, names)))
    print(f"\nAt {strong:.2f} by task: answers lost, strangers and queries without gold that load nothing")
    for task in np.unique(cases.task):
        row = []
        for kind in ("answered", "stranger", "without gold"):
            mine = sure[(cases.task == task) & (cases.kind == kind)]
            row.append(f"{100 * np.mean(mine < strong):5.1f}" if len(mine) else "    -")
        print(f"{task:12s} " + " ".join(row))
    edges = (0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.001)
    told = np.isin(cases.kind, ("answered", "stranger", "unanswerable"))
    weight = np.ones(len(sure))
    for half in (cases.kind == "answered", told & (cases.kind != "answered")):
        weight[half] /= half.sum()
    print("Said and true (half of the queries having an answer):")
    for low, high in pairwise(edges):
        mine = told & (sure >= low) & (sure < high)
        if mine.any():
            true = np.average(cases.kind[mine] == "answered", weights=weight[mine])
            said = np.average(sure[mine], weights=weight[mine])
            print(f"  {low:.1f} to {min(high, 1):.1f}: said {said:.2f}, true {true:.2f}")
