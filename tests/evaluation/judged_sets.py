"""Small datasets for tests of the measures, and measures computed a second way."""

from __future__ import annotations

from math import log2

from semantic_toolsearch import ToolDefinition
from semantic_toolsearch.evaluation.dataset import Dataset, Query


def judged(gold, copies=None, *, tools=12, unusable=(), queries=None):
    """A dataset of tools ``t0``, ``t1``, ...; a query without gold tools is unanswerable."""
    ids = tuple(f"t{place}" for place in range(tools))
    return Dataset(
        name="made up",
        tools=tuple(ToolDefinition(name=each, description=f"tool {each}") for each in ids),
        ids=ids,
        queries=queries or tuple(Query(each, f"query {each}", answerable=bool(gold[each])) for each in gold),
        gold={query: tools for query, tools in gold.items() if tools},
        copies=copies or {},
        unusable=dict.fromkeys(unusable, "broken"),
    )


def measured_plainly(gold, copies, ids, ranked):
    """The five measures of one query from their textbook definitions, without any package."""
    found, gains = set(), []
    for place in ranked:
        tool = ids[place] if ids[place] in gold else copies.get(ids[place])
        gains.append(0 if tool is None or tool in found else gold[tool])
        found.add(tool)
    relevant = [gain > 0 for gain in gains]
    ideal = sorted(gold.values(), reverse=True)

    def discounted(grades):
        return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades[:10], 1))

    return {
        "hit@1": float(bool(relevant) and relevant[0]),
        "recall@5": sum(relevant[:5]) / len(gold),
        "complete@5": float(sum(relevant[:5]) == len(gold)),
        "nDCG@10": discounted(gains) / discounted(ideal),
        "MRR": next((1 / rank for rank, right in enumerate(relevant, 1) if right), 0.0),
    }
