"""The search that the cases ask, in several orders of registration and by the rankers that a case must hold for."""

from __future__ import annotations

import numpy as np
import pytest
from case_tools import raw_names

from semantic_toolsearch import EmbeddingCache, ToolSearch


@pytest.fixture(scope="session")
def embeddings(tmp_path_factory):
    """One cache for all cases, so that shuffled catalogs embed their texts once."""
    return EmbeddingCache(tmp_path_factory.mktemp("cases") / "embeddings.sqlite3")


@pytest.fixture(params=["as given", "shuffled"])
def search_of(request, model, embeddings):
    """Makes a search with the shipped model over tools in one order of registration."""

    def build(tools, **options):
        ordered = list(tools)
        if request.param == "shuffled":
            ordered = [tools[place] for place in np.random.default_rng(1).permutation(len(tools))]
        return ToolSearch(ordered, **{"embedder": model, "cache": embeddings, **options})

    return build


@pytest.fixture
def check(search_of):
    """Checks expectations ``(rule, names, *queries)`` for each ranker; names are a list, or a text with spaces between.

    Rules: ``first`` is rank 1, loaded or listed as a hint; ``loaded`` is rank 1 and loaded; ``within3`` is among the
    first three, loaded or listed; ``nothing`` loads no tool; ``absent`` is neither loaded nor listed.
    """

    def run(tools, *expectations, rankers=("hybrid", "bm25")):
        broken = []
        for ranker in rankers:
            search = search_of(tools, ranker=ranker)
            for rule, wanted, *queries in expectations:
                names = wanted.split() if isinstance(wanted, str) else list(wanted)
                for query in queries:
                    result = search.search(query)
                    loaded, hinted = raw_names(result.tools), raw_names(result.hints)
                    listed = [*loaded, *hinted]
                    holds = {
                        "first": listed[:1] == names,
                        "loaded": loaded[:1] == names,
                        "within3": set(names) <= set(listed[:3]),
                        "nothing": not loaded and result.outcome == "no_match",
                        "absent": not set(names) & set(listed),
                    }[rule]
                    if not holds:
                        broken.append((ranker, query, rule, names, loaded, hinted))
        assert broken == []

    return run
