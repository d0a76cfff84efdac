"""A dataset and an arm's answers in; the rank measures of each query, and their means, out.

Relevant are the gold tools of a query. A near copy of one stands for it: where the copy comes first it has found
the gold tool, and what repeats a tool that is already found keeps its place in the ranking and earns nothing, as
in the novelty measures of Clarke et al., "Novelty and Diversity in Information Retrieval Evaluation", SIGIR 2008.
A gold tool that the catalog cannot hold stays relevant, so it lowers recall and the ideal of nDCG for every arm.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.errors import MissingExtraError
from semantic_toolsearch.evaluation.results import MEASURES

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.answers import Answer
    from semantic_toolsearch.evaluation.dataset import Dataset

__all__ = ["gold_found", "means", "per_query", "recall_at"]

_THEIR_NAMES: Final = {"hit@1": "Success@1", "recall@5": "R@5", "nDCG@10": "nDCG@10", "MRR": "RR"}
"""The names that ir-measures has for our measures; complete@5 has none there."""


def per_query(dataset: Dataset, answers: Mapping[str, Answer]) -> dict[str, tuple[float, ...]]:
    """Measure each query by itself.

    The definitions are those of ir-measures (MacAvaney, Macdonald, Ounis, "Streamlining Evaluation with
    ir-measures", ECIR 2022), which computes all but the third with trec_eval's code:

    - ``hit@1``, its ``Success@1``: 1 where the first tool is gold, else 0. Also called precision at 1.
    - ``recall@5``, its ``R@5``: the share of the gold tools that are among the first five. Over five gold tools it
      stays below 1.
    - ``complete@5``: 1 where ``R@5`` is 1, that is where all gold tools are among the first five, else 0, as
      COMP@5 of Qu et al., "Towards Completeness-Oriented Tool Retrieval for Large Language Models", CIKM 2024.
    - ``nDCG@10``, its ``nDCG@10``: the gain of the first ten tools over the gain of the best order there is
      (Järvelin, Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002). The tool at rank r
      gains grade / log2(r + 1): the gain is the grade itself, not 2^grade - 1, as trec_eval has it.
    - ``MRR``, its ``RR``: 1 / rank of the first gold tool (Voorhees, TREC-8 1999). It is 0 where that tool lies
      beyond the depth that rankings are kept to, where it would be under 1 / depth.

    Args:
        dataset: The queries with their gold tools and copies.
        answers: An answer by query id. One that failed or is missing counts 0, as an empty ranking does.

    Returns:
        By measure, in the order of ``MEASURES``, one value in [0, 1] for each query of the dataset, in its order; 0
        for the unanswerable ones, which are no part of a mean.

    Raises:
        MissingExtraError: ir-measures is not installed.
    """
    ir_measures = _ir_measures()
    wanted = {ir_measures.parse_measure(theirs): ours for ours, theirs in _THEIR_NAMES.items()}
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, query in enumerate(dataset.queries):
        if not query.answerable:
            continue
        # Numbers instead of ids: what passes through C strings there may hold anything here.
        tools = {tool: str(place) for place, tool in enumerate(dataset.gold[query.id])}
        qrels[str(number)] = {tools[tool]: grade for tool, grade in dataset.gold[query.id].items()}
        found = gold_found(dataset, query.id, _ranked(answers.get(query.id)))
        listed = {
            f"-{rank}" if tool is None else tools[tool]: -float(rank) for rank, tool in enumerate(found, 1)
        }
        if listed:  # a query that is left out counts 0 by itself
            run[str(number)] = listed
    values = {ours: [0.0] * len(dataset.queries) for ours in _THEIR_NAMES}
    if qrels:
        for metric in ir_measures.iter_calc(wanted, qrels, run):
            values[wanted[metric.measure]][int(metric.query_id)] = float(metric.value)
    values["complete@5"] = [float(recall == 1.0) for recall in values["recall@5"]]
    return {measure: tuple(values[measure]) for measure in MEASURES}


def means(dataset: Dataset, values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Average values over the answerable queries.

    Args:
        dataset: The queries.
        values: By measure, one value a query, in the dataset's order.

    Returns:
        By measure, the arithmetic mean; empty where no query is answerable.
    """
    counted = [place for place, query in enumerate(dataset.queries) if query.answerable]
    if not counted:
        return {}
    return {
        measure: sum(listed[place] for place in counted) / len(counted) for measure, listed in values.items()
    }


def recall_at(dataset: Dataset, answers: Mapping[str, Answer], depth: int = 20) -> tuple[float, ...]:
    """Average the recall among the first tools of the rankings, for the curve of recall against tools.

    Args:
        dataset: The queries with their gold tools and copies.
        answers: An answer by query id; one that failed or is missing has found nothing.
        depth: The longest list to look at.

    Returns:
        The mean over the answerable queries of ir-measures' ``R@k`` for k = 1, 2, ..., ``depth``, never falling;
        empty where no query is answerable.
    """
    counted = [query.id for query in dataset.queries if query.answerable]
    if not counted:
        return ()
    gains = [0.0] * depth
    for query in counted:
        share = 1 / len(dataset.gold[query])
        for rank, tool in enumerate(gold_found(dataset, query, _ranked(answers.get(query))[:depth])):
            if tool is not None:
                gains[rank] += share
    curve, total = [], 0.0
    for gain in gains:
        total += gain
        curve.append(min(1.0, total / len(counted)))
    return tuple(curve)


def gold_found(dataset: Dataset, query: str, places: Sequence[int]) -> tuple[str | None, ...]:
    """Tell which gold tool each tool of a list finds.

    Args:
        dataset: The judgements.
        query: Id of the query.
        places: Places of tools, best first.

    Returns:
        For each place the id of the gold tool that it is or stands for, if nothing before it did, else None.
    """
    gold = dataset.gold.get(query, {})
    # A gold tool stands for itself, even where it is a copy of another one.
    judged = {**dataset.copies.get(query, {}), **{tool: tool for tool in gold}}
    stands_for = {dataset.places[tool]: golden for tool, golden in judged.items() if tool in dataset.places}
    found: list[str | None] = []
    missing = set(stands_for.values())
    for place in places:
        tool = stands_for.get(place)
        if tool in missing:
            missing.discard(tool)
            found.append(tool)
        else:
            found.append(None)
    return tuple(found)


def _ranked(answer: Answer | None) -> tuple[int, ...]:
    """The ranking that counts: none where there is no answer."""
    return () if answer is None or answer.failed is not None else answer.ranked


@cache
def _ir_measures() -> Any:
    """The package, without the handler for log records that it installs when it is imported."""
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtraError("Measuring rankings", "eval") from error
    logging.getLogger("ir_measures").removeHandler(ir_measures.log_handler)
    return ir_measures
