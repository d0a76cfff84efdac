"""Datasets in; how often a tool that is stuffed to be found for everything wins, out, by kind of stuffing and ranker.

    python eval/stuffing --data own --data $TOOLSEARCH_DATA/sgd

Each kind of ``attacks.py`` is added to each catalog alone, and the dev queries that have an answer are asked with it
and without. A query counts where a right tool is loaded without the attacker. Figures are percentages of those queries:
*first*: the attacker is first; *loaded*: it is among the loaded tools; *lost*: no right tool is loaded any more. The
attacker knows some requests (``known requests``), never the ones asked.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from attacks import attacks

from semantic_toolsearch import EmbeddingCache, SearchConfig, ToolSearch
from semantic_toolsearch.embedding import Embedder, resolve_embedder
from semantic_toolsearch.embedding.protocol import Matrix
from semantic_toolsearch.evaluation.data.sources import find_datasets
from semantic_toolsearch.evaluation.dataset import Dataset, drawn

MOST_QUERIES = 100
MOST_TOOLS = 600
SEED = 7


class Remembering:
    """An embedder that embeds no query twice."""

    def __init__(self, embedder: Embedder) -> None:
        self.id = embedder.id
        self.dimension = embedder.dimension
        self.encode_document = embedder.encode_document
        self._embedder = embedder
        self._known: dict[str, Matrix] = {}

    def encode_query(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.encode_query``."""
        for text in texts:
            if text not in self._known:
                self._known[text] = self._embedder.encode_query([text])
        return np.concatenate([self._known[text] for text in texts])


def smaller(dataset: Dataset) -> Dataset:
    """The dataset with at most so many tools, the right ones of its queries among them."""
    golden = {place for query in dataset.queries for place in dataset.right_places(query.id)}
    others = [place for place in range(len(dataset.tools)) if place not in golden]
    kept = golden | set(drawn(others, max(MOST_TOOLS - len(golden), 0), SEED))
    return dataset.with_tools(sorted(kept))


def figures(
    dataset: Dataset, embedder: Embedder, cache: EmbeddingCache, ranker: str
) -> dict[str, list[float]]:
    """Percentages first, loaded, lost by kind of attack."""
    config = SearchConfig.model_validate({"ranker": ranker})
    answerable = [query for query in dataset.queries if query.answerable]
    known, asked = answerable[::2], drawn(answerable[1::2], MOST_QUERIES, SEED)
    tools = list(dataset.catalog)
    clean = ToolSearch(tools, embedder=embedder, cache=cache, config=config)
    right = {query.id: set(dataset.right_places(query.id)) for query in asked}
    counted = [
        query for query in asked if right[query.id] & {hit.position for hit in clean.search(query.text).tools}
    ]
    rows = {}
    for kind, attacker in attacks(dataset, known) if counted else ():
        search = ToolSearch([*tools, attacker], embedder=embedder, cache=cache, config=config)
        hits = np.zeros(3)
        for query in counted:
            found = [hit.position for hit in search.search(query.text).tools]
            hits += (found[:1] == [len(tools)], len(tools) in found, not right[query.id] & set(found))
        rows[kind] = list(100 * hits / len(counted))
    return rows


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", action="append", required=True, help="as for `toolsearch eval run`")
    parser.add_argument("--ranker", action="append", help="hybrid, semantic, bm25, ...; several count alike")
    parser.add_argument("--embedder", default="small", help="name of a model that comes with the library")
    chosen = parser.parse_args()
    embedder, cache = Remembering(resolve_embedder(chosen.embedder)), EmbeddingCache(max_entries=400_000)
    loaded = (source.load() for source in find_datasets(chosen.data))
    datasets = [each.split("dev") for each in loaded if any(query.split == "dev" for query in each.queries)]
    for ranker in chosen.ranker or ("hybrid", "semantic", "bm25"):
        means = defaultdict(list)
        for dataset in map(smaller, datasets):
            for kind, row in figures(dataset, embedder, cache, ranker).items():
                means[kind].append(row)
        tasks = max(map(len, means.values()))
        print(f"\n{ranker}, means of {tasks} tasks\n{'kind':28} {'first':>6} {'loaded':>6} {'lost':>6}")
        for kind, table in means.items():
            first, loaded, lost = np.mean(table, axis=0)
            print(f"{kind:28} {first:6.1f} {loaded:6.1f} {lost:6.1f}", flush=True)
        first, loaded, lost = np.mean([np.mean(table, axis=0) for table in means.values()], axis=0)
        print(f"{'all':28} {first:6.1f} {loaded:6.1f} {lost:6.1f}", flush=True)


if __name__ == "__main__":
    main()
