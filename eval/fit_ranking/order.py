"""Tasks in; the share of each arm in the fused order out, and what each part of the order adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from tasks import Asked, Floats, Task

from semantic_toolsearch.evaluation.answers import Answer
from semantic_toolsearch.evaluation.measuring.measures import means, per_query
from semantic_toolsearch.rankers.calibration import Calibration
from semantic_toolsearch.rankers.hybrid import FULL_COVERAGE, FULL_COVERAGE_BONUS, scales

ENGLISH = (
    "acebench_en",
    "apibank",
    "azure_mcp",
    "bfcl",
    "metatool",
    "restbench",
    "rotbench",
    "sgd",
    "toolbench",
    "tooltalk",
    "workplace",
)
"""The tasks that decide."""

FOREIGN = 0.8
"""Share of the words where the model cannot read, as long as it is not fitted."""

FULL_WEIGHT = 100
"""Queries from which a task counts fully; smaller ones count by their number, being mostly chance."""


def order_sums(
    asked: Asked,
    weight: float,
    hidden: Sequence[Sequence[int]] | None = None,
    foreign_weight: float = FOREIGN,
) -> Floats:
    """The fused sums of ``HybridRanker``, without the tools ``hidden`` from each query."""
    sums = np.empty_like(asked.cosines)
    for row in range(len(sums)):
        seen = np.ones(sums.shape[1], dtype=bool)
        if hidden is not None:
            seen[list(hidden[row])] = False
        shares, cosines = np.where(seen, asked.shares[row], 0), np.where(seen, asked.cosines[row], 0)
        per_share, per_cosine = scales(foreign_weight if asked.foreign[row] else weight, shares, cosines)
        sums[row] = per_share * shares + per_cosine * cosines
        if asked.one_word[row]:
            sums[row] += FULL_COVERAGE_BONUS * (asked.coverage[row] >= FULL_COVERAGE)
        sums[row][~seen] = 0
    return sums


def measured(task: Task, sums: Floats) -> dict[str, float]:
    """Mean rank measures of an order, in percent."""
    answers = {}
    for query, row in zip(task.own.queries, sums, strict=True):
        best = np.argsort(-row, kind="stable")[:50]
        answers[query.id] = Answer(ranked=tuple(int(place) for place in best if row[place] > 0))
    return {
        name: 100 * value for name, value in means(task.dataset, per_query(task.dataset, answers)).items()
    }


def word_weight(words: float, growth: float, tools: int) -> float:
    """As ``Calibration.word_weight``."""
    return Calibration(words, growth, 0, 0, 0, 0, 0, 0, 0).word_weight(tools)


def over_tasks(tasks: Sequence[Task], values: Sequence[float]) -> float:
    """The mean over the English tasks, each by its number of queries up to ``FULL_WEIGHT``."""
    weights = [min(len(task.own.queries), FULL_WEIGHT) * (task.dataset.name in ENGLISH) for task in tasks]
    return float(np.average(values, weights=weights))


def fit_words(tasks: Sequence[Task]) -> tuple[float, float]:
    """Choose the share of the words' arm and its growth by mean nDCG@10, and print the grid."""
    shares = (0.2, 0.25, 0.3, 0.33, 0.36, 0.4, 0.45)
    known: dict[tuple[int, float], float] = {}

    def ndcg(place: int, weight: float) -> float:
        key = (place, round(weight, 2))
        if key not in known:
            known[key] = measured(tasks[place], order_sums(tasks[place].own, key[1]))["nDCG@10"]
        return known[key]

    best, chosen = 0.0, (0.33, 0.1)
    print("\nWeight of the words at 400 tools (columns) and growth a tenfold (rows): mean nDCG@10")
    print("       " + " ".join(f"{words:6.2f}" for words in shares))
    for growth in (0.0, 0.05, 0.1, 0.15, 0.2):
        row = []
        for words in shares:
            values = [
                ndcg(place, word_weight(words, growth, len(task.dataset.tools)))
                if task.dataset.name in ENGLISH
                else 0.0
                for place, task in enumerate(tasks)
            ]
            row.append(over_tasks(tasks, values))
            if row[-1] > best + 0.05:
                best, chosen = row[-1], (words, growth)
        print(f"{growth:6.2f} " + " ".join(f"{value:6.2f}" for value in row), flush=True)
    return chosen


def print_orders(tasks: Sequence[Task], words: float, growth: float) -> None:
    """What each part of the order adds, by task."""
    forms: dict[str, Callable[[Task], Floats]] = {
        "words alone": lambda task: task.own.shares,
        "meaning alone": lambda task: task.own.cosines,
        "rank fusion": rank_fusion,
        "scores, 0.3 words": lambda task: order_sums(task.own, 0.3),
        "scores, words grow": lambda task: order_sums(
            task.own, word_weight(words, growth, len(task.dataset.tools))
        ),
    }
    results = {name: [measured(task, form(task)) for task in tasks] for name, form in forms.items()}
    for measure in ("nDCG@10", "hit@1", "complete@5"):
        print(f"\n{measure:12s}" + " ".join(f"{name:>18s}" for name in forms))
        for place, task in enumerate(tasks):
            row = [results[name][place][measure] for name in forms]
            print(f"{task.dataset.name:12s}" + " ".join(f"{value:18.1f}" for value in row))
        english = [place for place, task in enumerate(tasks) if task.dataset.name in ENGLISH]
        plain = [np.mean([results[name][place][measure] for place in english]) for name in forms]
        weighted = [over_tasks(tasks, [each[measure] for each in results[name]]) for name in forms]
        print("mean        " + " ".join(f"{value:18.2f}" for value in plain))
        print("weighted    " + " ".join(f"{value:18.2f}" for value in weighted), flush=True)


def fit_foreign(tasks: Sequence[Task]) -> float:
    """Choose the share of the words where the model cannot read, by tasks with twenty such queries or more."""
    weights = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
    totals = np.zeros(len(weights))
    print("\nWeight of the words for queries in other scripts: nDCG@10")
    print("             " + " ".join(f"{weight:6.2f}" for weight in weights))
    for task in tasks:
        chosen = [query for query, foreign in zip(task.own.queries, task.own.foreign, strict=True) if foreign]
        if len(chosen) < 20:
            continue
        rows = [place for place, foreign in enumerate(task.own.foreign) if foreign]
        some = replace(task, dataset=task.dataset.only(chosen), own=task.own.only(rows))
        values = [measured(some, order_sums(some.own, 0.3, None, weight))["nDCG@10"] for weight in weights]
        totals += np.array(values) * len(chosen)
        print(f"{task.dataset.name:12s} " + " ".join(f"{value:6.2f}" for value in values), flush=True)
    return weights[int(totals.argmax())] if totals.any() else FOREIGN


def rank_fusion(task: Task) -> Floats:
    """Reciprocal rank fusion, k = 60, of the tools that each arm has anything to say about."""
    total = np.zeros_like(task.own.cosines)
    for arm in (task.own.shares, task.own.cosines):
        ranks = np.argsort(np.argsort(-arm, axis=1, kind="stable"), axis=1)
        total += np.where(arm > 0, 1 / (61 + ranks), 0).astype(np.float32)
    return total
