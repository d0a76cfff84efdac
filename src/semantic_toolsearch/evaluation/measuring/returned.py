"""A dataset, an arm's answers and the tokens of each tool in; figures of what a model would really get, out.

Rank measures see an order; a model sees the tools that are left after the rules on top of it. These figures are about
that set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from semantic_toolsearch.evaluation.measuring.measures import gold_found

if TYPE_CHECKING:
    from semantic_toolsearch.evaluation.answers import Answer
    from semantic_toolsearch.evaluation.dataset import Dataset

__all__ = ["nothing_loaded", "returned_figures"]


def returned_figures(
    dataset: Dataset, answers: Mapping[str, Answer], tokens: Sequence[int]
) -> dict[str, float]:
    """Average what the answers load.

    Precision and recall are those of sets, as in ir-measures' ``SetP`` and ``SetR``, each averaged over queries. An
    answer that failed or is missing returns nothing.

    Args:
        dataset: The queries with their gold tools and copies.
        answers: An answer by query id.
        tokens: Tokens of each tool's full definition, by place.

    Returns:
        Over the answerable queries, none of these where there is none:

        - ``size``: mean number of tools returned;
        - ``tokens``: mean number of tokens of their definitions;
        - ``precision``: mean share of the returned tools that are right, gold tools or copies of them; 0 for a query
          that returns nothing;
        - ``recall``: mean share of the gold tools that are returned, themselves or a copy;
        - ``complete``: share of the queries whose gold tools are all returned;
        - ``empty``: share of the queries that return nothing.

        Over the unanswerable queries, if there are any:

        - ``nothing_loaded``: as in the function of that name.
    """
    sums = dict.fromkeys(("size", "tokens", "precision", "recall", "complete", "empty"), 0.0)
    answerable = [query for query in dataset.queries if query.answerable]
    for query in answerable:
        answer = answers.get(query.id)
        places = () if answer is None or answer.failed is not None else answer.returned
        right = set(dataset.right_places(query.id))
        found = sum(tool is not None for tool in gold_found(dataset, query.id, places))
        gold = len(dataset.gold[query.id])
        sums["size"] += len(places)
        sums["tokens"] += sum(tokens[place] for place in places)
        sums["precision"] += sum(place in right for place in places) / max(1, len(places))
        sums["recall"] += found / gold
        sums["complete"] += found == gold
        sums["empty"] += not places
    figures = {name: total / len(answerable) for name, total in sums.items()} if answerable else {}
    unanswerable = [query for query in dataset.queries if not query.answerable]
    if unanswerable:
        figures["nothing_loaded"] = nothing_loaded([answers.get(query.id) for query in unanswerable])
    return figures


def nothing_loaded(answers: Collection[Answer | None]) -> float:
    """Measure how often nothing is loaded where nothing fits.

    Args:
        answers: Answers to queries that no tool answers, at least one. One that failed or is missing counts as wrong,
            for a fault is no decision.

    Returns:
        The share of the answers that return no tool.

    Raises:
        ValueError: There is no answer to judge.
    """
    if not answers:
        raise ValueError(
            "nothing_loaded needs at least one answer; leave the figure out where there is none."
        )
    kept_out = [answer is not None and answer.failed is None and not answer.returned for answer in answers]
    return sum(kept_out) / len(kept_out)
