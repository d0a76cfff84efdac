"""Run as a program: forks writers of one cache and kills each at a random moment.

    python killed_writer.py CACHE COUNT

Each tells by a pipe which batches it has stored. After every kill all of those are there, no batch is there in part,
every vector is right, and the next writer is not kept waiting. Prints what was found, as JSON.
"""

from __future__ import annotations

import json
import logging
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from semantic_toolsearch.embedding import EmbeddingCache, embed_documents, text_hash
from semantic_toolsearch.testing import HashingEmbedder

BATCH = 20
EMBEDDER = HashingEmbedder(256)
logging.basicConfig(
    level=logging.WARNING, format="%(message)s"
)  # a warning of the cache goes to stderr and fails


def texts(batch: int) -> list[str]:
    return [f"tool {number}" for number in range(batch * BATCH, (batch + 1) * BATCH)]


def write(path: Path, first: int, told: int) -> None:
    store = EmbeddingCache(path)
    for batch in range(first, 10**6):
        embed_documents(EMBEDDER, texts(batch), store)
        os.write(told, b"%d\n" % batch)


def kills(path: Path, count: int) -> Counter[str]:
    found: Counter[str] = Counter()
    draws = random.Random(count)
    first = 0
    for _ in range(count):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            write(path, first, writing)
        os.close(writing)
        time.sleep(draws.uniform(0.002, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading) as pipe:
            told = [int(line) for line in pipe]
        last = told[-1] if told else first - 1
        store = EmbeddingCache(path)
        hashes = [text_hash(text) for batch in range(last + 2) for text in texts(batch)]
        stored = store.get_many(EMBEDDER.id, hashes)
        unfinished = len(stored) - (last + 1) * BATCH
        assert unfinished in (0, BATCH), f"{len(stored)} vectors after {last + 1} batches"
        some = draws.sample(sorted(range(len(stored))), min(100, len(stored)))
        right = EMBEDDER.encode_document([f"tool {number}" for number in some])
        assert all(
            np.array_equal(stored[hashes[number]], row) for number, row in zip(some, right, strict=True)
        )
        found["kills"] += 1
        found["kills after a batch that was stored and not yet told"] += unfinished == BATCH
        first = last + 1 + (unfinished == BATCH)
    found["vectors"] = len(EmbeddingCache(path))
    assert found["vectors"] == first * BATCH
    return found


if __name__ == "__main__":
    json.dump(kills(Path(sys.argv[1]), int(sys.argv[2])), sys.stdout)
