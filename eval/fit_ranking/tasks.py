"""Names of datasets and a model in; dev queries with both arms' figures for every tool out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.documents import dense_text
from semantic_toolsearch.embedding import Embedder, EmbeddingCache, embed_documents
from semantic_toolsearch.evaluation.data.sources import find_datasets
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.measuring.probes import some_queries, strangers_to
from semantic_toolsearch.rankers.bm25 import Bm25Ranker
from semantic_toolsearch.rankers.hybrid import is_foreign
from semantic_toolsearch.tokens import telling_tokens

Floats = npt.NDArray[np.float32]

SEED = 7
MOST_QUERIES = 400
STRANGERS_EACH = 60
MOST_STRANGERS = 300
COHORT = {"metatool": 99, "toolalpaca": 90, "sealtools": 323}
"""Tools of the training data by source: people's own, and free to share."""


@dataclass
class Asked:
    """Some queries of one task with both arms' figures for every tool: ``[queries, tools]`` each."""

    queries: Sequence[Query]
    shares: Floats
    coverage: Floats
    cosines: Floats
    vectors: Floats
    foreign: list[bool]
    one_word: list[bool]

    def only(self, rows: Sequence[int]) -> Asked:
        """Some of the queries."""
        return Asked(
            [self.queries[row] for row in rows],
            self.shares[rows],
            self.coverage[rows],
            self.cosines[rows],
            self.vectors[rows],
            [self.foreign[row] for row in rows],
            [self.one_word[row] for row in rows],
        )


@dataclass
class Task:
    """A dataset with its own queries and those of others."""

    dataset: Dataset
    own: Asked
    strangers: Asked | None


def read_tasks(specs: Sequence[str], embedder: Embedder, cache: EmbeddingCache) -> list[Task]:
    """Read and embed every dataset that has dev queries."""
    datasets = []
    for source in find_datasets(specs):
        dataset = source.load()
        if any(query.split == "dev" for query in dataset.queries):
            datasets.append(dataset.split("dev", MOST_QUERIES, SEED))
    drawn = [some_queries(dataset, STRANGERS_EACH, SEED) for dataset in datasets]
    tasks = []
    for dataset in datasets:
        others = strangers_to(dataset, drawn)
        if len(others) > MOST_STRANGERS:
            others = random.Random(SEED).sample(others, MOST_STRANGERS)
        documents, _ = embed_documents(embedder, [dense_text(tool) for tool in dataset.tools], cache)
        words = Bm25Ranker.of(dataset.catalog)
        ask = asker(words, documents, embedder, cache)
        tasks.append(Task(dataset, ask(dataset.queries), ask(others) if others else None))
        print(f"read {dataset.name}: {len(dataset.tools)} tools, {len(dataset.queries)} queries", flush=True)
    return tasks


class QueriesAsDocuments:
    """An embedder whose queries go through the cache, as documents of another model."""

    def __init__(self, embedder: Embedder) -> None:
        self.id = f"{embedder.id} queries"
        self.dimension = embedder.dimension
        self.encode_query = self.encode_document = embedder.encode_query


def asker(
    words: Bm25Ranker, documents: Floats, embedder: Embedder, cache: EmbeddingCache
) -> Callable[[Sequence[Query]], Asked]:
    """What looks at queries over one catalog."""

    def ask(queries: Sequence[Query]) -> Asked:
        texts = [query.text for query in queries]
        vectors, _ = embed_documents(QueriesAsDocuments(embedder), texts, cache)
        return Asked(
            queries,
            np.stack([words.scores(text) for text in texts]),
            np.stack([words.coverage(text) for text in texts]),
            (vectors @ documents.T).clip(0, 1),
            vectors,
            [is_foreign(text) for text in texts],
            [len(set(telling_tokens(text))) == 1 for text in texts],
        )

    return ask


def read_cohort(folder: Path, embedder: Embedder, cache: EmbeddingCache) -> Floats:
    """Draw and embed tools of the training data, which no evaluation holds."""
    by_source: dict[str, list[dict[str, Any]]] = {}
    for line in (folder / "tools.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        by_source.setdefault(record["id"].split(":")[0], []).append(record)
    texts = []
    for source, most in COHORT.items():
        for record in random.Random(SEED).sample(by_source[source], min(most, len(by_source[source]))):
            tool = ToolDefinition(
                name=record["name"],
                description=record["description"] or "",
                parameters=record["parameters"] or {},
                namespace=record["namespace"],
            )
            texts.append(dense_text(tool))
    vectors, _ = embed_documents(embedder, texts, cache)
    return vectors
