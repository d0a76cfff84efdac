"""Datasets and a model in; the numbers by which ``hybrid`` ranks and trusts it out, with the tables of what each adds.

Run it after a model's weights or a tool's texts have changed; it looks at dev splits only:

    python eval/fit_ranking --data .data/eval --data own --train .data/train

It writes ``<embedder id>.json`` and ``.npy`` into the calibrations of the library, removes those of earlier weights of
the model, and prints everything that docs/ranking.md reports. Vectors are read through the library's embedding cache.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from order import fit_foreign, fit_words, print_orders
from sureness import fit_odds, left_out_odds, print_reliability, print_trade_offs, read_cases, threshold_at
from tasks import read_cohort, read_tasks

from semantic_toolsearch.embedding import EmbeddingCache, resolve_embedder
from semantic_toolsearch.rankers.calibration import CALIBRATIONS, LEAST_WORDS, MOST_WORDS, NEAREST


def main() -> None:
    """Fit, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", action="append", required=True, help="datasets, as for `toolsearch eval run`"
    )
    parser.add_argument(
        "--train", type=Path, required=True, help="folder with the training data's tools.jsonl"
    )
    parser.add_argument("--embedder", default="small", help="name of a model that comes with the library")
    parser.add_argument("--lost", type=float, default=0.05, help="share of the answers that may be lost")
    parser.add_argument(
        "--any", action="store_true", help="write the numbers of models without their own, too"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    chosen = parser.parse_args()
    embedder, cache = resolve_embedder(chosen.embedder), EmbeddingCache(max_entries=400_000)
    tasks = read_tasks(chosen.data, embedder, cache)
    cohort = read_cohort(chosen.train, embedder, cache)
    stored = np.round(cohort * 127 / np.abs(cohort).max()).astype(np.int8)
    cohort = stored.astype(np.float32)
    cohort /= np.linalg.norm(cohort, axis=1, keepdims=True)

    words, growth = fit_words(tasks)
    print(f"chosen: {words} and {growth}, within {LEAST_WORDS} and {MOST_WORDS}")
    print_orders(tasks, words, growth)
    foreign = fit_foreign(tasks)
    cases = read_cases(tasks, words, growth, cohort)
    print_trade_offs(cases)
    names = ["cosine", "coverage", "elsewhere"]
    plain = ["cosine", "coverage"]
    for used, target in ((names, embedder.id), (plain, "any")):
        odds = left_out_odds(cases, used)
        strong = 1 / (1 + np.exp(-threshold_at(cases, odds, chosen.lost)))
        weights = fit_odds(cases, used)
        alone = left_out_odds(cases, ["first cosine"])
        nearest = fit_odds(cases, ["first cosine"])
        cosine = (threshold_at(cases, alone, chosen.lost) - nearest[1]) / nearest[0]
        numbers = {
            "words": words,
            "growth": growth,
            "foreign": foreign,
            "cosine": round(float(weights[0]), 3),
            "coverage": round(float(weights[1]), 3),
            "elsewhere": round(float(weights[2]), 3) if used is names else 0.0,
            "constant": round(float(weights[-1]), 3),
            "strong": round(float(strong), 3),
            "strong_cosine": round(float(cosine), 3),
        }
        print(f"\n{target}: {json.dumps(numbers)}")
        print_reliability(cases, used, numbers["strong"])
        if chosen.dry_run or (target == "any" and not chosen.any):
            continue
        if used is names:
            for old in CALIBRATIONS.glob(f"{'-'.join(embedder.id.split('-')[:2])}-*"):
                old.unlink()
            np.save(CALIBRATIONS / f"{target}.npy", stored)
        (CALIBRATIONS / f"{target}.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {target}: {len(stored)} tools of the cohort, of which the {NEAREST} nearest count")


if __name__ == "__main__":
    main()
