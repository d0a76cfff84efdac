"""Compare the rankers on public tool-retrieval data: one row a task, one column a ranker.

    python eval/ranking.py DATA [--split test] [--tasks metatool,sgd] [--most 1000] [--out eval/reports/ranking]

DATA is a folder with one sub-folder a task: ``tools.jsonl``, ``queries.jsonl`` and ``qrels.tsv``, or
``qrels_lenient.tsv`` where near copies of a gold tool count too. Settings are chosen on ``dev``; ``test`` is
for reporting. ``rrf`` is plain reciprocal rank fusion (k = 60, Cormack et al. 2009) of the same two arms as
``hybrid``. Where hybrid and another ranker differ beyond chance (paired bootstrap over queries, p < 0.05), the
other's nDCG@10 is marked ``-`` when it is worse and ``+`` when it is better. A query that a ranker finds
nothing for counts 0.

The last table is about knowing that nothing fits, for ``hybrid``: how often a gold tool among the first five is
listed as a hint and not loaded; how often something is loaded although the gold tools (and their known copies)
were taken away; and how often something is loaded for a query of another task, in catalogs too small to answer it.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from ir_measures import Qrel, R, ScoredDoc, Success, iter_calc, nDCG

from semantic_toolsearch import EmbeddingCache, OnnxEmbedder, ToolDefinition, ToolSearch
from semantic_toolsearch.dense import DenseSearcher, KnownVectors
from semantic_toolsearch.documents import dense_text
from semantic_toolsearch.rankers.bm25 import Bm25Ranker
from semantic_toolsearch.rankers.hybrid import HybridRanker
from semantic_toolsearch.rankers.keyword import KeywordRanker
from semantic_toolsearch.rankers.protocol import Ranker, Ranking
from semantic_toolsearch.rankers.semantic import SemanticRanker

HIT, RECALL, NDCG = Success @ 1, R @ 5, nDCG @ 10
DEPTH = 50
LOW_OVERLAP = 0.15
RRF_K = 60
RESAMPLES = 2_000
EXACT_NAMES = 150
STRANGERS = 20
SMALL_CATALOG = 500
FITS = ("gold_lost", "loads_without_gold", "loads_for_strangers")


class ReciprocalRankFusion:
    """The habit to compare with: ranks added up, scores thrown away."""

    name = "rrf"

    def __init__(self, *arms: Ranker) -> None:
        self.arms = arms

    def rank(self, query: str, *, limit: int, visible: Any = None) -> Ranking:
        """Fuse the arms' first hundred."""
        totals: dict[int, float] = defaultdict(float)
        for arm in self.arms:
            for rank, position in enumerate(arm.rank(query, limit=100, visible=visible).positions, 1):
                totals[int(position)] += 1 / (RRF_K + rank)
        order = sorted(totals, key=lambda position: (-totals[position], position))[:limit]
        return Ranking(
            np.array(order, np.int64), np.array([totals[position] for position in order], np.float32)
        )


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", default="test", choices=["dev", "test"])
    parser.add_argument("--tasks", default="")
    parser.add_argument("--most", type=int, default=1_000, help="queries a task, drawn with a fixed seed")
    parser.add_argument("--out", type=Path, help="write OUT.md and OUT.json")
    options = parser.parse_args()
    folders = sorted(path.parent for path in options.data.glob("*/queries.jsonl"))
    wanted = set(filter(None, options.tasks.split(",")))
    embedder, cache = OnnxEmbedder(), EmbeddingCache()
    rows = []
    for folder in folders:
        if not wanted or folder.name in wanted:
            others = [each for each in folders if each != folder and each.name != "pool_all"]
            strangers = [text for other in others for text in some_queries(other, options.split, STRANGERS)]
            rows.append(measure(folder, options.split, options.most, embedder, cache, strangers))
            print(line(rows[-1]), flush=True)
    text = table(rows, options.split)
    print(f"\n{text}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.with_suffix(".md").write_text(text, encoding="utf-8")
        stable = [{key: value for key, value in row.items() if key != "seconds"} for row in rows]
        options.out.with_suffix(".json").write_text(json.dumps(stable, indent=1) + "\n", encoding="utf-8")


def measure(
    folder: Path, split: str, most: int, embedder: OnnxEmbedder, cache: EmbeddingCache, strangers: list[str]
) -> dict[str, Any]:
    """All rankers over one task."""
    records = [json.loads(text) for text in (folder / "tools.jsonl").open(encoding="utf-8")]
    tools = [
        ToolDefinition(
            name=record["name"],
            description=record["description"] or "",
            parameters=record["parameters"] or {"type": "object"},
            namespace=record["namespace"],
        )
        for record in records
    ]
    queries = [json.loads(text) for text in (folder / "queries.jsonl").open(encoding="utf-8")]
    queries = [query for query in queries if query["split"] == split]
    if len(queries) > most:
        chosen = np.random.default_rng(7).choice(len(queries), most, replace=False)
        queries = [queries[place] for place in sorted(chosen)]
    asked = {query["id"] for query in queries}
    lenient = folder / "qrels_lenient.tsv"
    judged = list(rows_of(lenient if lenient.exists() else folder / "qrels.tsv"))
    qrels = [
        Qrel(row["query-id"], row["tool-id"], int(row["grade"])) for row in judged if row["query-id"] in asked
    ]
    words = Bm25Ranker.of(tools)
    dense = DenseSearcher(lambda: [dense_text(tool) for tool in tools], embedder, KnownVectors(None, cache))
    semantic = SemanticRanker(dense, words)
    rankers: list[Ranker] = [
        KeywordRanker(tools),
        words,
        semantic,
        ReciprocalRankFusion(words, semantic),
        HybridRanker(words, dense),
    ]
    dense.index()
    figures: dict[str, dict[str, dict[str, float]]] = {}
    seconds = {}
    for ranker in rankers:
        start = time.perf_counter()
        run = []
        for query in queries:
            ranking = ranker.rank(query["text"], limit=DEPTH)
            run += [
                ScoredDoc(query["id"], records[place]["id"], float(-rank))
                for rank, place in enumerate(ranking.positions)
            ]
        seconds[ranker.name] = (time.perf_counter() - start) / max(1, len(queries))
        values: dict[str, dict[str, float]] = {str(m): dict.fromkeys(asked, 0.0) for m in (HIT, RECALL, NDCG)}
        for metric in iter_calc([HIT, RECALL, NDCG], qrels, run):
            values[str(metric.measure)][metric.query_id] = metric.value
        figures[ranker.name] = values
    overlap = {row["query-id"]: float(row["overlap_full"]) for row in rows_of(folder / "query_features.tsv")}
    far = [query for query in sorted(asked) if overlap.get(query, 1.0) < LOW_OVERLAP]
    return {
        "task": folder.name,
        "tools": len(tools),
        "queries": len(queries),
        "rankers": {
            name: {m: mean(v.values()) for m, v in values.items()} for name, values in figures.items()
        },
        "against_hybrid": {
            name: verdict(values[str(NDCG)], figures["hybrid"][str(NDCG)])
            for name, values in figures.items()
            if name != "hybrid"
        },
        "low_overlap": {
            "queries": len(far),
            **{name: mean(values[str(NDCG)][query] for query in far) for name, values in figures.items()},
        },
        "exact_name_first": exact_names(tools, embedder, cache),
        "nothing_fits": nothing_fits(rankers[-1], records, queries, qrels, strangers),
        "seconds": seconds,
    }


def exact_names(
    tools: list[ToolDefinition], embedder: OnnxEmbedder, cache: EmbeddingCache
) -> dict[str, float]:
    """Share of names, drawn with a fixed seed, whose tool comes first when the name is the query."""
    search = ToolSearch(tools, embedder=embedder, cache=cache)
    size = len(search.catalog)
    places = np.random.default_rng(11).choice(size, min(EXACT_NAMES, size), replace=False)
    first = {"plain": 0, "backticks": 0}
    for place in places:
        name = search.catalog[int(place)].name
        for form, query in (("plain", name), ("backticks", f"`{name}`")):
            hits = search.search(query).tools
            first[form] += bool(hits) and hits[0].tool.name == name
    return {form: count / max(1, len(places)) for form, count in first.items()}


def nothing_fits(
    ranker: Ranker,
    records: list[dict[str, Any]],
    queries: list[dict[str, Any]],
    qrels: list[Qrel],
    strangers: list[str],
) -> dict[str, float]:
    """How the confident hits of a ranker behave with and without an answer in the catalog."""
    place_of = {record["id"]: place for place, record in enumerate(records)}
    gold: dict[str, list[int]] = defaultdict(list)
    for qrel in qrels:
        if qrel.doc_id in place_of:
            gold[qrel.query_id].append(place_of[qrel.doc_id])
    lost, answerable, removed = 0, 0, 0
    for query in queries:
        right = gold[query["id"]]
        if set(right) & set(ranker.rank(query["text"], limit=5).positions.tolist()):
            answerable += 1
            lost += not set(right) & set(loaded(ranker, query["text"]))
        without = np.ones(len(records), dtype=np.bool_)
        without[right] = False
        removed += bool(loaded(ranker, query["text"], without))
    figures = {"gold_lost": lost / max(1, answerable), "loads_without_gold": removed / max(1, len(queries))}
    if len(records) < SMALL_CATALOG:
        figures["loads_for_strangers"] = sum(bool(loaded(ranker, text)) for text in strangers) / len(
            strangers
        )
    return {name: round(value, 4) for name, value in figures.items()}


def loaded(ranker: Ranker, query: str, visible: Any = None) -> list[int]:
    """Positions that the default rules would load: strong, within half of the best score, at most five."""
    ranking = ranker.rank(query, limit=5, visible=visible)
    if not len(ranking) or ranking.strong is None:
        return ranking.positions.tolist()
    kept = ranking.strong & (ranking.scores >= 0.5 * ranking.scores[0])
    return ranking.positions[kept].tolist()


def some_queries(folder: Path, split: str, count: int) -> list[str]:
    """A few queries of a task, the same ones each time."""
    queries = [json.loads(text) for text in (folder / "queries.jsonl").open(encoding="utf-8")]
    texts = [query["text"] for query in queries if query["split"] == split]
    chosen = np.random.default_rng(3).choice(len(texts), min(count, len(texts)), replace=False)
    return [texts[place] for place in sorted(chosen)]


def verdict(other: dict[str, float], hybrid: dict[str, float]) -> str:
    """``-`` when the other is significantly worse, ``+`` when it is better, else an empty text."""
    differences = np.array([other[query] - hybrid[query] for query in sorted(hybrid)])
    draws = np.random.default_rng(5).integers(len(differences), size=(RESAMPLES, len(differences)))
    means = differences[draws].mean(axis=1)
    if (means >= 0).mean() < 0.025:
        return "-"
    return "+" if (means <= 0).mean() < 0.025 else ""


def table(rows: list[dict[str, Any]], split: str) -> str:
    """The report in Markdown."""
    names = list(rows[0]["rankers"])
    head = f"| task | tools | queries | {' | '.join(names)} |\n|---|--:|--:|{'---|' * len(names)}\n"
    parts = [
        f"## Split `{split}`: hit@1 / recall@5 / nDCG@10, in percent\n\n",
        head,
        *(f"{line(row)}\n" for row in rows),
    ]
    parts += [
        f"\n## nDCG@10 where the gold tool's text holds under {LOW_OVERLAP:.0%} of the query's words\n\n"
    ]
    parts += [head.replace("| tools ", "")[: head.replace("| tools ", "").index("\n")] + "\n"]
    parts += [f"|---|--:|{'--:|' * len(names)}\n"]
    for row in rows:
        far = row["low_overlap"]
        if far["queries"]:
            cells = " | ".join(f"{100 * far[name]:.1f}" for name in names)
            parts.append(f"| {row['task']} | {far['queries']} | {cells} |\n")
    parts.append("\n## Exact names first, in percent\n\n| task | plain | in backticks |\n|---|--:|--:|\n")
    for row in rows:
        exact = row["exact_name_first"]
        parts.append(f"| {row['task']} | {100 * exact['plain']:.1f} | {100 * exact['backticks']:.1f} |\n")
    parts.append("\n## Knowing that nothing fits (hybrid), in percent\n\n")
    parts.append(
        "| task | gold listed, not loaded | loads without gold | loads for strangers |\n|---|--:|--:|--:|\n"
    )
    for row in rows:
        figures = row["nothing_fits"]
        cells = [f"{100 * figures[key]:.0f}" if key in figures else "" for key in FITS]
        parts.append(f"| {row['task']} | {' | '.join(cells)} |\n")
    return "".join(parts)


def line(row: dict[str, Any]) -> str:
    """One task of the main table."""
    cells = []
    for name, values in row["rankers"].items():
        hit, recall, ndcg = (100 * values[str(m)] for m in (HIT, RECALL, NDCG))
        cells.append(f"{hit:.0f} / {recall:.0f} / {ndcg:.1f}{row['against_hybrid'].get(name, '')}")
    return f"| {row['task']} | {row['tools']} | {row['queries']} | {' | '.join(cells)} |"


def mean(values: Any) -> float:
    """The mean, 0 for no values, rounded as it is stored."""
    listed = list(values)
    return round(float(np.mean(listed)), 4) if listed else 0.0


def rows_of(path: Path) -> Any:
    """The rows of a tab-separated file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


if __name__ == "__main__":
    main()
